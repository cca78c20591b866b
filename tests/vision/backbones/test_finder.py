"""The finder: boxes from the maps of DenseNet-169, and their vectors, in one pass."""

import pytest
import torch
from torchvision.transforms.v2.functional import to_pil_image

from tests.support.random_finder import write_densenet, write_finder
from vsdemo.core.errors import UserError
from vsdemo.vision import backbones, regions
from vsdemo.vision.backbones import base_of, find_weights, load_backbone
from vsdemo.vision.backbones.finder import (
    LAST,
    PLACES,
    PRINCIPAL,
    SHAPES,
    BoxHead,
    Finder,
    Maps,
    Proposed,
    anchors,
    best_boxes,
)
from vsdemo.vision.backbones.network import load_network
from vsdemo.vision.crops import MOST_FOUND
from vsdemo.vision.features import FeatureCache


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A VSDEMO_DATA with random weights of DenseNet-169."""
    folder = tmp_path_factory.mktemp("data")
    write_densenet(folder / "models")
    return folder


@pytest.fixture
def finder(data, tmp_path, monkeypatch):
    """The backbone `finder` with a random head; returns its file."""
    monkeypatch.setenv("VSDEMO_DATA", str(data))
    monkeypatch.setenv("VSDEMO_HOME", str(tmp_path / "home"))
    file = tmp_path / "finder" / "model.safetensors"
    write_finder(file)
    monkeypatch.setattr(backbones.FAMILIES["finder"], "file", file)
    return file


@pytest.fixture
def photos():
    draw = torch.Generator().manual_seed(0)
    return [to_pil_image(torch.rand(3, 80, 60 + 30 * n, generator=draw)) for n in range(2)]


def test_anchors_have_each_shape_around_each_place():
    boxes = anchors().view(len(SHAPES), PLACES, PLACES, 4)
    middle = boxes[:, PLACES // 2, PLACES // 2]
    sides = middle[:, 2:] - middle[:, :2]
    small = torch.tensor(SHAPES).amax(1) < 0.9
    torch.testing.assert_close(sides[small], torch.tensor(SHAPES)[small], atol=1e-5, rtol=0)
    centres = (middle[small, :2] + middle[small, 2:]) / 2
    torch.testing.assert_close(centres, torch.full_like(centres, 10.5 / PLACES))
    assert boxes[0, 0, -1, 0] > boxes[0, -1, 0, 0]  # columns last
    regions.check(boxes, "anchors")


def test_an_untrained_head_leaves_boxes_nearly_where_they_are():
    torch.manual_seed(0)
    head = BoxHead().eval()
    maps = Maps(torch.randn(2, PRINCIPAL, PLACES, PLACES), torch.rand(2, LAST, 10, 10))
    logits, boxes = head(maps)
    assert logits.shape == boxes.shape[:2] == (2, len(anchors()))
    assert regions.overlap(boxes, anchors()).mean() > 0.5
    assert (logits < 0).all()


def test_boxes_are_moved_in_units_of_their_sides():
    head = BoxHead()
    changes = torch.zeros(1, len(anchors()), 4)
    changes[0, 0] = torch.tensor([0.5, 0.0, 0.0, 0.6931472])  # half a width right, twice as high
    x0, y0, x1, y1 = anchors()[0].tolist()
    width, height = x1 - x0, y1 - y0
    expected = [x0 + width / 2, y0 - height / 2, x1 + width / 2, y1 + height / 2]
    assert head._move(changes)[0, 0].tolist() == pytest.approx(expected, abs=1e-5)


def test_of_boxes_that_overlap_the_most_certain_is_kept():
    boxes = anchors()[None].clone()
    logits = torch.full((1, boxes.shape[1]), -9.0)
    first = 4 * PLACES**2 + 5 * PLACES + 5  # of the fifth shape
    logits[0, first], logits[0, first + 1] = 3.0, 2.0  # its neighbour shows the same
    far = first + 6
    logits[0, far] = 1.0
    (best,) = best_boxes(Proposed(logits, boxes), 2)
    torch.testing.assert_close(best.boxes, boxes[0, [first, far]].clamp(0, 1))
    torch.testing.assert_close(best.certain.exp(), torch.tensor([3.0, 1.0]).sigmoid())


def test_boxes_and_vectors_come_from_one_pass(finder, photos):
    network = load_backbone(find_weights("finder"))
    passes = []
    handle = network.net.first.register_forward_hook(lambda *_: passes.append(1))
    views = torch.cat([network.views(photo, "found") for photo in photos])
    boxes, vectors = network.find_and_describe(views)
    handle.remove()
    assert passes == [1]
    assert boxes.shape == (2, MOST_FOUND, 4)
    assert vectors.shape == (2, MOST_FOUND, 2 * LAST + regions.PLACE)
    assert boxes[:, -1].tolist() == [list(regions.FRAME)] * 2
    described = network.encode_regions(views, boxes)
    torch.testing.assert_close(vectors[..., :-1], described[..., :-1], atol=2e-3, rtol=0)
    torch.testing.assert_close(vectors[..., 2 * LAST : -1], boxes)
    assert (vectors[:, :-1, -1] <= 0).all()  # logarithms of how certain they are
    assert vectors[:, -1, -1].tolist() == described[0, :2, -1].tolist() == [0, 0]


def test_features_of_photos_are_cached_with_their_boxes(finder, photos, tmp_path):
    paths = [tmp_path / f"{n}.png" for n in range(2)]
    for path, photo in zip(paths, photos, strict=True):
        photo.save(path)
    cache = FeatureCache("finder", "found")
    vectors, boxes = cache.get(paths), cache.boxes(paths)
    alone, own_boxes = cache.encode_regions(photos[1])
    torch.testing.assert_close(boxes[1], own_boxes, atol=1e-3, rtol=0)
    is_there = (boxes[1] != 0).any(-1)
    torch.testing.assert_close(vectors[1][is_there], alone[is_there], atol=4e-3, rtol=0)


def test_the_finder_is_densenet_with_other_regions(finder):
    base = load_network(find_weights("torchvision/densenet169"))
    pixels = torch.randn(1, 3, 320, 320)
    network = Finder(base).eval()
    with torch.no_grad():
        torch.testing.assert_close(network(pixels)[1], base(pixels)[1], atol=1e-4, rtol=1e-4)
    assert base_of("finder") == "torchvision/densenet169"


def test_other_weights_of_densenet_are_refused(
    finder, data, monkeypatch, tmp_path, is_one_sentence
):
    other = tmp_path / "other"
    (other / "models").mkdir(parents=True)
    file = next((data / "models").glob("*.safetensors"))
    (other / "models" / file.name).write_bytes(file.read_bytes() + b" ")
    monkeypatch.setenv("VSDEMO_DATA", str(other))
    with pytest.raises(UserError, match="was trained over torchvision/densenet169") as error:
        load_network(find_weights("finder"))
    is_one_sentence(error)


def test_a_network_that_finds_nothing_says_so(photos):
    with pytest.raises(UserError, match="set backbone=finder"):
        FeatureCache("pocket", "found").encode_regions(photos[0])
