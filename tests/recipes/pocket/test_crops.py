"""Crops, and the teacher's maps of the same places."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import avg_pool2d

from vsdemo.recipes.pocket import crops

ALL = torch.tensor([[0.0, 0.0, 1.0, 1.0]])


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


@given(st.integers(8, 400), st.integers(8, 400), st.floats(0.05, 1), st.integers(0, 10_000))
def test_boxes_stay_within_the_photo(height, width, least, seed):
    box = crops.random_boxes([(height, width)], torch.tensor([least]), seeded(seed))
    left, top, wide, high = box[0].tolist()
    assert left >= 0
    assert top >= 0
    assert wide > 0
    assert high > 0
    assert left + wide <= 1 + 1e-6
    assert top + high <= 1 + 1e-6


@given(st.floats(0.05, 1), st.integers(0, 10_000))
def test_boxes_are_large_enough(least, seed):
    """In a square photo; the longest crops may lose a quarter at the edges."""
    box = crops.random_boxes([(200, 200)], torch.tensor([least]), seeded(seed))
    assert float(box[0, 2] * box[0, 3]) >= 0.75 * least - 1e-6


def test_crop_returns_the_pixels_of_the_box():
    photo = torch.zeros(3, 100, 200, dtype=torch.uint8)
    photo[0, 50:, 100:] = 255
    box = torch.tensor([0.5, 0.5, 0.5, 0.5])
    assert crops.crop(photo, box, 32)[0].eq(255).all()
    assert crops.crop(photo, torch.tensor([0, 0, 0.5, 1]), 32).eq(0).all()


def test_maps_of_the_whole_photo_are_only_averaged():
    maps = torch.randn(1, 3, 10, 10, generator=seeded())
    assert torch.allclose(crops.crop_maps(maps, ALL, 5), avg_pool2d(maps, 2), atol=1e-5)


@given(st.integers(1, 7), st.integers(0, 10_000))
def test_maps_are_cropped_at_the_same_place(cells, seed):
    """On maps that hold the coordinates of each cell, with plain loops."""
    steps = (torch.arange(10) + 0.5) / 10
    maps = torch.stack([steps.expand(10, 10), steps[:, None].expand(10, 10)])[None]
    box = crops.random_boxes([(90, 120)], torch.tensor([0.1]), seeded(seed))
    result = crops.crop_maps(maps, box, cells)
    left, top, wide, high = box[0].tolist()
    for row in range(cells):
        for column in range(cells):
            across = left + wide * (column + 0.5) / cells
            down = top + high * (row + 0.5) / cells
            # A map is constant beyond the centers of its outermost cells.
            slack = 0.05 + 1e-4
            assert abs(float(result[0, 0, row, column]) - across) < slack
            assert abs(float(result[0, 1, row, column]) - down) < slack


def test_jitter_of_strength_0_changes_nothing():
    pixels = torch.rand(4, 3, 8, 8, generator=seeded())
    assert torch.allclose(crops.jitter_colors(pixels, torch.zeros(4), seeded()), pixels, atol=1e-6)


def test_jitter_differs_from_crop_to_crop():
    pixels = torch.rand(1, 3, 8, 8, generator=seeded()).expand(64, 3, 8, 8)
    result = crops.jitter_colors(pixels, torch.ones(64), seeded())
    assert result.min() >= 0
    assert result.max() <= 1
    assert len(result.flatten(1).unique(dim=0)) == 64
    grey = result.std(1).amax((1, 2)) < 1e-6
    assert 0 < int(grey.sum()) < 20
