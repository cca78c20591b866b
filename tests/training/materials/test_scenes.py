"""Training on drawn scenes and what is true of them: batches, labels and a small run."""

from random import Random

import numpy as np
import pytest
import torch

from tests.support import random_easel
from tests.support.small_runs import logged, preset_trainer, stopped_at
from vsdemo import models
from vsdemo.core import config
from vsdemo.core.errors import UserError
from vsdemo.core.images import open_photo
from vsdemo.core.sentences import Sentence
from vsdemo.data.storybook import sentence_store, store
from vsdemo.data.storybook.facts import facts_of
from vsdemo.data.storybook.free_scenes import FIRST_FREE, evaluated_content
from vsdemo.data.storybook.training_sentences import sentences_about
from vsdemo.evaluation import cards
from vsdemo.models import checkpoint
from vsdemo.search.engine import Reader
from vsdemo.training import materials, preflight
from vsdemo.training.jobs.spec import JobSpec
from vsdemo.training.materials import scenes
from vsdemo.training.materials.scenes import Scenes
from vsdemo.vision import backbones

SPLITS = {
    "train": range(10),
    "dev": range(4000, 4004),
    "test": range(4500, 4504),
    "compositional": range(5000, 5002),
    "all": range(5500),
}
SMALL = (
    *("scenes=2", "dim=16", "word_dim=8", "letter_rows=200", "width=8", "layers=1", "dropout=0"),
    *("batch_size=4", "captions=3", "epochs=4", "evaluate_every=2", "warmup=0"),
    "learning_rate=0.01",
)
EPOCH = 3  # steps
NOUNS = ("puppies", "wombats")  # of typed sentences, though of no caption; of neither


@pytest.fixture(autouse=True, scope="module")
def few_scenes(tmp_path_factory):
    """Let each split have a few scenes, and Easel random weights."""
    folder = tmp_path_factory.mktemp("scenes")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VSDEMO_HOME", str(folder / "home"))
        patch.setattr(store, "SPLITS", SPLITS)
        patch.setattr(Scenes, "log_interval", 1)
        patch.setattr(sentence_store, "COUNTED", 20)
        random_easel.use(patch, folder / "easel" / "model.safetensors")
        forget()
        yield
    forget()


def forget():
    """Clear what is known of other scenes."""
    evaluated_content.cache_clear()
    sentence_store._counted_scenes.cache_clear()


def trainer(out, *settings, data=None):
    return preset_trainer(out, "vse", *SMALL, *settings, data=data)


@pytest.fixture
def material(tmp_path):
    material = trainer(tmp_path).material
    material.build()
    return material


@pytest.fixture(scope="module")
def whole(few_scenes, tmp_path_factory):
    """The folder of an uninterrupted training."""
    out = tmp_path_factory.mktemp("runs") / "whole"
    assert trainer(out).run() == "done"
    return out


def test_scenes_are_those_of_train_and_free_ones(material):
    assert material.dataset == "storybook"
    numbers = [*SPLITS["train"], FIRST_FREE, FIRST_FREE + 1]
    assert [scene.number for scene in material.scenes] == numbers
    assert material.train_set.photos == tuple(map(store.photo, numbers))
    assert material.photos.shape[:2] == (12, 13)
    assert (material.photos != 0).any(-1).all()


def test_the_first_pictures_are_enough(tmp_path):
    few = trainer(tmp_path, "photos=3").material
    assert [scene.number for scene in few.scenes] == [0, 1, 2]
    assert [len(batch) for batch in few.batches(0)] == [3]


def test_evaluated_scenes_are_never_among_them(tmp_path, monkeypatch):
    """Even if free numbers begin before theirs."""
    for split in ("dev", "test", "compositional"):
        first = SPLITS[split].start
        monkeypatch.setattr(scenes, "FIRST_FREE", first - 1)
        chosen = trainer(tmp_path, "scenes=3").material.scenes
        assert [scene.number for scene in chosen] == [*SPLITS["train"], first - 1]


def test_batches_depend_on_seed_and_epoch_only(tmp_path, material):
    again, other = (trainer(tmp_path, f"seed={seed}").material for seed in (0, 1))
    batches = list(material.batches(3))
    assert [len(batch) for batch in batches] == [4, 4, 4]
    assert sorted(np.concatenate([batch.photos for batch in batches])) == [*range(12)]
    for one, two in zip(batches, again.batches(3), strict=True):
        assert one.photos.tolist() == two.photos.tolist()
        assert one.seed == two.seed
    (last,) = material.batches(3, start=2)
    assert last.photos.tolist() == batches[2].photos.tolist()
    assert last.seed == batches[2].seed
    seeds = {b.seed for m in (material, other) for e in (3, 4) for b in m.batches(e)}
    assert len(seeds) == 4 * EPOCH
    first, later, of_other = (
        [batch.photos.tolist() for batch in chosen]
        for chosen in (batches, material.batches(4), other.batches(3))
    )
    assert first != later != of_other != first


@pytest.fixture
def embedded(material, monkeypatch):
    """The texts, embeddings and labels of a batch."""
    texts = []
    prepare = material.model.text.prepare

    def record(sentences):
        texts[:] = [sentence.text for sentence in sentences]
        return prepare(sentences)

    monkeypatch.setattr(material.model.text, "prepare", record)

    def embed(batch):
        general, specific, labels = material.embed(batch)
        return [*texts], general, specific, labels

    return embed


