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
    clear_caches()
    monkeypatch.setattr(caption_bank, "sentences", lambda: BANK)
    monkeypatch.setattr(statements, "texts", lambda: tuple(FOLLOWS))
    monkeypatch.setattr(statements, "follows_from", lambda: tuple(FOLLOWS.values()))
    yield
    clear_caches()


def clear_caches() -> None:
    likely._follows.cache_clear()
    likely._shares.cache_clear()


def scores_of(*probabilities):
    """Return the scores whose softmax, at temperature 2, are the probabilities."""
    return 2 * torch.tensor(probabilities).log()[:, None]


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(
    ("probabilities", "expected"),
    [
        ((0.02, 0.94, 0.01, 0.02, 0.01), ("a black dog", "a dog", "an animal")),
        ((0.45, 0.15, 0.05, 0.1, 0.25), ("a dog", "an animal")),  # no sentence is, but they agree
        ((0.2, 0.05, 0.5, 0.2, 0.05), ("a cat",)),  # an animal by chance
        ((0.1, 0.05, 0.1, 0.7, 0.05), ()),  # that it is a thing is no information
    ],
)
def test_informative_likely_statements_come_first(probabilities, expected):
    assert likely_statements(scores_of(*probabilities), 2) == [expected]


@pytest.mark.usefixtures("few")
def test_all_photos_have_the_statements_of_a_plain_loop():
    scores = torch.randn(len(BANK), 30, generator=torch.Generator().manual_seed(1))
    share = {text: len(rows) / len(BANK) for text, rows in FOLLOWS.items()}
    information = {text: -math.log(share[text]) for text in FOLLOWS}
    for photo, shown in enumerate(likely_statements(scores, 0.7)):
        weights = [math.exp(score / 0.7) for score in scores[:, photo].tolist()]
        shares = [weight / sum(weights) for weight in weights]

        def value(chosen, shares=shares):
            known = [[information[c] for c in chosen if n in FOLLOWS[c]] for n in range(len(BANK))]
            return sum(
                share * max(own, default=0) for share, own in zip(shares, known, strict=True)
            )

        allowed = [
            c
            for c in FOLLOWS
            if share[c] < 1
            and (sum(shares[n] for n in FOLLOWS[c]) - share[c]) / (1 - share[c]) >= 0.3
        ]
        expected: list[str] = []
        for _ in range(3):
            best = max(allowed, key=lambda c: value([*expected, c]), default=None)
            if best is None or value([*expected, best]) <= value(expected) + 1e-6:
                break
            expected.append(best)
        assert shown == tuple(expected)


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
