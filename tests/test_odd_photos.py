"""Photos that show nothing, or no photo at all, are not described with confidence."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw

from vsdemo.search.engine import Reader

ROOT = Path(__file__).resolve().parent.parent


def noise() -> Image.Image:
    pixels = np.random.default_rng(0).integers(0, 255, (240, 320, 3), dtype=np.uint8)
    return Image.fromarray(pixels)


def grey() -> Image.Image:
    return Image.new("RGB", (300, 200), (128, 128, 128))


def pale_noise() -> Image.Image:
    pixels = np.random.default_rng(0).integers(196, 205, (240, 320, 3), dtype=np.uint8)
    return Image.fromarray(pixels)


def stick_figure() -> Image.Image:
    image = Image.new("RGB", (400, 300), "white")
    draw = ImageDraw.Draw(image)
    draw.ellipse((170, 40, 230, 100), outline="black", width=4)
    for line in ((200, 100, 200, 200), (200, 200, 160, 270), (200, 200, 240, 270)):
        draw.line(line, fill="black", width=4)
    return image


def screenshot() -> Image.Image:
    return Image.open(ROOT / ".github" / "search.png").convert("RGB")


@pytest.fixture(scope="module")
def reader() -> Reader:
    return Reader(ROOT / "checkpoints" / "flickr8k" / "gru-pocket")


@pytest.mark.parametrize("draw", [noise, grey, pale_noise, stick_figure, screenshot])
def test_an_odd_photo_is_not_described_with_confidence(reader: Reader, draw) -> None:
    hits, likely = reader.describe(draw(), 3)
    assert likely == ()
    assert len(hits) == 3  # the nearest sentences are shown as such
