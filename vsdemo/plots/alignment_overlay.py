"""An alignment: boxes over the photo, and the sentence in the colours of its regions."""

from __future__ import annotations

from markupsafe import Markup
from PIL import Image, ImageDraw, ImageFont

from vsdemo.core.alignment import Alignment
from vsdemo.plots.region_marks import (
    Mark,
    badge_places,
    decimals,
    marks,
    marks_of_words,
    phrase,
    rest_phrase,
)
from vsdemo.plots.svg import element

INK, QUIET, PAPER, LINE = "#24221e", "#67625a", "#ffffff", "#dcd6ca"
WIDTH, MAX_HEIGHT = 1000, 1000  # pixels of the photo
MARGIN, GAP = 24, 8
WORD, SMALL = 28, 18  # sizes of text
RADIUS = 17  # radius of a number's disc
STROKE = 5
UNITS = 480  # long side of the SVG, which the page stretches over the photo
BAR = 240  # the longest
X_BAR = MARGIN + WIDTH - BAR - 110
ROW = SMALL + 16
LINE_HEIGHT = WORD + 26

Box = tuple[float, float, float, float]


def boxes_svg(alignment: Alignment, size: tuple[int, int]) -> str:
    """Return the marked boxes as SVG, to lie over the photo.

    Each box is a button with `data-region`; smaller ones are above larger ones. The style sheet of
    the page draws them in grey, and the selected one in its colour.

    Args:
        alignment: Alignment of a sentence with a photo.
        size: Width and height of the photo; the SVG has the same proportions.
    """
    by_region = marks(alignment)
    width, height = (round(UNITS * side / max(size), 1) for side in size)
    boxes = [
        _box(alignment, region, by_region[region], (width, height))
        for region in sorted(by_region, key=lambda r: -_area(alignment.boxes[r]))
    ]
    places = badge_places([alignment.boxes[r] for r in by_region], (width, height), 16)
    badges = [
        _badge(region, mark, x, y)
        for (region, mark), (x, y) in zip(by_region.items(), places, strict=True)
    ]
    attributes = {
        "class": "boxes",
        "viewBox": f"0 0 {width} {height}",
        "role": "group",
        "aria-label": "Regions of the photo",
    }
    return str(element("svg", attributes, *boxes, *badges))


def _area(box: Box) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])


def _box(alignment: Alignment, region: int, mark: Mark, size: tuple[float, float]) -> Markup:
    x0, y0, x1, y1 = _inside(alignment.boxes[region], size, 2)
    phrases = "; ".join(phrase(alignment, m) for m in alignment.fragments_of(region))
    extent = "the whole photo, " if _area(alignment.boxes[region]) > 0.999 else ""
    rectangle = {
        "x": f"{x0:.1f}",
        "y": f"{y0:.1f}",
        "width": f"{x1 - x0:.1f}",
        "height": f"{y1 - y0:.1f}",
    }
    attributes = {
        "role": "button",
        "tabindex": 0,
        "aria-pressed": "false",
        "data-region": region,
        "aria-label": f"Region {mark.number}, {extent}aligned with: {phrases}",
    }
    return element(
        "g",
        attributes,
        element("rect", {"class": "casing", **rectangle}),
        element("rect", {"class": "edge", **rectangle}),
    )


def _badge(region: int, mark: Mark, x: float, y: float) -> Markup:
    """Return the number of a region, above all boxes."""
    disc = {"cx": f"{x:.1f}", "cy": f"{y:.1f}", "r": 13}
    text = {"x": f"{x:.1f}", "y": f"{y:.1f}"}
    return element(
        "g",
        {"aria-hidden": "true", "data-region": region},
        element("circle", disc),
        element("text", text, str(mark.number)),
    )


def _inside(box: Box, size: tuple[float, float], edge: float) -> Box:
    """Return a box in the units of `size`, with its outline inside the photo."""
    width, height = size
    x0, y0 = max(box[0] * width, edge), max(box[1] * height, edge)
    x1 = max(x0, min(box[2] * width, width - edge))
    y1 = max(y0, min(box[3] * height, height - edge))
    return x0, y0, x1, y1


