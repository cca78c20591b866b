"""Texts in the language of a page: English, or a translation from a catalog in `locales`.

The app calls `follow` to say which language a page is in; without it, and for what has no
translation, texts are English. So lower packages can translate the errors that a visitor may cause,
and the command line still prints English. Work that pages share, such as an index, must not
translate what it keeps: it would keep the language of the first page.

A new language is a copy of `locales/de.po` under its own code, with other translations.
"""

from __future__ import annotations

import gettext as catalogs
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from io import BytesIO
from pathlib import Path

from babel import Locale
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.numbers import format_decimal, format_percent

FOLDER = Path(__file__).parent / "locales"
ENGLISH = "en"
LARGE = 1e15
# Functions with a text, for `pybabel extract -F pyproject.toml -k KEYWORD ... vsdemo`.
KEYWORDS = (
    "translate",
    "translate_count:1,2",
    "message",
    "label",
    "choice",
    "chip",
    "about_html",
    "vsdemo.translate",
)
_language: ContextVar[str | None] = ContextVar("language", default=None)
_source: Callable[[], str] | None = None  # says the language of the page


@cache
def languages() -> tuple[str, ...]:
    """Return the codes of the languages, English first."""
    return (ENGLISH, *sorted(path.stem for path in FOLDER.glob("*.po")))


def preferred(accepted: str) -> str:
    """Return the language of a page.

    Args:
        accepted: The header Accept-Language of its browser, such as "de-CH,de;q=0.9"; may be empty.
    """
    first = accepted.split(",")[0].split(";")[0].split("-")[0].strip().lower()
    return first if first in languages() else ENGLISH


def follow(source: Callable[[], str]) -> None:
    """Let a function say which language the page is in that is being answered now."""
    global _source
    _source = source


def current() -> str:
    """Return the code of the language that `translate` returns now."""
    return _language.get() or (_source() if _source else ENGLISH)


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Let `translate` return a language in this block, whatever the page."""
    token = _language.set(language)
    try:
        yield
    finally:
        _language.reset(token)


def gettext(text: str) -> str:
    """Return a text in the language of the page, with its placeholders; for templates."""
    return _catalog(current()).gettext(text) if text else ""


def ngettext(one: str, many: str, count: int) -> str:
    """Return the form of a text that fits a count, with its placeholders; for templates."""
    return _catalog(current()).ngettext(one, many, count)


def translate(text: str, /, **values: object) -> str:
    """Return a text in the language of the page.

    Args:
        text: The English text; a name in braces stands for one of the values.
        **values: The values.
    """
    return gettext(text).format(**values) if values else gettext(text)


def translate_count(one: str, many: str, count: int, /, **values: object) -> str:
    """Return the form of a text that fits a count, in the language of the page.

    Args:
        one: The English text for 1.
        many: The English text for other counts.
        count: The count; the texts can use it as {count}, formatted.
        **values: Other values that the texts use.
    """
    return ngettext(one, many, count).format(count=number(count), **values)


def message(text: str) -> str:
    """Return a text as it is. It marks texts that are translated only where they are shown."""
    return text


def number(value: float, digits: int = 0) -> str:
    """Return a number as the language writes it, with as many decimals."""
    if not abs(value) < LARGE:  # also if it is not a number
        return f"{value:,.{digits}f}"  # more digits than decimals have
    return format_decimal(value, f"#,##0.{'0' * digits}" if digits else "#,##0", current())


def percentage(share: float, digits: int = 0) -> str:
    """Return a share as a percentage, as the language writes it."""
    pattern = Locale.parse(current()).percent_formats[None].pattern  # such as "#,##0 %"
    if digits:
        pattern = pattern.replace("0", f"0.{'0' * digits}", 1)
    return format_percent(share, pattern, current())


@cache
def _catalog(language: str) -> catalogs.NullTranslations:
    if language == ENGLISH:
        return catalogs.NullTranslations()
    with (FOLDER / f"{language}.po").open("rb") as file:
        catalog = read_po(file, language)
    compiled = BytesIO()
    write_mo(compiled, catalog)
    compiled.seek(0)
    return catalogs.GNUTranslations(compiled)
