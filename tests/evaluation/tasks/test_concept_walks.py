"""Walks over concepts are counted as by plain loops."""

from itertools import pairwise

import numpy as np
import pytest
import torch

from tests.support import small_concepts
from vsdemo.core.errors import UserError
from vsdemo.data.pairs import hypernyms
from vsdemo.evaluation.task import ConceptData
from vsdemo.evaluation.tasks import concept_walks
from vsdemo.evaluation.tasks.concept_walks import ConceptWalkCounts, ConceptWalks
from vsdemo.models import checkpoint
from vsdemo.models.concept_scores import CosineDistance
from vsdemo.models.limits import Limits


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch):
    monkeypatch.setattr("vsdemo.evaluation.metrics.bootstrap.RESAMPLES", 100)


@pytest.fixture
def things(tmp_path):
    return str(small_concepts.write(tmp_path / "things.tsv"))


def model_of(dataset, rows=None):
    """Return a model with the given vectors, by default in perfect order, and its limits."""
    taxonomy = hypernyms.load(dataset)
    model = small_concepts.knowing(taxonomy)
    if rows is not None:
        model = small_concepts.model(taxonomy.names, rows)
    model.limits = Limits(texts=0.5)
    return model


def test_walks_of_a_model_that_knows_the_taxonomy_are_true(things):
    result = ConceptWalks().evaluate(model_of(things), ConceptData("test", things))
    assert (result["up"], result["whole"]) == (100, 100)
    assert result["ci95"]["whole"] == [100, 100]
    # Without the root: dog, cat, tree, flower and teddy take 1 step, puppy and oak 2. The robot dog
    # lies below toy, and below dog, from where it is 2 steps.
    assert result["depth"] == pytest.approx((4 * 1 + 2 * 2 + 1 + 1) / 8)
    assert result["steps_up"] == pytest.approx((4 * 1 + 2 * 2 + 1 + 2) / 8)


@pytest.mark.parametrize("seed", range(5))
def test_steps_are_true_by_the_taxonomy(things, seed):
    taxonomy = hypernyms.load(things)
    rows = torch.rand(12, 3, generator=torch.Generator().manual_seed(seed))
    model = model_of(things, rows)
    model.limits = Limits(texts=0.05)
    counts = concept_walks.measure(model, taxonomy)
    above = small_concepts.ancestors(taxonomy)
    root = int(rows.norm(dim=1).argmin())
    expected = []
    for start in range(12):
        if all(not above[parent] for parent in taxonomy.parents[start]):
            continue
        path = [start]
        while path[-1] != root:
            violations = [(rows - rows[n]).clamp(min=0).square().sum(1) for n in (start, path[-1])]
            reverse = (rows[path[-1]] - rows).clamp(min=0).square().sum(1)
            allowed = [
                i
                for i in range(12)
                if rows[i].norm() < rows[path[-1]].norm()
                and max(v[i] for v in violations) <= 0.05
                and violations[1][i] <= reverse[i]
            ]
            if not allowed:
                break
            path.append(max(allowed, key=lambda i: float(rows[i].norm())))
        path = [number for number in path if number != root]
        right = [b in above[a] for a, b in pairwise(path)]
        expected.append((sum(right), len(right)))
    assert [*zip(counts.up.tolist(), counts.steps_up.tolist(), strict=True)] == expected


def test_an_empty_walk_is_not_true():
    counts = ConceptWalkCounts(
        up=np.array([2, 0, 1]), steps_up=np.array([2, 0, 3]), depth=np.array([2, 4, 3])
    )
    metrics = counts.metrics()
    assert metrics["up"] == pytest.approx(100 * 3 / 6)
    assert metrics["steps_up"] == pytest.approx(5 / 3)
    assert metrics["whole"] == pytest.approx(100 / 3)
    assert metrics["depth"] == 3
    assert counts.metrics(np.array([0, 0]))["whole"] == 100


def test_the_same_concepts_are_drawn_each_time(tmp_path, monkeypatch):
    monkeypatch.setattr(concept_walks, "WALKS", 5)
    taxonomy = str(small_concepts.write(tmp_path / "own.tsv", small_concepts.grown(40)))
    results = [
        ConceptWalks().evaluate(model_of(taxonomy), ConceptData(split, taxonomy))
        for split in ("dev", "test")
    ]
    assert results[0] == results[1]
    assert len(concept_walks.measure(model_of(taxonomy), hypernyms.load(taxonomy))) == 5


def test_models_that_cannot_walk_are_refused(things, toy_order):
    taxonomy = hypernyms.load(things)
    cosine = small_concepts.model(taxonomy.names, torch.rand(12, 3), CosineDistance())
    with pytest.raises(UserError, match="a score without an order"):
        ConceptWalks().check(cosine)
    with pytest.raises(UserError, match="is for a model of concepts"):
        ConceptWalks().check(checkpoint.load(toy_order)[0])
    with pytest.raises(UserError, match="trained on other concepts"):
        ConceptWalks().evaluate(model_of(things), ConceptData("test", "toy"))
