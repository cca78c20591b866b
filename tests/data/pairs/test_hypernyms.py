"""Pairs of concepts by both protocols, checked one by one on small hierarchies."""

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
    """A hierarchy that is large enough to hold something out."""
    path = tmp_path_factory.mktemp("own") / "own.tsv"
    return str(small_concepts.write(path, small_concepts.grown(CONCEPTS)))


@pytest.fixture
def few(tmp_path):
    return str(small_concepts.write(tmp_path / "few.tsv"))


def rows(pairs: np.ndarray) -> list[tuple[int, int]]:
    return list(map(tuple, pairs.tolist()))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_twentieth_is_held_out_and_as_many_pairs_are_wrong(dataset, protocol):
    found = hypernyms.split(protocol, dataset)
    edges = len(found.hierarchy.closure())
    size = edges // 20
    assert size > 10
    for part in (found.dev, found.test):
        assert part.pairs.shape == (2 * size, 2)
        assert part.true.tolist() == [True] * size + [False] * size
    if protocol == "paper":
        assert len(found.train) == len(found.hierarchy.paths()) - 2 * size


def test_more_than_enough_is_held_out_of_a_large_hierarchy(dataset, monkeypatch):
    monkeypatch.setattr(hypernyms, "HELD_OUT", 7)
    for protocol in PROTOCOLS:
        found = hypernyms.split.__wrapped__(protocol, dataset)
        assert len(found.dev.pairs) == len(found.test.pairs) == 14


def test_nothing_that_either_protocol_holds_out_is_learnt_by_clean(dataset):
    clean, paper = (hypernyms.split(p, dataset) for p in ("clean", "paper"))
    held = {e for s in (clean, paper) for p in (s.dev, s.test) for e in rows(p.pairs[p.true])}
    train = rows(clean.train)
    assert len(set(train)) == len(train)
    assert not held & set(train)
    assert held | set(train) == set(rows(clean.hierarchy.closure()))
    parts = [set(rows(p.pairs[p.true])) for p in (clean.dev, clean.test)]
    assert not parts[0] & parts[1]


def test_by_clean_right_is_right_and_wrong_is_wrong(dataset):
    found = hypernyms.split("clean", dataset)
    above = small_concepts.ancestors(found.hierarchy)
    for part in (found.dev, found.test):
        assert [g in above[s] for g, s in rows(part.pairs)] == part.true.tolist()


def test_by_paper_a_path_is_a_pair_and_some_wrong_ones_are_right(dataset):
    found = hypernyms.split("paper", dataset)
    above = small_concepts.ancestors(found.hierarchy)
    right = [found.train, *(p.pairs[p.true] for p in (found.dev, found.test))]
    learnt_and_held_out = sorted(rows(np.concatenate(right)))
    assert learnt_and_held_out == sorted(rows(found.hierarchy.paths()))
    wrong = np.concatenate([p.pairs[~p.true] for p in (found.dev, found.test)])
    assert 0 < sum(g in above[s] for g, s in rows(wrong)) < len(wrong)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_wrong_pair_keeps_a_side_of_its_right_one(dataset, protocol):
    for part in (lambda s: s.dev, lambda s: s.test):
        found = part(hypernyms.split(protocol, dataset))
        kept = found.pairs[found.true] == found.pairs[~found.true]
        assert kept.any(1).all()
        assert not kept.all(0).any()  # either side is replaced at times


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_split_is_the_same_each_time(dataset, protocol):
    a, b = (hypernyms.split.__wrapped__(protocol, dataset) for _ in range(2))
    assert np.array_equal(a.train, b.train)
    for one, other in ((a.dev, b.dev), (a.test, b.test)):
        assert np.array_equal(one.pairs, other.pairs)
    assert not np.array_equal(a.dev.pairs, a.test.pairs)


def test_wrong_pairs_to_learn_from(dataset):
    """By `clean` never a pair of train, though held-out ones come; by `paper` anything."""
    for protocol in PROTOCOLS:
        found = hypernyms.split(protocol, dataset)
        drawn = np.concatenate(
            [found.wrong(found.train, np.random.default_rng(seed)) for seed in range(3)]
        )
        assert len(drawn) == 3 * len(found.train)
        known, truth = set(rows(found.train)), set(rows(found.hierarchy.closure()))
        assert bool(known & set(rows(drawn))) == (protocol == "paper")
        assert (truth - known) & set(rows(drawn))


