"""Renders the Jinja2 templates in `ui/templates`. Whatever they are given is escaped."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from vsdemo.core import language

FOLDER = Path(__file__).parents[1] / "templates"


def _percent(value: float, digits: int = 1) -> str:
    """Return a share as a CSS length, such as "12.5%"."""
    return f"{value:.{digits}%}"


def _code_spans(text: str) -> list[tuple[bool, str]]:
    """Split text at backticks into (is code, part)."""
    return [(i % 2 == 1, part) for i, part in enumerate(text.split("`"))]


def _query_string(address: Mapping[str, str]) -> str:
    """Return an address of the page as a query string."""
    return urlencode(address)


ENVIRONMENT = Environment(
    loader=FileSystemLoader(FOLDER),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    extensions=["jinja2.ext.i18n"],
)
ENVIRONMENT.policies["ext.i18n.trimmed"] = True  # lines of a text are joined
ENVIRONMENT.install_gettext_callables(  # type: ignore[attr-defined]
    language.gettext, language.ngettext, newstyle=True
)
ENVIRONMENT.globals["translate"] = language.translate  # of values; `_` does not escape them
ENVIRONMENT.filters |= {
    "number": language.number,
    "percent": _percent,
    "percentage": language.percentage,
    "code_spans": _code_spans,
    "query_string": _query_string,
}


def render(template: str, **values: Any) -> Markup:
    """Return the HTML of a template, such as "search/detail.html".

    Args:
        template: Path below `ui/templates`.
        **values: What the template reads. `Markup`, such as another template's HTML, is not
            escaped again.

    Raises:
        jinja2.UndefinedError: The template reads a value that is missing.
    """
    return Markup(ENVIRONMENT.get_template(template).render(values))
