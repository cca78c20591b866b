import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from vsdemo.core.errors import UserError
from vsdemo.evaluation.metrics.ranks import best_ranks, summary


def by_loops(scores: list[float], relevant: list[bool]) -> float:
    """1 + the irrelevant items above the best relevant one, a tie counted half."""
    best = max(s for s, r in zip(scores, relevant, strict=True) if r)
    others = [s for s, r in zip(scores, relevant, strict=True) if not r]
    return 1 + sum(s > best for s in others) + sum(s == best for s in others) / 2


# Few different scores, so that ties are frequent.
rows = st.lists(st.tuples(st.integers(0, 4).map(float), st.booleans()), min_size=1, max_size=9)


@given(rows.filter(lambda row: any(r for _, r in row)))
def test_best_ranks_are_those_of_plain_loops(row):
    scores, relevant = map(list, zip(*row, strict=True))
    found = best_ranks(torch.tensor([scores]), torch.tensor([relevant]))
    assert found.tolist() == [by_loops(scores, relevant)]


@given(st.permutations(range(6)))
def test_the_order_of_items_does_not_matter(order):
    scores, relevant = torch.tensor([[3.0, 1, 2, 2, 0, 2]]), torch.tensor([[0, 0, 1, 0, 1, 0]]) > 0
    assert best_ranks(scores[:, order], relevant[:, order]).tolist() == [3.0]


def test_a_model_that_scores_everything_alike_ranks_at_chance():
    scores = torch.zeros(4, 9)
    relevant = torch.eye(4, 9).bool()
    assert best_ranks(scores, relevant).tolist() == [5.0] * 4


def test_scores_that_are_no_numbers_are_never_a_perfect_rank():
    scores = torch.eye(3)
    scores[1, 1] = torch.nan
    with pytest.raises(UserError, match="not numbers"):
        best_ranks(scores, torch.eye(3).bool())


def test_summary_by_hand():
    found = summary(np.array([1.0, 1.5, 2, 5, 10, 11, 20, 30]))
    recalls = {"r1": 12.5, "r5": 50, "r10": 62.5, "r20": 87.5, "r50": 100}
    assert found == {**recalls, "medr": 7, "meanr": 10.0625}
