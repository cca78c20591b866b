"""Looks: few bits differ in copies of a photo, and about half of them in other photos."""

import io

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageEnhance

from vsdemo.core.images import small_jpeg
from vsdemo.data.catalog.look import FLAT, look_of


def picture(seed):
    """Return a picture of 400 x 300 pixels with soft spots of all colours."""
    colours = np.random.default_rng(seed).integers(0, 256, (6, 8, 3), dtype=np.uint8)
    return Image.fromarray(colours).resize((400, 300), Image.Resampling.BICUBIC)


def thumbnail(photo):
    return small_jpeg(photo, 320, 78)


def distance(first, second):
    looks = np.array([look_of(thumbnail(photo)) for photo in (first, second)])
    return int(np.bitwise_count((looks[0] ^ looks[1]).astype(np.uint64)))


def encoded(photo):
    buffer = io.BytesIO()
    photo.save(buffer, "JPEG", quality=50)
    return Image.open(buffer).convert("RGB")


def marked(photo):
    copy = photo.copy()
    ImageDraw.Draw(copy).text((250, 280), "(c) me", fill="white")
    return copy


@pytest.mark.parametrize(
    "change",
    [
        encoded,
        marked,
        lambda photo: photo.resize((200, 150)),
        lambda photo: photo.crop((6, 4, 394, 296)),
        lambda photo: ImageEnhance.Brightness(photo).enhance(0.7),
        lambda photo: photo.convert("L").convert("RGB"),
    ],
)
def test_copies_differ_in_few_bits(change):
    assert max(distance(picture(seed), change(picture(seed))) for seed in range(10)) <= 10


def test_other_photos_differ_in_many_bits():
    assert min(distance(picture(seed), picture(seed + 1)) for seed in range(30)) >= 15


def test_a_look_is_the_same_everywhere():
    assert look_of(thumbnail(picture(0))) == look_of(thumbnail(picture(0)))
    assert -(2**63) <= look_of(thumbnail(picture(0))) < 2**63


@pytest.mark.parametrize("colour", ["black", "white", "red"])
def test_one_colour_has_no_look(colour):
    assert look_of(thumbnail(Image.new("RGB", (40, 30), colour))) == FLAT
