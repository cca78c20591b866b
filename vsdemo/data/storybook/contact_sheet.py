"""A contact sheet: pictures with their shortest and their longest caption."""

from __future__ import annotations

from pathlib import Path
from textwrap import wrap

from PIL import Image, ImageDraw, ImageFont

from vsdemo.core.errors import UserError
from vsdemo.core.images import check_image_name, save_image
from vsdemo.data.storybook import store
from vsdemo.data.storybook.drawing import HEIGHT, INK, WIDTH

COLUMNS, GAP, TEXT, LETTERS = 4, 12, 60, 72  # pixels, and letters a line


def save_sheet(split: str, n: int, to: Path) -> None:
    """Writes the contact sheet of n pictures.

    Raises UserError when there is no such split, or the file cannot be written.
    """
    if split not in store.SPLITS:
        raise UserError(f"There is no split {split!r}; valid are {', '.join(store.SPLITS)}.")
    check_image_name(to)  # before anything is drawn
    save_image(contact_sheet(split, n), to)


def contact_sheet(split: str, n: int) -> Image.Image:
    """The first n pictures of a split in rows of four, drawn where they are missing."""
    numbers = store.SPLITS[split][:n]
    stories = store.read(numbers)
    rows = -(-n // COLUMNS)
    size = (GAP + COLUMNS * (WIDTH + GAP), GAP + rows * (HEIGHT + TEXT + GAP))
    sheet = Image.new("RGB", size, "white")
    pen, font = ImageDraw.Draw(sheet), ImageFont.load_default(12)
    for i, (number, story) in enumerate(zip(numbers, stories, strict=True)):
        x = GAP + i % COLUMNS * (WIDTH + GAP)
        y = GAP + i // COLUMNS * (HEIGHT + TEXT + GAP)
        with Image.open(store.photo(number)) as picture:
            sheet.paste(picture.convert("RGB"), (x, y))
        texts = (story.captions[0], story.captions[-1])
        lines = "\n".join(line for text in texts for line in wrap(text, LETTERS))
        pen.multiline_text((x, y + HEIGHT + 3), lines, INK, font)
    return sheet
