"""Entailment of sentences, re-computed with plain loops, by models that know little or all."""

import json
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.support import small_pairs
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence
from vsdemo.data.pairs import nli as pairs_of
from vsdemo.data.pairs.nli import NliPair
from vsdemo.evaluation.metrics.accuracy import best_threshold
from vsdemo.evaluation.task import SentenceData
from vsdemo.evaluation.tasks import nli
from vsdemo.models.scores import SCORES, Score

SETS = [(name, split) for name in pairs_of.DATASETS for split in ("dev", "test")]


def angled(score: Score | None = None, right: float = 1.0):
    """A model whose two angles of a pair are near where it is entailed, with this probability."""
    rng, angles = np.random.default_rng(0), {}
    for name, split in SETS:
        for pair in pairs_of.load(name, split):
            known = pair.entailed if rng.random() < right else not pair.entailed
            angles[pair.premise] = 0.5 + 0.1 * rng.random()
            angles[pair.hypothesis] = angles[pair.premise] - (0.1 if known else 0.8) * rng.random()
            angles[pair.hypothesis] -= 0 if known else 0.2
    return small_pairs.knowing(angles, score)


def test_who_knows_all_is_always_right(pairs_root):
    for split in ("dev", "test"):
        found = nli.Inference().evaluate(angled(), SentenceData(split))
        for name in pairs_of.DATASETS:
            for kind in ("accuracy", "yes", "no"):
                assert found[name][kind] == 100
            assert found[name]["ci95"]["accuracy"] == [100, 100]
            assert found[name]["direction"] == 50  # a cosine is symmetric
            assert found[name]["gain"] == 0  # and so is the baseline


@pytest.mark.parametrize("score", ["cosine", "order", "euclidean"])
def test_figures_by_loops(pairs_root, score):
    model = angled(SCORES[score], right=0.7)
    found = nli.Inference().evaluate(model, SentenceData())
    for name in pairs_of.DATASETS:
        pairs, dev = pairs_of.load(name, "test"), pairs_of.held_out(name)
        scores, on_dev = by_hand(model, pairs), by_hand(model, dev)
        cut = best(on_dev, dev)
        right = [(s >= cut) == p.entailed for s, p in zip(scores, pairs, strict=True)]
        assert found[name]["accuracy"] == pytest.approx(100 * sum(right) / len(pairs))
        yes = [r for r, p in zip(right, pairs, strict=True) if p.entailed]
        assert found[name]["yes"] == pytest.approx(100 * sum(yes) / len(yes))
        majority = sum(p.entailed for p in dev) * 2 > len(dev)
        always = sum(p.entailed == majority for p in pairs)
        assert found[name]["baselines"]["majority"] == pytest.approx(100 * always / len(pairs))
        sizes = {k: found[name][k] for k in ("n", "n_entailed", "n_unknown")}
        assert sizes == {"n": len(pairs), "n_entailed": len(yes), "n_unknown": 0}
        low, high = found[name]["ci95"]["accuracy"]
        assert low < found[name]["accuracy"] < high
        guesses = found[name]["baselines"]
        assert guesses.keys() == {"majority", "cosine", "overlap"}
        gain = found[name]["accuracy"] - max(guesses.values())
        assert found[name]["gain"] == pytest.approx(gain)
    assert json.loads(json.dumps(found)) == found


def by_hand(model, pairs) -> list[float]:
    found = []
    for pair in pairs:
        hypothesis, premise = (
            model.encode_text([Sentence(text)]) for text in (pair.hypothesis, pair.premise)
        )
        found.append(model.score(hypothesis, premise).item())
    return found


def best(scores, pairs) -> float:
    """A threshold with the most right answers, the lowest of those."""
    values = sorted(set(scores))
    middle = [(a + b) / 2 for a, b in pairwise(values)]

    def right(cut: float) -> int:
        return sum((s >= cut) == p.entailed for s, p in zip(scores, pairs, strict=True))

    return max([-1e9, *middle, 1e9], key=right)


def test_the_hypothesis_is_the_general_one():
    """In order-embeddings it is entailed where no coordinate of it is the larger one."""
    rows = {"all": [0.0, 0.0], "some": [0.2, 0.5], "few": [0.9, 0.6]}
    model = small_pairs.knowing({}, SCORES["order"])
    model.encode_text = lambda found: Embeddings(torch.tensor([rows[s.text] for s in found]))
    yes = [NliPair("few", "some", "entailment"), NliPair("some", "all", "entailment")]
    no = [NliPair("all", "few", "neutral"), NliPair("some", "few", "contradiction")]
    found, _ = nli.measure(model, yes + no, yes + no)
    assert found.metrics()["accuracy"] == 100
    assert found.metrics()["direction"] == 100
    assert found.metrics()["baselines"]["cosine"] < 100


def test_overlap_counts_the_words_that_the_premise_has():
    for premise, hypothesis, share in (
        ("A dog runs.", "a dog", 1.0),
        ("A dog runs.", "the dog sleeps", 1 / 3),
        ("A dog runs.", "!?", 0.0),
    ):
        pair = NliPair(premise, hypothesis, "neutral")
        assert nli.overlap(pair) == pytest.approx(share)


rows = st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=2, max_size=12)


@given(rows.filter(lambda found: len({entailed for _, entailed in found}) == 2))
def test_no_threshold_has_more_right_answers_than_the_best(found):
    scores, entailed = np.array([s for s, _ in found], float), np.array([e for _, e in found])

    def right(threshold: float) -> int:
        return ((scores >= threshold) == entailed).sum()

    threshold = best_threshold(scores, entailed, balanced=False)
    assert right(threshold) == max(map(right, [-1, *(scores + 0.5), *(scores - 0.5)]))


def test_other_splits_are_refused(pairs_root):
    with pytest.raises(UserError, match="on dev or test, not on all"):
        nli.Inference().evaluate(angled(), SentenceData("all"))


def test_the_command_line_needs_no_photos(pairs_root, toy_checkpoint, run):
    code, told, errors = run("evaluate", toy_checkpoint, "--task", "nli", "--json")
    assert (code, errors) == (0, "")
    found = json.loads(told)
    assert (found["task"], found["split"]) == ("nli", "test")
    assert found["SNLI"]["n"] == 21  # of 24, three without a label
