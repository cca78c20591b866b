"""Training Pocket: it learns, and an interrupted training resumes exactly."""

import dataclasses
import json

import pytest
import torch
from safetensors.torch import load_file

from tests.recipes.pocket.conftest import random_start
from tests.support.small_runs import logged
from vsdemo.core.errors import UserError
from vsdemo.recipes.pocket import batches, train
from vsdemo.recipes.pocket.train import Distillation, Settings
from vsdemo.training import state
from vsdemo.training.state import STATE
from vsdemo.training.trainer import Trainer
from vsdemo.vision.backbones.network import Backbone
from vsdemo.vision.backbones.weights import Weights

SMALL = Settings(
    epochs=4,
    reuse=2,
    side=64,
    teacher_side=64,
    batch_size=4,
    learning_rate=0.003,
    warmup=2,
    average=0.5,
)
EPOCH = 3  # steps


@pytest.fixture(autouse=True, scope="module")
def small(few_photos):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "NEGATIVES", 16)
        patch.setattr(Distillation, "log_interval", 1)
        yield


@pytest.fixture(scope="module")
def whole(small, tmp_path_factory):
    """Return the folder of an uninterrupted training."""
    out = tmp_path_factory.mktemp("runs") / "whole"
    assert train.train(out, SMALL) == "done"
    return out


@pytest.fixture
def batch_maker(tmp_path):
    """Return the batches of a training."""
    material = Distillation(SMALL, tmp_path)
    material.build()
    return material.batch_maker


def work(out):
    return out.with_name(f"{out.name}.work")


@pytest.mark.long
def test_training_lowers_the_losses(tmp_path):
    trainer = Trainer(tmp_path, Distillation(dataclasses.replace(SMALL, epochs=16), tmp_path))
    before = trainer.material.measure(trainer.evaluated)
    assert trainer.run() == "done"
    for name in ("places", "means", "ranking"):
        losses = [event[name] for event in logged(tmp_path, "step")]
        assert sum(losses[-9:]) < 0.5 * sum(losses[:9])
    after = trainer.material.measure(trainer.evaluated)
    assert after.keys() == {"flickr8k", "storybook"}
    assert after["flickr8k"] > before["flickr8k"] + 40  # chance is 320 of 600
    epochs = [event["epoch"] for event in logged(tmp_path, "eval")]
    assert epochs == [4, 8, 12, 16]


def test_the_result_is_a_backbone(tmp_path, whole):
    out = whole
    assert (out / "model.safetensors").stat().st_size < 10_000_000
    card = (out / "README.md").read_text()
    assert "4 photos of flickr8k, 2 photos of photos_unlabelled, 6 photos of storybook" in card
    metrics = json.loads((out / "metrics.json").read_text())
    (last,) = (event for event in logged(work(out), "eval") if event["epoch"] == 4)
    assert metrics["dev_rsum"] == {name: last[name] for name in ("flickr8k", "storybook")}
    network = Backbone(Weights("pocket", out / "model.safetensors", "0"))
    pixels = torch.randint(0, 256, (2, 3, 224, 224), dtype=torch.uint8)
    trainer = Trainer(work(out), Distillation(SMALL, tmp_path))
    assert trainer.run() == "done"  # restores the averaged weights
    with torch.no_grad():
        vector, _ = trainer.evaluated.eval()(pixels / 255)
    assert torch.allclose(network(pixels)[0], vector, atol=0.05 * float(vector.max()))
    before = (work(out) / "events.jsonl").read_bytes()
    assert train.train(out, SMALL) == "done"
    assert (work(out) / "events.jsonl").read_bytes() == before  # nothing is trained again


def interrupted(out, monkeypatch) -> None:
    """Start a training that is killed in its second epoch."""

    class Killed(BaseException):
        pass

    train_step = Trainer._train_step

    def kill(self, batch):
        if self.step == 4:
            raise Killed
        return train_step(self, batch)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "_train_step", kill)
        with pytest.raises(Killed):
            train.train(out, SMALL)


def assert_same_training(whole, other) -> None:
    one, two = (load_file(work(out) / STATE) for out in (whole, other))
    assert one.keys() == two.keys()
    assert [name for name in one if not torch.equal(one[name], two[name])] == []
    assert logged(work(whole), "step") == logged(work(other), "step")


@pytest.mark.long
def test_a_killed_training_resumes_exactly(tmp_path, monkeypatch, whole):
    killed = tmp_path / "killed"
    interrupted(killed, monkeypatch)
    assert state.read(work(killed))[0]["step"] == EPOCH
    assert train.train(killed, SMALL) == "done"
    assert_same_training(whole, killed)


def test_other_settings_need_another_folder(whole):
    with pytest.raises(UserError, match="another configuration"):
        train.train(whole, dataclasses.replace(SMALL, seed=1))


