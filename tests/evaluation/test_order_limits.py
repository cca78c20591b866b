"""The limits of an order: by plain loops, and stored in checkpoints."""

import json
import shutil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import small_concepts
from vsdemo.core.errors import UserError
from vsdemo.data.pairs import hypernyms
from vsdemo.evaluation import order_limits
from vsdemo.evaluation.order_limits import steps_limit
from vsdemo.models import checkpoint
from vsdemo.models.limits import NO_LIMITS, Limits


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 4), st.sampled_from([0.5, 0.8]))
def test_the_limit_of_steps_is_the_largest_with_the_precision(seed, texts, items, precision):
    draw = np.random.default_rng(seed)
    violations = draw.integers(0, 5, (texts, items)).astype(float)
    violations[draw.random((texts, items)) < 0.2] = np.inf
    costs, true = draw.random((texts, items)), draw.random((texts, items)) < 0.6

    def steps(limit: float) -> list[bool]:
        result = []
        for item in range(items):
            within = [t for t in range(texts) if violations[t, item] <= limit]
            if within:
                result.append(bool(true[min(within, key=lambda t: costs[t, item]), item]))
        return result

    limits = violations[np.isfinite(violations)].tolist()
    right = [limit for limit in limits if np.mean(steps(limit)) >= precision]
    limit = steps_limit(violations, costs, true, precision)
    assert steps(limit) == steps(max(right, default=-1))


def test_an_order_of_the_taxonomy_has_a_limit_below_one(tmp_path):
    dataset = str(small_concepts.write(tmp_path / "own.tsv", small_concepts.grown(60)))
    split = hypernyms.split("clean", dataset)
    model = small_concepts.knowing(split.taxonomy)  # each wrong pair violates its order by 1
    assert order_limits.choose_for_concepts(model, split) == Limits(texts=0)


def test_steps_to_pairs_that_are_held_out_for_test_do_not_count(tmp_path, monkeypatch):
    """Each concept is nearest below the root, at 0.1; another one is above it at 0.7, falsely."""
    dataset = str(small_concepts.write(tmp_path / "own.tsv", small_concepts.grown(60)))
    split = hypernyms.split("clean", dataset)
    known = np.concatenate([split.train, split.dev.pairs[split.dev.true]])
    closure = set(map(tuple, split.taxonomy.closure().tolist()))
    trained = set(map(tuple, known.tolist()))
    columns = np.unique(split.dev.pairs[split.dev.true][:, 1])
    violations = np.full((60, 60), 0.7)
    for general, specific in closure:
        violations[general, specific] = 0.2 if (general, specific) in trained else 0.1
    chosen = violations[:, columns], np.full((60, len(columns)), 9.0)
    monkeypatch.setattr(order_limits, "_both_ways", lambda *_: tuple(x.copy() for x in chosen))
    model = small_concepts.knowing(split.taxonomy)
    assert closure > trained
    assert order_limits.choose_for_concepts(model, split) == Limits(texts=0.2)
    monkeypatch.setattr(order_limits, "CONCEPTS", 0.0)
    assert order_limits.choose_for_concepts(model, split) == Limits(texts=0.7)


def test_the_limit_of_a_model_of_concepts_is_stored(toy_concepts, tmp_path):
    folder = shutil.copytree(toy_concepts, tmp_path / "toy")
    limits = order_limits.calibrate(folder)
    assert limits.photos == float("inf")
    assert 0 <= limits.texts < 4  # what each wrong pair violates the order by
    assert json.loads((folder / checkpoint.LIMITS).read_text()) == {"texts": limits.texts}
    assert checkpoint.load(folder)[0].limits == limits


def test_limits_are_stored_until_the_weights_change(toy_order, tmp_path):
    model, spec, vocab = checkpoint.load(toy_order)
    assert model.limits == NO_LIMITS
    folder = tmp_path / "copy"
    checkpoint.save(folder, spec, vocab, model.state_dict())
    before = checkpoint.content_hash(folder)
    checkpoint.save_limits(folder, Limits(0.25, 0.5))
    assert checkpoint.load(folder)[0].limits == Limits(0.25, 0.5)
    assert checkpoint.content_hash(folder) == before
    checkpoint.save(folder, spec, vocab, model.state_dict())
    assert checkpoint.load(folder)[0].limits == NO_LIMITS


def test_models_without_known_relations_have_no_limits(toy_order, toy_checkpoint):
    assert order_limits.calibrate(toy_order) is None  # the data set is unknown
    assert order_limits.calibrate(toy_checkpoint) is None  # the score has no order


def test_a_limit_that_excludes_everything_is_of_no_use(toy_order, tmp_path):
    folder = shutil.copytree(toy_order, tmp_path / "copy")
    assert not checkpoint.has_limits(folder)
    for limits, usable in (
        (Limits(-1, -1), NO_LIMITS),
        (Limits(-1, 0.5), NO_LIMITS),
        (Limits(0, -1), Limits(0, -1)),
    ):
        checkpoint.save_limits(folder, limits)
        assert checkpoint.load(folder)[0].limits == limits
        assert limits.usable == usable
        assert checkpoint.has_limits(folder) == (usable != NO_LIMITS)


@pytest.mark.parametrize("content", ["[]", '{"texts": 1, "more": 2}', "{"])
def test_damaged_limits_are_refused(toy_order, tmp_path, content):
    model, spec, vocab = checkpoint.load(toy_order)
    checkpoint.save(tmp_path / "copy", spec, vocab, model.state_dict())
    (tmp_path / "copy" / checkpoint.LIMITS).write_text(content)
    assert not checkpoint.has_limits(tmp_path / "copy")
    with pytest.raises(UserError, match="is damaged"):
        checkpoint.load(tmp_path / "copy")
