"""An alignment as a file: the photo with its boxes, the sentence, the score and its parts."""

from __future__ import annotations

from PIL import Image

from vsdemo.core.alignment import Alignment
from vsdemo.core.language import number, translate
from vsdemo.plots.alignment_overlay import area_of, centre_of, inside, reach, sum_of
from vsdemo.plots.pens import PAPER, Pen, PixelPen, Place, SvgPen, text_width
from vsdemo.plots.region_marks import (
    Mark,
    absence,
    badge_places,
    decimals,
    link_text,
    marks,
    marks_of_words,
    part_number,
    phrase,
    relation_text,
    rest_phrase,
)

INK, QUIET, LINE = "#24221e", "#67625a", "#dcd6ca"
WIDTH, MAX_HEIGHT = 1000, 1000  # pixels of the photo
MARGIN, GAP = 24, 8
WORD, SMALL = 28, 18  # sizes of text
RADIUS = 17  # radius of a number's disc
STROKE = 5
BAR = 240  # the longest
X_BAR = MARGIN + WIDTH - BAR - 110
ROW = SMALL + 16
LINE_HEIGHT = WORD + 26


def overlay_png(photo: Image.Image, alignment: Alignment) -> Image.Image:
    """Return the photo with its boxes, and below it the sentence, the score and its parts."""
    photo = _resize(photo)
    pen = PixelPen(*_size(photo, alignment))
    _draw(pen, photo, alignment)
    return pen.page


def overlay_svg(photo: Image.Image, alignment: Alignment) -> str:
    """Return the same as SVG; the photo is part of the file."""
    photo = _resize(photo)
    pen = SvgPen(*_size(photo, alignment))
    _draw(pen, photo, alignment)
    return pen.svg(" ".join(alignment.words))


def _resize(photo: Image.Image) -> Image.Image:
    scale = min(WIDTH / photo.width, MAX_HEIGHT / photo.height)
    return photo.resize((max(1, round(photo.width * scale)), max(1, round(photo.height * scale))))


def _size(photo: Image.Image, alignment: Alignment) -> tuple[int, int]:
    """Return width and height of the page."""
    lines = len(_sentence_lines(alignment))
    rows = len(alignment.content_fragments) + bool(alignment.rest_fragments)
    below = 2 * MARGIN + lines * LINE_HEIGHT + (2 + rows) * ROW + GAP
    return WIDTH + 2 * MARGIN, MARGIN + photo.height + below


def _draw(pen: Pen, photo: Image.Image, alignment: Alignment) -> None:
    corner = (MARGIN + (WIDTH - photo.width) / 2, MARGIN)
    pen.photo(photo, corner)
    _draw_boxes(pen, alignment, photo.size, corner)
    y: float = MARGIN + photo.height + MARGIN
    for line in _sentence_lines(alignment):
        for word, x in line:
            _draw_word(pen, alignment, word, x, y)
        y += LINE_HEIGHT
    _draw_parts(pen, alignment, y + 3 * GAP)


def _draw_boxes(pen: Pen, alignment: Alignment, size: tuple[int, int], corner: Place) -> None:
    by_region = marks(alignment)
    left, top = corner
    for region in sorted(by_region, key=lambda r: -area_of(alignment.boxes[r])):
        x0, y0, x1, y1 = inside(alignment.boxes[region], size, 2)
        x0, y0, x1, y1 = left + x0, top + y0, left + x1, top + y1
        pen.outline((x0, y0, x1, y1), PAPER, STROKE + 3)
        inner = (x0 + 2, y0 + 2, max(x0 + 2, x1 - 2), max(y0 + 2, y1 - 2))
        pen.outline(inner, by_region[region].colour, STROKE - 1)
    for link, one, other in alignment.visible_links:
        ends = [centre_of(alignment.boxes[region], size) for region in (one, other)]
        start, end = ((left + x, top + y) for x, y in ends)
        pen.line(start, end, PAPER, STROKE)
        pen.line(start, end, INK, 2)
        middle, text = (
            ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2),
            link_text(alignment, link),
        )
        half = text_width(text, SMALL) / 2 + GAP
        label = (middle[0] - half, middle[1] - 14, middle[0] + half, middle[1] + 14)
        pen.area(label, PAPER, 6)
        pen.text(middle, text, INK, SMALL, "m")
    boxes = [alignment.boxes[region] for region in by_region]
    places = badge_places(boxes, size, RADIUS + 4)
    for mark, (x, y) in zip(by_region.values(), places, strict=True):
        place = (left + x, top + y)
        pen.disc(place, RADIUS + 2, PAPER)
        pen.disc(place, RADIUS, mark.colour)
        pen.text(place, str(mark.number), mark.ink, SMALL + 2, "m")


