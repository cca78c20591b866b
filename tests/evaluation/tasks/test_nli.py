"""Entailment of sentences by good and bad models, compared with plain loops."""

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
from vsdemo.data.pairs import contamination
from vsdemo.data.pairs import nli as pairs_of
from vsdemo.data.pairs.nli import NliPair
from vsdemo.evaluation.metrics.accuracy import best_threshold
from vsdemo.evaluation.task import SentenceData
from vsdemo.evaluation.tasks import nli
from vsdemo.models.scores import SCORES, Score

SETS = [(name, split) for name in pairs_of.DATASETS for split in ("dev", "test")]


def angled(score: Score | None = None, right: float = 1.0):
    """Return a model that places entailed pairs close together with probability `right`."""
    rng, angles = np.random.default_rng(0), {}
    for name, split in SETS:
        for pair in pairs_of.load(name, split):
            known = pair.entailed if rng.random() < right else not pair.entailed
            angles[pair.premise] = 0.5 + 0.1 * rng.random()
            angles[pair.hypothesis] = angles[pair.premise] - (0.1 if known else 0.8) * rng.random()
            angles[pair.hypothesis] -= 0 if known else 0.2
    return small_pairs.knowing(angles, score)


def test_an_oracle_is_always_right(pairs_root):
    for split in ("dev", "test"):
        result = nli.Inference().evaluate(angled(), SentenceData(split))
        for name in pairs_of.DATASETS:
            for kind in ("accuracy", "yes", "no"):
                assert result[name][kind] == 100
            assert result[name]["ci95"]["accuracy"] == [100, 100]
            assert result[name]["direction"] == 50  # a cosine is symmetric
            assert result[name]["gain"] == 0  # and so is the baseline


@pytest.mark.parametrize("score", ["cosine", "order", "euclidean"])
def test_metrics_equal_plain_loops(pairs_root, score):
    model = angled(SCORES[score], right=0.7)
    result = nli.Inference().evaluate(model, SentenceData())
    for name in pairs_of.DATASETS:
        pairs, dev = pairs_of.load(name, "test"), pairs_of.held_out(name)
        scores, on_dev = by_hand(model, pairs), by_hand(model, dev)
        cut = best(on_dev, dev)
        right = [(s >= cut) == p.entailed for s, p in zip(scores, pairs, strict=True)]
        assert result[name]["accuracy"] == pytest.approx(100 * sum(right) / len(pairs))
        yes = [r for r, p in zip(right, pairs, strict=True) if p.entailed]
        assert result[name]["yes"] == pytest.approx(100 * sum(yes) / len(yes))
        majority = sum(p.entailed for p in dev) * 2 > len(dev)
        always = sum(p.entailed == majority for p in pairs)
        assert result[name]["baselines"]["majority"] == pytest.approx(100 * always / len(pairs))
        sizes = {k: result[name][k] for k in ("n", "n_entailed", "n_unknown")}
        assert sizes == {"n": len(pairs), "n_entailed": len(yes), "n_unknown": 0}
        low, high = result[name]["ci95"]["accuracy"]
        assert low < result[name]["accuracy"] < high
        baselines = result[name]["baselines"]
        assert baselines.keys() == {"majority", "cosine", "overlap"}
        gain = result[name]["accuracy"] - max(baselines.values())
        assert result[name]["gain"] == pytest.approx(gain)
    assert json.loads(json.dumps(result)) == result


def by_hand(model, pairs) -> list[float]:
    scores = []
    for pair in pairs:
        hypothesis, premise = (
            model.encode_text([Sentence(text)]) for text in (pair.hypothesis, pair.premise)
        )
        scores.append(model.score(hypothesis, premise).item())
    return scores


def best(scores, pairs) -> float:
    """Return the lowest threshold with the most right answers."""
    values = sorted(set(scores))
    middle = [(a + b) / 2 for a, b in pairwise(values)]

    def right(cut: float) -> int:
        return sum((s >= cut) == p.entailed for s, p in zip(scores, pairs, strict=True))

    return max([-1e9, *middle, 1e9], key=right)


