"""Draws an alignment: boxes over the photo, and the sentence in the colours of its regions."""

from __future__ import annotations

from html import escape

from PIL import Image, ImageDraw, ImageFont

from vsdemo.core.alignment import Alignment
from vsdemo.plots.region_marks import Mark, badges, decimals, marks, marks_of_words, phrase

INK, QUIET, PAPER, LINE = "#24221e", "#67625a", "#ffffff", "#dcd6ca"
WIDE, TALLEST = 1000, 1000  # pixels of the photo
MARGIN, GAP = 24, 8
WORD, SMALL = 28, 18  # sizes of text
RADIUS = 17  # of a number's disc
STROKE = 5
UNITS = 480  # long side of the boxes' SVG; it stretches with the photo
BAR = 240  # the longest
X_BAR = MARGIN + WIDE - BAR - 110
ROW = SMALL + 16


def boxes_svg(alignment: Alignment, size: tuple[int, int]) -> str:
    """The marked boxes as SVG in the proportions of a photo of this size, to lie over it.

    Each box is a button with `data-region`, smaller ones above larger ones.
    """
    known = marks(alignment)
    wide, high = (round(UNITS * side / max(size), 1) for side in size)
    places = badges([alignment.boxes[r] for r in known], (wide, high), 16)
    boxes = (
        _box(alignment, region, known[region], (wide, high))
        for region in sorted(known, key=lambda r: -_area(alignment.boxes[r]))
    )
    numbers = (_badge(r, m, *at) for (r, m), at in zip(known.items(), places, strict=True))
    return (
        f'<svg class="boxes" viewBox="0 0 {wide} {high}" role="group" '
        f'aria-label="Regions of the photo">{"".join([*boxes, *numbers])}</svg>'
    )


def _area(box: tuple[float, float, float, float]) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])


def _box(alignment: Alignment, region: int, mark: Mark, size: tuple[float, float]) -> str:
    x0, y0, x1, y1 = _inside(alignment.boxes[region], size, 2)
    said = "; ".join(phrase(alignment, m) for m in alignment.fragments_of(region))
    where = "the whole photo, " if _area(alignment.boxes[region]) > 0.999 else ""
    rect = f'x="{x0:.1f}" y="{y0:.1f}" width="{x1 - x0:.1f}" height="{y1 - y0:.1f}"'
    return (
        f'<g role="button" tabindex="0" aria-pressed="false" data-region="{region}" '
        f'aria-label="{escape(f"Region {mark.number}, {where}spoken of by: {said}")}">'
        f'<rect class="casing" {rect}/><rect class="edge" {rect} stroke="{mark.colour}"/></g>'
    )


def _badge(region: int, mark: Mark, x: float, y: float) -> str:
    """The number of a region, above all boxes."""
    return (
        f'<g aria-hidden="true" data-region="{region}">'
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="13" fill="{mark.colour}"/>'
        f'<text x="{x:.1f}" y="{y + 5.5:.1f}" fill="{mark.ink}">{mark.number}</text></g>'
    )


def _inside(
    box: tuple[float, float, float, float], size: tuple[float, float], edge: float
) -> tuple[float, float, float, float]:
    """A box in the units of `size`, its line inside of the photo."""
    wide, high = size
    x0, y0 = max(box[0] * wide, edge), max(box[1] * high, edge)
    return (
        x0,
        y0,
        max(x0, min(box[2] * wide, wide - edge)),
        max(y0, min(box[3] * high, high - edge)),
    )