def overlay_png(photo: Image.Image, alignment: Alignment) -> Image.Image:
    """Return the photo with its boxes, and below it the sentence, the score and its parts."""
    scale = min(WIDTH / photo.width, MAX_HEIGHT / photo.height)
    photo = photo.resize((max(1, round(photo.width * scale)), max(1, round(photo.height * scale))))
    _draw_boxes(photo, alignment)
    lines = _sentence_lines(alignment)
    rows = len(alignment.content_fragments) + bool(alignment.rest_fragments)
    height_below = 2 * MARGIN + len(lines) * LINE_HEIGHT + (2 + rows) * ROW + GAP
    page = Image.new("RGB", (WIDTH + 2 * MARGIN, MARGIN + photo.height + height_below), PAPER)
    page.paste(photo, (MARGIN + (WIDTH - photo.width) // 2, MARGIN))
    pen = ImageDraw.Draw(page)
    y = MARGIN + photo.height + MARGIN
    for line in lines:
        for word, x in line:
            _draw_word(pen, alignment, word, x, y)
        y += LINE_HEIGHT
    _draw_parts(pen, alignment, y + 3 * GAP)
    return page


def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)


def _draw_boxes(photo: Image.Image, alignment: Alignment) -> None:
    by_region, pen = marks(alignment), ImageDraw.Draw(photo)
    for region in sorted(by_region, key=lambda r: -_area(alignment.boxes[r])):
        box = _inside(alignment.boxes[region], photo.size, 2)
        pen.rectangle(box, outline=PAPER, width=STROKE + 3)
        x0, y0, x1, y1 = box
        inner = (x0 + 2, y0 + 2, max(x0 + 2, x1 - 2), max(y0 + 2, y1 - 2))
        pen.rectangle(inner, outline=by_region[region].colour, width=STROKE - 1)
    boxes = [alignment.boxes[region] for region in by_region]
    places = badge_places(boxes, photo.size, RADIUS + 4)
    for mark, place in zip(by_region.values(), places, strict=True):
        pen.circle(place, RADIUS + 2, fill=PAPER)
        pen.circle(place, RADIUS, fill=mark.colour)
        pen.text(place, str(mark.number), mark.ink, _font(SMALL + 2), anchor="mm")


def _text_width(text: str, size: int) -> float:
    return _font(size).getlength(text)


def _sentence_lines(alignment: Alignment) -> list[list[tuple[int, float]]]:
    """Return the words in lines: (index of the word, x of its left edge)."""
    lines: list[list[tuple[int, float]]] = [[]]
    x: float = MARGIN
    for i, mark in enumerate(marks_of_words(alignment)):
        width = _text_width(alignment.words[i], WORD) + 2 * GAP + _number_width(mark)
        if lines[-1] and x + width > MARGIN + WIDTH:
            lines.append([])
            x = MARGIN
        lines[-1].append((i, x))
        x += width + GAP
    return lines


def _number_width(mark: Mark | None) -> float:
    """Return the width of a number beside its word."""
    return _text_width(str(mark.number), SMALL) + 2 * GAP if mark else 0


def _draw_word(
    pen: ImageDraw.ImageDraw, alignment: Alignment, word: int, x: float, y: float
) -> None:
    """Draw a word on the colour of its region, with its number; grey if it is not grounded."""
    mark, text = marks_of_words(alignment)[word], alignment.words[word]
    middle = y + (WORD + 14) / 2
    if mark is None:
        pen.text((x + GAP, middle), text, QUIET, _font(WORD), anchor="lm")
        return
    width = _text_width(text, WORD) + 2 * GAP + _number_width(mark)
    pen.rounded_rectangle((x, y, x + width, y + WORD + 14), 6, fill=mark.colour)
    pen.text((x + GAP, middle), str(mark.number), mark.ink, _font(SMALL), anchor="lm")
    rule = x + _number_width(mark)
    pen.line((rule, y + 8, rule, y + WORD + 6), mark.ink, 1)
    pen.text((rule + GAP, middle), text, mark.ink, _font(WORD), anchor="lm")


def _draw_parts(pen: ImageDraw.ImageDraw, alignment: Alignment, y: float) -> None:
    """Draw the total, then a row for each fragment; their bars end to end add up to the total."""
    digits, font = decimals([*alignment.parts, alignment.total]), _font(SMALL)
    total = f"Score {alignment.total:.{digits}f} = {sum_of(alignment)}"
    pen.text((MARGIN, y), total, INK, _font(SMALL + 4), anchor="lm")
    pen.text((X_BAR - 12, y), "best region", QUIET, font, anchor="rm")
    pen.text((MARGIN + WIDTH, y), "part", QUIET, font, anchor="rm")
    sum_before = 0.0
    for m in alignment.content_fragments:
        y += ROW
        part = alignment.parts[m]
        _draw_part(pen, alignment, m, y, sum_before)
        ink = QUIET if alignment.best_region(m) is None else INK
        pen.text((MARGIN + WIDTH, y), f"{part:z.{digits}f}", ink, font, anchor="rm")
        sum_before += part
    if alignment.rest_fragments:
        y += ROW
        part = alignment.rest_part
        text = _shorten(rest_phrase(alignment), SMALL, X_BAR - MARGIN - 60)
        pen.text((MARGIN + 36, y), text, QUIET, font, anchor="lm")
        _draw_bar(pen, alignment, (sum_before, sum_before + part), y, QUIET)
        pen.text((MARGIN + WIDTH, y), f"{part:z.{digits}f}", QUIET, font, anchor="rm")


def _draw_part(
    pen: ImageDraw.ImageDraw, alignment: Alignment, m: int, y: float, sum_before: float
) -> None:
    """Draw a fragment, its best region, and its bar, which begins where those before it end."""
    font, region = _font(SMALL), alignment.best_region(m)
    text = f"{phrase(alignment, m)}  ({alignment.fragments[m].relation})"
    text = _shorten(text, SMALL, X_BAR - 130 - MARGIN)
    if region is None:
        pen.line((X_BAR, y, X_BAR + BAR, y), LINE, 1)
        pen.text((MARGIN + 36, y), text, QUIET, font, anchor="lm")
        pen.text((X_BAR - 12, y), "not grounded", QUIET, font, anchor="rm")
        return
    mark = marks(alignment)[region]
    pen.circle((MARGIN + 12, y), 12, fill=mark.colour)
    pen.text((MARGIN + 12, y), str(mark.number), mark.ink, _font(SMALL - 3), anchor="mm")
    pen.text((MARGIN + 36, y), text, INK, font, anchor="lm")
    pen.text((X_BAR - 12, y), f"{alignment.scores[m][region]:.2f}", INK, font, anchor="rm")
    _draw_bar(pen, alignment, (sum_before, sum_before + alignment.parts[m]), y, mark.colour)


def _draw_bar(
    pen: ImageDraw.ImageDraw,
    alignment: Alignment,
    ends: tuple[float, float],
    y: float,
    colour: str,
) -> None:
    """Draw a part between two running sums."""
    low, span = reach(alignment)
    left, right = ((end - low) / span * BAR + X_BAR for end in sorted(ends))
    pen.line((X_BAR, y, X_BAR + BAR, y), LINE, 1)
    pen.rectangle((left, y - 8, max(right, left + 1), y + 8), fill=colour)


def sum_of(alignment: Alignment) -> str:
    """Return what the total is, such as "the sum of 3 parts"; the rest is one part."""
    count = len(alignment.content_fragments) + bool(alignment.rest_fragments)
    return f"the sum of {count} parts" if count != 1 else "its one part"


def reach(alignment: Alignment) -> tuple[float, float]:
    """Return the least running sum of the parts, and the distance from it to the largest.

    The `rest_part` is the last one.
    """
    sums = [0.0]
    for m in alignment.content_fragments:
        sums.append(sums[-1] + alignment.parts[m])
    sums.append(sums[-1] + alignment.rest_part)
    return min(sums), max(max(sums) - min(sums), 1e-9)


def _shorten(text: str, size: int, width: float) -> str:
    while _text_width(text, size) > width and len(text) > 1:
        text = text.removesuffix("…")[:-1] + "…"
    return text
