"""The things that Easel finds in a drawing, as regions."""

import random

import pytest
import torch
from PIL import Image

from tests.support import random_easel
from vsdemo.core.device import autocast
from vsdemo.core.errors import UserError
from vsdemo.core.images import open_photo
from vsdemo.vision import backbones, proposals, regions
from vsdemo.vision.backbones.easel import FINE
from vsdemo.vision.backbones.network import Backbone
from vsdemo.vision.crops import MOST_THINGS
from vsdemo.vision.features import FeatureCache

BACKBONE = "torchvision/mobilenet_v3_small"


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("VSDEMO_HOME", str(tmp_path / "home"))
    random_easel.use(monkeypatch, tmp_path / "easel" / "model.safetensors")


@pytest.fixture
def photos(tmp_path):
    """Three files of noise."""
    paths = [tmp_path / f"{number}.png" for number in range(3)]
    for number, path in enumerate(paths):
        pixels = random.Random(number).randbytes(96 * 72 * 3)
        Image.frombytes("RGB", (96, 72), pixels).save(path)
    return paths


@pytest.fixture
def images(photos):
    return [open_photo(photo) for photo in photos]


def find(images) -> torch.Tensor:
    return proposals.PROPOSALS["things"]().find(images, [None] * len(images))


def present(boxes: torch.Tensor) -> torch.Tensor:
    return boxes[boxes.any(-1)]


@pytest.fixture
def easel(monkeypatch):
    """The network in memory, whose weights a test can change."""
    network = Backbone(backbones.find_weights("easel"))
    monkeypatch.setattr(backbones, "load_backbone", lambda weights: network)
    return network.net


def test_things_are_padded_and_end_with_the_frame(images):
    boxes = find(images)
    assert boxes.shape == (3, MOST_THINGS, 4)
    regions.check(boxes, "things")
    assert boxes[:, -1].tolist() == [list(regions.FRAME)] * 3
    alone = torch.cat([find([image]) for image in images])
    torch.testing.assert_close(boxes, alone)
    assert not torch.equal(boxes[0], boxes[1])


def test_they_are_what_the_network_finds_in_the_whole_picture(images, easel):
    squeezed = images[0].resize((easel.spec.region_size,) * 2, Image.Resampling.BILINEAR)
    pixels = torch.tensor(list(squeezed.getdata())).T.reshape(1, 3, *squeezed.size[::-1]) / 255
    mean, std = (torch.tensor(x)[:, None, None] for x in (easel.spec.mean, easel.spec.std))
    with torch.no_grad(), autocast():
        (expected,) = easel.find((pixels - mean) / std)
    assert len(expected) > 1
    torch.testing.assert_close(present(find(images[:1])[0])[:-1], expected)


def test_of_many_things_the_first_12_are_kept(images, easel):
    wide = torch.nn.Conv2d(FINE, 4, 1)
    torch.nn.init.zeros_(wide.weight)
    torch.nn.init.zeros_(wide.bias)
    easel.boxes = wide  # boxes of one place each, so that none is outside
    assert [len(present(boxes)) for boxes in find(images)] == [MOST_THINGS] * 3


def test_nothing_found_leaves_the_frame(images, easel):
    torch.nn.init.constant_(easel.centres.bias, -50.0)
    assert [present(boxes).tolist() for boxes in find(images)] == [[list(regions.FRAME)]] * 3


def test_boxes_outside_of_the_picture_are_left_out(images, easel):
    torch.nn.init.constant_(easel.boxes.bias, -500.0)
    assert [len(present(boxes)) for boxes in find(images)] == [1] * 3


def test_features_of_things(photos):
    cache = FeatureCache("easel", "things")
    vectors, boxes = cache.get(photos), cache.boxes(photos)
    assert vectors.shape[:2] == (3, MOST_THINGS)
    assert torch.equal((vectors != 0).any(-1), boxes.any(-1))
    assert torch.equal(cache.encode([open_photo(photos[1])])[0], vectors[1])
    images = [open_photo(photo) for photo in photos]
    torch.testing.assert_close(boxes, find(images))


def test_another_network_can_describe_the_things(photos):
    cache = FeatureCache(BACKBONE, "things")
    easel = backbones.find_weights("easel")
    assert cache.hash == f"{cache.weights.hash}-{easel.hash}"
    assert cache.get(photos).shape == (3, MOST_THINGS, 576)


def test_networks_that_find_nothing_say_so(images):
    network = backbones.load_backbone(backbones.find_weights(BACKBONE))
    with pytest.raises(TypeError, match="finds no things"):
        network.find(network.views(images[0], "things"))


def test_things_need_easel(tmp_path, is_one_sentence):
    assert proposals.is_available("things")
    (tmp_path / "easel" / "model.safetensors").unlink()
    assert not proposals.is_available("things")
    for backbone in ("easel", BACKBONE):
        with pytest.raises(UserError, match="image network easel is missing") as caught:
            FeatureCache(backbone, "things")
        assert is_one_sentence(caught)
