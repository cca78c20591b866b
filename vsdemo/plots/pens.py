"""Two pens with the same strokes: one draws pixels, the other one SVG."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping
from typing import Protocol

from PIL import Image, ImageDraw, ImageFont

from vsdemo.plots.svg import FONT, NAMESPACE, element

PAPER = "#ffffff"
QUALITY = 90  # of the photo in an SVG, as JPEG

Place = tuple[float, float]
Box = tuple[float, float, float, float]  # left, top, right, bottom


class Pen(Protocol):
    """Draws on a page; places and sizes are in pixels from the upper left corner."""

    def photo(self, image: Image.Image, place: Place) -> None:
        """Draw a photo with its upper left corner at a place."""

    def outline(self, box: Box, colour: str, width: int) -> None:
        """Draw the outline of a box, within the box."""

    def area(self, box: Box, colour: str, radius: int = 0) -> None:
        """Fill a box, whose corners may be round."""

    def disc(self, centre: Place, radius: float, colour: str) -> None:
        """Fill a circle."""

    def line(self, start: Place, end: Place, colour: str, width: int) -> None:
        """Draw a straight line."""

    def text(self, place: Place, text: str, colour: str, size: int, anchor: str = "l") -> None:
        """Write a line, whose middle is level with the place.

        Args:
            place: The left end ("l"), the middle ("m") or the right end ("r").
            text: The text.
            colour: Its colour.
            size: Size of the font.
            anchor: Which of the three.
        """


def font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """Return the font that is drawn and measured."""
    return ImageFont.load_default(size)


def text_width(text: str, size: int) -> float:
    """Return the width of a line of text, the same with both pens."""
    return font(size).getlength(text)


class PixelPen:
    """Draws on `page`, an image of a width and height."""

    def __init__(self, width: int, height: int) -> None:
        self.page = Image.new("RGB", (width, height), PAPER)
        self._pen = ImageDraw.Draw(self.page)

    def photo(self, image: Image.Image, place: Place) -> None:
        """Draw a photo, see `Pen`; so do the methods below."""
        self.page.paste(image, (round(place[0]), round(place[1])))

    def outline(self, box: Box, colour: str, width: int) -> None:
        """Draw the outline of a box."""
        self._pen.rectangle(box, outline=colour, width=width)

    def area(self, box: Box, colour: str, radius: int = 0) -> None:
        """Fill a box."""
        self._pen.rounded_rectangle(box, radius, fill=colour)

    def disc(self, centre: Place, radius: float, colour: str) -> None:
        """Fill a circle."""
        self._pen.circle(centre, radius, fill=colour)

    def line(self, start: Place, end: Place, colour: str, width: int) -> None:
        """Draw a straight line."""
        self._pen.line((*start, *end), colour, width)

    def text(self, place: Place, text: str, colour: str, size: int, anchor: str = "l") -> None:
        """Write a line."""
        self._pen.text(place, text, colour, font(size), anchor=f"{anchor}m")


class SvgPen:
    """Collects the elements of an SVG file."""

    def __init__(self, width: int, height: int) -> None:
        self._size = {"width": width, "height": height}
        self._elements = [element("rect", {**self._size, "fill": PAPER})]

    def photo(self, image: Image.Image, place: Place) -> None:
        """Embed a photo, see `Pen`; so do the methods below."""
        file = io.BytesIO()
        image.convert("RGB").save(file, "JPEG", quality=QUALITY)
        content = base64.b64encode(file.getvalue()).decode()
        attributes = {"x": place[0], "y": place[1], "width": image.width, "height": image.height}
        self._add("image", attributes, href=f"data:image/jpeg;base64,{content}")

    def outline(self, box: Box, colour: str, width: int) -> None:
        """Draw the outline of a box."""
        x0, y0, x1, y1 = box
        inside = (x0 + width / 2, y0 + width / 2, x1 - width / 2, y1 - width / 2)
        self._add("rect", _rectangle(inside), fill="none", stroke=colour, **{"stroke-width": width})

    def area(self, box: Box, colour: str, radius: int = 0) -> None:
        """Fill a box."""
        self._add("rect", _rectangle(box), rx=radius, fill=colour)

    def disc(self, centre: Place, radius: float, colour: str) -> None:
        """Fill a circle."""
        self._add(
            "circle", {"cx": _short(centre[0]), "cy": _short(centre[1])}, r=radius, fill=colour
        )

    def line(self, start: Place, end: Place, colour: str, width: int) -> None:
        """Draw a straight line."""
        ends = zip(("x1", "y1", "x2", "y2"), map(_short, (*start, *end)), strict=True)
        self._add("line", dict(ends), stroke=colour, **{"stroke-width": width})

    def text(self, place: Place, text: str, colour: str, size: int, anchor: str = "l") -> None:
        """Write a line, as wide as `text_width` says, whatever font the reader has."""
        x = place[0] - {"l": 0, "m": 0.5, "r": 1}[anchor] * text_width(text, size)
        attributes = {
            "x": _short(x),
            "y": _short(place[1]),
            "font-size": size,
            "dominant-baseline": "central",
            "textLength": _short(text_width(text, size)),
            "lengthAdjust": "spacingAndGlyphs",
        }
        self._elements.append(element("text", {**attributes, "fill": colour}, text))

    def svg(self, title: str) -> str:
        """Return the file."""
        view = f"0 0 {self._size['width']} {self._size['height']}"
        attributes = {"xmlns": NAMESPACE, "viewBox": view, **self._size, "font-family": FONT}
        return f"{element('svg', attributes, element('title', None, title), *self._elements)}\n"

    def _add(self, name: str, attributes: Mapping[str, object], **more: object) -> None:
        self._elements.append(element(name, {**attributes, **more}))


def _rectangle(box: Box) -> dict[str, object]:
    x0, y0, x1, y1 = box
    sides = {"x": x0, "y": y0, "width": max(0, x1 - x0), "height": max(0, y1 - y0)}
    return {name: _short(value) for name, value in sides.items()}


def _short(value: float) -> str:
    return f"{value:.1f}"
