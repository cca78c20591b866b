"""Keywords (`dc:subject`) in XMP sidecars.

A sidecar belongs to the user and is written by many programs, so it is not rewritten: a keyword is
inserted into its text or cut out of it, and every other byte stays.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree.ElementTree import ParseError
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from vsdemo.core.errors import UserError
from vsdemo.core.paths import atomic
from vsdemo.data.catalog.metadata import MAX_SIDECAR, XMP, sidecars

TOOLKIT = "vsdemo"  # the program that a sidecar names as its author
NEW = f"""<?xml version="1.0" encoding="UTF-8"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/" x:xmptk="{TOOLKIT}">
 <rdf:RDF xmlns:rdf="{XMP["rdf"]}">
 </rdf:RDF>
</x:xmpmeta>
""".encode()
RDF, SUBJECT = f"{XMP['rdf']} ", f"{XMP['dc']} subject"
ABOUT = f"{RDF}about", "about"
LISTS = (f"{RDF}Bag", f"{RDF}Seq")
START_TAG = re.compile(rb"""<([^\s/>]+)(?:\s+[^\s=]+\s*=\s*(?:"[^"]*"|'[^']*'))*\s*(/?)>""")
DAMAGED = "is not XMP, or damaged"


@dataclass
class _Element:
    """An element and where it is in the text.

    Attributes:
        name: URI and name with a space between.
        attributes: Attributes by such names.
        start: First byte of its start tag.
        opened: End of its start tag.
        end: End of its end tag; `opened` if it has none, as in `<a/>`.
        children: The elements in it.
        text: The characters in it.
        has_notes: Whether there are comments or processing instructions in it.
    """

    name: str
    attributes: dict[str, str]
    start: int
    opened: int
    end: int = 0
    children: list[_Element] = field(default_factory=list)
    text: str = ""
    has_notes: bool = False

    def all(self, *names: str) -> Iterator[_Element]:
        """Yield the elements of these names in it."""
        return (child for child in self.children if child.name in names)


class _Unusable(ValueError):
    """A sidecar that no keyword can be written to; the message says what is wrong with it."""


def sidecar_of(photo: Path) -> Path:
    """Return the sidecar that keywords of a photo go to, which need not exist."""
    first, *others = sidecars(photo)
    return next((path for path in (first, *others) if os.path.lexists(path)), first)


def keywords(data: bytes, sidecar: Path) -> list[str]:
    """Return the keywords in the content of a sidecar.

    Raises:
        UserError: It is damaged.
    """
    try:
        return [item.text.strip() for item in _items(_rdf(data))]
    except _Unusable as error:
        raise _refusal(sidecar, error) from None


def with_keyword(data: bytes | None, keyword: str, sidecar: Path) -> bytes:
    """Return the content of a sidecar with a keyword, which is added unless it is there.

    Args:
        data: The content; None if the sidecar does not exist.
        keyword: The keyword.
        sidecar: Where it is, for the message.

    Raises:
        UserError: It is damaged, or its keywords have an unusual form.
    """
    try:
        return _checked(_insert(NEW if data is None else data, keyword), data, added=keyword)
    except _Unusable as error:
        raise _refusal(sidecar, error) from None


def without_keyword(data: bytes, keyword: str, sidecar: Path) -> bytes | None:
    """Return the content of a sidecar without a keyword; None if the sidecar is to be deleted.

    It is deleted if vsdemo has made it and it contains nothing else.

    Args:
        data: The content.
        keyword: The keyword.
        sidecar: Where it is, for the message.

    Raises:
        UserError: As `with_keyword`.
    """
    try:
        result = _checked(_cut(data, keyword), data, removed=keyword)
    except _Unusable as error:
        raise _refusal(sidecar, error) from None
    return None if result == NEW else result


def read(sidecar: Path) -> bytes | None:
    """Return the content of a sidecar; None if it does not exist.

    Raises:
        UserError: It cannot be read, or is too large.
    """
    try:
        if not sidecar.is_file():
            if os.path.lexists(sidecar):
                raise _refusal(sidecar, "is no file")
            return None
        if sidecar.stat().st_size > MAX_SIDECAR:
            raise _refusal(sidecar, "is too large")
        return sidecar.read_bytes()
    except OSError as error:
        raise _refusal(sidecar, f"cannot be read ({error.strerror})") from None


