"""Entailment between captions, re-computed with plain loops, by who knows and who counts words."""

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


def test_half_of_the_pairs_are_of_one_scene(small_storybook):
    split = small_storybook.load("test")
    pairs, (_, told) = entailment.gold(split), stories(split)
    inside = np.array(split.photo_of)[pairs.hypothesis] == pairs.photo
    assert inside.sum() * 2 == len(inside)
    assert pairs.photo.tolist() == [split.photo_of[c] for c in pairs.premise]
    rows = zip(pairs.premise, pairs.hypothesis, pairs.entailed, pairs.strict, inside, strict=True)
    seen = set()
    for a, b, entailed, strict, same in rows:
        assert told[a].text != told[b].text
        assert entailed == entails(told[a].facts, told[b].facts)
        assert strict == (entailed and same and not entails(told[b].facts, told[a].facts))
        seen |= {(a, b)} if same else set()
    for a, b in product(range(len(told)), repeat=2):
        if split.photo_of[a] == split.photo_of[b] and told[a].text != told[b].text:
            assert (a, b) in seen
    again = entailment.gold(split)
    assert (again.hypothesis == pairs.hypothesis).all()


def test_who_knows_all_facts_is_always_right(small_storybook):
    split = small_storybook.load("test")
    found = entailment.Entailment().evaluate(small_storybook.oracle(), PhotoData(split, None))
    for name in ("accuracy", "auc", "direction"):
        assert found[name] == 100
        assert found["ci95"][name] == [100, 100]


@pytest.mark.parametrize("name", ["dev", "test"])
def test_a_bag_of_words_by_loops(small_storybook, name):
    split, dev = small_storybook.load(name), small_storybook.load("dev")
    model = small_storybook.bag()
    found = entailment.Entailment().evaluate(model, PhotoData(split, None))
    pairs, known = entailment.gold(split), entailment.gold(dev)
    scores = entailment.score_pairs(model, split, pairs)[0].numpy()
    on_dev = entailment.score_pairs(model, dev, known)[0].numpy()
    threshold = entailment.best_threshold(on_dev, known.entailed, balanced=True)
    yes, no = scores[pairs.entailed], scores[~pairs.entailed]
    assert found["yes"] == pytest.approx(100 * sum(s >= threshold for s in yes) / len(yes))
    assert found["no"] == pytest.approx(100 * sum(s < threshold for s in no) / len(no))
    assert found["accuracy"] == pytest.approx((found["yes"] + found["no"]) / 2)
    wins = [(a > b) + (a == b) / 2 for a, b in product(yes, no)]
    assert found["auc"] == pytest.approx(100 * sum(wins) / len(wins))
    assert found["direction"] == 50  # a cosine is symmetric
    assert found["ci95"]["direction"] == [50, 50]
    low, high = found["ci95"]["auc"]
    assert low < found["auc"] < high
    counts = {"yes": len(yes), "no": len(no), "direction": pairs.strict.sum()}
    assert found["n_pairs"] == counts


rows = st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=2, max_size=12)


@given(rows.filter(lambda found: len({entailed for _, entailed in found}) == 2))
def test_no_threshold_is_better_than_the_best(found):
    scores, entailed = np.array([s for s, _ in found], float), np.array([e for _, e in found])

    def accuracy(threshold: float) -> float:
        yes = scores >= threshold
        return (yes[entailed].mean() + (~yes)[~entailed].mean()) / 2

    best = accuracy(entailment.best_threshold(scores, entailed, balanced=True))
    assert best == pytest.approx(max(map(accuracy, [-1, *(scores + 0.5), *(scores - 0.5)])))


def test_auc_counts_a_pair_as_often_as_its_scene_is_drawn():
    scores, entailed = np.array([3.0, 1, 2, 1]), np.array([True, True, False, False])
    # (3 > 2, 3 > 1, 1 < 2, 1 = 1): 2.5 of 4; the first pair twice: 4.5 of 6.
    assert entailment.auc(scores, entailed, np.ones(4)) == 62.5
    assert entailment.auc(scores, entailed, np.array([2, 1, 1, 1])) == 75


def test_dev_is_read_for_the_threshold(small_storybook, monkeypatch):
    asked = []
    monkeypatch.setattr(storybook, "load", lambda s: asked.append(s) or small_storybook.load(s))
    split = small_storybook.load("test")
    entailment.Entailment().measure(small_storybook.bag(), PhotoData(split, None))
    assert asked == ["dev"]
