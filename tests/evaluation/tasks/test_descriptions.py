"""Descriptions of photos without captions, with a model that knows or does not know them."""

import pytest
import torch

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.embeddings import Embeddings
from vsdemo.data import caption_bank
from vsdemo.data.everyday_photos import DescribedPhoto
from vsdemo.evaluation.task import PhotoData
from vsdemo.evaluation.tasks import descriptions
from vsdemo.evaluation.tasks.descriptions import Descriptions
from vsdemo.models.scores import SCORES

TEXTS = ("A dog.", "A cat.", "A red car.", "A tree.")
PHOTOS = tuple(
    DescribedPhoto(f"{thing}.jpg", frozenset({thing}), frozenset({"a", thing}))
    for thing in ("dog", "cat", "car", "tree")
)
SCORES_OF_PHOTOS = [  # of each photo with the texts
    [9, 1, 2, 3],  # first
    [3, 1, 2, 0],  # third
    [1, 0, 9, 0],  # "a red car" says more than the photo may be said to show
    [3, 2, 1, 0],  # not among three
]


class Model:
    """Texts and photos with the given scores."""

    score = SCORES["inner"]
    temperature = None

    def encode_text(self, sentences):
        rows = [TEXTS.index(sentence.text) for sentence in sentences]
        return Embeddings(torch.eye(len(TEXTS))[rows])

    def encode_image(self, features):
        return Embeddings(torch.tensor(SCORES_OF_PHOTOS, dtype=torch.float32))


@pytest.fixture
def result(monkeypatch):
    monkeypatch.setattr(caption_bank, "sentences", lambda: TEXTS)
    monkeypatch.setattr(descriptions.everyday_photos, "described_photos", lambda: PHOTOS)
    split = CaptionSet(name="four photos", split="test", photos=())
    return Descriptions().evaluate(Model(), PhotoData(split, torch.zeros(4, 1)))


def test_right_first_sentences_and_right_ones_among_three_are_counted(result):
    names = ("first", "among_three", "unsure", "nearest")
    assert [result[name] for name in names] == [25, 50, 0, 25]
    assert (result["n_photos"], result["n_sentences"]) == (4, 4)
    low, high = result["ci95"]["first"]
    assert 0 <= low < 25 < high <= 100


def test_likely_statements_come_first_where_the_temperature_is_known(monkeypatch):
    monkeypatch.setattr(caption_bank, "sentences", lambda: TEXTS)
    monkeypatch.setattr(descriptions.everyday_photos, "described_photos", lambda: PHOTOS)
    likely = [("a tree", "a dog"), ("a cat",), ("a red car", "a car"), ()]
    monkeypatch.setattr(descriptions, "likely_statements", lambda scores, temperature: likely)
    model = Model()
    model.temperature = 0.1
    split = CaptionSet(name="four photos", split="test", photos=())
    result = Descriptions().evaluate(model, PhotoData(split, torch.zeros(4, 1)))
    names = ("first", "among_three", "unsure", "nearest")
    assert [result[name] for name in names] == [25, 75, 25, 25]
    assert result["descriptions"]["tree.jpg"] == {}
    assert result["descriptions"]["car.jpg"] == {"a red car": False, "a car": True}


def test_the_sentences_are_shown_the_best_first(result):
    assert result["descriptions"]["cat.jpg"] == {
        "A dog.": False,
        "A red car.": False,
        "A cat.": True,
    }
    assert [*result["descriptions"]["dog.jpg"]] == ["A dog.", "A tree.", "A red car."]