def overlay_png(photo: Image.Image, alignment: Alignment) -> Image.Image:
    """The photo with its boxes, below it the sentence, the score and what it is the sum of."""
    scale = min(WIDE / photo.width, TALLEST / photo.height)
    photo = photo.resize((max(1, round(photo.width * scale)), max(1, round(photo.height * scale))))
    _draw_boxes(photo, alignment)
    rows = len(alignment.fragments)
    lines = _sentence_lines(alignment)
    below = (
        MARGIN + len(lines) * (WORD + 26) + 2 * (SMALL + 16) + GAP + rows * (SMALL + 16) + MARGIN
    )
    page = Image.new("RGB", (WIDE + 2 * MARGIN, MARGIN + photo.height + below), PAPER)
    page.paste(photo, (MARGIN + (WIDE - photo.width) // 2, MARGIN))
    pen = ImageDraw.Draw(page)
    y = MARGIN + photo.height + MARGIN
    for line in lines:
        for word, x in line:
            _draw_word(pen, alignment, word, x, y)
        y += WORD + 26
    _draw_parts(pen, alignment, y + 3 * GAP)
    return page


def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)


def _draw_boxes(photo: Image.Image, alignment: Alignment) -> None:
    known, pen = marks(alignment), ImageDraw.Draw(photo)
    for region in sorted(known, key=lambda r: -_area(alignment.boxes[r])):
        box = _inside(alignment.boxes[region], photo.size, 2)
        pen.rectangle(box, outline=PAPER, width=STROKE + 3)
        x0, y0, x1, y1 = box
        inner = (x0 + 2, y0 + 2, max(x0 + 2, x1 - 2), max(y0 + 2, y1 - 2))
        pen.rectangle(inner, outline=known[region].colour, width=STROKE - 1)
    boxes = [alignment.boxes[r] for r in known]
    for mark, place in zip(known.values(), badges(boxes, photo.size, RADIUS + 4), strict=True):
        _draw_number(pen, mark, place)


def _draw_number(pen: ImageDraw.ImageDraw, mark: Mark, place: tuple[float, float]) -> None:
    pen.circle(place, RADIUS + 2, fill=PAPER)
    pen.circle(place, RADIUS, fill=mark.colour)
    pen.text(place, str(mark.number), mark.ink, _font(SMALL + 2), anchor="mm")


def _wide(text: str, size: int) -> float:
    return _font(size).getlength(text)


def _sentence_lines(alignment: Alignment) -> list[list[tuple[int, float]]]:
    """The words in lines: (number of the word, x of its left edge)."""
    lines: list[list[tuple[int, float]]] = [[]]
    x: float = MARGIN
    for i, mark in enumerate(marks_of_words(alignment)):
        wide = _wide(alignment.words[i], WORD) + 2 * GAP + _room(mark)
        if lines[-1] and x + wide > MARGIN + WIDE:
            lines.append([])
            x = MARGIN
        lines[-1].append((i, x))
        x += wide + GAP
    return lines


def _room(mark: Mark | None) -> float:
    """The width of a number beside its word."""
    return _wide(str(mark.number), SMALL) + 2 * GAP if mark else 0


def _draw_word(
    pen: ImageDraw.ImageDraw, alignment: Alignment, word: int, x: float, y: float
) -> None:
    """A word on its region's colour, with its number; grey where nothing is seen of it."""
    mark, text = marks_of_words(alignment)[word], alignment.words[word]
    middle = y + (WORD + 14) / 2
    if mark is None:
        pen.text((x + GAP, middle), text, QUIET, _font(WORD), anchor="lm")
        return
    wide = _wide(text, WORD) + 2 * GAP + _room(mark)
    pen.rounded_rectangle((x, y, x + wide, y + WORD + 14), 6, fill=mark.colour)
    pen.text((x + GAP, middle), str(mark.number), mark.ink, _font(SMALL), anchor="lm")
    rule = x + _room(mark)
    pen.line((rule, y + 8, rule, y + WORD + 6), mark.ink, 1)
    pen.text((rule + GAP, middle), text, mark.ink, _font(WORD), anchor="lm")


def _draw_parts(pen: ImageDraw.ImageDraw, alignment: Alignment, y: float) -> None:
    """The total, then a row a fragment whose bars, set end to end, add up to it."""
    digits, font = decimals([*alignment.parts, alignment.total]), _font(SMALL)
    total = f"Score {alignment.total:.{digits}f} = {sum_of(alignment)}"
    pen.text((MARGIN, y), total, INK, _font(SMALL + 4), anchor="lm")
    pen.text((X_BAR - 12, y), "best region", QUIET, font, anchor="rm")
    pen.text((MARGIN + WIDE, y), "part", QUIET, font, anchor="rm")
    before = 0.0
    for m, part in enumerate(alignment.parts):
        y += ROW
        _draw_part(pen, alignment, m, y, before)
        ink = QUIET if alignment.best_region(m) is None else INK
        pen.text((MARGIN + WIDE, y), f"{part:.{digits}f}", ink, font, anchor="rm")
        before += part


def _draw_part(
    pen: ImageDraw.ImageDraw, alignment: Alignment, m: int, y: float, before: float
) -> None:
    """A fragment, its best region and its part of the total, which begins where others end."""
    font, region, (low, span) = _font(SMALL), alignment.best_region(m), reach(alignment)
    text = f"{phrase(alignment, m)}  ({alignment.fragments[m].relation})"
    text = _short(text, SMALL, X_BAR - 130 - MARGIN)
    pen.line((X_BAR, y, X_BAR + BAR, y), LINE, 1)
    if region is None:
        pen.text((MARGIN + 36, y), text, QUIET, font, anchor="lm")
        pen.text((X_BAR - 12, y), "not grounded", QUIET, font, anchor="rm")
        return
    mark = marks(alignment)[region]
    pen.circle((MARGIN + 12, y), 12, fill=mark.colour)
    pen.text((MARGIN + 12, y), str(mark.number), mark.ink, _font(SMALL - 3), anchor="mm")
    pen.text((MARGIN + 36, y), text, INK, font, anchor="lm")
    pen.text((X_BAR - 12, y), f"{alignment.scores[m][region]:.2f}", INK, font, anchor="rm")
    left, right = (
        (end - low) / span * BAR + X_BAR for end in sorted((before, before + alignment.parts[m]))
    )
    pen.rectangle((left, y - 8, max(right, left + 1), y + 8), fill=mark.colour)


def sum_of(alignment: Alignment) -> str:
    """What the total is, in words."""
    count = len(alignment.parts)
    return f"the sum of {count} parts" if count != 1 else "its one part"


def reach(alignment: Alignment) -> tuple[float, float]:
    """Of the running sum of the parts: its least value, and from there to its largest."""
    sums = [0.0]
    for part in alignment.parts:
        sums.append(sums[-1] + part)
    return min(sums), max(max(sums) - min(sums), 1e-9)


def _short(text: str, size: int, room: float) -> str:
    while _wide(text, size) > room and len(text) > 1:
        text = text.removesuffix("…")[:-1] + "…"
    return text
