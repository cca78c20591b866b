"""Training on relations: batches, labels and a small run."""

from collections import Counter

import numpy as np
import pytest
import torch

from tests.support.small_runs import logged, preset_trainer, stopped_at
from vsdemo.core.errors import UserError
from vsdemo.data import datasets, storybook
from vsdemo.data.relations import chains
from vsdemo.data.relations.chains import Chains
from vsdemo.data.text.vocab import tokenize
from vsdemo.models import checkpoint

SMALL = (
    *("backbone=pocket", "crops=whole", "dim=24", "word_dim=8", "batch_size=8", "captions=2"),
    *("others=6", "epochs=2", "learning_rate=0.01"),
)
PARTS = ("order_dim=16", "text_dim=4", "hidden=16")
NUMBERS = {"train": range(16), "dev": range(4000, 4006)}


@pytest.fixture(autouse=True)
def few_pictures(monkeypatch):
    def load(name, split, progress=None, limit=0):
        return storybook.drawn(NUMBERS[split], split)

    monkeypatch.setattr(datasets, "load", load)


def trainer(out, *settings):
    return preset_trainer(out, "hierarchy", *SMALL, *PARTS, *settings, data="storybook")


def test_a_batch_has_captions_of_its_photos_and_other_texts(tmp_path):
    material = trainer(tmp_path).material
    (batch, *_) = material.batches(0)
    texts, photos, labels = material.embed(batch)
    assert (len(texts), len(photos)) == (8 * 2 + 6, 8)
    assert labels.owner.tolist() == [n for n in range(8) for _ in range(2)]
    assert labels.among_texts.shape == (22, 22)
    assert (labels.among_texts.diagonal() == 1).all()
    assert labels.above_photos.shape == (22, 8)
    assert (labels.above_photos[range(16), labels.owner] == 1).all()
    assert {*labels.above_photos.flatten().tolist()} == {0, 1}


def test_rare_words_are_unknown_unless_a_concept_has_them(tmp_path):
    material = trainer(tmp_path, "min_count=3").material
    material.build()
    counts = Counter(w for caption in material.train_set.captions for w in tokenize(caption))
    concepts = [material.relations.texts[row] for row in material.relations.concepts]
    named = {word for concept in concepts for word in tokenize(concept)}
    rare = {word for word, n in counts.items() if n < 3} - named
    assert rare
    assert not rare & set(material.vocab.words)
    assert named | {word for word, n in counts.items() if n >= 3} <= set(material.vocab.words)


def test_chains_join_a_batch_without_relations_to_others(tmp_path, monkeypatch):
    small = Chains(
        texts=("animal", "a quokka", "a quokka naps", "a car"),
        chain=np.array([0, 0, 1, 1]),
        level=np.array([0, 1, 0, 1]),
        right=np.array([True, True, True, False]),
    )
    monkeypatch.setattr(chains, "load", lambda: small)
    material = trainer(tmp_path, "chains=2", "others=4", "other_photos=3").material
    material.build()
    texts, photos, labels = material.embed(material.batches(0)[0])
    assert (len(texts), len(photos)) == (8 * 2 + 4 + 4, 8 + 3)
    assert (labels.among_texts[:20, 20:] == -1).all()
    assert (labels.among_texts[20:, :20] == -1).all()
    assert (labels.above_photos[20:] == -1).all()
    assert (labels.among_texts[:20, :20] >= 0).all()
    assert sorted(labels.among_texts[20:, 20:].flatten().tolist()).count(1) == 5
    assert "quokka" not in material.vocab.words  # too rare


def test_an_epoch_shows_every_photo_once(tmp_path):
    material = trainer(tmp_path).material
    photos = [batch.photos for batch in material.batches(3)]
    assert sorted(np.concatenate(photos).tolist()) == [*range(16)]
    assert [*map(len, photos)] == [8, 8]
    again = [batch.photos for batch in material.batches(3)]
    assert all(np.array_equal(a, b) for a, b in zip(photos, again, strict=True))
    later = material.batches(3, start=1)
    assert np.array_equal(later[0].photos, photos[1])


def test_training_learns_and_resumes(tmp_path):
    with stopped_at(4):
        assert trainer(tmp_path / "a").run() == "stopped"
    assert trainer(tmp_path / "a").run() == "done"
    assert trainer(tmp_path / "b").run() == "done"
    a, b = (checkpoint.load(tmp_path / name)[0].state_dict() for name in "ab")
    assert all(torch.equal(a[name], b[name]) for name in a)
    (step,) = logged(tmp_path / "b", "step")
    assert "an animal" in checkpoint.load(tmp_path / "b")[0].concepts
    assert {"ranking", "texts", "photos"} <= set(step)


def test_the_loss_of_relations_falls(tmp_path):
    trainer(tmp_path, "epochs=25", "evaluate_every=25").run()
    first, *_, last = logged(tmp_path, "step")
    assert last["texts"] < 0.85 * first["texts"]
    assert last["photos"] < 0.8 * first["photos"]


@pytest.mark.parametrize("preset", ["order/joint", "meru", "cones"])
def test_other_models_learn_and_resume(tmp_path, preset):
    def run(out):
        settings = ("epochs=10", "evaluate_every=10")
        return preset_trainer(out, preset, *SMALL, *settings, data="storybook").run()

    with stopped_at(4):
        assert run(tmp_path / "a") == "stopped"
    assert run(tmp_path / "a") == run(tmp_path / "b") == "done"
    a, b = (checkpoint.load(tmp_path / name)[0].state_dict() for name in "ab")
    assert all(torch.equal(a[name], b[name]) for name in a)
    first, *_, last = logged(tmp_path / "b", "step")
    assert last["texts"] < first["texts"]


def test_captions_need_wordnet(tmp_path, toy_root):
    material = trainer(tmp_path).material
    assert material.datasets(material.config) == ["storybook"]
    material.train_set = storybook.drawn([0, 1]).first(2)
    object.__setattr__(material.train_set, "name", "toy")
    with pytest.raises(UserError, match="WordNet is missing"):
        material.build()


def test_parts_must_fit(tmp_path):
    with pytest.raises(UserError, match="dim=16 must be more than order_dim=384"):
        trainer(tmp_path, "order_dim=384", "dim=16")
