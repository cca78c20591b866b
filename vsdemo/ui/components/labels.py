"""Texts that are on the page before any callback has run, and the language of a page.

Gradio shows them in the language of the browser. All other texts are translated in callbacks, by
`vsdemo.core.language.translate`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from typing import TypeVar

import gradio as gr
from gradio.context import LocalContext
from gradio.i18n import I18nData
from markupsafe import Markup

from vsdemo.core import language

T = TypeVar("T")
_texts: dict[str, Callable[[], str]] = {}  # key -> what returns the text in the current language


def label(text: str) -> I18nData:
    """Return a text of a widget, to be shown in the language of the browser."""
    _texts[text] = partial(language.translate, text)
    return I18nData(text)


def choice(text: str) -> str:
    """Return a text to choose in a list, to be shown in the language of the browser."""
    return str(label(text))


def static(render: Callable[[], str]) -> I18nData:
    """Return HTML that no callback fills, to be shown in the language of the browser.

    Args:
        render: Returns the HTML in the current language. Pages with the same HTML share a text.
    """
    with language.speaking(language.ENGLISH):
        key = f"html-{sha256(render().encode()).hexdigest()[:16]}"
    _texts[key] = render
    return I18nData(key)


def in_each_language(render: Callable[[], T]) -> dict[str, T]:
    """Return what a function returns in each language, by the language's code."""
    rendered = {}
    for code in language.languages():
        with language.speaking(code):
            rendered[code] = render()
    return rendered


def template(render: Callable[[], Markup]) -> str:
    """Return a template of `gr.HTML` that is HTML in the language of the browser.

    Args:
        render: Returns the HTML in the current language; called once for each language.
    """
    return "${(" + json.dumps(in_each_language(render)) + ")[vsdemo.language]}"


def translations() -> gr.I18n:
    """Return all texts of the page in each language."""
    return gr.I18n(**in_each_language(lambda: {key: str(text()) for key, text in _texts.items()}))


def page_language() -> str:
    """Return the language of the page whose callback is running; English without one.

    It is the first language of the browser, in which Gradio shows its own texts too.
    """
    request = LocalContext.request.get(None)
    accepted = request.headers.get("accept-language", "") if request else ""
    return language.preferred(accepted)
