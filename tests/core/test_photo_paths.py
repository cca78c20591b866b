"""Paths below a folder that are made when they are needed."""

from pathlib import Path

import pytest

from vsdemo.core.photo_paths import PhotoPaths

FOLDER, NAMES = Path("/photos"), ("a.jpg", "2024/b.jpg", "2024/c d.png")


def test_it_is_the_sequence_of_paths():
    photos, expected = PhotoPaths(FOLDER, NAMES), [FOLDER / name for name in NAMES]
    assert list(photos) == expected
    assert len(photos) == 3
    assert (photos[1], photos[-1]) == (expected[1], expected[-1])
    assert list(photos[1:]) == expected[1:]
    assert expected[2] in photos
    assert FOLDER / "other.jpg" not in photos
    with pytest.raises(IndexError):
        photos[3]


def test_a_part_makes_no_paths():
    part = PhotoPaths(FOLDER, NAMES)[:2]
    assert part == PhotoPaths(FOLDER, NAMES[:2])
