"""A contact sheet of parts of photos, each with a line of text below it."""

from __future__ import annotations

from collections.abc import Sequence

from PIL import Image, ImageDraw, ImageFont

COLUMNS = 5
SIDE, GAP, TEXT_HEIGHT = 220, 14, 24  # pixels
INK, BACKGROUND = "#24221e", "#efebe3"
Box = tuple[float, float, float, float]


def crop(photo: Image.Image, box: Box) -> Image.Image:
    """Return the part of a photo in a box, at least a pixel wide and high.

    Args:
        photo: Any size.
        box: Left, top, right, bottom as shares of width and height.
    """
    width, height = photo.size
    left = min(int(box[0] * width), width - 1)
    top = min(int(box[1] * height), height - 1)
    right = max(round(box[2] * width), left + 1)
    bottom = max(round(box[3] * height), top + 1)
    return photo.crop((left, top, right, bottom))


def crops_png(crops: Sequence[tuple[Image.Image, str]]) -> Image.Image:
    """Return (image, text) pairs in rows of five, without distortion."""
    columns = max(1, min(COLUMNS, len(crops)))
    rows = -(-len(crops) // columns)
    size = (GAP + columns * (SIDE + GAP), GAP + rows * (SIDE + TEXT_HEIGHT + GAP))
    sheet = Image.new("RGB", size, "white")
    pen, font = ImageDraw.Draw(sheet), ImageFont.load_default(14)
    for i, (image, text) in enumerate(crops):
        x = GAP + i % columns * (SIDE + GAP)
        y = GAP + i // columns * (SIDE + TEXT_HEIGHT + GAP)
        scale = min(SIDE / image.width, SIDE / image.height)
        width, height = (max(1, round(side * scale)) for side in image.size)
        pen.rectangle((x, y, x + SIDE - 1, y + SIDE - 1), fill=BACKGROUND)
        corner = (x + (SIDE - width) // 2, y + (SIDE - height) // 2)
        sheet.paste(image.resize((width, height)), corner)
        while font.getlength(text) > SIDE and len(text) > 1:
            text = text.removesuffix("…")[:-1] + "…"
        pen.text((x, y + SIDE + 5), text, INK, font)
    return sheet
