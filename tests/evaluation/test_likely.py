"""What a photo probably shows, against plain loops; the temperature, against a grid."""

import math

import pytest
import torch

from vsdemo.data import caption_bank
from vsdemo.data.relations import statements
from vsdemo.evaluation import likely
from vsdemo.evaluation.likely import fit_temperature, likely_statements

BANK = ("A dog runs.", "A black dog.", "A cat sits.", "A car.", "A dog on a sofa.")
FOLLOWS = {
    "a dog": (0, 1, 4),
    "an animal": (0, 1, 2, 4),
    "a black dog": (1,),
    "a cat": (2,),
    "a thing": (0, 1, 2, 3, 4),
}


@pytest.fixture
def few(monkeypatch):
    """A bank of five sentences."""
    likely._follows.cache_clear()
    monkeypatch.setattr(caption_bank, "sentences", lambda: BANK)
    monkeypatch.setattr(statements, "texts", lambda: tuple(FOLLOWS))
    monkeypatch.setattr(statements, "follows_from", lambda: tuple(FOLLOWS.values()))
    yield
    likely._follows.cache_clear()


def scores_of(*probabilities):
    """Return the scores whose softmax, at temperature 2, are the probabilities."""
    return 2 * torch.tensor(probabilities).log()[:, None]


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(
    ("probabilities", "expected"),
    [
        ((0.02, 0.94, 0.01, 0.02, 0.01), ("a black dog",)),  # a dog follows, and says nothing new
        ((0.4, 0.2, 0.1, 0.1, 0.2), ("a dog",)),  # no sentence is probable, but they agree
        ((0.2, 0.1, 0.3, 0.3, 0.1), ("an animal",)),
        ((0.1, 0.05, 0.1, 0.7, 0.05), ("a thing",)),
    ],
)
def test_the_most_special_likely_statement_is_returned(probabilities, expected):
    assert likely_statements(scores_of(*probabilities), 2) == [expected]


@pytest.mark.usefixtures("few")
def test_all_photos_have_the_statements_of_a_plain_loop():
    scores = torch.randn(len(BANK), 30, generator=torch.Generator().manual_seed(1))
    for photo, shown in enumerate(likely_statements(scores, 0.7)):
        weights = [math.exp(score / 0.7) for score in scores[:, photo].tolist()]
        probability = {
            text: sum(weights[row] for row in rows) / sum(weights) for text, rows in FOLLOWS.items()
        }
        assert all(probability[text] >= 0.5 for text in shown)
        best = min(
            (text for text in FOLLOWS if probability[text] >= 0.5),
            key=lambda text: len(FOLLOWS[text]),
        )
        assert shown[0] == best


@pytest.mark.usefixtures("few")
def test_nothing_is_likely_if_nothing_follows_from_the_best_sentences(monkeypatch):
    monkeypatch.setattr(statements, "texts", lambda: ("a dog",))
    monkeypatch.setattr(statements, "follows_from", lambda: ((0, 1),))
    assert likely_statements(scores_of(0.2, 0.2, 0.2, 0.2, 0.2), 2) == [()]


def test_the_temperature_makes_captions_most_probable():
    draw = torch.Generator().manual_seed(0)
    photo_of = torch.arange(40) % 10  # 4 captions of each of 10 photos, the last of which has none
    scores = torch.randn(40, 11, generator=draw)
    scores[torch.arange(40), photo_of] += 1.5

    def loss(temperature):
        total = 0.0
        for photo in range(10):
            p = (scores[:, photo].double() / temperature).softmax(0)
            total -= p[photo_of == photo].sum().log().item() / 10
        return total

    best = fit_temperature(scores, photo_of)
    assert all(loss(best) <= loss(best * factor) + 1e-9 for factor in (0.5, 0.9, 1.1, 2))
    assert fit_temperature(10 * scores, photo_of) == pytest.approx(10 * best, rel=1e-2)


def test_the_bank_says_a_dog_if_sentences_about_dogs_are_best():
    about_dogs = ["dog" in text.lower().split() for text in caption_bank.sentences()]
    scores = torch.tensor(about_dogs).float()[:, None]
    assert "a dog" in likely_statements(scores, 0.05)[0]
    assert likely_statements(torch.zeros(len(about_dogs), 1), 0.05) == [()]
