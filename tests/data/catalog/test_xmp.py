"""Keywords in sidecars: they are read again, and nothing else in a sidecar changes."""

import os
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from defusedxml.ElementTree import fromstring
from hypothesis import given
from hypothesis import strategies as st

from tests.data.catalog.test_metadata import XMP
from vsdemo.core.errors import UserError
from vsdemo.data.catalog import xmp
from vsdemo.data.catalog.metadata import read_sidecar

HERE = Path("a.jpg.xmp")
HOSTILE = ["a & b", "]]>", "<rdf:li>", "\"'", "&amp;", "👩‍🚒", "كلب", "<!-- -->", "{0} %s", "a, b"]
NAMES = st.sampled_from(HOSTILE) | st.text(
    st.characters(exclude_categories=("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp")), min_size=1
).map(str.strip).filter(bool)
HEAD = '<x:xmpmeta xmlns:x="adobe:ns:meta/"><r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
TAIL = "</r:RDF></x:xmpmeta>"
DC = 'xmlns:d="http://purl.org/dc/elements/1.1/"'
OTHERS = (  # what other programs write
    XMP.format(city="Oslo", caption="A caption"),
    f"\ufeff<?xpacket begin='\ufeff' id='W5M0MpCehiHzreSzNTczkc9d'?>\r\n{HEAD}\r\n"
    f"<r:Description r:about='' xmlns:my='urn:my' my:a='x > y'/>\r\n{TAIL}\r\n <?xpacket end='w'?>",
    f"<!-- a note -->{HEAD}<!-- another --><r:Description r:about='urn:1&amp;2' {DC}>"
    f"<d:subject><r:Bag>\n\t<r:li>old &amp; new</r:li>\n\t<r:li><![CDATA[<cat>]]></r:li>\n</r:Bag>"
    f"</d:subject><d:title>T</d:title></r:Description>{TAIL}",
    f"{HEAD}<r:Description {DC}><d:subject><r:Seq><r:li>only</r:li></r:Seq></d:subject>"
    f"</r:Description><r:Description><p:part xmlns:p='urn:p'><r:Description {DC}><d:subject>"
    "<r:Bag><r:li>of a part</r:li></r:Bag></d:subject></r:Description></p:part></r:Description>"
    f"{TAIL}",
    "<RDF xmlns='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><Description>"
    f"<d:subject {DC}><Bag><li>plain</li></Bag></d:subject></Description></RDF>",
    f"{HEAD}\n{TAIL}",
)


def keywords_in(sidecar):
    return xmp.keywords(xmp.read(sidecar), sidecar)


@pytest.mark.parametrize("before", OTHERS)
@pytest.mark.parametrize("keyword", HOSTILE)
def test_a_keyword_is_added_and_removed_again(before, keyword):
    data = before.encode()
    old = xmp.keywords(data, HERE)
    after = xmp.with_keyword(data, keyword, HERE)
    assert xmp.keywords(after, HERE) == [*old, keyword]
    assert xmp.with_keyword(after, keyword, HERE) == after
    assert xmp.without_keyword(after, keyword, HERE) == data
    assert xmp.without_keyword(data, keyword, HERE) == data


@given(names=st.lists(NAMES, unique=True, min_size=1, max_size=5), before=st.sampled_from(OTHERS))
def test_any_keywords_come_and_go(names, before):
    data = original = before.encode()
    names = [name for name in names if name not in xmp.keywords(data, HERE)]
    for name in names:
        data = xmp.with_keyword(data, name, HERE)
    for name in names:
        assert name in xmp.keywords(data, HERE)
        data = xmp.without_keyword(data, name, HERE)
    assert data == original


@given(names=st.lists(NAMES, unique=True, min_size=1, max_size=5))
def test_a_new_sidecar_is_valid_and_goes_when_it_is_empty(names):
    data = None
    for name in names:
        data = xmp.with_keyword(data, name, HERE)
    items = fromstring(data).iter("{http://www.w3.org/1999/02/22-rdf-syntax-ns#}li")
    assert [item.text for item in items] == names
    for name in names:
        data = xmp.without_keyword(data, name, HERE)
    assert data is None


@given(text=st.text(st.characters(exclude_categories=("Cs", "Cc", "Cn")), max_size=40))
def test_whatever_else_is_in_a_sidecar_stays(text):
    data = (
        f"{HEAD}<r:Description {DC} xmlns:n='urn:n' n:a='{escape(text, {chr(39): '&apos;'})}'>"
        f"<d:description>{escape(text)}</d:description></r:Description>{TAIL}"
    ).encode()
    after = xmp.with_keyword(data, "dog", HERE)
    assert all(part in after for part in (data[: -len(TAIL)], TAIL.encode()))
    assert xmp.without_keyword(after, "dog", HERE) == data


