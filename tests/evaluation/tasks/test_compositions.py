"""Composed sentences beside retrieved ones, with a model that composes what it is given."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence, Tree
from vsdemo.data import caption_bank
from vsdemo.evaluation.metrics.caption_quality import Supported, cider
from vsdemo.evaluation.task import PhotoData
from vsdemo.evaluation.tasks import compositions
from vsdemo.evaluation.tasks.compositions import Compositions
from vsdemo.models.scores import SCORES

BANK = ("a dog runs", "a cat sleeps", "a car drives")
GOLD = ("a dog runs", "a dog on grass", "a cat sleeps", "a cat dreams")
COMPOSED = ("a dog on grass", "a car dreams")
JUDGED = {"a dog on grass": 0.5, "a car dreams": 0.1, "a dog runs": 0.25, "a cat sleeps": 0.75}


def tagged(sentence: Sentence) -> Sentence:
    """Return a sentence whose words are nouns, but for articles."""
    words = tuple(sentence.text.split())
    tags = tuple("DET" if word == "a" else "NOUN" for word in words)
    labels = ("root", *["obj"] * (len(words) - 1))
    return Sentence(sentence.text, Tree(words, (0, *[1] * (len(words) - 1)), labels, tags))


class Model:
    """Scores the sentences of the bank with two photos: the first, and the second."""

    captioner = object()
    score = SCORES["inner"]

    def encode_text(self, sentences):
        return Embeddings(torch.eye(3)[[BANK.index(sentence.text) for sentence in sentences]])

    def encode_image(self, features):
        return Embeddings(torch.tensor([[9.0, 1, 2], [1, 9, 2]]))


class Judge(Model):
    """Gives each sentence its score."""

    def encode_text(self, sentences):
        return Embeddings(torch.tensor([[JUDGED[sentence.text]] for sentence in sentences]))

    def encode_image(self, features):
        return Embeddings(torch.ones(2, 1))


def wordnet() -> SimpleNamespace:
    nouns = ("dog", "runs", "grass", "cat", "sleeps", "dreams", "car", "drives")
    return SimpleNamespace(
        senses={noun: (number,) for number, noun in enumerate(nouns)},
        ancestors=[frozenset()] * len(nouns),
    )


@pytest.fixture
def split(monkeypatch):
    monkeypatch.setattr(caption_bank, "sentences", lambda: BANK)
    monkeypatch.setattr(compositions.wordnet, "load_nouns", wordnet)
    monkeypatch.setattr(
        compositions, "add_trees", lambda sentences, _: [tagged(sentence) for sentence in sentences]
    )
    monkeypatch.setattr(
        compositions, "compose", lambda *_: [[SimpleNamespace(text=text)] for text in COMPOSED]
    )
    cache = SimpleNamespace(get=lambda photos, keys: torch.zeros(len(photos), 1))
    monkeypatch.setattr(compositions.checkpoint, "load", lambda folder: (Judge(), folder, None))
    monkeypatch.setattr(compositions.checkpoint, "feature_cache", lambda spec: cache)
    return CaptionSet("drawings", "test", ("0.jpg", "1.jpg"), GOLD, (0, 0, 1, 1))


def test_both_kinds_are_compared_with_the_captions_of_people(split):
    result = Compositions().evaluate(Model(), PhotoData(split, torch.zeros(2, 1)))
    gold, retrieved = [GOLD[:2], GOLD[2:]], BANK[:2]
    for name, texts in (("composed", COMPOSED), ("retrieved", retrieved)):
        assert result[name]["cider"] == pytest.approx(float(np.mean(cider(texts, gold))))
    ratio = result["composed"]["cider"] / result["retrieved"]["cider"]
    assert result["gain"] == pytest.approx(100 * (ratio - 1))
    supported = Supported(wordnet())
    named = [["dog", "on", "grass"], ["car", "dreams"]]
    known = [["dog", "runs", "grass", "on"], ["cat", "sleeps", "dreams"]]
    wrong = [supported.unsupported(*pair) for pair in zip(named, known, strict=True)]
    assert wrong == [[], ["car"]]
    assert result["composed"]["false_things"] == pytest.approx(100 / 5)
    assert result["retrieved"]["false_things"] == 0
    assert result["n_photos"] == 2


def test_another_model_scores_them_too(split):
    result = Compositions().evaluate(Model(), PhotoData(split, torch.zeros(2, 1)))
    assert result["composed"]["judged"] == pytest.approx(30)
    assert result["retrieved"]["judged"] == result["people"]["judged"] == pytest.approx(50)
    low, high = result["ci95"]["composed"]["judged"]
    assert low <= 30 <= high


def test_a_model_without_a_captioner_is_a_user_error(split):
    model = Model()
    model.captioner = None
    with pytest.raises(UserError, match="train-captioner"):
        Compositions().evaluate(model, PhotoData(split, torch.zeros(2, 1)))


def test_photos_without_captions_are_a_user_error(split):
    bare = CaptionSet("drawings", "test", ("0.jpg", "1.jpg"), GOLD[:2], (0, 0))
    with pytest.raises(UserError, match="photos without captions"):
        Compositions().evaluate(Model(), PhotoData(bare, torch.zeros(2, 1)))
