"""Near negatives, pair by pair on random taxonomies."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.support import small_concepts
from vsdemo.data.pairs import hypernyms, wordnet
from vsdemo.data.pairs.near_negatives import NearNegatives

CONCEPTS = 30


def taxonomy(seed: int) -> wordnet.Taxonomy:
    return wordnet.from_pairs(small_concepts.grown(CONCEPTS, seed))


@given(st.integers(0, 20), st.integers(1, 6))
def test_candidates_lie_below_the_general_concept_and_above_something(seed, count):
    tree = taxonomy(seed)
    edges = tree.closure()
    above = small_concepts.ancestors(tree)
    inner = {parent for parents in tree.parents for parent in parents}
    below = {general: [i for i in inner if general in above[i]] for general in range(CONCEPTS)}
    near = NearNegatives(edges, CONCEPTS)
    drawn = near.draw(edges, count, np.random.default_rng(seed))
    expected = [edge for edge in edges.tolist() if below[edge[0]] for _ in range(count)]
    assert [specific for _, specific in drawn.tolist()] == [specific for _, specific in expected]
    for (new, specific), (general, _) in zip(drawn.tolist(), expected, strict=True):
        assert new in below[general]
        assert near.follow(np.array([[new, specific]]))[0] == (
            new == specific or new in above[specific]
        )


def test_every_candidate_is_drawn():
    edges = hypernyms.load("toy").closure()
    near = NearNegatives(edges, len(hypernyms.load("toy").names))
    names = hypernyms.load("toy").names
    pair = np.array([[names.index("entity"), names.index("puppy")]])
    drawn = near.draw(pair, 500, np.random.default_rng(0))
    inner = set(edges[:, 0].tolist()) - {names.index("entity")}
    assert set(drawn[:, 0].tolist()) == inner


@given(st.integers(0, 20))
def test_direct_edges_imply_the_closure(seed):
    tree = taxonomy(seed)
    closure = hypernyms.infer(np.array(tree.edges), CONCEPTS)
    every = np.argwhere(np.ones((CONCEPTS, CONCEPTS), bool))
    above = small_concepts.ancestors(tree)
    assert closure.contains(every).tolist() == [g in above[s] for g, s in every.tolist()]
