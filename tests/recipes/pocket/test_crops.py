"""Crops, and changes to their pixels."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from vsdemo.recipes.pocket import crops


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


def test_the_first_crops_are_blended_with_one_another():
    pixels = torch.rand(6, 3, 8, 8, generator=seeded())
    result = crops.mix(pixels, 4, seeded(1))
    assert torch.equal(result[4:], pixels[4:])
    shares = set()
    for i in range(4):
        other = pixels[(i - 1) % 4]
        share = ((result[i] - other) / (pixels[i] - other)).median().item()
        assert 0.5 <= share <= 1
        torch.testing.assert_close(result[i], share * pixels[i] + (1 - share) * other)
        shares.add(round(share, 4))
    assert len(shares) == 4
    assert torch.equal(crops.mix(pixels, 0, seeded()), pixels)
