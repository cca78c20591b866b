"""A folder of small photos of one's own, with captions."""

import csv
from pathlib import Path

from PIL import Image, ImageDraw

COLOURS = ("red", "green", "blue", "yellow", "white")


def write_photos(folder: Path, count: int = 60) -> dict[str, str]:
    """Draw bars of different places and colours, and return a caption of each photo.

    Args:
        folder: Where to draw them.
        count: The number of photos, every third of which is in a subfolder.
    """
    (folder / "sub").mkdir(parents=True)
    captions = {}
    for number in range(count):
        colour = COLOURS[number % len(COLOURS)]
        photo = Image.new("RGB", (64, 48), "black")
        left = number % 50
        ImageDraw.Draw(photo).rectangle((left, number // 2, left + 12, 47), colour)
        name = f"{'sub/' if number % 3 == 0 else ''}{number:03}.png"
        photo.save(folder / name)
        captions[name] = f"A {colour} bar at {left}."
    return captions


def write_table(folder: Path, captions: dict[str, str], *more: tuple[str, str]) -> None:
    """Write captions.csv with two captions of each photo, and more rows."""
    rows = list(captions.items())
    rows += [(name, f"There is {text[0].lower()}{text[1:]}") for name, text in rows]
    with (folder / "captions.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("file", "caption"), *rows, *more])
