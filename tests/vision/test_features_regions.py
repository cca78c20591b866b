"""Features of regions: the map of the whole photo, cut out box by box."""

import pytest
import torch
from PIL import Image
from safetensors import safe_open
from safetensors.torch import save_file
from torch.nn.functional import normalize

from vsdemo.core.errors import UserError
from vsdemo.core.images import open_photo
from vsdemo.vision import features, proposals, regions
from vsdemo.vision.crops import REGIONS
from vsdemo.vision.features import FeatureCache

BACKBONE = "torchvision/mobilenet_v3_small"
LAYOUTS = {"windows": regions.windows, "grid": regions.grid}


class FakeProposals:
    """Finds the same boxes (1, K, 4) in each photo, as if by a network."""

    is_network = True

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
    """What the next photos' boxes are."""
    found = torch.zeros(1, 3, 4)
    found[0, 0], found[0, 2] = torch.tensor([0.1, 0.2, 0.5, 0.9]), torch.tensor(regions.FRAME)

    monkeypatch.setitem(proposals.PROPOSALS, "detector", lambda: FakeProposals(found))
    return found


@pytest.mark.parametrize("kind", ["windows", "grid"])
def test_a_row_a_region(photos, kind):
    cache = FeatureCache(BACKBONE, kind)
    found = cache.get(photos)
    assert found.shape == (5, REGIONS[kind].vectors, 576)
    torch.testing.assert_close(found.norm(dim=-1), torch.ones(found.shape[:2]), atol=2e-3, rtol=0)
    expected = LAYOUTS[kind]().expand(5, -1, -1)
    torch.testing.assert_close(cache.boxes(photos), expected)
    assert not torch.equal(found[:, 0], found[:, -1])


def test_a_region_is_the_mean_of_its_part_of_the_map(photos):
    cache = FeatureCache(BACKBONE, "windows")
    network = features.load_backbone(cache.weights)
    views = network.views(open_photo(photos[0]), "windows")
    assert views.shape == (1, 3, 384, 384)
    _, maps = network(views)  # (1, C, 12, 12)
    left = network.encode_regions(views, torch.tensor([[[0.0, 0.0, 0.25, 1.0], regions.FRAME]]))
    expected = normalize(maps[0, :, :, :3].mean((1, 2)), dim=0)
    assert (left[0, 0] * expected).sum() > 0.99
    assert (left[0, 1] * normalize(maps[0].mean((1, 2)), dim=0)).sum() > 0.99
    assert (left[0, 0] * left[0, 1]).sum() < 0.98


def test_a_photo_in_memory_equals_its_stored_regions(photos):
    cache = FeatureCache(BACKBONE, "windows")
    stored, boxes = cache.get(photos), cache.boxes(photos)
    for row, path in enumerate(photos):
        found, own = cache.encode_regions(open_photo(path))
        torch.testing.assert_close(found, stored[row], rtol=0, atol=2e-3)
        assert torch.equal(own, boxes[row])
    assert torch.equal(
        cache.encode(open_photo(photos[0])), cache.encode_regions(open_photo(photos[0]))[0]
    )


def test_a_view_is_one_region(photos):
    cache = FeatureCache(BACKBONE, "whole")
    vector, boxes = cache.encode_regions(open_photo(photos[0]))
    assert vector.shape == (1024,)
    assert boxes.tolist() == [list(regions.FRAME)]
    assert cache.boxes(photos).tolist() == [[list(regions.FRAME)]] * 5


def test_a_box_that_is_not_there_has_a_feature_of_zeros(photos, boxes):
    found = FeatureCache(BACKBONE, "detector").get(photos)
    assert found.shape == (5, 3, 576)
    assert (found != 0).any(-1).tolist() == [[True, False, True]] * 5


@pytest.mark.parametrize(
    ("box", "wrong"),
    [
        ((0.5, 0.2, 0.1, 0.9), "left"),
        ((0.1, 0.2, float("nan"), 0.9), "not a number"),
        ((0.1, -0.2, 0.5, 0.9), "outside"),
    ],
)
def test_boxes_that_are_none_are_refused(photos, boxes, box, wrong):
    boxes[0, 0] = torch.tensor(box)
    with pytest.raises(UserError, match=wrong):
        FeatureCache(BACKBONE, "detector").get(photos)


@pytest.mark.parametrize("wrong", [float("nan"), 1.5, -1.0])
def test_a_features_file_with_boxes_that_are_none_says_so(photos, wrong):
    cache = FeatureCache(BACKBONE, "windows")
    cache.get(photos)
    file = next(cache.folder.glob("*/*.safetensors"))
    with safe_open(file, "pt") as stored:
        found, kept = {k: stored.get_tensor(k) for k in ("features", "boxes")}, stored.metadata()
    found["boxes"][0, 0, 2] = wrong
    save_file(found, file, kept)
    with pytest.raises(UserError, match="A box of the features in"):
        cache.boxes(photos)
    del found["boxes"]
    save_file(found, file, kept)
    assert cache.boxes(photos).isfinite().all()  # as if the file were not there


def test_another_detector_is_another_checkpoint(photos, boxes, monkeypatch):
    one = FeatureCache(BACKBONE, "detector")
    other = FakeProposals(boxes, version="other")
    monkeypatch.setitem(proposals.PROPOSALS, "detector", lambda: other)
    assert FeatureCache(BACKBONE, "detector").hash != one.hash
    assert FeatureCache(BACKBONE, "windows").hash == one.weights.hash


def test_drawn_boxes_need_a_photo_that_people_looked_at(photos):
    cache = FeatureCache(BACKBONE, "entities")
    with pytest.raises(UserError, match="Flickr8k only"):
        cache.encode(open_photo(photos[0]))


def test_drawn_boxes(photos, monkeypatch):
    monkeypatch.setattr(proposals.entities, "boxes", lambda path: [(0.0, 0.0, 0.5, 0.5)])
    cache = FeatureCache(BACKBONE, "entities")
    assert cache.boxes(photos).count_nonzero(-1).count_nonzero(-1).tolist() == [2] * 5


def test_a_photo_of_few_pixels(tmp_path):
    Image.new("RGB", (8, 9), "red").save(tmp_path / "dot.png")
    assert FeatureCache(BACKBONE, "grid").get([tmp_path / "dot.png"]).isfinite().all()