def check_writable(sidecar: Path) -> None:
    """Raise UserError if a sidecar cannot be written, before anything is written."""
    folder = sidecar.resolve().parent
    if sidecar.exists() and not os.access(sidecar, os.W_OK):
        raise _refusal(sidecar, "is read-only")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UserError(
            f"The folder {folder} is read-only, so that no sidecar can be written; change its "
            "permissions, or leave its photos out."
        )


def write(sidecar: Path, before: bytes | None, after: bytes | None) -> None:
    """Replace the content of a sidecar at once, or make it, or delete it.

    Args:
        sidecar: Where it is; if that is a link, the file that it leads to is replaced.
        before: The content that it had when it was read; None if it did not exist.
        after: Its new content; None to delete it.

    Raises:
        UserError: It has changed meanwhile, or cannot be written.
    """
    if read(sidecar) != before:
        raise _refusal(sidecar, "was changed by another program just now; try again")
    try:
        if after is None:
            sidecar.unlink()
            return
        target = sidecar.resolve()
        with atomic(target) as new:
            new.write_bytes(after)
            if before is not None:
                shutil.copymode(target, new)
    except OSError as error:
        raise _refusal(sidecar, f"cannot be written ({error.strerror})") from None


def _refusal(sidecar: Path, reason: object) -> UserError:
    return UserError(f"The sidecar {sidecar} {reason}; it is left as it is.")


def _checked(result: bytes, before: bytes | None, *, added: str = "", removed: str = "") -> bytes:
    """Return the new content of a sidecar if it has the keywords that it should have."""
    old = [] if before is None else [item.text.strip() for item in _items(_rdf(before))]
    expected = [keyword for keyword in old if keyword != removed]
    if added and added not in expected:
        expected.append(added)
    if sorted(item.text.strip() for item in _items(_rdf(result))) != sorted(expected):
        raise _Unusable("has keywords in an unusual form")
    if len(result) > MAX_SIDECAR:
        raise _Unusable("has no room for another keyword")
    return result


def _insert(data: bytes, keyword: str) -> bytes:
    """Return the text with a keyword at the end of its list, which is made if there is none."""
    rdf = _rdf(data)
    if any(item.text.strip() == keyword for item in _items(rdf)):
        return data
    text = escape(keyword)
    for keyword_list in _lists(rdf):
        prefix = _name(data, keyword_list).rpartition(":")[0]
        item = f"{prefix}:li" if prefix else "li"
        new = f"<{item}>{text}</{item}>".encode()
        if not keyword_list.children:
            return _fill(data, keyword_list, new)
        last = keyword_list.children[-1]
        space = _space_before(data, last.start)
        return data[: last.end] + data[space : last.start] + new + data[last.end :]
    for description in _descriptions(rdf):
        if SUBJECT in description.attributes or any(description.all(SUBJECT)):
            raise _Unusable("has keywords in an unusual form")
    about = next((_about(description) for description in _descriptions(rdf)), "")
    block = (
        f"\n  <rdf:Description rdf:about={quoteattr(about)}"
        f' xmlns:rdf="{XMP["rdf"]}" xmlns:dc="{XMP["dc"]}">'
        f"\n   <dc:subject>\n    <rdf:Bag>\n     <rdf:li>{text}</rdf:li>\n    </rdf:Bag>"
        "\n   </dc:subject>\n  </rdf:Description>"
    ).encode()
    if not rdf.children:
        return _fill(data, rdf, block)
    end = rdf.children[-1].end
    return data[:end] + block + data[end:]


def _cut(data: bytes, keyword: str) -> bytes:
    """Return the text without a keyword, and without elements that this leaves empty."""
    while place := next(_places(_rdf(data), keyword), None):
        path = place
        while len(path) > 1 and _has_nothing_else(path[-2]):
            path = path[:-1]  # an element with nothing else is removed as a whole
        start = _space_before(data, path[-1].start)
        data = data[:start] + data[path[-1].end :]
    return data


