"""What lies above what, re-computed with plain loops, by models whose vectors are given."""

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
def test_who_knows_all_is_always_right(few, split):
    found = hypernyms.Hypernyms().evaluate(
        small_concepts.knowing(pairs_of.load(few)), ConceptData(split, few)
    )
    assert found.keys() == {WHOLE}
    figures = found[WHOLE]
    for kind in ("accuracy", "yes", "no", "direction", "oracle", "seen"):
        assert figures[kind] == 100
    assert figures["n"] == small_concepts.CONCEPTS * (small_concepts.CONCEPTS - 1)
    assert figures["baselines"] == {"transitive": 100}
    assert figures["gain"] == 0
    assert figures["ci95"]["accuracy"] == [100, 100]


def drawn(names, score=None):
    size = 8 if isinstance(score, Gaussians) else 4
    rows = torch.randn(len(names), size, generator=torch.Generator().manual_seed(3))
    return small_concepts.model(names, rows, score)


def by_hand(model, pairs: np.ndarray) -> list[float]:
    rows = model.text.table.weight.detach()
    rows = rows.clamp(min=0) if model.text.nonnegative else rows
    found = []
    for general, specific in pairs.tolist():
        x, y = rows[general].tolist(), rows[specific].tolist()
        inner = sum(a * b for a, b in zip(x, y, strict=True))
        if isinstance(model.score, CosineDistance):
            lengths = sum(a * a for a in x) * sum(b * b for b in y)
            found.append((inner / lengths**0.5 - 1) / 2)
        else:
            found.append(-sum(max(0.0, a - b) ** 2 for a, b in zip(x, y, strict=True)))
    return found


def best(scores: list[float], true: list[bool]) -> float:
    """A threshold with the most right answers, the lowest of those."""
    values = sorted(set(scores))
    cuts = [-1e9, *((a + b) / 2 for a, b in pairwise(values)), 1e9]
    return max(cuts, key=lambda cut: right(scores, true, cut))


def right(scores: list[float], true: list[bool], cut: float) -> int:
    return sum((s >= cut) == t for s, t in zip(scores, true, strict=True))


@pytest.mark.parametrize("score", [None, CosineDistance()])
def test_figures_by_loops(large, score):
    model = drawn(pairs_of.load(large).names, score)
    found = hypernyms.Hypernyms().evaluate(model, ConceptData("test", large))
    assert json.loads(json.dumps(found)) == found
    assert tuple(found) == PROTOCOLS
    for protocol, figures in found.items():
        split = pairs_of.split(protocol, large)
        dev, test = (
            (by_hand(model, part.pairs), part.true.tolist()) for part in (split.dev, split.test)
        )
        cut, size = best(*dev), len(test[0])
        assert figures["n"] == size
        assert figures["accuracy"] == pytest.approx(100 * right(*test, cut) / size)
        yes = [s >= cut for s, t in zip(*test, strict=True) if t]
        no = [s < cut for s, t in zip(*test, strict=True) if not t]
        assert figures["yes"] == pytest.approx(100 * sum(yes) / len(yes))
        assert figures["no"] == pytest.approx(100 * sum(no) / len(no))
        edges = split.test.pairs[split.test.true]
        forth, back = by_hand(model, edges), by_hand(model, edges[:, ::-1])
        if score:
            assert figures["direction"] == 50  # a cosine is symmetric
        else:
            ways = [(a > b) + (a == b) / 2 for a, b in zip(forth, back, strict=True)]
            assert figures["direction"] == pytest.approx(100 * sum(ways) / len(ways))
        gain = figures["accuracy"] - figures["baselines"]["transitive"]
        assert figures["gain"] == pytest.approx(gain)
        low, high = figures["ci95"]["accuracy"]
        assert low < figures["accuracy"] < high


