"""Flattening, unflattening and combining nested numbers."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vsdemo.core.nested import combine, flatten, unflatten

NAMES = st.text("abc", min_size=1, max_size=2)
TREES = st.recursive(
    st.dictionaries(NAMES, st.floats(allow_nan=False, allow_infinity=False), min_size=1),
    lambda trees: st.dictionaries(NAMES, trees, min_size=1),
    max_leaves=8,
)


def test_flatten_joins_the_keys_of_inner_dicts():
    metrics = {"i2t": {"r1": 2.5, "best": {"r5": 4.0}}, "rsum": 7.5}
    assert flatten(metrics) == {"i2t.r1": 2.5, "i2t.best.r5": 4.0, "rsum": 7.5}


def test_flatten_uses_the_separator_on_every_level():
    metrics = {"STS12.MSRpar": {"pearson": {"r": 1.0}}}
    assert flatten(metrics, separator=" ") == {"STS12.MSRpar pearson r": 1.0}


def test_flatten_leaves_out_what_is_not_a_finite_number():
    values = {"yes": True, "no": None, "text": "3", "list": [1.0], "empty": {}}
    values |= {"nan": math.nan, "inf": math.inf, "minus": -math.inf, "huge": 10**400}
    assert flatten(values) == {}


def test_flatten_keeps_large_numbers_and_whole_numbers():
    result = flatten({"large": 1.7e308, "small": -1.7e308, "count": 3, "numpy": np.float64(0.5)})
    assert result == {"large": 1.7e308, "small": -1.7e308, "count": 3, "numpy": 0.5}
    assert isinstance(result["count"], int)


@given(TREES)
def test_unflatten_is_the_inverse_of_flatten(tree):
    assert unflatten(flatten(tree)) == tree


def test_unflatten_uses_the_separator():
    assert unflatten({"a.b c": 1, "d": 2}, separator=" ") == {"a.b": {"c": 1}, "d": 2}


def test_combine_applies_the_function_to_each_leaf():
    results = [{"a": 1.0, "b": {"c": 2.0}}, {"a": 3.0, "b": {"c": 6.0}}]
    assert combine(results, lambda values: sum(values) / 2) == {"a": 2.0, "b": {"c": 4.0}}


def test_combine_needs_the_same_keys():
    with pytest.raises(KeyError):
        combine([{"a": 1.0}, {"b": 1.0}], sum)
