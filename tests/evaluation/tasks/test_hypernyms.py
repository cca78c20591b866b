"""Hypernymy of models with known vectors, compared with plain loops."""

import json
from itertools import pairwise

import numpy as np
import pytest
import torch

from tests.support import small_concepts, small_pairs
from vsdemo.core.errors import UserError
from vsdemo.data.pairs import hypernyms as pairs_of
from vsdemo.data.pairs.hypernyms import PROTOCOLS, WHOLE, LabelledPairs, Split
from vsdemo.evaluation.task import ConceptData
from vsdemo.evaluation.tasks import hypernyms
from vsdemo.models.concept_scores import Bilinear, CosineDistance, Gaussians
from vsdemo.models.scores import SCORES


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch):
    monkeypatch.setattr("vsdemo.evaluation.metrics.bootstrap.RESAMPLES", 100)


@pytest.fixture
def few(tmp_path):
    return str(small_concepts.write(tmp_path / "few.tsv"))


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    path = tmp_path_factory.mktemp("own") / "large.tsv"
    return str(small_concepts.write(path, small_concepts.grown(80)))


@pytest.mark.parametrize("split", ["dev", "test"])
def test_an_oracle_is_always_right(few, split):
    result = hypernyms.Hypernyms().evaluate(
        small_concepts.knowing(pairs_of.load(few)), ConceptData(split, few)
    )
    assert result.keys() == {WHOLE}
    metrics = result[WHOLE]
    for kind in ("accuracy", "yes", "no", "direction", "oracle", "seen"):
        assert metrics[kind] == 100
    assert metrics["n"] == small_concepts.CONCEPTS * (small_concepts.CONCEPTS - 1)
    assert metrics["baselines"] == {"transitive": 100}
    assert metrics["gain"] == 0
    assert metrics["ci95"]["accuracy"] == [100, 100]


def drawn(names, score=None):
    size = 8 if isinstance(score, Gaussians) else 4
    rows = torch.randn(len(names), size, generator=torch.Generator().manual_seed(3))
    return small_concepts.model(names, rows, score)


def by_hand(model, pairs: np.ndarray) -> list[float]:
    rows = model.text.table.weight.detach()
    rows = rows.clamp(min=0) if model.text.nonnegative else rows
    scores = []
    for general, specific in pairs.tolist():
        x, y = rows[general].tolist(), rows[specific].tolist()
        inner = sum(a * b for a, b in zip(x, y, strict=True))
        if isinstance(model.score, CosineDistance):
            lengths = sum(a * a for a in x) * sum(b * b for b in y)
            scores.append((inner / lengths**0.5 - 1) / 2)
        else:
            scores.append(-sum(max(0.0, a - b) ** 2 for a, b in zip(x, y, strict=True)))
    return scores


def best(scores: list[float], true: list[bool]) -> float:
    """Return the lowest threshold with the most right answers."""
    values = sorted(set(scores))
    cuts = [-1e9, *((a + b) / 2 for a, b in pairwise(values)), 1e9]
    return max(cuts, key=lambda cut: right(scores, true, cut))


def right(scores: list[float], true: list[bool], cut: float) -> int:
    return sum((s >= cut) == t for s, t in zip(scores, true, strict=True))


@pytest.mark.parametrize("score", [None, CosineDistance()])
def test_metrics_equal_plain_loops(large, score):
    model = drawn(pairs_of.load(large).names, score)
    result = hypernyms.Hypernyms().evaluate(model, ConceptData("test", large))
    assert json.loads(json.dumps(result)) == result
    assert tuple(result) == PROTOCOLS
    for protocol, metrics in result.items():
        split = pairs_of.split(protocol, large)
        dev, test = (
            (by_hand(model, part.pairs), part.true.tolist()) for part in (split.dev, split.test)
        )
        cut, size = best(*dev), len(test[0])
        assert metrics["n"] == size
        assert metrics["accuracy"] == pytest.approx(100 * right(*test, cut) / size)
        yes = [s >= cut for s, t in zip(*test, strict=True) if t]
        no = [s < cut for s, t in zip(*test, strict=True) if not t]
        assert metrics["yes"] == pytest.approx(100 * sum(yes) / len(yes))
        assert metrics["no"] == pytest.approx(100 * sum(no) / len(no))
        edges = split.test.pairs[split.test.true]
        ahead, back = by_hand(model, edges), by_hand(model, edges[:, ::-1])
        if score:
            assert metrics["direction"] == 50  # a cosine is symmetric
        else:
            ways = [(a > b) + (a == b) / 2 for a, b in zip(ahead, back, strict=True)]
            assert metrics["direction"] == pytest.approx(100 * sum(ways) / len(ways))
        gain = metrics["accuracy"] - metrics["baselines"]["transitive"]
        assert metrics["gain"] == pytest.approx(gain)
        low, high = metrics["ci95"]["accuracy"]
        assert low < metrics["accuracy"] < high