def test_the_average_forgets_the_first_weights(tmp_path):
    """The decay rises from 1 / 10 to its final value."""
    trainer = Trainer(tmp_path, Distillation(SMALL, tmp_path))
    weight = trainer.model.components.bias
    average = trainer.evaluated.components.bias
    expected = None
    for updates, batch in enumerate([*trainer.material.batches(0), *trainer.material.batches(1)]):
        trainer._train_step(batch)
        now = weight.detach().clone()
        decay = min(0.5, (1 + updates) / (10 + updates))
        expected = now if expected is None else decay * expected + (1 - decay) * now
        assert torch.allclose(average, expected, atol=1e-6)
    assert not torch.equal(average, weight)


def test_batches_depend_on_the_step_only(batch_maker):
    again = batch_maker.make(5)
    assert torch.equal(batch_maker.make(5).pixels, again.pixels)
    assert not torch.equal(again.pixels, batch_maker.make(4).pixels)
    assert again.pixels.shape == (4, 3, 64, 64)
    epoch = list(batch_maker.epoch(1, start=1))
    assert len(epoch) == EPOCH - 1
    for step, batch in enumerate(epoch, start=EPOCH + 1):
        assert torch.equal(batch.pixels, batch_maker.make(step).pixels)


def test_crops_come_again_with_other_captions_in_another_order(batch_maker, monkeypatch):
    monkeypatch.setattr(batch_maker, "captions_of", [["one", "two", "three"]] * 12)
    sets = [list(batch_maker.epoch(epoch)) for epoch in range(4)]
    names = [[batch.name for batch in batches] for batches in sets]
    assert sorted(names[2]) == names[0]
    assert sorted(names[3]) == names[1]
    assert not {*names[0]} & {*names[1]}
    assert any(names[epoch + 2] != names[epoch] for epoch in range(2))
    pixels = {batch.name: batch.pixels for batch in sets[0]}
    texts = {batch.name: batch.captions[:2] for batch in sets[0]}
    for batch in sets[2]:
        assert torch.equal(batch.pixels, pixels[batch.name])
    assert any(batch.captions[:2] != texts[batch.name] for batch in sets[2])


def test_a_training_starts_from_the_pruned_teacher(tmp_path):
    student = Distillation(SMALL, tmp_path).build()
    for part, first in zip((student.net, student.components), random_start(None, ()), strict=True):
        state = part.state_dict()
        assert all(torch.equal(state[name], tensor) for name, tensor in first.items())


def test_the_student_sees_smaller_crops_than_the_teacher(tmp_path):
    material = Distillation(dataclasses.replace(SMALL, teacher_side=96), tmp_path)
    student = material.build()
    sides = []
    student.register_forward_pre_hook(lambda _, inputs: sides.append(inputs[0].shape[-1]))
    batch = material.batch_maker.make(0)
    material.embed(batch)
    assert batch.pixels.shape[-1] == 96
    assert sides == [64]


def test_an_epoch_has_every_photograph_once_and_some_drawings(tmp_path, monkeypatch):
    monkeypatch.setattr(batches, "DRAWINGS", 2)
    material = Distillation(dataclasses.replace(SMALL, epochs=9, reuse=1), tmp_path)
    material.build()
    maker = material.batch_maker
    assert maker.steps_per_epoch == 2
    drawings = set()
    for epoch in range(9):
        chosen = [maker._photos(2 * epoch + step)[0].tolist() for step in range(2)]
        photos = sorted(chosen[0] + chosen[1])
        assert photos[:6] == list(range(6))
        drawings |= set(photos[6:])
    assert drawings == set(range(6, 12))


def test_captions_are_those_of_their_photos(batch_maker, few_photos):
    caption_of = dict(zip(few_photos.photo_of, few_photos.captions, strict=True))
    for step in range(6):
        batch, (photos, _, _) = batch_maker.make(step), batch_maker._photos(step)
        own = photos[batch.described].tolist()
        assert {*own} <= caption_of.keys()
        assert not batch.described[:2].any()  # these are mixed
        assert batch.owner.tolist()[: len(own)] == own
        assert len(batch.captions) == len(batch.owner) == len(own) + batches.NEGATIVES
        for sentence, owner in zip(batch.captions, batch.owner.tolist(), strict=True):
            assert sentence.text == caption_of[owner]


def test_mirrored_photos_have_no_caption_that_says_left(batch_maker):
    """All captions here do. Photos without a caption are mirrored now and then."""
    mirrored = {True: set(), False: set()}
    for step in range(18):
        batch, (_, _, _, flipped, _) = batch_maker.make(step), batch_maker._crops(step)
        for described, flip in zip(batch.described.tolist(), flipped, strict=True):
            mirrored[described].add(flip)
    assert mirrored == {True: {False}, False: {True, False}}


def test_captions_are_for_crops_of_much_of_a_photo(batch_maker):
    described = []
    for step in range(18):
        batch, (_, _, _, _, areas) = batch_maker.make(step), batch_maker._crops(step)
        described += [
            a for a, is_described in zip(areas, batch.described, strict=True) if is_described
        ]
    assert min(described) >= batches.DESCRIBED_AREA
