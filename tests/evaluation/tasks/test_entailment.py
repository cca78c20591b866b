"""Entailment between captions by an oracle and a bag of words, compared with plain loops."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vsdemo.data import storybook
from vsdemo.data.storybook.facts import entails
from vsdemo.evaluation.storybook_facts import stories
from vsdemo.evaluation.task import PhotoData
from vsdemo.evaluation.tasks import entailment

pytestmark = pytest.mark.usefixtures("small_storybook")


def test_half_of_the_pairs_belong_to_one_scene(small_storybook):
    split = small_storybook.load("test")
    pairs = entailment.gold(split)
    _, captions = stories(split)
    inside = np.array(split.photo_of)[pairs.hypothesis] == pairs.photo
    assert inside.sum() * 2 == len(inside)
    assert pairs.photo.tolist() == [split.photo_of[c] for c in pairs.premise]
    rows = zip(pairs.premise, pairs.hypothesis, pairs.entailed, pairs.strict, inside, strict=True)
    seen = set()
    for a, b, entailed, strict, same in rows:
        assert captions[a].text != captions[b].text
        assert entailed == entails(captions[a].facts, captions[b].facts)
        assert strict == (entailed and same and not entails(captions[b].facts, captions[a].facts))
        seen |= {(a, b)} if same else set()
    for a, b in product(range(len(captions)), repeat=2):
        if split.photo_of[a] == split.photo_of[b] and captions[a].text != captions[b].text:
            assert (a, b) in seen
    again = entailment.gold(split)
    assert (again.hypothesis == pairs.hypothesis).all()


def test_an_oracle_is_always_right(small_storybook):
    split = small_storybook.load("test")
    result = entailment.Entailment().evaluate(small_storybook.oracle(), PhotoData(split, None))
    for name in ("accuracy", "auc", "direction"):
        assert result[name] == 100
        assert result["ci95"][name] == [100, 100]


@pytest.mark.parametrize("name", ["dev", "test"])
def test_metrics_of_a_bag_of_words_equal_plain_loops(small_storybook, name):
    split, dev = small_storybook.load(name), small_storybook.load("dev")
    model = small_storybook.bag()
    result = entailment.Entailment().evaluate(model, PhotoData(split, None))
    pairs, known = entailment.gold(split), entailment.gold(dev)
    scores = entailment.score_pairs(model, split, pairs)[0].numpy()
    on_dev = entailment.score_pairs(model, dev, known)[0].numpy()
    threshold = entailment.best_threshold(on_dev, known.entailed, balanced=True)
    yes, no = scores[pairs.entailed], scores[~pairs.entailed]
    assert result["yes"] == pytest.approx(100 * sum(s >= threshold for s in yes) / len(yes))
    assert result["no"] == pytest.approx(100 * sum(s < threshold for s in no) / len(no))
    assert result["accuracy"] == pytest.approx((result["yes"] + result["no"]) / 2)
    wins = [(a > b) + (a == b) / 2 for a, b in product(yes, no)]
    assert result["auc"] == pytest.approx(100 * sum(wins) / len(wins))
    assert result["direction"] == 50  # a cosine is symmetric
    assert result["ci95"]["direction"] == [50, 50]
    low, high = result["ci95"]["auc"]
    assert low < result["auc"] < high
    counts = {"yes": len(yes), "no": len(no), "direction": pairs.strict.sum()}
    assert result["n_pairs"] == counts


rows = st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=2, max_size=12)


@given(rows.filter(lambda pairs: len({entailed for _, entailed in pairs}) == 2))
def test_best_threshold_has_the_highest_accuracy(pairs):
    scores, entailed = np.array([s for s, _ in pairs], float), np.array([e for _, e in pairs])

    def accuracy(threshold: float) -> float:
        yes = scores >= threshold
        return (yes[entailed].mean() + (~yes)[~entailed].mean()) / 2

    best = accuracy(entailment.best_threshold(scores, entailed, balanced=True))
    assert best == pytest.approx(max(map(accuracy, [-1, *(scores + 0.5), *(scores - 0.5)])))


def test_auc_weights_pairs_by_their_scene():
    scores, entailed = np.array([3.0, 1, 2, 1]), np.array([True, True, False, False])
    # (3 > 2, 3 > 1, 1 < 2, 1 = 1): 2.5 of 4; the first pair twice: 4.5 of 6.
    assert entailment.auc(scores, entailed, np.ones(4)) == 62.5
    assert entailment.auc(scores, entailed, np.array([2, 1, 1, 1])) == 75


def test_the_threshold_is_chosen_on_dev(small_storybook, monkeypatch):
    loaded = []
    monkeypatch.setattr(storybook, "load", lambda s: loaded.append(s) or small_storybook.load(s))
    split = small_storybook.load("test")
    entailment.Entailment().measure(small_storybook.bag(), PhotoData(split, None))
    assert loaded == ["dev"]
