"""A contact sheet: pictures with their shortest and their longest caption."""

from __future__ import annotations

from pathlib import Path
from textwrap import wrap

from PIL import Image, ImageDraw, ImageFont

from vsdemo.core.errors import UserError
from vsdemo.core.images import check_image_name, save_image
from vsdemo.data.storybook import store
from vsdemo.data.storybook.drawing import HEIGHT, INK, WIDTH

COLUMNS = 4
GAP = 12  # pixels
TEXT_HEIGHT = 60  # pixels
LINE_LENGTH = 72  # letters


def save_sheet(split: str, count: int, to: Path) -> None:
    """Write the contact sheet of the first pictures of a split.

    Raises:
        UserError: If there is no such split, or the file cannot be written.
    """
    if split not in store.SPLITS:
        raise UserError(f"There is no split {split!r}; choose one of {', '.join(store.SPLITS)}.")
    check_image_name(to)  # before anything is drawn
    save_image(contact_sheet(split, count), to)


def contact_sheet(split: str, count: int) -> Image.Image:
    """Return the first pictures of a split in rows of four; missing ones are drawn."""
    numbers = store.SPLITS[split][:count]
    examples = store.read_examples(numbers)
    rows = -(-count // COLUMNS)
    size = (GAP + COLUMNS * (WIDTH + GAP), GAP + rows * (HEIGHT + TEXT_HEIGHT + GAP))
    sheet = Image.new("RGB", size, "white")
    pen, font = ImageDraw.Draw(sheet), ImageFont.load_default(12)
    for i, (number, example) in enumerate(zip(numbers, examples, strict=True)):
        x = GAP + i % COLUMNS * (WIDTH + GAP)
        y = GAP + i // COLUMNS * (HEIGHT + TEXT_HEIGHT + GAP)
        with Image.open(store.photo(number)) as picture:
            sheet.paste(picture.convert("RGB"), (x, y))
        captions = (example.captions[0], example.captions[-1])
        lines = [line for caption in captions for line in wrap(caption, LINE_LENGTH)]
        pen.multiline_text((x, y + HEIGHT + 3), "\n".join(lines), INK, font)
    return sheet
