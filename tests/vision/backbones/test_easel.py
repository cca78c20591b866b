"""Easel: what it finds and describes, and errors for a missing or damaged file."""

import math

import pytest
import torch
from safetensors.torch import save_file

from vsdemo.vision.backbones import FAMILIES, find_weights, is_available
from vsdemo.vision.backbones.easel import (
    CERTAIN,
    COARSE,
    FEATURES,
    FINE,
    MIDDLE,
    SIDE,
    STRIDE,
    THINGS,
    Easel,
    Maps,
    waves,
)
from vsdemo.vision.backbones.network import Backbone
from vsdemo.vision.backbones.weights import Weights
from vsdemo.vision.regions import FRAME


@pytest.fixture
def easel():
    """A network with random weights that is certain of many things."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = Easel().eval()
        torch.nn.init.normal_(network.centres.weight, std=2)
    torch.nn.init.zeros_(network.centres.bias)
    return network


@pytest.fixture
def pixels():
    return torch.randn(2, 3, 96, 96, generator=torch.Generator().manual_seed(1))


@pytest.fixture
def easel_file(easel, tmp_path, monkeypatch):
    """A file of random weights in place of the one in checkpoints/."""
    file = tmp_path / "model.safetensors"
    save_file({k: t.half() if t.dim() > 1 else t for k, t in easel.state_dict().items()}, file)
    monkeypatch.setattr(FAMILIES["easel"], "file", file)
    return file


def plain_box(shifts, row, column, size):
    """The box of a place, by the equation of `Easel.decode`."""
    x, y = (column + 0.5 + shifts[0]) / size[1], (row + 0.5 + shifts[1]) / size[0]
    width, height = math.exp(shifts[2]) / size[1], math.exp(shifts[3]) / size[0]
    return [x - width / 2, y - height / 2, x + width / 2, y + height / 2]


def test_shapes(easel):
    with torch.no_grad():
        for height, width in ((96, 64), (144, 144)):
            pixels = torch.randn(2, 3, height, width)
            vector, spatial = easel(pixels)
            assert vector.shape == (2, FEATURES)
            assert spatial.shape == (2, MIDDLE, height // 8, width // 8)
            boxes = torch.rand(2, 5, 4)
            assert easel.describe(pixels, boxes).shape == (2, 5, FEATURES + 64)


def test_decode_equals_a_plain_loop():
    shifts = torch.randn(2, 4, 5, 7)
    boxes = Easel.decode(shifts)
    assert boxes.shape == (2, 5, 7, 4)
    for picture in range(2):
        for row in range(5):
            for column in range(7):
                expected = plain_box(shifts[picture, :, row, column].tolist(), row, column, (5, 7))
                assert boxes[picture, row, column].tolist() == pytest.approx(expected, abs=1e-5)


def test_things_are_the_most_certain_peaks(easel, pixels):
    """Best first, at most as many as a picture has; a plain loop finds the same."""
    with torch.no_grad():
        things = easel.find(pixels)
        fine = easel.maps(pixels).fine
        chances, shifts = easel.centres(fine)[:, 0].sigmoid(), easel.boxes(fine)
    size = chances.shape[1:]
    for picture, boxes in enumerate(things):
        peaks = []
        for row in range(size[0]):
            for column in range(size[1]):
                rows, columns = (
                    slice(max(row - 1, 0), row + 2),
                    slice(max(column - 1, 0), column + 2),
                )
                chance = float(chances[picture, row, column])
                if chance > CERTAIN and chance == float(chances[picture, rows, columns].max()):
                    box = plain_box(shifts[picture, :, row, column].tolist(), row, column, size)
                    peaks.append((chance, torch.tensor(box).clamp(0, 1)))
        assert len(peaks) > THINGS
        peaks.sort(key=lambda peak: -peak[0])
        expected = torch.stack([box for _, box in peaks[:THINGS]])
        torch.testing.assert_close(boxes, expected, rtol=0, atol=1e-5)


def test_nothing_is_found_where_nothing_is_certain(pixels):
    with torch.no_grad():
        assert [boxes.shape for boxes in Easel().eval().find(pixels)] == [(0, 4)] * 2


def test_boxes_are_exact_in_bfloat16(easel):
    """The centre of each box is the middle of a place, if the network shifts it by nothing."""
    for weights in easel.boxes.parameters():
        torch.nn.init.zeros_(weights)
    places = SIDE // STRIDE
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        (boxes,) = easel.find(torch.randn(1, 3, SIDE, SIDE))
    middles = (boxes[:, :2].float() + boxes[:, 2:].float()) / 2 * places - 0.5
    torch.testing.assert_close(middles, middles.round(), rtol=0, atol=1e-3)
    assert len(middles.unique(dim=0)) == THINGS


def test_a_thing_is_found_once_in_bfloat16():
    """Two neighbours would be the same number in bfloat16, and both the highest one."""
    network = Easel().eval()
    for layer in (network.centres, network.boxes):
        torch.nn.init.zeros_(layer.weight)
        torch.nn.init.zeros_(layer.bias)
    network.centres.weight.data[0, 0] = 1.0
    fine = torch.full((1, FINE, 8, 8), -9.0)
    fine[0, 0, 4, 4:6] = torch.tensor([3.0, 2.999])
    network.maps = lambda pixels: Maps(
        torch.zeros(1, COARSE, 2, 2), torch.zeros(1, MIDDLE, 4, 4), fine
    )
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        (boxes,) = network.find(torch.zeros(1, 3, 32, 32))
    assert boxes.tolist() == [[4 / 8, 4 / 8, 5 / 8, 5 / 8]]


def test_the_frame_is_described_as_a_whole(easel, pixels):
    box = (0.2, 0.3, 0.6, 0.5)
    boxes = torch.tensor([box, FRAME]).expand(2, 2, 4)
    with torch.no_grad():
        described = easel.describe(pixels, boxes)
        maps = easel.maps(pixels)
        thing = easel.describe_things(maps, torch.tensor([[0.4, 0.4]]).expand(2, 1, 2))
        whole, _ = easel(pixels)
    vectors = described[..., :FEATURES]
    torch.testing.assert_close(vectors.norm(dim=-1), torch.full((2, 2), math.sqrt(FEATURES)))
    directions = torch.nn.functional.normalize(torch.stack([thing[:, 0], whole], 1), dim=-1)
    torch.testing.assert_close(vectors / math.sqrt(FEATURES), directions)
    place = waves(torch.tensor([0.4, 0.4, 0.4, 0.2]))  # centre, width and height
    torch.testing.assert_close(described[:, 0, FEATURES:], place.expand(2, -1))


def test_missing_boxes_are_zeros():
    network = Backbone(Weights("easel", None, "random"))
    views = torch.randint(0, 256, (2, 3, 96, 96), dtype=torch.uint8)
    boxes = torch.tensor([[0.1, 0.1, 0.4, 0.5], [0.0] * 4, FRAME]).repeat(2, 1, 1)
    regions = network.encode_regions(views, boxes)
    assert regions.shape == (2, 3, FEATURES + 64)
    assert (regions[:, 1] == 0).all()
    assert (regions[:, [0, 2]].norm(dim=-1) > 1).all()


def test_every_weight_gets_a_gradient(easel, pixels):
    for name, weights in easel.named_parameters():
        if "layers.4.weight" in name:  # blocks start as their shortcuts
            torch.nn.init.ones_(weights)
    easel.train()
    maps = easel.maps(pixels)
    things = easel.describe_things(maps, torch.rand(2, 3, 2))
    results = (things, easel.describe_whole(maps), easel.centres(maps.fine), easel.boxes(maps.fine))
    sum(result.square().sum() for result in results).backward()
    silent = [n for n, p in easel.named_parameters() if p.grad is None or not p.grad.abs().sum()]
    assert silent == []


def test_weights_are_loaded(easel, easel_file):
    assert is_available("easel")
    weights = find_weights("easel")
    assert weights.path == easel_file
    views = torch.randint(0, 256, (2, 3, 96, 96), dtype=torch.uint8)
    results = Backbone(weights)(views)
    with torch.no_grad():
        expected = easel((views / 255 - 0.5) / 0.25)
    for result, exact in zip(results, expected, strict=True):
        torch.testing.assert_close(result, exact, rtol=0, atol=0.05 * float(exact.abs().max()))