def _sentence_lines(alignment: Alignment) -> list[list[tuple[int, float]]]:
    """Return the words in lines: (index of the word, x of its left edge)."""
    lines: list[list[tuple[int, float]]] = [[]]
    x: float = MARGIN
    for i, mark in enumerate(marks_of_words(alignment)):
        width = text_width(alignment.words[i], WORD) + 2 * GAP + _number_width(mark)
        if lines[-1] and x + width > MARGIN + WIDTH:
            lines.append([])
            x = MARGIN
        lines[-1].append((i, x))
        x += width + GAP
    return lines


def _number_width(mark: Mark | None) -> float:
    """Return the width of a number beside its word."""
    return text_width(str(mark.number), SMALL) + 2 * GAP if mark else 0


def _draw_word(pen: Pen, alignment: Alignment, word: int, x: float, y: float) -> None:
    """Draw a word on the colour of its region, with its number; grey if it has none."""
    mark, text = marks_of_words(alignment)[word], alignment.words[word]
    middle = y + (WORD + 14) / 2
    if mark is None:
        pen.text((x + GAP, middle), text, QUIET, WORD)
        return
    width = text_width(text, WORD) + 2 * GAP + _number_width(mark)
    pen.area((x, y, x + width, y + WORD + 14), mark.colour, 6)
    pen.text((x + GAP, middle), str(mark.number), mark.ink, SMALL)
    rule = x + _number_width(mark)
    pen.line((rule, y + 8), (rule, y + WORD + 6), mark.ink, 1)
    pen.text((rule + GAP, middle), text, mark.ink, WORD)


def _draw_parts(pen: Pen, alignment: Alignment, y: float) -> None:
    """Draw the total, then a row for each fragment; their bars end to end add up to the total."""
    digits = decimals([*alignment.parts, alignment.total])
    total = translate(
        "Score {score} = {sum}", score=number(alignment.total, digits), sum=sum_of(alignment)
    )
    pen.text((MARGIN, y), total, INK, SMALL + 4)
    pen.text((X_BAR - 12, y), translate("best region"), QUIET, SMALL, "r")
    pen.text((MARGIN + WIDTH, y), translate("part"), QUIET, SMALL, "r")
    sum_before = 0.0
    for m in alignment.content_fragments:
        y += ROW
        part = alignment.parts[m]
        _draw_part(pen, alignment, m, y, sum_before)
        ink = QUIET if alignment.best_region(m) is None else INK
        pen.text((MARGIN + WIDTH, y), part_number(part, digits), ink, SMALL, "r")
        sum_before += part
    if alignment.rest_fragments:
        y += ROW
        part = alignment.rest_part
        text = _shorten(rest_phrase(alignment), SMALL, X_BAR - MARGIN - 60)
        pen.text((MARGIN + 36, y), text, QUIET, SMALL)
        _draw_bar(pen, alignment, (sum_before, sum_before + part), y, QUIET)
        pen.text((MARGIN + WIDTH, y), part_number(part, digits), QUIET, SMALL, "r")


def _draw_part(pen: Pen, alignment: Alignment, m: int, y: float, sum_before: float) -> None:
    """Draw a fragment, its best region, and its bar, which begins where those before it end."""
    region = alignment.best_region(m)
    text = f"{phrase(alignment, m)}  ({relation_text(alignment.fragments[m].relation)})"
    text = _shorten(text, SMALL, X_BAR - 130 - MARGIN)
    if region is None:
        pen.line((X_BAR, y), (X_BAR + BAR, y), LINE, 1)
        pen.text((MARGIN + 36, y), text, QUIET, SMALL)
        pen.text((X_BAR - 12, y), absence(alignment, m), QUIET, SMALL, "r")
        return
    mark = marks(alignment)[region]
    pen.disc((MARGIN + 12, y), 12, mark.colour)
    pen.text((MARGIN + 12, y), str(mark.number), mark.ink, SMALL - 3, "m")
    pen.text((MARGIN + 36, y), text, INK, SMALL)
    score = number(alignment.best_score(m) or 0.0, 2)
    pen.text((X_BAR - 12, y), score, INK, SMALL, "r")
    _draw_bar(pen, alignment, (sum_before, sum_before + alignment.parts[m]), y, mark.colour)


def _draw_bar(
    pen: Pen,
    alignment: Alignment,
    ends: tuple[float, float],
    y: float,
    colour: str,
) -> None:
    """Draw a part between two running sums."""
    low, span = reach(alignment)
    left, right = ((end - low) / span * BAR + X_BAR for end in sorted(ends))
    pen.line((X_BAR, y), (X_BAR + BAR, y), LINE, 1)
    pen.area((left, y - 8, max(right, left + 1), y + 8), colour)


def _shorten(text: str, size: int, width: float) -> str:
    while text_width(text, size) > width and len(text) > 1:
        text = text.removesuffix("…")[:-1] + "…"
    return text