def described(content: str) -> bytes:
    return f"{HEAD}<r:Description {DC}>{content}</r:Description>{TAIL}".encode()


def test_a_list_that_has_nothing_yet_is_filled():
    for empty in ("<r:Bag/>", "<r:Bag />", "<r:Bag></r:Bag>", "<r:Bag>\n</r:Bag>"):
        after = xmp.with_keyword(
            described(f"<d:subject>{empty}</d:subject><d:title/>"), "dog", HERE
        )
        assert xmp.keywords(after, HERE) == ["dog"]
        assert b"<d:title/>" in xmp.without_keyword(after, "dog", HERE)
    after = xmp.with_keyword(
        b'<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/>', "d", HERE
    )
    assert xmp.keywords(after, HERE) == ["d"]


def test_a_comment_in_a_list_stays():
    data = described("<d:subject><r:Bag><!-- mine --><r:li>a</r:li></r:Bag></d:subject>")
    assert b"<!-- mine -->" in xmp.without_keyword(data, "a", HERE)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "damaged"),
        (b"<unclosed", "damaged"),
        (b"\0\1\2", "damaged"),
        (b"<a>no XMP</a>", "is not XMP"),
        (b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "damaged"),
        (b"<!DOCTYPE a><a/>", "damaged"),
        (f"{HEAD}{TAIL}".encode("utf-16"), "not in UTF-8"),
        (f"<?xml version='1.0' encoding='ISO-8859-1'?>{HEAD}{TAIL}".encode(), "not in UTF-8"),
        (f"{HEAD}<r:Description {DC} d:subject='dog'/>{TAIL}".encode(), "unusual"),
        (
            f"{HEAD}<r:Description {DC}><d:subject>a</d:subject></r:Description>{TAIL}".encode(),
            "unusual",
        ),
        (b"x" * 1_000_001, "too large"),
        (f"{HEAD}{' ' * 999_870}{TAIL}".encode(), "no room"),
    ],
)
def test_what_cannot_be_edited_is_one_sentence(tmp_path, content, reason, is_one_sentence):
    sidecar = tmp_path / "a.jpg.xmp"
    sidecar.write_bytes(content)
    with pytest.raises(UserError, match=reason) as caught:
        xmp.with_keyword(xmp.read(sidecar), "cat", sidecar)
    assert is_one_sentence(caught)
    assert "left as it is" in str(caught.value)


def test_the_sidecar_that_is_there_is_chosen(tmp_path):
    photo = tmp_path / "a.jpg"
    assert xmp.sidecar_of(photo) == tmp_path / "a.jpg.xmp"
    (tmp_path / "a.xmp").touch()
    assert xmp.sidecar_of(photo) == tmp_path / "a.xmp"
    (tmp_path / "a.jpg.xmp").touch()
    assert xmp.sidecar_of(photo) == tmp_path / "a.jpg.xmp"


def test_what_a_sidecar_says_is_read_as_before(tmp_path):
    photo, sidecar = tmp_path / "a.jpg", tmp_path / "a.xmp"
    sidecar.write_text(OTHERS[0])
    before, data = read_sidecar(photo), xmp.read(sidecar)
    assert before.caption == "A caption"
    xmp.write(sidecar, data, xmp.with_keyword(data, "]]> 👩‍🚒", sidecar))
    assert read_sidecar(photo) == before
    assert keywords_in(sidecar) == ["]]> 👩‍🚒"]
    assert os.listdir(tmp_path) == ["a.xmp"]


def test_permissions_and_links_stay(tmp_path):
    target, sidecar = tmp_path / "real.xmp", tmp_path / "a.xmp"
    target.write_text(OTHERS[-1])
    target.chmod(0o640)
    sidecar.symlink_to(target)
    data = xmp.read(sidecar)
    xmp.write(sidecar, data, xmp.with_keyword(data, "dog", sidecar))
    assert sidecar.is_symlink()
    assert target.stat().st_mode & 0o777 == 0o640
    assert keywords_in(sidecar) == ["dog"]


def test_what_another_program_has_just_written_stays(tmp_path, is_one_sentence):
    sidecar = tmp_path / "a.xmp"
    sidecar.write_text(OTHERS[-1])
    data = xmp.read(sidecar)
    sidecar.write_text(OTHERS[0])
    with pytest.raises(UserError, match="just now") as caught:
        xmp.write(sidecar, data, b"mine")
    assert is_one_sentence(caught)
    assert sidecar.read_text() == OTHERS[0]


def test_a_pipe_is_no_sidecar(tmp_path):
    os.mkfifo(tmp_path / "a.xmp")
    with pytest.raises(UserError, match="is no file"):
        xmp.read(tmp_path / "a.xmp")
