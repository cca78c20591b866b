"""The interval of a share equals scipy's."""

import pytest
from scipy.stats import binomtest

from vsdemo.evaluation.metrics.proportion import wilson


@pytest.mark.parametrize(("positive", "total"), [(0, 1), (1, 1), (3, 7), (50, 100), (999, 1000)])
def test_the_interval_equals_scipys(positive, total):
    interval = binomtest(positive, total).proportion_ci(0.95, method="wilson")
    assert wilson(positive, total) == pytest.approx((interval.low, interval.high), abs=1e-7)
