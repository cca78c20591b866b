"""SVG elements whose attributes and texts are escaped."""

from __future__ import annotations

from collections.abc import Mapping

from markupsafe import Markup, escape

NAMESPACE = "http://www.w3.org/2000/svg"
FONT = "system-ui,sans-serif"


def element(
    name: str, attributes: Mapping[str, object] | None = None, *children: str | Markup
) -> Markup:
    """Return an element.

    Args:
        name: Its name, such as `rect`.
        attributes: Their values are escaped.
        children: Elements, and texts, which are escaped. Without any the element is empty.
    """
    pairs = (attributes or {}).items()
    start = Markup("").join(Markup(' {}="{}"').format(Markup(key), v) for key, v in pairs)
    tag = Markup(name)
    if not children:
        return Markup("<{}{}/>").format(tag, start)
    return Markup("<{}{}>{}</{}>").format(tag, start, join(*children), tag)


def join(*parts: str | Markup) -> Markup:
    """Return elements, and texts, which are escaped, one after the other."""
    return Markup("").join(escape(part) for part in parts)


def document(title: str, width: float, height: float, *children: Markup, ink: str) -> str:
    """Return a standalone file: a title above children, on white paper."""
    attributes = {
        "xmlns": NAMESPACE,
        "viewBox": f"0 0 {width} {height}",
        "width": width,
        "height": height,
        "font-family": FONT,
        "font-size": 13,
        "fill": ink,
    }
    paper = {"width": width, "height": height, "fill": "#ffffff"}
    svg = element(
        "svg",
        attributes,
        element("title", None, title),
        element("rect", paper),
        element("text", {"x": 12, "y": 24, "font-size": 15}, title),
        *children,
    )
    return f"{svg}\n"
