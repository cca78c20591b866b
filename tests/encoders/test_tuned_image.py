"""Stems as they are varied in training."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from vsdemo.encoders.image import LinearImage
from vsdemo.encoders.tuned_image import LEAST, TunedImage, Views, cut_windows
from vsdemo.vision.backbones.tuned import POWER, pool, pool_regions

HEIGHT, WIDTH = 8, 5


@pytest.fixture
def maps():
    """Maps of three photos; each number says where it is: (3, 4, 8, 5)."""
    places = torch.arange(HEIGHT)[:, None] * WIDTH + torch.arange(WIDTH)
    return torch.arange(12).view(3, 4, 1, 1) * 100 + places


def test_windows_are_parts_of_the_maps(maps):
    sizes = set()
    for _ in range(60):
        parts = cut_windows(Views(maps)).stems
        height, width = parts.shape[-2:]
        assert parts.shape[:2] == maps.shape[:2]
        assert height >= LEAST * HEIGHT
        assert width >= LEAST * WIDTH
        sizes.add((height, width))
        for part, whole in zip(parts, maps, strict=True):
            top, left = divmod(int(part[0, 0, 0] - whole[0, 0, 0]), WIDTH)
            assert torch.equal(part, whole[..., top : top + height, left : left + width])
    assert sizes == {(h, w) for h in range(5, 9) for w in range(3, 6)}


def test_photos_have_parts_of_their_own(maps):
    first = maps[:, 0, 0, 0]
    starts = [(cut_windows(Views(maps)).stems[:, 0, 0, 0] - first).tolist() for _ in range(60)]
    assert any(len(set(own)) > 1 for own in starts)


def test_parts_of_photos_are_read_in_training_only(maps):
    encoder = TunedImage(nn.Identity(), LinearImage(2 * maps.shape[1], 6), windows=True).eval()
    photos = Views(maps.float())
    assert torch.equal(encoder(photos).x, encoder(photos).x)
    encoder.train()
    torch.manual_seed(0)
    assert any(not torch.equal(encoder(photos).x, encoder(photos).x) for _ in range(5))


def test_features_keep_their_scale_in_training():
    torch.manual_seed(0)
    stems = torch.rand(70, 4, 3, 5)
    encoder = TunedImage(nn.Identity(), LinearImage(8, 6, standardize=True), windows=True).eval()
    features = F.normalize(pool(stems), dim=-1)
    encoder.image.standardize.measure(features)
    before = encoder.image.standardize(features)
    encoder.train()
    encoder(Views(stems))
    assert torch.equal(encoder.image.standardize(features), before)


def test_trained_parts_of_the_end_are_its_convolutions():
    end = nn.Sequential(nn.Conv2d(4, 4, 1), nn.BatchNorm2d(4))
    encoder = TunedImage(end, LinearImage(8, 6))
    trained = []
    for is_tuned in (False, True):
        encoder.tune(is_tuned)
        trained.append({name for name, weight in end.named_parameters() if weight.requires_grad})
    assert trained == [set(), {"0.weight"}]


def test_boxes_follow_the_windows(maps):
    """A box around a place of the map is around the same place of its part, or missing."""
    row, column = 3, 2
    box = torch.tensor([column / WIDTH, row / HEIGHT, (column + 1) / WIDTH, (row + 1) / HEIGHT])
    for _ in range(30):
        part = cut_windows(Views(maps, box.repeat(3, 1, 1)))
        height, width = part.stems.shape[-2:]
        for stems, whole, (box_in_part,) in zip(part.stems, maps, part.boxes, strict=True):
            places = (stems[0] == whole[0, row, column]).nonzero()
            if not len(places):
                assert (box_in_part == 0).all()
                continue
            ((y, x),) = places.tolist()
            expected = [x / width, y / height, (x + 1) / width, (y + 1) / height]
            torch.testing.assert_close(box_in_part, torch.tensor(expected))


BOXES = torch.tensor(
    [
        [[0.0, 0.0, 1.0, 1.0], [0.1, 0.2, 0.5, 0.9]],
        [[0.3, 0.0, 0.34, 0.1], [0.0, 0.0, 0.0, 0.0]],
    ]
)


def test_pooled_regions_are_those_of_plain_loops():
    torch.manual_seed(0)
    maps = torch.randn(2, 3, 4, 6)
    pooled = pool_regions(maps, BOXES)
    assert pooled.shape == (2, 2, 6)
    torch.testing.assert_close(pooled[0, 0], pool(maps)[0])  # the whole frame
    for photo, region in ((0, 0), (0, 1), (1, 0)):
        x0, y0, x1, y1 = BOXES[photo, region].tolist()
        shares = {
            (y, x): max(0.0, min(y1, (y + 1) / 4) - max(y0, y / 4))
            * max(0.0, min(x1, (x + 1) / 6) - max(x0, x / 6))
            for y in range(4)
            for x in range(6)
        }
        total = sum(shares.values())
        for channel in range(3):
            values = maps[photo, channel].relu()
            for power, place in ((1, channel), (POWER, 3 + channel)):
                mean = sum(float(values[at]) ** power * part / total for at, part in shares.items())
                expected = mean ** (1 / power)
                assert float(pooled[photo, region, place]) == pytest.approx(expected, abs=1e-5)
    assert pooled.isfinite().all()


def test_photos_come_with_their_regions():
    torch.manual_seed(0)
    encoder = TunedImage(nn.Identity(), LinearImage(8, 6)).eval()
    stems = torch.rand(2, 4, HEIGHT, WIDTH)
    with_regions = encoder(Views(stems, BOXES))
    assert with_regions.mask.tolist() == [[True, True, True], [True, True, False]]
    photos = encoder(Views(stems)).x
    torch.testing.assert_close(with_regions.x[:, 0], photos)
    torch.testing.assert_close(with_regions.x[0, 1], photos[0])  # a box around everything
    assert (with_regions.x[1, 2] == 0).all()
    alone = encoder(Views(stems, torch.zeros(2, 1, 4)))
    torch.testing.assert_close(alone.x[:, 0], photos)
