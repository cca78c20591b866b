"""Both protocols, checked pair by pair on small taxonomies."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import small_concepts
from vsdemo.core.errors import UserError
from vsdemo.data.pairs import hypernyms
from vsdemo.data.pairs.hypernyms import PROTOCOLS, WHOLE, EdgeSet, LabelledPairs, corrupt

CONCEPTS = 120


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    """A taxonomy that is large enough to hold something out."""
    path = tmp_path_factory.mktemp("own") / "own.tsv"
    return str(small_concepts.write(path, small_concepts.grown(CONCEPTS)))


@pytest.fixture
def few(tmp_path):
    return str(small_concepts.write(tmp_path / "few.tsv"))


def rows(pairs: np.ndarray) -> list[tuple[int, int]]:
    return list(map(tuple, pairs.tolist()))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_twentieth_of_the_edges_is_held_out_with_as_many_negatives(dataset, protocol):
    split = hypernyms.split(protocol, dataset)
    edges = len(split.taxonomy.closure())
    size = edges // 20
    assert size > 10
    for part in (split.dev, split.test):
        assert part.pairs.shape == (2 * size, 2)
        assert part.true.tolist() == [True] * size + [False] * size
    if protocol == "paper":
        assert len(split.train) == len(split.taxonomy.paths()) - 2 * size


def test_at_most_held_out_edges_are_held_out(dataset, monkeypatch):
    monkeypatch.setattr(hypernyms, "HELD_OUT", 7)
    for protocol in PROTOCOLS:
        split = hypernyms.split.__wrapped__(protocol, dataset)
        assert len(split.dev.pairs) == len(split.test.pairs) == 14


def test_clean_train_has_no_edge_that_either_protocol_holds_out(dataset):
    clean, paper = (hypernyms.split(p, dataset) for p in ("clean", "paper"))
    held = {e for s in (clean, paper) for p in (s.dev, s.test) for e in rows(p.pairs[p.true])}
    train = rows(clean.train)
    assert len(set(train)) == len(train)
    assert not held & set(train)
    assert held | set(train) == set(rows(clean.taxonomy.closure()))
    parts = [set(rows(p.pairs[p.true])) for p in (clean.dev, clean.test)]
    assert not parts[0] & parts[1]


def test_clean_labels_are_correct(dataset):
    split = hypernyms.split("clean", dataset)
    above = small_concepts.ancestors(split.taxonomy)
    for part in (split.dev, split.test):
        assert [g in above[s] for g, s in rows(part.pairs)] == part.true.tolist()


def test_paper_has_an_edge_per_path_and_some_false_negatives(dataset):
    split = hypernyms.split("paper", dataset)
    above = small_concepts.ancestors(split.taxonomy)
    edges = [split.train, *(p.pairs[p.true] for p in (split.dev, split.test))]
    assert sorted(rows(np.concatenate(edges))) == sorted(rows(split.taxonomy.paths()))
    negatives = np.concatenate([p.pairs[~p.true] for p in (split.dev, split.test)])
    assert 0 < sum(g in above[s] for g, s in rows(negatives)) < len(negatives)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_negative_shares_one_side_with_its_edge(dataset, protocol):
    for part in (lambda s: s.dev, lambda s: s.test):
        labelled = part(hypernyms.split(protocol, dataset))
        kept = labelled.pairs[labelled.true] == labelled.pairs[~labelled.true]
        assert kept.any(1).all()
        assert not kept.all(0).any()  # both sides are replaced at times


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_splits_are_deterministic(dataset, protocol):
    a, b = (hypernyms.split.__wrapped__(protocol, dataset) for _ in range(2))
    assert np.array_equal(a.train, b.train)
    for one, other in ((a.dev, b.dev), (a.test, b.test)):
        assert np.array_equal(one.pairs, other.pairs)
    assert not np.array_equal(a.dev.pairs, a.test.pairs)


def test_training_negatives_are_no_train_edges_by_clean_and_any_pair_by_paper(dataset):
    for protocol in PROTOCOLS:
        split = hypernyms.split(protocol, dataset)
        drawn = np.concatenate(
            [split.negatives(split.train, np.random.default_rng(seed)) for seed in range(3)]
        )
        assert len(drawn) == 3 * len(split.train)
        known, truth = set(rows(split.train)), set(rows(split.taxonomy.closure()))
        assert bool(known & set(rows(drawn))) == (protocol == "paper")
        assert (truth - known) & set(rows(drawn))


def test_whole_trains_on_all_edges_and_evaluates_on_all_pairs(few):
    split = hypernyms.split(WHOLE, few)
    above = small_concepts.ancestors(split.taxonomy)
    numbers = range(small_concepts.CONCEPTS)
    every = [(g, s) for g in numbers for s in numbers if g != s]
    assert rows(split.dev.pairs) == rows(split.test.pairs) == every
    assert split.test.true.tolist() == [g in above[s] for g, s in every]
    assert rows(split.train) == [pair for pair in every if pair[0] in above[pair[1]]]
    assert len(split.train) == small_concepts.ABOVE
    negatives = split.negatives(np.concatenate([split.train] * 20), np.random.default_rng(0))
    assert not set(rows(negatives)) & set(rows(split.train))


def test_protocols_depend_on_the_number_of_edges(dataset, few):
    assert hypernyms.protocols(dataset) == PROTOCOLS
    assert hypernyms.protocols(few) == hypernyms.protocols("toy") == (WHOLE,)
    for protocol in PROTOCOLS:
        with pytest.raises(UserError, match=r"has 23 pairs .* 12 concepts,.* protocol=whole\.$"):
            hypernyms.split(protocol, few)


def test_invalid_protocols_missing_files_and_large_taxonomies_are_user_errors(
    dataset, tmp_path, monkeypatch
):
    with pytest.raises(UserError, match="no protocol 'fair'; use one of paper, clean"):
        hypernyms.split("fair", dataset)
    with pytest.raises(UserError, match="is missing"):
        hypernyms.split("clean", str(tmp_path / "nowhere.tsv"))
    monkeypatch.setattr(hypernyms, "MAX_WHOLE", CONCEPTS - 1)
    with pytest.raises(
        UserError, match=r"119 concepts.* one has 120 concepts .* protocol=clean\.$"
    ):
        hypernyms.split.__wrapped__(WHOLE, dataset)


def test_the_toy_taxonomy_is_included():
    taxonomy = hypernyms.load("toy")
    puppy, entity = taxonomy.index_of["puppy"], taxonomy.index_of["entity"]
    assert entity in small_concepts.ancestors(taxonomy)[puppy]


@pytest.mark.parametrize("protocol", [*PROTOCOLS, WHOLE])
def test_infer_from_closure_equals_plain_recursion(dataset, few, protocol):
    split = hypernyms.split(protocol, few if protocol == WHOLE else dataset)
    for part, more in ((split.dev, []), (split.test, rows(split.dev.pairs[split.dev.true]))):
        given_edges = {*rows(split.train), *more}

        def above(concept, seen, edges=given_edges):
            for general, specific in edges:
                if specific == concept and general not in seen:
                    seen.add(general)
                    above(general, seen)
            return seen

        sets = {s: above(s, set()) for s in {s for _, s in rows(part.pairs)}}
        expected = [g in sets[s] for g, s in rows(part.pairs)]
        assert hypernyms.infer_from_closure(split, part).tolist() == expected
        assert 0 < sum(expected) < len(expected)


def test_edges_of_dev_are_known_for_test_only(few):
    taxonomy = hypernyms.load(few)
    thing, animal, dog = (taxonomy.index_of[name] for name in ("thing", "animal", "dog"))
    test = LabelledPairs(np.array([[thing, dog]]), np.array([True]))
    dev = LabelledPairs(np.array([[animal, dog], [thing, dog]]), np.array([True, False]))
    split = hypernyms.Split(taxonomy, np.array([[thing, animal]]), dev, test, None)
    assert hypernyms.infer_from_closure(split, test).tolist() == [True]
    assert hypernyms.infer_from_closure(split, dev).tolist() == [False, False]


pairs = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12)


def table(edges: list[tuple[int, int]]) -> np.ndarray:
    return np.array(edges, np.int32).reshape(-1, 2)


@given(pairs, pairs)
def test_edge_set_equals_a_set(held, queried):
    result = EdgeSet.of(table(held), 7).contains(table(queried))
    assert result.tolist() == [pair in set(held) for pair in queried]


@given(pairs, pairs, st.integers(0, 99))
def test_corrupt_keeps_a_side_and_avoids_never(right, never, seed):
    never = [(g, s) for g, s in never if g != s]  # otherwise every candidate may be excluded
    result = corrupt(table(right), 7, np.random.default_rng(seed), EdgeSet.of(table(never), 7))
    assert result.shape == (len(right), 2)
    assert not set(rows(result)) & set(never)
    assert all(0 <= n < 7 for pair in rows(result) for n in pair)
    for before, after in zip(right, rows(result), strict=True):
        assert before[0] == after[0] or before[1] == after[1]


def test_corrupt_draws_every_concept_and_copies_its_input():
    right = table([(0, 1)] * 400)
    result = corrupt(right, 5, np.random.default_rng(0))
    assert rows(right) == [(0, 1)] * 400
    assert set(rows(result)) == {(g, 1) for g in range(5)} | {(0, s) for s in range(5)}


def test_corrupt_draws_concepts_before_sides():
    """Another order would change the published splits."""
    result = corrupt(table([(0, 1)] * 4), 5, np.random.default_rng(0))
    rng = np.random.default_rng(0)
    concepts, sides = rng.integers(0, 5, 4).tolist(), rng.integers(0, 2, 4).tolist()
    expected = [(0, c) if side else (c, 1) for c, side in zip(concepts, sides, strict=True)]
    assert rows(result) == expected
