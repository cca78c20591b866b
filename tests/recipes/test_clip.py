"""Training CLIP on Storybook: it learns, resumes exactly, and open_clip loads what it writes."""

from pathlib import Path

import numpy as np
import open_clip
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file

from tests.support.small_runs import logged, stopped_at
from vsdemo.core.errors import UserError
from vsdemo.data import storybook
from vsdemo.data.storybook import store
from vsdemo.data.storybook.free_scenes import evaluated_content
from vsdemo.recipes.clip import scenes, train
from vsdemo.recipes.clip.train import ClipConfig, Contrast
from vsdemo.training.state import STATE
from vsdemo.training.trainer import Trainer

SPLITS = {
    "train": range(6),
    "dev": range(4000, 4004),
    "test": range(4500, 4504),
    "compositional": range(5000, 5002),
    "all": range(5500),
}
SMALL = ClipConfig(more=2, epochs=6, batch_size=4, warmup=2, evaluate_every=3)
EPOCH = 2  # steps


@pytest.fixture(autouse=True, scope="module")
def few_scenes():
    """Let each split have a few scenes, and the text encoder be smaller."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"width": 16, "heads": 2, "layers": 2}.items():
            patch.setitem(train.TEXT, name, value)
        patch.setattr(store, "SPLITS", SPLITS)
        patch.setattr(Contrast, "log_interval", 1)
        evaluated_content.cache_clear()
        yield
    evaluated_content.cache_clear()


@pytest.fixture(scope="module")
def whole(few_scenes, tmp_path_factory):
    """Return the folder of an uninterrupted training."""
    out = tmp_path_factory.mktemp("runs") / "whole"
    assert train.train(out, SMALL) == "done"
    return out


def work(out: Path) -> Path:
    return out.with_name(f"{out.name}.work")


def scene(number: int):
    return store.read_examples([number])[0].scene


def test_training_lowers_the_loss(whole):
    losses = [event["loss"] for event in logged(work(whole), "step")]
    assert len(losses) == SMALL.epochs * EPOCH
    assert sum(losses[-4:]) < 0.9 * sum(losses[:4])
    assert [event["epoch"] for event in logged(work(whole), "eval")] == [3, 6]


def test_a_stopped_training_resumes_to_the_same_weights(tmp_path, whole):
    stopped = tmp_path / "stopped"
    with stopped_at(2 * EPOCH + 1):  # within an epoch
        assert train.train(stopped, SMALL) == "stopped"
    assert not stopped.exists()
    assert train.train(stopped, SMALL) == "done"
    one, two = (load_file(work(out) / STATE) for out in (whole, stopped))
    assert [name for name in one if not torch.equal(one[name], two[name])] == []
    assert logged(work(whole), "step") == logged(work(stopped), "step")


def test_other_settings_need_another_folder(whole):
    with pytest.raises(UserError, match="another configuration"):
        train.train(whole, SMALL.model_copy(update={"seed": 1}))


def test_open_clip_loads_the_result(whole):
    model, preprocess = open_clip.create_model_from_pretrained(f"local-dir:{whole}")
    model.eval()  # it is in training mode at first
    tokenizer = open_clip.get_tokenizer(f"local-dir:{whole}")
    trainer = Trainer(work(whole), Contrast(SMALL, work(whole)))
    assert trainer.run() == "done"  # restores the last weights
    trained, split = trainer.evaluated.eval(), storybook.load("train")
    pixels = torch.stack([preprocess(Image.open(path).convert("RGB")) for path in split.photos])
    tokens = tokenizer(list(split.captions))
    assert tokens.shape == (len(split.captions), 32)
    own = np.stack([scenes.read_square(path, train.SIZE) for path in split.photos])
    with torch.no_grad():
        photos = model.encode_image(pixels, normalize=True)
        expected = train.embed_pixels(trained, torch.from_numpy(own).permute(0, 3, 1, 2))
        assert torch.allclose(photos, expected, atol=0.02)
        texts = model.encode_text(tokens, normalize=True)
        assert torch.allclose(texts, trained.encode_text(tokens, normalize=True), atol=0.1)
    spatial = model.visual.forward_intermediates(pixels, indices=1)["image_intermediates"]
    assert [part.shape[-2:] for part in spatial] == [(4, 4)]


def test_the_card_has_the_results(whole):
    card = (whole / "README.md").read_text()
    assert "library_name: open_clip" in card
    assert "It learned from 8 scenes of Storybook" in card
    model, _ = open_clip.create_model_from_pretrained(f"local-dir:{whole}")
    tokenizer = open_clip.get_tokenizer(f"local-dir:{whole}")
    assert f"rsum {train.measure(model, tokenizer, storybook.load('test'))['rsum']:.1f}." in card


def test_tokens_of_no_caption_have_no_vector(whole):
    table = load_file(whole / "open_clip_model.safetensors")[train.TABLE]
    tokens = np.unique(np.load(work(whole) / "tokens.npy")).astype(int)
    assert table.dtype == torch.float8_e4m3fn
    used = table.float().abs().sum(1).nonzero()[:, 0]
    assert used.tolist() == tokens.tolist()


@pytest.mark.parametrize("number", [4000, 4500, 5000])
def test_evaluated_scenes_are_refused(tmp_path, number):
    with pytest.raises(UserError, match="held out"):
        scenes.load(tmp_path, [number], 32, open_clip.SimpleTokenizer(context_length=32))
    assert list(tmp_path.iterdir()) == []


def test_scenes_of_train_and_free_ones_are_used(whole):
    pixels = np.load(work(whole) / "pixels.npy")
    numbers = [*range(6), 5500, 5501]
    assert len(pixels) == len(numbers)
    for row, number in zip(pixels, numbers, strict=True):
        assert np.array_equal(row, scenes.read_square(store.photo(number), train.STORED))


def test_each_scene_has_captions_in_several_wordings():
    first = scene(0)
    texts = scenes.captions_of(first)
    assert len(texts) == 5 * scenes.WORDINGS
    assert texts[:5] == list(store.read_examples([0])[0].captions)
    assert len(set(texts)) > 5


def test_batches_depend_on_the_seed_only(whole):
    material = Contrast(SMALL, work(whole))
    material.build()
    one, two = list(material.batches(1)), list(material.batches(1))
    assert len(one) == EPOCH
    assert all(torch.equal(a.pixels, b.pixels) for a, b in zip(one, two, strict=True))
    (last,) = material.batches(1, start=1)
    assert torch.equal(last.tokens, one[1].tokens)
    assert not torch.equal(one[0].pixels, next(iter(material.batches(2))).pixels)


def test_crops_show_most_of_a_picture_and_never_mirror_it():
    ramp = torch.linspace(0, 255, 160).expand(32, 3, 160, 160)
    crops = train.crop(ramp, np.random.default_rng(0))
    assert crops.shape == (32, 3, train.SIZE, train.SIZE)
    left, right = crops[:, 0, 64, 0], crops[:, 0, 64, -1]
    assert ((right - left) > 255 * train.MIN_SIDE - 5).all()
