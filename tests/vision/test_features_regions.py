"""Features of regions: the map of the whole photo within each box."""

import pytest
import torch
from PIL import Image
from safetensors import safe_open
from torch.nn.functional import normalize

from vsdemo.core import tensors
from vsdemo.core.errors import UserError
from vsdemo.core.images import open_photo
from vsdemo.vision import features, proposals, regions
from vsdemo.vision.crops import REGIONS
from vsdemo.vision.features import FeatureCache

BACKBONE = "torchvision/mobilenet_v3_small"
LAYOUTS = {"windows": regions.windows, "grid": regions.grid}


class FakeProposals:
    """Finds the same boxes (1, K, 4) in each photo, as if by a network."""

    is_network, by_backbone = True, False

    def __init__(self, boxes: torch.Tensor, version: str = "fake") -> None:
        self.boxes = boxes
        self.version = version

    def find(self, photos, paths) -> torch.Tensor:
        return self.boxes.expand(len(photos), *self.boxes.shape[1:])


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("VSDEMO_HOME", str(tmp_path / "home"))


@pytest.fixture
def photos(toy_root):
    return sorted((toy_root / "toy" / "images").glob("*.png"))[:5]


@pytest.fixture
def boxes(monkeypatch):
    """The boxes that the detector finds: (1, 3, 4), the second one missing."""
    boxes = torch.zeros(1, 3, 4)
    boxes[0, 0] = torch.tensor([0.1, 0.2, 0.5, 0.9])
    boxes[0, 2] = torch.tensor(regions.FRAME)
    monkeypatch.setitem(proposals.PROPOSALS, "detector", lambda: FakeProposals(boxes))
    return boxes


def test_the_frame_alone_is_described_as_the_last_window(photos):
    windows = FeatureCache(BACKBONE, "windows").get(photos[:2])
    frame = FeatureCache(BACKBONE, "frame").get(photos[:2])
    assert frame.shape == (2, 1, windows.shape[-1])
    assert torch.equal(frame[:, 0], windows[:, -1])


@pytest.mark.parametrize("kind", ["windows", "grid"])
def test_each_region_has_a_vector(photos, kind):
    cache = FeatureCache(BACKBONE, kind)
    vectors = cache.get(photos)
    assert vectors.shape == (5, REGIONS[kind].vectors, 576)
    expected = torch.ones(vectors.shape[:2])
    torch.testing.assert_close(vectors.float().norm(dim=-1), expected, atol=2e-3, rtol=0)
    torch.testing.assert_close(cache.boxes(photos), LAYOUTS[kind]().expand(5, -1, -1))
    assert not torch.equal(vectors[:, 0], vectors[:, -1])


def test_region_is_the_mean_of_its_part_of_the_map(photos):
    cache = FeatureCache(BACKBONE, "windows")
    network = features.load_backbone(cache.weights)
    views = network.views(open_photo(photos[0]), "windows")
    assert views.shape == (1, 3, 384, 384)
    _, maps = network(views)  # (1, C, 12, 12)
    left_and_all = torch.tensor([[[0.0, 0.0, 0.25, 1.0], regions.FRAME]])
    vectors = network.encode_regions(views, left_and_all)
    expected = normalize(maps[0, :, :, :3].mean((1, 2)), dim=0)
    assert (vectors[0, 0] * expected).sum() > 0.99
    assert (vectors[0, 1] * normalize(maps[0].mean((1, 2)), dim=0)).sum() > 0.99
    assert (vectors[0, 0] * vectors[0, 1]).sum() < 0.98


def test_photo_in_memory_equals_its_cached_regions(photos):
    cache = FeatureCache(BACKBONE, "windows")
    stored, boxes = cache.get(photos), cache.boxes(photos)
    for row, path in enumerate(photos):
        vectors, own = cache.encode_regions(open_photo(path))
        torch.testing.assert_close(vectors, stored[row], rtol=0, atol=2e-3)
        assert torch.equal(own, boxes[row])
    assert torch.equal(
        cache.encode([open_photo(photos[0])])[0], cache.encode_regions(open_photo(photos[0]))[0]
    )


def test_view_is_one_region(photos):
    cache = FeatureCache(BACKBONE, "whole")
    vector, boxes = cache.encode_regions(open_photo(photos[0]))
    assert vector.shape == (1024,)
    assert boxes.tolist() == [list(regions.FRAME)]
    assert cache.boxes(photos).tolist() == [[list(regions.FRAME)]] * 5


def test_missing_box_has_a_feature_of_zeros(photos, boxes):
    vectors = FeatureCache(BACKBONE, "detector").get(photos)
    assert vectors.shape == (5, 3, 576)
    assert (vectors != 0).any(-1).tolist() == [[True, False, True]] * 5


@pytest.mark.parametrize(
    ("box", "problem"),
    [
        ((0.5, 0.2, 0.1, 0.9), "left"),
        ((0.1, 0.2, float("nan"), 0.9), "not a number"),
        ((0.1, -0.2, 0.5, 0.9), "outside"),
    ],
)
def test_invalid_boxes_are_refused(photos, boxes, box, problem):
    boxes[0, 0] = torch.tensor(box)
    with pytest.raises(UserError, match=problem):
        FeatureCache(BACKBONE, "detector").get(photos)


@pytest.mark.parametrize("edge", [float("nan"), 1.5, -1.0])
def test_invalid_boxes_in_a_file_are_reported(photos, edge):
    cache = FeatureCache(BACKBONE, "windows")
    cache.get(photos)
    file = next(cache.folder.glob("*/*.safetensors"))
    with safe_open(file, "pt") as opened:
        stored = {name: opened.get_tensor(name) for name in ("features", "boxes")}
        metadata = {"keys": opened.metadata()["keys"]}
    stored["boxes"][0, 0, 2] = edge
    tensors.write_checked(file, stored, metadata)
    with pytest.raises(UserError, match="A box of the features in"):
        cache.boxes(photos)
    del stored["boxes"]
    tensors.write_checked(file, stored, metadata)
    assert cache.boxes(photos).isfinite().all()  # the incomplete file is ignored


def test_hash_depends_on_the_detector(boxes, monkeypatch):
    cache = FeatureCache(BACKBONE, "detector")
    other = FakeProposals(boxes, version="other")
    monkeypatch.setitem(proposals.PROPOSALS, "detector", lambda: other)
    assert FeatureCache(BACKBONE, "detector").hash != cache.hash
    assert FeatureCache(BACKBONE, "windows").hash == cache.weights.hash


def test_drawn_boxes_of_an_unknown_photo_are_refused(photos):
    cache = FeatureCache(BACKBONE, "entities")
    with pytest.raises(UserError, match="Flickr8k only"):
        cache.encode([open_photo(photos[0])])


def test_drawn_boxes_are_read(photos, monkeypatch):
    monkeypatch.setattr(proposals.entities, "boxes", lambda path: [(0.0, 0.0, 0.5, 0.5)])
    cache = FeatureCache(BACKBONE, "entities")
    assert cache.boxes(photos).count_nonzero(-1).count_nonzero(-1).tolist() == [2] * 5


def test_photo_of_a_few_pixels(tmp_path):
    Image.new("RGB", (8, 9), "red").save(tmp_path / "dot.png")
    assert FeatureCache(BACKBONE, "grid").get([tmp_path / "dot.png"]).isfinite().all()
