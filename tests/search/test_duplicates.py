"""Groups of near-duplicates: photos whose looks and embeddings differ little, also in chains."""

import numpy as np
import pytest
import torch

from vsdemo.search import duplicates
from vsdemo.search.duplicates import MAX_DISTANCE, group_duplicates, min_cosine

ALIKE = torch.ones(300, 4)


def looks(*values):
    return np.array(values, dtype=np.uint64)


def flipped(look, count, generator):
    """Return a look with so many other bits."""
    bits = generator.choice(64, count, replace=False)
    return look ^ np.bitwise_or.reduce(np.uint64(1) << bits.astype(np.uint64))


def connected(near):
    """Return the first member of each one's connected component, by the definition."""
    groups = np.arange(len(near))
    while True:
        smallest = np.where(near, groups, len(near)).min(axis=1)
        if (smallest == groups).all():
            return groups
        groups = smallest


def test_groups_are_the_components_of_the_pairs_that_are_near():
    generator = np.random.default_rng(0)
    some = generator.integers(1, 2**63, 60, dtype=np.uint64)
    values = [*some, *(flipped(generator.choice(some), d % 16 + 1, generator) for d in range(200))]
    values = looks(*generator.permutation(np.array(values, dtype=np.uint64)))
    x = torch.tensor(generator.choice([-1.0, 0.0, 1.0], (len(values), 2)))
    x += torch.tensor([2.0, 0.0])  # angles of 0 to 90 degrees
    cosines = torch.cosine_similarity(x[:, None], x[None], dim=-1)
    distances = np.bitwise_count(values[:, None] ^ values[None])
    near = (distances <= MAX_DISTANCE) & (cosines >= min_cosine(x)).numpy()
    assert ((distances <= MAX_DISTANCE) & ~near).sum() > 0  # the embeddings matter
    expected = connected(near)
    assert len(set(expected)) < len(values)
    assert group_duplicates(values, x).tolist() == expected.tolist()


@pytest.mark.parametrize("distance", [1, MAX_DISTANCE])
def test_every_pair_within_the_distance_is_found(distance):
    generator = np.random.default_rng(distance)
    first = generator.integers(1, 2**63, 150, dtype=np.uint64)
    second = looks(*(flipped(look, distance, generator) for look in first))
    groups = group_duplicates(np.concatenate([first, second]), ALIKE)
    assert groups.tolist() == [*range(150)] * 2
    apart = looks(*(flipped(look, MAX_DISTANCE + 1, generator) for look in first))
    assert len(set(group_duplicates(np.concatenate([first, apart]), ALIKE))) == 300


def test_the_least_cosine_depends_on_how_alike_unrelated_photos_are():
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(500, 64, generator=generator)
    assert min_cosine(x) == pytest.approx(0.5, abs=0.02)
    assert min_cosine(x + 0.8) == pytest.approx(0.7, abs=0.02)  # as of models with narrow cones
    assert min_cosine(torch.ones(500, 64)) == pytest.approx(0.8)  # all are copies
    assert min_cosine(x[:1]) == min_cosine(x[:0]) == 1


def test_chains_are_one_group():
    chain = looks(*(2**64 - 2**bit for bit in range(0, 60, MAX_DISTANCE)))
    assert group_duplicates(chain[::-1], ALIKE[: len(chain)]).tolist() == [0] * len(chain)


def test_a_photo_without_a_look_is_alone_unless_another_one_has_its_content():
    none = looks(0, 0, 0, 7, 7)
    assert group_duplicates(none, ALIKE[:5]).tolist() == [0, 1, 2, 3, 3]
    contents = ["", "b", "b", "", "c"]
    assert group_duplicates(none, ALIKE[:5], contents).tolist() == [0, 1, 1, 3, 3]
    assert group_duplicates(looks(), ALIKE[:0]).tolist() == []


def test_copies_of_the_same_content_are_one_group_with_those_that_look_like_them():
    x = torch.eye(4)[[0, 1, 0, 2]]  # embeddings by another model, say
    contents = ["a", "b", "a", "b"]
    assert group_duplicates(looks(1, 2, 1, 2**40 - 1), x, contents).tolist() == [0, 1, 0, 1]


def test_many_photos_with_one_look_are_compared_in_blocks(monkeypatch):
    monkeypatch.setattr(duplicates, "PAIRS", 7)
    monkeypatch.setattr(duplicates, "CANDIDATES", 11)
    generator = np.random.default_rng(1)
    base = np.uint64(2**50 + 12345)
    values = looks(*[base] * 40, *(flipped(base, 3, generator) for _ in range(40)))
    assert set(group_duplicates(values, ALIKE[:80])) == {0}
    x = ALIKE[:80].clone()
    x[10:20] *= -1  # which look the same, but show something else
    groups = group_duplicates(values, x)
    assert set(groups[10:20]) == {10}
    assert {*groups[:10], *groups[20:]} == {0}
