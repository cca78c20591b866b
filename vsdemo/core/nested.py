"""Nested dicts of numbers, such as metrics and events: flatten, unflatten and combine them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def flatten(values: Mapping[str, Any], *, separator: str = ".") -> dict[str, float]:
    """Return the finite numbers of nested mappings by their joined keys.

    {"i2t": {"r1": 2.5}} becomes {"i2t.r1": 2.5}.
    Everything else is left out: booleans, text, lists, None, NaN and infinity. Whole numbers stay
    `int`.
    """
    result: dict[str, float] = {}
    for key, value in values.items():
        if isinstance(value, Mapping):
            inner = flatten(value, separator=separator)
            result |= {f"{key}{separator}{name}": number for name, number in inner.items()}
        elif is_finite(value):
            result[str(key)] = value
    return result


def is_finite(value: Any) -> bool:
    """Return whether a value is a number that a float can hold; a boolean is not a number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= sys.float_info.max  # false for NaN, and safe for integers of any size


def unflatten(values: Mapping[str, Any], *, separator: str = ".") -> dict[str, Any]:
    """Return {"i2t.r1": 2.5} as {"i2t": {"r1": 2.5}}."""
    result: dict[str, Any] = {}
    for name, value in values.items():
        *parents, last = name.split(separator)
        inner = result
        for parent in parents:
            inner = inner.setdefault(parent, {})
        inner[last] = value
    return result


def combine(results: Sequence[Any], function: Callable[[list[Any]], Any]) -> Any:
    """Return one nested dict from several with the same keys.

    Each leaf is `function` of the leaves with that key.
    """
    first = results[0]
    if isinstance(first, Mapping):
        return {key: combine([result[key] for result in results], function) for key in first}
    return function(list(results))
