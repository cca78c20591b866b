import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from vsdemo.core.errors import UserError
from vsdemo.evaluation.metrics.ranks import best_ranks, chance, summary


def by_loops(scores: list[float], relevant: list[bool]) -> float:
    """Return 1 + the irrelevant items above the best relevant one; a tie counts half."""
    best = max(s for s, r in zip(scores, relevant, strict=True) if r)
    others = [s for s, r in zip(scores, relevant, strict=True) if not r]
    return 1 + sum(s > best for s in others) + sum(s == best for s in others) / 2


# Few different scores make ties frequent.
rows = st.lists(st.tuples(st.integers(0, 4).map(float), st.booleans()), min_size=1, max_size=9)


@given(rows.filter(lambda row: any(r for _, r in row)))
def test_best_ranks_equal_plain_loops(row):
    scores, relevant = map(list, zip(*row, strict=True))
    result = best_ranks(torch.tensor([scores]), torch.tensor([relevant]))
    assert result.tolist() == [by_loops(scores, relevant)]


@given(st.permutations(range(6)))
def test_ranks_do_not_depend_on_the_order_of_items(order):
    scores, relevant = torch.tensor([[3.0, 1, 2, 2, 0, 2]]), torch.tensor([[0, 0, 1, 0, 1, 0]]) > 0
    assert best_ranks(scores[:, order], relevant[:, order]).tolist() == [3.0]


def test_equal_scores_rank_at_chance():
    scores = torch.zeros(4, 9)
    relevant = torch.eye(4, 9).bool()
    assert best_ranks(scores, relevant).tolist() == [5.0] * 4


def test_scores_that_are_not_numbers_are_a_user_error():
    scores = torch.eye(3)
    scores[1, 1] = torch.nan
    with pytest.raises(UserError, match="are NaN"):
        best_ranks(scores, torch.eye(3).bool())


def test_summary_by_hand():
    result = summary(np.array([1.0, 1.5, 2, 5, 10, 11, 20, 30]))
    recalls = {"r1": 12.5, "r5": 50, "r10": 62.5, "r20": 87.5, "r50": 100}
    assert result == {**recalls, "medr": 7, "meanr": 10.0625}


def test_chance_is_what_random_orders_give():
    rng = np.random.default_rng(0)
    orders = rng.random((20_000, 60)).argsort(1)  # the first three items are right
    best = (orders < 3).argmax(1) + 1.0
    expected, drawn = chance(60, 3), summary(best)
    assert expected.keys() == drawn.keys()
    for name, value in expected.items():
        assert drawn[name] == pytest.approx(value, abs=1 if name == "medr" else 0.9)
    assert chance(100, 1)["meanr"] == 50.5
    assert chance(3, 3) == {"r1": 100, "medr": 1, "meanr": 1}