def test_the_hypothesis_is_the_general_side():
    """In order-embeddings no coordinate of an entailed hypothesis exceeds the premise."""
    rows = {"all": [0.0, 0.0], "some": [0.2, 0.5], "few": [0.9, 0.6]}
    model = small_pairs.knowing({}, SCORES["order"])
    model.encode_text = lambda texts: Embeddings(torch.tensor([rows[s.text] for s in texts]))
    yes = [NliPair("few", "some", "entailment"), NliPair("some", "all", "entailment")]
    no = [NliPair("all", "few", "neutral"), NliPair("some", "few", "contradiction")]
    result, _ = nli.measure(model, yes + no, yes + no)
    assert result.metrics()["accuracy"] == 100
    assert result.metrics()["direction"] == 100
    assert result.metrics()["baselines"]["cosine"] < 100


def test_baselines_of_the_direction():
    pairs = [
        NliPair("a brown dog runs", "a dog runs", "entailment"),  # right by both
        NliPair("dogs run", "some animals move about", "entailment"),  # a tie; wrong by words
        NliPair("a dog", "a dog runs", "neutral"),
    ]
    right = nli.directions(pairs)
    assert right["overlap"].tolist() == [1, 0.5, 0]
    assert right["words"].tolist() == [1, 0, 0]
    rows = {"a brown dog runs": 1.0, "a dog runs": 0.5, "dogs run": 0.9}
    model = small_pairs.knowing({}, SCORES["order"])
    model.encode_text = lambda texts: Embeddings(
        torch.tensor([[rows.get(s.text, 0.1)] for s in texts])
    )
    metrics = nli.measure(model, pairs, pairs)[0].metrics()
    assert metrics["direction"] == 100
    assert metrics["directions"] == {"overlap": 75, "words": 50}
    assert metrics["direction_gain"] == 25


def test_overlap_is_the_share_of_words_in_the_premise():
    for premise, hypothesis, share in (
        ("A dog runs.", "a dog", 1.0),
        ("A dog runs.", "the dog sleeps", 1 / 3),
        ("A dog runs.", "!?", 0.0),
    ):
        pair = NliPair(premise, hypothesis, "neutral")
        assert nli.overlap(pair) == pytest.approx(share)


rows = st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=2, max_size=12)


@given(rows.filter(lambda pairs: len({entailed for _, entailed in pairs}) == 2))
def test_best_threshold_has_the_most_right_answers(pairs):
    scores, entailed = np.array([s for s, _ in pairs], float), np.array([e for _, e in pairs])

    def right(threshold: float) -> int:
        return ((scores >= threshold) == entailed).sum()

    threshold = best_threshold(scores, entailed, balanced=False)
    assert right(threshold) == max(map(right, [-1, *(scores + 0.5), *(scores - 0.5)]))


def test_pairs_that_the_model_has_read_are_left_out_of_clean_sets(pairs_root, monkeypatch):
    monkeypatch.setattr(contamination, "SMALLEST", 2)
    model, pairs = angled(right=0.7), pairs_of.load("SNLI", "test")
    seen = contamination.normalized_all([pairs[0].premise.upper(), pairs[1].hypothesis + " !"])
    result = nli.Inference().evaluate(model, SentenceData(seen=seen))
    left = pairs[2:]
    dev = pairs_of.held_out("SNLI")
    cut = best(by_hand(model, dev), dev)
    right = [
        (score >= cut) == pair.entailed
        for score, pair in zip(by_hand(model, left), left, strict=True)
    ]
    assert result["SNLI.clean"]["n"] == len(left)
    assert result["SNLI.clean"]["accuracy"] == pytest.approx(100 * sum(right) / len(left))
    assert result["SNLI"]["n"] == len(pairs)
    assert "SICK.clean" not in result


def test_other_splits_are_refused(pairs_root):
    with pytest.raises(UserError, match="on dev or test, not on all"):
        nli.Inference().evaluate(angled(), SentenceData("all"))


def test_command_needs_no_photos(pairs_root, toy_checkpoint, run):
    code, output, errors = run("evaluate", toy_checkpoint, "--task", "nli", "--json")
    assert (code, errors) == (0, "")
    result = json.loads(output)
    assert (result["task"], result["split"]) == ("nli", "test")
    assert result["SNLI"]["n"] == 21  # of 24, three without a label