def test_a_few_concepts_are_learnt_and_measured_whole(few):
    found = hypernyms.split(WHOLE, few)
    above = small_concepts.ancestors(found.hierarchy)
    numbers = range(small_concepts.CONCEPTS)
    every = [(g, s) for g in numbers for s in numbers if g != s]
    assert rows(found.dev.pairs) == rows(found.test.pairs) == every
    assert found.test.true.tolist() == [g in above[s] for g, s in every]
    assert rows(found.train) == [pair for pair in every if pair[0] in above[pair[1]]]
    assert len(found.train) == small_concepts.ABOVE
    wrong = found.wrong(np.concatenate([found.train] * 20), np.random.default_rng(0))
    assert not set(rows(wrong)) & set(rows(found.train))


def test_which_protocols_a_hierarchy_is_large_enough_for(dataset, few):
    assert hypernyms.protocols(dataset) == PROTOCOLS
    assert hypernyms.protocols(few) == hypernyms.protocols("toy") == (WHOLE,)
    for protocol in PROTOCOLS:
        with pytest.raises(UserError, match=r"has 23 pairs .* 12 concepts .* protocol=whole\.$"):
            hypernyms.split(protocol, few)


def test_what_cannot_be_split(dataset, tmp_path, monkeypatch):
    with pytest.raises(UserError, match="no protocol 'fair'; valid are paper, clean"):
        hypernyms.split("fair", dataset)
    with pytest.raises(UserError, match="is missing"):
        hypernyms.split("clean", str(tmp_path / "nowhere.tsv"))
    monkeypatch.setattr(hypernyms, "MOST", CONCEPTS - 1)
    with pytest.raises(UserError, match=r"119 concepts.* here are 120 with .* protocol=clean\.$"):
        hypernyms.split.__wrapped__(WHOLE, dataset)


def test_the_toy_ships():
    found = hypernyms.load("toy")
    puppy, entity = found.number["puppy"], found.number["entity"]
    assert entity in small_concepts.ancestors(found)[puppy]


@pytest.mark.parametrize("protocol", [*PROTOCOLS, WHOLE])
def test_what_follows_by_plain_recursion(dataset, few, protocol):
    found = hypernyms.split(protocol, few if protocol == WHOLE else dataset)
    for asked, more in ((found.dev, []), (found.test, rows(found.dev.pairs[found.dev.true]))):
        given_edges = {*rows(found.train), *more}

        def above(concept, seen, edges=given_edges):
            for general, specific in edges:
                if specific == concept and general not in seen:
                    seen.add(general)
                    above(general, seen)
            return seen

        sets = {s: above(s, set()) for s in {s for _, s in rows(asked.pairs)}}
        expected = [g in sets[s] for g, s in rows(asked.pairs)]
        assert hypernyms.infer_from_closure(found, asked).tolist() == expected
        assert 0 < sum(expected) < len(expected)


def test_what_follows_through_an_edge_of_dev_counts_for_test_only(few):
    hierarchy = hypernyms.load(few)
    thing, animal, dog = (hierarchy.number[name] for name in ("thing", "animal", "dog"))
    asked = LabelledPairs(np.array([[thing, dog]]), np.array([True]))
    dev = LabelledPairs(np.array([[animal, dog], [thing, dog]]), np.array([True, False]))
    found = hypernyms.Split(hierarchy, np.array([[thing, animal]]), dev, asked, None)
    assert hypernyms.infer_from_closure(found, asked).tolist() == [True]
    assert hypernyms.infer_from_closure(found, dev).tolist() == [False, False]


pairs = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12)


def table(found: list[tuple[int, int]]) -> np.ndarray:
    return np.array(found, np.int32).reshape(-1, 2)


@given(pairs, pairs)
def test_edges_hold_what_a_set_does(held, asked):
    found = EdgeSet.of(table(held), 7).contains(table(asked))
    assert found.tolist() == [pair in set(held) for pair in asked]


@given(pairs, pairs, st.integers(0, 99))
def test_a_corrupted_pair_keeps_a_side_and_is_none_of_never(right, never, seed):
    never = [(g, s) for g, s in never if g != s]  # else nothing might be left to draw
    found = corrupt(table(right), 7, np.random.default_rng(seed), EdgeSet.of(table(never), 7))
    assert found.shape == (len(right), 2)
    assert not set(rows(found)) & set(never)
    assert all(0 <= n < 7 for pair in rows(found) for n in pair)
    for before, after in zip(right, rows(found), strict=True):
        assert before[0] == after[0] or before[1] == after[1]


def test_corrupting_leaves_the_right_pairs_as_they_are_and_any_concept_comes():
    right = table([(0, 1)] * 400)
    found = corrupt(right, 5, np.random.default_rng(0))
    assert rows(right) == [(0, 1)] * 400
    assert set(rows(found)) == {(g, 1) for g in range(5)} | {(0, s) for s in range(5)}
