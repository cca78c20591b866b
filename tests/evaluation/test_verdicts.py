"""Verdicts on claims by their intervals."""

import pytest

from vsdemo.evaluation.verdicts import joint_verdict, verdict


@pytest.mark.parametrize(
    ("interval", "expected"),
    [
        ((0.1, 3), "holds"),
        ((-3, -0.1), "does not hold"),
        ((0, 0), "does not hold"),
        ((-1, 0), "does not hold"),
        ((0, 1), "not shown"),
        ((-1, 1), "not shown"),
    ],
)
def test_verdict_depends_on_the_interval(interval, expected):
    assert verdict(interval) == expected


@pytest.mark.parametrize(
    ("intervals", "expected"),
    [
        ([(0.1, 3), (1, 2)], "holds"),
        ([(0.1, 3), (-1, 2)], "not shown"),
        ([(0.1, 3), (-2, -1)], "does not hold"),
        ([(-1, 1), (-2, 0)], "does not hold"),
    ],
)
def test_a_claim_about_several_figures_needs_them_all(intervals, expected):
    assert joint_verdict(intervals) == expected
