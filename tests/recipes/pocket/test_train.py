"""Training Pocket: it learns, and a run that was broken off goes on exactly."""

import dataclasses

import pytest
import torch
from safetensors.torch import load_file

from vsdemo.core import events
from vsdemo.core.errors import UserError
from vsdemo.recipes.pocket import batches, train
from vsdemo.recipes.pocket.train import Settings, Trainer
from vsdemo.training.state import STATE
from vsdemo.vision.backbones.network import Backbone
from vsdemo.vision.backbones.weights import Weights

SMALL = Settings(epochs=6, batch_size=4, learning_rate=0.003, warmup=2, average=0.5)


@pytest.fixture(autouse=True)
def small(few_photos, monkeypatch):
    monkeypatch.setattr(batches, "STAGES", ((0.0, 64), (0.5, 96)))
    monkeypatch.setattr(train, "SAVE_EVERY", 2)
    monkeypatch.setattr(train, "LOG_EVERY", 1)


def work(out):
    return out.with_name(f"{out.name}.work")


def losses(out):
    found = events.read(work(out) / "events.jsonl")
    return [e["places"] + e["ranking"] for e in found if e["kind"] == "step"]


def test_it_learns(tmp_path):
    made = Trainer(tmp_path / "pocket", dataclasses.replace(SMALL, epochs=30))
    before = made.evaluate()
    assert made.run() == "done"
    found = losses(tmp_path / "pocket")
    assert sum(found[-9:]) < 0.7 * sum(found[:9])
    after = made.evaluate()
    assert after.keys() == {"flickr8k", "storybook"}
    assert after["flickr8k"] > before["flickr8k"] + 80  # chance is 320 of 600


def test_what_it_made_is_a_backbone(tmp_path, few_photos):
    out = tmp_path / "pocket"
    made = Trainer(out, SMALL)
    made.run()
    assert (out / "model.safetensors").stat().st_size < 10_000_000
    assert (
        "4 photos of flickr8k, 2 photos of photos_unlabelled, 6 photos of storybook"
        in (out / "README.md").read_text()
    )
    network = Backbone(Weights("pocket", out / "model.safetensors", "0"))
    pixels = torch.randint(0, 256, (2, 3, 224, 224), dtype=torch.uint8)
    with torch.no_grad():
        vector, _ = made.average.module.eval()(pixels / 255)
    assert torch.allclose(network(pixels)[0], vector, atol=0.05 * float(vector.max()))
    assert Trainer(out, SMALL).run() == "done"  # and nothing is trained again


def test_a_run_that_was_killed_goes_on_exactly(tmp_path, monkeypatch):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    Trainer(whole, SMALL).run()

    class Killed(BaseException):
        pass

    learn = Trainer.learn

    def killed(self, batch):
        if self.step == 9:  # saved after step 8
            raise Killed
        return learn(self, batch)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "learn", killed)
        with pytest.raises(Killed):
            Trainer(broken, SMALL).run()
    assert Trainer(broken, SMALL).run() == "done"
    one, other = load_file(work(whole) / STATE), load_file(work(broken) / STATE)
    assert one.keys() == other.keys()
    assert all(torch.equal(one[name], other[name]) for name in one)
    assert losses(whole) == losses(broken)


def test_other_settings_need_another_folder(tmp_path):
    Trainer(tmp_path / "pocket", SMALL).run()
    with pytest.raises(UserError, match="other settings"):
        Trainer(tmp_path / "pocket", dataclasses.replace(SMALL, seed=1)).run()


def test_batches_depend_on_the_step_alone(tmp_path):
    made = Trainer(tmp_path / "pocket", SMALL).batches
    assert all(torch.equal(a, b) for a, b in zip(made.make(5)[:2], made.make(5)[:2], strict=True))
    assert not torch.equal(made.make(5).pixels, made.make(6).pixels)
    assert [made.make(s).pixels.shape[-1] for s in (0, 8, 9, 17)] == [64, 64, 96, 96]
    in_order = [batch.pixels for batch in made.after(15)]
    assert len(in_order) == 3
    assert torch.equal(in_order[0], made.make(15).pixels)


def test_an_epoch_has_every_photograph_once_and_some_drawings(tmp_path, few_photos, monkeypatch):
    monkeypatch.setattr(batches, "DRAWINGS", 2)
    made = Trainer(tmp_path / "pocket", SMALL).batches
    assert made.steps_per_epoch == 2
    drawings = set()
    for epoch in range(6):
        chosen = [made._chosen(2 * epoch + step).tolist() for step in range(2)]
        photos = sorted(chosen[0] + chosen[1])
        assert photos[:6] == list(range(6))
        drawings |= set(photos[6:])
    assert drawings == set(range(6, 12))


def test_captions_are_those_of_their_photos(tmp_path, few_photos):
    made = Trainer(tmp_path / "pocket", SMALL).batches
    said = dict(zip(few_photos.photo_of, few_photos.captions, strict=True))
    for step in range(6):
        batch, chosen = made.make(step), made._chosen(step)
        own = chosen[batch.described].tolist()
        assert batch.owner.tolist()[: len(own)] == own == [p for p in chosen.tolist() if p in said]
        assert len(batch.captions) == len(batch.owner) == len(own) + batches.OTHERS
        for sentence, owner in zip(batch.captions, batch.owner.tolist(), strict=True):
            assert sentence.text == said[owner]


def test_what_says_left_is_not_mirrored(tmp_path, monkeypatch):
    """Photos without a caption are, now and then."""
    made = Trainer(tmp_path / "pocket", SMALL).batches
    columns = torch.arange(10).expand(12, 6, 10, 10).float()  # each place knows its column
    monkeypatch.setattr(made, "maps", columns.half())
    found = {True: set(), False: set()}
    for step in range(18):
        batch = made.make(step)
        for described, target in zip(batch.described.tolist(), batch.target, strict=True):
            found[described].add(bool(target[0, 0, -1] < target[0, 0, 0]))
    assert found == {True: {False}, False: {True, False}}
