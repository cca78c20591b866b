"""Exact search compared with a loop over all items."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from vsdemo.core.embeddings import Embeddings
from vsdemo.core.hits import BarScale
from vsdemo.models.scores import SCORES
from vsdemo.search.index import Index, best_of


def random_embeddings(count: int, seed: int, dim: int = 5) -> Embeddings:
    """Return embeddings with few different values, so that ties are common."""
    values = torch.randint(0, 3, (count, dim), generator=torch.Generator().manual_seed(seed))
    return Embeddings(values.float() + 0.5)


def by_hand(scores: list[float], k: int) -> list[tuple[int, float]]:
    """Return (number, score) of the k highest scores; the earlier of equal ones is first."""
    return sorted(enumerate(scores), key=lambda item: (-item[1], item[0]))[:k]


def score_of(score, general: torch.Tensor, specific: torch.Tensor) -> float:
    return score.pairs(Embeddings(general[None]), Embeddings(specific[None])).item()


@pytest.mark.parametrize("name", SCORES)
@given(seed=st.integers(0, 99), count=st.integers(1, 30), k=st.integers(1, 40))
def test_top_specific_and_top_general_equal_a_loop_over_all_items(name, seed, count, k):
    score, stored, query = (
        SCORES[name],
        random_embeddings(count, seed),
        random_embeddings(1, seed + 100),
    )
    stored_index = Index(stored, [f"item {i}" for i in range(count)], score)
    expected_hits = {
        "top_specific": by_hand([score_of(score, query.x[0], x) for x in stored.x], count),
        "top_general": by_hand([score_of(score, x, query.x[0]) for x in stored.x], count),
    }
    for way, expected in expected_hits.items():
        hits = getattr(stored_index, way)(query, k)
        assert [h.rank for h in hits] == list(range(1, min(k, count) + 1))
        assert [h.item for h in hits] == [f"item {h.number}" for h in hits]
        hit_scores = [h.score for h in hits]
        exact = [s for _, s in expected[: len(hits)]]
        assert hit_scores == pytest.approx(exact, abs=1e-5)
        if name not in ("cosine", "hub_corrected"):  # the others are exact: ties are equal
            assert [h.number for h in hits] == [n for n, _ in expected[:k]]
        scores = dict(expected)
        assert hit_scores == pytest.approx([scores[h.number] for h in hits], abs=1e-5)
        unit_scores = [h.unit_score for h in hits]
        assert unit_scores == sorted(unit_scores, reverse=True)
        assert all(0 <= score <= 1 for score in unit_scores)


@given(st.lists(st.sampled_from([0.0, 1.0, 2.0, -math.inf, math.inf, math.nan]), max_size=30))
def test_the_best_are_those_of_a_stable_sort(scores):
    known = [-math.inf if math.isnan(score) else score for score in scores]
    expected = sorted(range(len(scores)), key=lambda number: -known[number])
    for k in (1, 3, len(scores), 40):
        assert best_of(torch.tensor(scores), k).tolist() == expected[:k]


def test_hits_have_the_scale_of_their_index():
    scale = BarScale(0.1, 0.4)
    index = Index(random_embeddings(3, seed=0), ["a", "b", "c"], SCORES["cosine"], scale)
    query = random_embeddings(1, seed=1)
    assert {h.scale for h in index.top_specific(query, 3)} == {scale}
    assert {h.scale for h in index.top_general(query, 3)} == {scale}
    assert {h.scale for h in index.top_similar(query, 3)} == {index.similarity_scale}


@pytest.mark.parametrize("name", ["cosine", "order"])
def test_similarities_run_from_different_items_to_an_item_itself(name):
    score = SCORES[name]
    stored = Embeddings(F.normalize(random_embeddings(30, seed=1).x.abs(), dim=-1))
    scale = Index(stored, [str(i) for i in range(30)], score).similarity_scale
    unit = score.to_unit(score.symmetric(stored, stored))
    others = unit[~torch.eye(30, dtype=torch.bool)]
    assert (others < scale.empty).float().mean() == pytest.approx(0.9, abs=0.01)
    assert scale.full == pytest.approx(1, abs=1e-6)


def test_items_that_are_all_alike_have_no_scale():
    for count in (1, 4):
        stored = Embeddings(torch.ones(count, 4) / 2)
        index = Index(stored, ["x"] * count, SCORES["order"])
        assert index.similarity_scale is None
        assert index.top_similar(stored[:1], 1)[0].scale is None


@pytest.mark.parametrize("name", [name for name in SCORES if name != "hub_corrected"])
def test_top_similar_ranks_by_the_mean_of_both_directions(name):
    score, stored = SCORES[name], random_embeddings(12, seed=1)
    index = Index(stored, [str(i) for i in range(12)], score)
    query = stored.x[4]
    means = [(score_of(score, query, x) + score_of(score, x, query)) / 2 for x in stored.x]
    hits = index.top_similar(Embeddings(query[None]), 12)
    assert sorted(h.number for h in hits) == list(range(12))
    assert [h.score for h in hits] == pytest.approx([means[h.number] for h in hits], abs=1e-5)
    assert [h.score for h in hits] == pytest.approx(sorted(means, reverse=True), abs=1e-5)
    others = index.top_similar(Embeddings(query[None]), 12, exclude=4)
    assert [h.number for h in others] == [h.number for h in hits if h.number != 4]


def test_hubs_do_not_matter_between_items_of_one_kind():
    stored = random_embeddings(12, seed=1)
    index = Index(stored, [str(i) for i in range(12)], SCORES["hub_corrected"])
    hits = index.top_similar(Embeddings(stored.x[4:5]), 12)
    vectors = stored.x[:, :-1]
    cosines = torch.nn.functional.cosine_similarity(vectors, vectors[4:5]).tolist()
    assert sorted(h.number for h in hits) == list(range(12))
    assert [h.score for h in hits] == pytest.approx([cosines[h.number] for h in hits], abs=1e-5)
    assert [h.score for h in hits] == pytest.approx(sorted(cosines, reverse=True), abs=1e-5)


@pytest.mark.parametrize("name", SCORES)
def test_ties_keep_the_order_of_the_items(name):
    index = Index(Embeddings(torch.ones(300, 4)), [str(i) for i in range(300)], SCORES[name])
    query = Embeddings(torch.ones(1, 4))
    for hits in (
        index.top_specific(query, 300),
        index.top_general(query, 300),
        index.top_similar(query, 300),
    ):
        assert [h.number for h in hits] == list(range(300))


def test_k_may_exceed_the_number_of_items():
    index = Index(random_embeddings(3, seed=0), ["a", "b", "c"], SCORES["cosine"])
    assert len(index) == 3
    assert len(index.top_specific(random_embeddings(1, seed=1), 1000)) == 3
    assert len(index.top_similar(random_embeddings(1, seed=1), 1000, exclude=0)) == 2
    single = Index(random_embeddings(1, seed=0), ["a"], SCORES["cosine"])
    assert single.top_similar(random_embeddings(1, seed=1), 5, exclude=0) == []


def test_save_and_load_are_inverse(tmp_path):
    index = Index(random_embeddings(4, seed=0), ["a", 'b "quoted"', "c\nd", "é犬"], SCORES["order"])
    index.save(tmp_path / "new" / "index.safetensors")
    again = Index.load(tmp_path / "new" / "index.safetensors", SCORES["order"])
    assert again.items == index.items
    assert torch.equal(again.embeddings.x, index.embeddings.x)
    query = random_embeddings(1, seed=5)
    assert again.top_specific(query, 4) == index.top_specific(query, 4)


@pytest.mark.parametrize("content", [None, b"", b"<html>" * 30])
def test_load_returns_none_for_a_missing_or_damaged_file(tmp_path, content):
    if content is not None:
        (tmp_path / "index").write_bytes(content)
    assert Index.load(tmp_path / "index", SCORES["order"]) is None