@pytest.mark.parametrize("protocol_of_training", ["", "clean", "paper"])
def test_baselines_and_seen_pairs_equal_plain_loops(large, protocol_of_training):
    hierarchy = pairs_of.load(large)
    above = small_concepts.ancestors(hierarchy)
    result = hypernyms.Hypernyms().evaluate(
        drawn(hierarchy.names), ConceptData("test", large, protocol_of_training)
    )
    for protocol, metrics in result.items():
        split = pairs_of.split(protocol, large)
        pairs, true = split.test.pairs.tolist(), split.test.true.tolist()
        known = [g in above[s] for g, s in pairs]
        assert metrics["oracle"] == pytest.approx(share(known, true))
        inferred = pairs_of.infer_from_closure(split, split.test).tolist()
        assert metrics["baselines"]["transitive"] == pytest.approx(share(inferred, true))
        train = set(
            map(tuple, pairs_of.split(protocol_of_training or protocol, large).train.tolist())
        )
        seen = [tuple(pair) in train for pair, t in zip(pairs, true, strict=True) if t]
        assert metrics["seen"] == pytest.approx(100 * sum(seen) / len(seen))
    assert result["clean"]["oracle"] == 100 > result["paper"]["oracle"]
    if protocol_of_training == "clean":
        assert result["clean"]["seen"] == result["paper"]["seen"] == 0
    else:
        assert result["paper"]["seen"] > 0


def share(answers: list[bool], true: list[bool]) -> float:
    """Return the percentage of right answers."""
    return 100 * sum(s == t for s, t in zip(answers, true, strict=True)) / len(true)


def test_the_threshold_is_chosen_on_dev_only(few):
    """On a line, dev accepts distances up to 1, and test would accept distances up to 3."""
    hierarchy = pairs_of.load(few)
    rows = torch.arange(12.0)[:, None].flip(0)
    model = small_concepts.model(hierarchy.names, rows)
    dev = LabelledPairs(
        np.array([[5, 5], [4, 5], [3, 5], [2, 5]]), np.array([True, True, False, False])
    )
    test = LabelledPairs(np.array([[6, 6], [5, 6], [4, 6], [3, 6]]), np.array([True] * 4))
    split = Split(hierarchy, np.array([[0, 1]]), dev, test, None)
    result = hypernyms.measure(model, split, test).metrics()
    assert (result["accuracy"], result["yes"]) == (50, 50)
    assert "no" not in result  # there are no such questions
    assert result["direction"] == pytest.approx(12.5)  # one tie and three wrong directions
    assert hypernyms.measure(model, split, dev).metrics()["accuracy"] == 100


def test_without_baselines_there_is_no_gain(few):
    split = pairs_of.split(WHOLE, few)
    result = hypernyms.measure(drawn(split.taxonomy.names), split, split.dev, baselines=False)
    assert result.metrics().keys() == {"accuracy", "yes", "no", "direction"}
    assert len(result) == len(split.dev.true)
    numbers = np.flatnonzero(split.dev.true)
    assert result.metrics(numbers)["accuracy"] == pytest.approx(result.metrics()["yes"])


@pytest.mark.parametrize(
    "score", [SCORES["order"], Bilinear(4), Gaussians(), CosineDistance(as_released=True)]
)
def test_scores_of_pairs_equal_the_full_matrix(few, score):
    split = pairs_of.split(WHOLE, few)
    model = drawn(split.taxonomy.names, score)
    concepts = hypernyms.embed_concepts(model, split)
    assert len(concepts) == len(split.taxonomy.names)
    with torch.inference_mode():
        whole = model.score(concepts, concepts)
    result = hypernyms.score_pairs(model, concepts, split.dev.pairs)
    expected = torch.stack([whole[g, s] for g, s in split.dev.pairs.tolist()])
    torch.testing.assert_close(result, expected, rtol=1e-4, atol=1e-4)


def test_unsuitable_models_and_data_are_user_errors(few, large):
    model = small_concepts.knowing(pairs_of.load(few))
    with pytest.raises(UserError, match="is for a model of concepts; `train hypernyms` makes one"):
        hypernyms.Hypernyms().evaluate(small_pairs.knowing({}), ConceptData("test", few))
    with pytest.raises(UserError, match="on dev or test, not on all"):
        hypernyms.Hypernyms().evaluate(model, ConceptData("all", few))
    with pytest.raises(UserError, match=f"trained on other concepts than {large}'s"):
        hypernyms.Hypernyms().evaluate(model, ConceptData("test", large))
    with pytest.raises(UserError, match="is missing"):
        hypernyms.Hypernyms().evaluate(model, ConceptData("test", f"{few}.gone"))
    with torch.no_grad():
        model.text.table.weight[3] = torch.nan
    with pytest.raises(UserError, match="are NaN; the model's weights are damaged"):
        hypernyms.Hypernyms().evaluate(model, ConceptData("test", few))


def test_command_refuses_a_model_of_sentences(toy_checkpoint, run):
    code, _, errors = run("evaluate", toy_checkpoint, "--task", "hypernyms")
    assert (code, errors.count("\n")) == (2, 1)
    assert "is for a model of concepts" in errors
