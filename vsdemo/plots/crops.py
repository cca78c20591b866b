"""A contact sheet of parts of photos, each with a line below it."""

from __future__ import annotations

from collections.abc import Sequence

from PIL import Image, ImageDraw, ImageFont

COLUMNS, SIDE, GAP, TEXT = 5, 220, 14, 24  # pixels
INK, GROUND = "#24221e", "#efebe3"
Box = tuple[float, float, float, float]


def crop(photo: Image.Image, box: Box) -> Image.Image:
    """The part of a photo in a box of shares, at least a pixel wide and high."""
    x0, y0 = (min(int(v * side), side - 1) for v, side in zip(box[:2], photo.size, strict=True))
    x1, y1 = (round(v * side) for v, side in zip(box[2:], photo.size, strict=True))
    return photo.crop((x0, y0, max(x1, x0 + 1), max(y1, y0 + 1)))


def crops_png(crops: Sequence[tuple[Image.Image, str]]) -> Image.Image:
    """The crops in rows of five, best first, none distorted."""
    columns = max(1, min(COLUMNS, len(crops)))
    rows = -(-len(crops) // columns)
    size = (GAP + columns * (SIDE + GAP), GAP + rows * (SIDE + TEXT + GAP))
    sheet = Image.new("RGB", size, "white")
    pen, font = ImageDraw.Draw(sheet), ImageFont.load_default(14)
    for i, (part, line) in enumerate(crops):
        x, y = GAP + i % columns * (SIDE + GAP), GAP + i // columns * (SIDE + TEXT + GAP)
        scale = min(SIDE / part.width, SIDE / part.height)
        shown = part.resize([max(1, round(side * scale)) for side in part.size])
        pen.rectangle((x, y, x + SIDE - 1, y + SIDE - 1), fill=GROUND)
        sheet.paste(shown, (x + (SIDE - shown.width) // 2, y + (SIDE - shown.height) // 2))
        while font.getlength(line) > SIDE and len(line) > 1:
            line = line.removesuffix("…")[:-1] + "…"
        pen.text((x, y + SIDE + 5), line, INK, font)
    return sheet
