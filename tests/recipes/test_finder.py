"""Training the finder: its boxes, what anchors learn, its losses, and a training that resumes."""

import json

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file

from tests.support.random_finder import write_densenet
from tests.support.small_runs import logged, stopped_at
from vsdemo.core import checksums
from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError
from vsdemo.evaluation.phrases import Phrase
from vsdemo.recipes.finder import boxes as box_labels
from vsdemo.recipes.finder import maps as photo_maps
from vsdemo.recipes.finder import measure, train
from vsdemo.recipes.finder.boxes import Boxes, of_phrases
from vsdemo.recipes.finder.losses import losses, targets
from vsdemo.recipes.finder.train import Detection, Settings
from vsdemo.vision import regions
from vsdemo.vision.backbones.finder import (
    LAST,
    PLACES,
    PRINCIPAL,
    Best,
    BoxHead,
    Finder,
    Maps,
    Proposed,
    anchors,
)

SMALL = Settings(epochs=3, batch=2, drawings=2, warmup=2)
PHOTOS = 4  # of train


def phrase(*boxes: tuple[float, ...], caption: int = 0) -> Phrase:
    return Phrase(caption, ("a", "dog"), (0, 1), torch.tensor(boxes), ("animals",))


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Photos with known boxes instead of Flickr8k and Storybook, and a random DenseNet-169."""
    root = tmp_path_factory.mktemp("data")
    write_densenet(root / "models")
    draw = np.random.default_rng(0)

    def load(name: str, split: str) -> CaptionSet:
        count = PHOTOS if split == "train" else 2
        photos = tuple(root / f"{name}-{split}-{n}.png" for n in range(count))
        for photo in photos:
            pixels = draw.integers(0, 256, (60, 80, 3), dtype=np.uint8)
            if not photo.exists():
                Image.fromarray(pixels).save(photo)
        texts = tuple(f"a dog {n}" for n in range(count))
        return CaptionSet(name, split, photos, texts, tuple(range(count)))

    def phrases(split: CaptionSet) -> list[Phrase]:
        places = [((0.1, 0.1 * n, 0.5, 0.6 + 0.1 * n), (0.6, 0.2, 0.9, 0.5)) for n in range(PHOTOS)]
        return [phrase(*places[n], caption=n) for n in range(len(split.photos))]

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VSDEMO_DATA", str(root))
        patch.setenv("VSDEMO_HOME", str(root / "home"))
        patch.setattr(train.datasets, "load", load)
        patch.setattr(box_labels, "phrases", phrases)
        patch.setattr(Detection, "log_interval", 1)
        patch.setattr(train, "NETWORK", "torchvision/densenet169")
        yield root


@pytest.fixture(scope="module")
def whole(world, tmp_path_factory):
    """The folder of an uninterrupted training."""
    out = tmp_path_factory.mktemp("runs") / "whole"
    assert train.train(out, SMALL) == "done"
    return out


def work(out):
    return out.with_name(f"{out.name}.work")


def test_training_lowers_the_loss(whole):
    steps = [event["loss"] for event in logged(work(whole), "step")]
    assert np.mean(steps[-2:]) < np.mean(steps[:2])


def test_a_stopped_training_resumes_to_the_same_weights(tmp_path, whole):
    out = tmp_path / "stopped"
    with stopped_at(4):
        assert train.train(out, SMALL) == "stopped"
    assert not out.exists()
    assert train.train(out, SMALL) == "done"
    ours, theirs = (load_file(folder / train.WEIGHTS) for folder in (out, whole))
    for name, weights in theirs.items():
        torch.testing.assert_close(ours[name], weights, atol=0, rtol=0, msg=name)


def test_maps_that_were_computed_are_not_computed_again(whole, monkeypatch):
    monkeypatch.setattr(photo_maps, "open_photo", lambda path: pytest.fail(f"{path} is read again"))
    material = Detection(SMALL, work(whole))
    material.build()
    assert len(material.boxes) == PHOTOS + SMALL.drawings + 2


def test_a_damaged_photo_is_named(world, tmp_path, is_one_sentence):
    bad = tmp_path / "bad.png"
    bad.write_bytes(b"no photo")
    maps = photo_maps.PhotoMaps(tmp_path / "maps", [bad])
    network = Finder(train.load_network(train.find_weights(train.NETWORK))).eval()
    with pytest.raises(UserError, match=r"bad\.png") as error:
        maps.compute(network)
    is_one_sentence(error)


def test_the_result_has_checksums_and_a_card(whole):
    checksums.check(whole / train.WEIGHTS)
    metrics = json.loads((whole / "metrics.json").read_text())
    card = (whole / "README.md").read_text()
    assert f"{metrics['dev']['recall10']:.1f}%" in card
    assert "2 drawings of Storybook" in card


def test_the_scale_of_channels_ships(whole):
    scales = Finder.load("", whole / train.WEIGHTS).head.last_scale
    assert scales.std() > 0


def test_boxes_count_by_how_often_captions_speak_of_them():
    two = phrase((0.0, 0.0, 0.2, 0.2), (0.6, 0.6, 1.0, 1.0))
    one = phrase((0.0, 0.0, 0.2, 0.2))
    boxes = of_phrases([two, one, one])
    by_place = dict(zip(map(tuple, boxes.places.tolist()), boxes.weights.tolist(), strict=True))
    small, frame = (pytest.approx(x) for x in ((0, 0, 0.2, 0.2), (0, 0, 1, 1)))
    weights = {place: weight for place, weight in by_place.items() if place == small}
    assert [*weights.values()] == [pytest.approx(2.3)]
    assert [w for place, w in by_place.items() if place == frame] == [1.0]
    assert of_phrases([one] * 9).weights.tolist() == [4.0]


def test_mirrored_boxes():
    boxes = Boxes(torch.tensor([[0.1, 0.2, 0.4, 0.9]]), torch.ones(1)).mirrored()
    torch.testing.assert_close(boxes.places, torch.tensor([[0.6, 0.2, 0.9, 0.9]]))


def test_each_box_is_learned_by_its_nearest_anchors():
    places = torch.tensor([[0.1, 0.1, 0.7, 0.95], [0.4, 0.3, 0.52, 0.48]])
    wanted = targets(anchors(), [Boxes(places, torch.tensor([1.0, 2.0]))])
    overlaps = regions.overlap(anchors()[wanted.anchors], wanted.boxes)
    for place, weight in zip(places, (1.0, 2.0), strict=True):
        own = (wanted.boxes == place).all(1)
        assert own.any()
        assert overlaps[own].max() == regions.overlap(anchors(), place).max()
        assert set(wanted.weights[own].tolist()) == {weight}
    assert not wanted.unclear[0, wanted.anchors].any()
    assert wanted.unclear.any()


def test_the_loss_is_small_for_what_is_wanted():
    places = torch.tensor([[0.1, 0.1, 0.7, 0.95]])
    wanted = targets(anchors(), [Boxes(places, torch.ones(1))])
    logits = torch.full((1, len(anchors())), -9.0)
    exact = anchors()[None].clone()
    exact[0, wanted.anchors] = places
    good = logits.clone()
    good[0, wanted.anchors] = 9.0
    right = losses(Proposed(good, exact), wanted)
    assert right["loss"] < 0.01
    assert losses(Proposed(logits, exact), wanted)["certainty_loss"] > 1
    shifted = exact + 0.1
    assert losses(Proposed(good, shifted), wanted)["place_loss"] > right["place_loss"] + 0.1


def test_recall_counts_covered_boxes_by_their_weight(monkeypatch):
    places = torch.tensor([[0.0, 0.0, 0.5, 0.5], [0.5, 0.5, 1.0, 1.0]])
    boxes = [Boxes(places, torch.tensor([3.0, 1.0]))]
    monkeypatch.setattr(measure, "best_boxes", lambda *_: [Best(places[:1], torch.zeros(1))])

    class NoMaps:
        def __getitem__(self, rows):
            return Maps(torch.zeros(1, PRINCIPAL, PLACES, PLACES), torch.zeros(1, LAST, 10, 10))

    result = measure.recall(BoxHead(), NoMaps(), [0], boxes)
    assert set(result.values()) == {75.0}
