"""Crops, and the teacher's view of the same place."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import avg_pool2d

from vsdemo.recipes.pocket import crops

ALL = torch.tensor([[0.0, 0.0, 1.0, 1.0]])


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


@given(st.integers(8, 400), st.integers(8, 400), st.floats(0.05, 1), st.integers(0, 10_000))
def test_boxes_stay_in_the_photo(height, width, least, seed):
    box = crops.boxes([(height, width)], torch.tensor([least]), seeded(seed))
    left, top, wide, high = box[0].tolist()
    assert left >= 0
    assert top >= 0
    assert wide > 0
    assert high > 0
    assert left + wide <= 1 + 1e-6
    assert top + high <= 1 + 1e-6


@given(st.floats(0.05, 1), st.integers(0, 10_000))
def test_boxes_show_enough(least, seed):
    """In a square photo; the longest of crops may lose a quarter at the edges."""
    box = crops.boxes([(200, 200)], torch.tensor([least]), seeded(seed))
    assert float(box[0, 2] * box[0, 3]) >= 0.75 * least - 1e-6


def test_a_crop_shows_what_is_in_its_box():
    photo = torch.zeros(3, 100, 200, dtype=torch.uint8)
    photo[0, 50:, 100:] = 255
    box = torch.tensor([0.5, 0.5, 0.5, 0.5])
    assert crops.cut(photo, box, 32)[0].eq(255).all()
    assert crops.cut(photo, torch.tensor([0, 0, 0.5, 1]), 32).eq(0).all()


def test_the_target_of_the_whole_photo_is_the_whole_map():
    maps = torch.randn(1, 3, 10, 10, generator=seeded())
    assert torch.allclose(crops.target(maps, ALL, 5), avg_pool2d(maps, 2), atol=1e-5)


@given(st.integers(1, 7), st.integers(0, 10_000))
def test_a_target_lies_where_its_crop_lies(places, seed):
    """On maps that hold each place's own coordinates, by plain loops."""
    steps = (torch.arange(10) + 0.5) / 10
    maps = torch.stack([steps.expand(10, 10), steps[:, None].expand(10, 10)])[None]
    box = crops.boxes([(90, 120)], torch.tensor([0.1]), seeded(seed))
    found = crops.target(maps, box, places)
    left, top, wide, high = box[0].tolist()
    for row in range(places):
        for column in range(places):
            across = left + wide * (column + 0.5) / places
            down = top + high * (row + 0.5) / places
            # Beyond the middles of its outermost places a map goes on as it ends.
            slack = 0.05 + 1e-4
            assert abs(float(found[0, 0, row, column]) - across) < slack
            assert abs(float(found[0, 1, row, column]) - down) < slack


def test_jitter_of_no_strength_changes_nothing():
    pixels = torch.rand(4, 3, 8, 8, generator=seeded())
    assert torch.allclose(crops.jittered(pixels, torch.zeros(4), seeded()), pixels, atol=1e-6)


def test_jitter_changes_each_crop_in_its_own_way():
    pixels = torch.rand(1, 3, 8, 8, generator=seeded()).expand(64, 3, 8, 8)
    found = crops.jittered(pixels, torch.ones(64), seeded())
    assert found.min() >= 0
    assert found.max() <= 1
    assert len(found.flatten(1).unique(dim=0)) == 64
    grey = found.std(1).amax((1, 2)) < 1e-6
    assert 0 < int(grey.sum()) < 20