def _places(rdf: _Element, keyword: str) -> Iterator[list[_Element]]:
    """Yield description, property, list and item of each place of a keyword."""
    for description in _descriptions(rdf):
        for subject in description.all(SUBJECT):
            for keyword_list in subject.all(*LISTS):
                for item in keyword_list.all(f"{RDF}li"):
                    if item.text.strip() == keyword and not item.children:
                        yield [description, subject, keyword_list, item]


def _has_nothing_else(element: _Element) -> bool:
    """Whether an element has only one child and no attributes besides its `rdf:about`."""
    attributes = {name for name in element.attributes if name not in ABOUT}
    is_bare = not attributes and not element.text.strip() and not element.has_notes
    return is_bare and len(element.children) == 1


def _fill(data: bytes, element: _Element, content: bytes) -> bytes:
    """Return the text with content in an element that has none."""
    if element.end > element.opened:
        return data[: element.opened] + content + data[element.opened :]
    tag = data[element.start : element.opened].rstrip(b"/>").rstrip()
    end = f"</{_name(data, element)}>".encode()
    return data[: element.start] + tag + b">" + content + end + data[element.opened :]


def _name(data: bytes, element: _Element) -> str:
    """Return the name of an element as it is written, with its prefix."""
    match = START_TAG.match(data, element.start)
    assert match is not None  # as `_parse` has seen
    return match[1].decode()


def _space_before(data: bytes, position: int) -> int:
    """Return where the white space before a position begins."""
    return len(data[:position].rstrip(b" \t\r\n"))


def _about(description: _Element) -> str:
    return next((description.attributes[n] for n in ABOUT if n in description.attributes), "")


def _items(rdf: _Element) -> list[_Element]:
    return [item for keyword_list in _lists(rdf) for item in keyword_list.all(f"{RDF}li")]


def _lists(rdf: _Element) -> Iterator[_Element]:
    """Yield the lists of keywords; those of the photo, not of others that it is made from."""
    for description in _descriptions(rdf):
        for subject in description.all(SUBJECT):
            yield from subject.all(*LISTS)


def _descriptions(rdf: _Element) -> Iterator[_Element]:
    return rdf.all(f"{RDF}Description")


def _rdf(data: bytes) -> _Element:
    """Return the element rdf:RDF of a sidecar.

    Raises:
        _Unusable: It is damaged, not in UTF-8, or has none.
    """
    root = _parse(data)
    element = next((e for e in (root, *root.children) if e.name == f"{RDF}RDF"), None)
    if element is None:
        raise _Unusable(DAMAGED)
    return element


def _parse(data: bytes) -> _Element:
    """Return the root of a text in XML with the places of all elements."""
    try:
        data.decode()  # places of other encodings could not be filled with bytes of UTF-8
        fromstring(data, forbid_dtd=True)  # so that nothing expands
    except UnicodeDecodeError:
        raise _Unusable("is not in UTF-8") from None
    except (ParseError, DefusedXmlException, ValueError):
        raise _Unusable(DAMAGED) from None
    return _Places(data).root


class _Places:
    """Finds where the elements of a valid text are.

    Attributes:
        root: The element around all others.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._open = [_Element("", {}, 0, 0)]
        parser = self._parser = expat.ParserCreate(namespace_separator=" ")
        parser.XmlDeclHandler = self._declaration
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.CharacterDataHandler = self._characters
        parser.CommentHandler = parser.ProcessingInstructionHandler = self._note
        parser.Parse(data, True)
        self.root = self._open[0].children[0]

    def _declaration(self, version: str, encoding: str | None, standalone: int) -> None:
        if encoding and encoding.lower() not in ("utf-8", "us-ascii"):
            raise _Unusable("is not in UTF-8")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        place = self._parser.CurrentByteIndex
        tag = START_TAG.match(self._data, place)
        if tag is None:
            raise _Unusable(DAMAGED)
        element = _Element(name, attributes, place, tag.end())
        self._open[-1].children.append(element)
        self._open.append(element)
        if tag[2]:
            element.end = tag.end()

    def _end(self, name: str) -> None:
        element = self._open.pop()
        if not element.end:
            element.end = self._data.index(b">", self._parser.CurrentByteIndex) + 1

    def _characters(self, text: str) -> None:
        self._open[-1].text += text

    def _note(self, *content: str) -> None:
        self._open[-1].has_notes = True