def test_a_batch_has_sentences_of_each_picture(material, embedded):
    batch = material.batches(0)[0]
    texts, general, specific, labels = embedded(batch)
    assert (len(general), len(specific)) == (12, 4)
    assert general.x.shape[2] == specific.x.shape[2] == 16
    assert labels.owner.tolist() == [n for n in range(4) for _ in range(3)]
    assert len({*texts[:3]}) == 3
    assert embedded(batch)[0] == texts
    assert embedded(material.batches(1)[0])[0] != texts


def test_labels_are_what_is_true(material, embedded):
    decided = {0: 0, 1: 0, -1: 0}
    for batch in [*material.batches(0), *material.batches(1)]:
        texts, _, _, labels = embedded(batch)
        shown = [material.scenes[row] for row in batch.photos]
        known = [sentences_about(s, Random(f"sentences/{s.number}")) for s in shown]
        for text, owner, row in zip(texts, labels.owner, labels.true.tolist(), strict=True):
            sentence = next(s for s in known[owner] if s.text == text)
            for scene, label in zip(shown, row, strict=True):
                decided[label] += 1
                if label >= 0:
                    assert sentence.is_true(facts_of(scene)) == label
        rows = [material.sentences.texts.index(text) for text in texts]  # any of the same text
        assert labels.shares.tolist() == material.sentences.shares[rows].tolist()
    assert decided[0] > decided[1] > 12
    assert decided[-1] < decided[0] / 4


@pytest.mark.parametrize("data", ["toy", "flickr8k", "nowhere"])
def test_another_data_set_is_refused(data, is_one_sentence):
    settings = config.override(models.preset("vse")[1], SMALL)
    with pytest.raises(UserError, match=f"cannot be trained on {data}") as caught:
        materials.create("vse", settings, dataset=data)
    assert is_one_sentence(caught)
    assert preflight.available_datasets(settings, own=["mine"]) == ["storybook"]
    assert preflight.default_settings(settings, "storybook") == ()
    (check,) = preflight.check(JobSpec("vse", data, SMALL))
    assert check == (False, str(caught.value))


def test_requirements_count_what_is_missing(own_home):
    pictures, features, *others = preflight.check(JobSpec("vse", None, SMALL))
    expected = "16 pictures for training and validation; 16 of them will be drawn first."
    assert pictures == (True, expected)
    expected = "The features of about 16 pictures will be computed first, by easel (things)."
    assert features == (True, expected)
    assert all(check.ok for check in others)
    store.draw(range(6))
    assert "; 10 of them will be drawn" in preflight.check(JobSpec("vse", None, SMALL))[0].message


def test_a_missing_image_network_is_reported(own_home, tmp_path, monkeypatch):
    monkeypatch.setattr(backbones.FAMILIES["easel"], "file", tmp_path / "missing")
    *_, last = preflight.check(JobSpec("vse", None, SMALL))
    assert not last.ok
    assert "easel is missing" in last.message


def test_training_learns_and_measures(whole):
    steps, evaluations = logged(whole, "step"), logged(whole, "eval")
    assert len(steps) == 4 * EPOCH
    assert sum(s["loss"] for s in steps[-EPOCH:]) < sum(s["loss"] for s in steps[:EPOCH])
    assert {"classification", "photos", "sentences", "scale", "grad_norm"} <= set(steps[0])
    assert [event["epoch"] for event in evaluations] == [2, 4]
    for event in evaluations:
        assert {"captions", "pictures", "typed", "typed_3", "rsum"} <= set(event)
    (done,) = logged(whole, "done")
    assert done["best_captions"] == max(event["captions"] for event in evaluations)


def test_a_checkpoint_knows_the_words_of_typed_sentences(whole):
    model, _, _ = checkpoint.load(whole)
    puppies, wombats = (model.text.known_share(Sentence(f"two {word}")) for word in NOUNS)
    assert (puppies, wombats) == (1, 0.5)


def test_a_checkpoint_aligns_words_with_the_things_of_a_drawing(whole, fake_parser):
    alignment = Reader(whole).align(open_photo(store.photo(0)), "two dogs run")
    assert alignment.words == ("two", "dogs", "run")
    assert [fragment.words for fragment in alignment.fragments] == [(0, 0), (1, 1), (2, 2)]
    assert {len(row) for row in alignment.scores} == {len(alignment.boxes)}
    assert alignment.boxes[-1] == (0, 0, 1, 1)
    assert sum(alignment.parts) == pytest.approx(alignment.total, rel=1e-4)


def test_the_card_says_that_there_are_scenes_beside_those_of_train(whole):
    card = cards.card("vse", checkpoint.read_spec(whole), {}, whole / "events.jsonl")
    assert "It also learned from 2 more drawn scenes" in card


def test_a_stopped_training_resumes_to_the_same_weights(tmp_path, whole):
    with stopped_at(2 * EPOCH + 1):  # within an epoch
        assert trainer(tmp_path).run() == "stopped"
    assert trainer(tmp_path).run() == "done"
    one, two = (checkpoint.load(out)[0].state_dict() for out in (whole, tmp_path))
    assert [name for name in one if not torch.equal(one[name], two[name])] == []
    assert logged(whole, "step") == logged(tmp_path, "step")
