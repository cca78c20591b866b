"""Stems as they are varied in training."""

import pytest
import torch
from torch import nn

from vsdemo.encoders.image import LinearImage
from vsdemo.encoders.tuned_image import LEAST, TunedImage, windows

HEIGHT, WIDTH = 8, 5


@pytest.fixture
def maps():
    """Two views of three photos; each number says where it is: (3, 2, 4, 8, 5)."""
    torch.manual_seed(0)
    places = torch.arange(HEIGHT)[:, None] * WIDTH + torch.arange(WIDTH)
    return torch.arange(24).view(3, 2, 4, 1, 1) * 100 + places


def test_windows_are_parts_of_the_maps(maps):
    sizes = set()
    for _ in range(60):
        parts = windows(maps)
        height, width = parts.shape[-2:]
        assert parts.shape[:3] == maps.shape[:3]
        assert height >= LEAST * HEIGHT
        assert width >= LEAST * WIDTH
        sizes.add((height, width))
        for part, whole in zip(parts, maps, strict=True):
            top, left = divmod(int(part[0, 0, 0, 0] - whole[0, 0, 0, 0]), WIDTH)
            assert torch.equal(part, whole[..., top : top + height, left : left + width])
    assert sizes == {(h, w) for h in range(5, 9) for w in range(3, 6)}


def test_photos_have_parts_of_their_own(maps):
    first = maps[:, 0, 0, 0, 0]
    starts = [(windows(maps)[:, 0, 0, 0, 0] - first).tolist() for _ in range(60)]
    assert any(len(set(own)) > 1 for own in starts)


def test_stems_are_varied_in_training_only():
    torch.manual_seed(0)
    stems = torch.rand(3, 1, 4, HEIGHT, WIDTH)
    encoder = TunedImage(nn.ReLU(), LinearImage(8, 6), window_rate=1.0, channel_dropout=0.5)
    encoder.eval()
    assert torch.equal(encoder(stems).x, encoder(stems).x)
    encoder.train()
    varied = encoder._vary(torch.ones(40, 1, 4, HEIGHT, WIDTH))
    channels = varied.flatten(3)  # (40, 1, 4, places)
    assert (channels == channels[..., :1]).all()  # whole channels are dropped
    assert (channels[..., 0] == 0).float().mean() == pytest.approx(0.5, abs=0.1)
    assert set(varied.unique().tolist()) == {0.0, 2.0}