@pytest.mark.parametrize("learnt", ["", "clean", "paper"])
def test_what_stands_beside_the_figures_by_loops(large, learnt):
    hierarchy = pairs_of.load(large)
    above = small_concepts.ancestors(hierarchy)
    found = hypernyms.Hypernyms().evaluate(
        drawn(hierarchy.names), ConceptData("test", large, learnt)
    )
    for protocol, figures in found.items():
        split = pairs_of.split(protocol, large)
        pairs, true = split.test.pairs.tolist(), split.test.true.tolist()
        known = [g in above[s] for g, s in pairs]
        assert figures["oracle"] == pytest.approx(share(known, true))
        guessed = pairs_of.infer_from_closure(split, split.test).tolist()
        assert figures["baselines"]["transitive"] == pytest.approx(share(guessed, true))
        train = set(map(tuple, pairs_of.split(learnt or protocol, large).train.tolist()))
        seen = [tuple(pair) in train for pair, t in zip(pairs, true, strict=True) if t]
        assert figures["seen"] == pytest.approx(100 * sum(seen) / len(seen))
    assert found["clean"]["oracle"] == 100 > found["paper"]["oracle"]
    if learnt == "clean":
        assert found["clean"]["seen"] == found["paper"]["seen"] == 0
    else:
        assert found["paper"]["seen"] > 0


def share(said: list[bool], true: list[bool]) -> float:
    """The percent of right answers."""
    return 100 * sum(s == t for s, t in zip(said, true, strict=True)) / len(true)


def test_the_threshold_is_chosen_on_dev_alone(few):
    """On a line: dev says yes up to a distance of 1, test would say so up to 3."""
    hierarchy = pairs_of.load(few)
    rows = torch.arange(12.0)[:, None].flip(0)
    model = small_concepts.model(hierarchy.names, rows)
    dev = LabelledPairs(
        np.array([[5, 5], [4, 5], [3, 5], [2, 5]]), np.array([True, True, False, False])
    )
    test = LabelledPairs(np.array([[6, 6], [5, 6], [4, 6], [3, 6]]), np.array([True] * 4))
    split = Split(hierarchy, np.array([[0, 1]]), dev, test, None)
    found = hypernyms.measure(model, split, test).metrics()
    assert (found["accuracy"], found["yes"]) == (50, 50)
    assert "no" not in found  # nobody asked
    assert found["direction"] == pytest.approx(12.5)  # a tie of one with itself, three wrong ways
    assert hypernyms.measure(model, split, dev).metrics()["accuracy"] == 100


def test_without_baselines_there_is_no_gain(few):
    split = pairs_of.split(WHOLE, few)
    found = hypernyms.measure(drawn(split.taxonomy.names), split, split.dev, baselines=False)
    assert found.metrics().keys() == {"accuracy", "yes", "no", "direction"}
    assert len(found) == len(split.dev.true)
    numbers = np.flatnonzero(split.dev.true)
    assert found.metrics(numbers)["accuracy"] == pytest.approx(found.metrics()["yes"])


@pytest.mark.parametrize(
    "score", [SCORES["order"], Bilinear(4), Gaussians(), CosineDistance(as_released=True)]
)
def test_scores_of_pairs_are_those_of_the_whole(few, score):
    split = pairs_of.split(WHOLE, few)
    model = drawn(split.taxonomy.names, score)
    concepts = hypernyms.embed_concepts(model, split)
    assert len(concepts) == len(split.taxonomy.names)
    with torch.inference_mode():
        whole = model.score(concepts, concepts)
    found = hypernyms.score_pairs(model, concepts, split.dev.pairs)
    expected = torch.stack([whole[g, s] for g, s in split.dev.pairs.tolist()])
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


def test_what_is_refused(few, large):
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
    with pytest.raises(UserError, match="not numbers; the model's weights are damaged"):
        hypernyms.Hypernyms().evaluate(model, ConceptData("test", few))


def test_a_model_of_sentences_is_refused_on_the_command_line(toy_checkpoint, run):
    code, _, errors = run("evaluate", toy_checkpoint, "--task", "hypernyms")
    assert (code, errors.count("\n")) == (2, 1)
    assert "is for a model of concepts" in errors
