"""Tiny models and their hierarchies."""

from tests.support.hierarchy_fixtures import (  # noqa: F401
    concepts,
    engine,
    gallery,
    reader,
)
