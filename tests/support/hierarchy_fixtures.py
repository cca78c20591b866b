"""Tiny models and their hierarchies."""

import pytest

from vsdemo.search.engine import Engine, Reader
from vsdemo.search.hierarchies import build_hierarchy


@pytest.fixture(scope="module")
def reader(toy_concepts):
    return Reader(toy_concepts)


@pytest.fixture(scope="module")
def engine(toy_order):
    return Engine(toy_order)


@pytest.fixture(scope="module")
def concepts(reader):
    return build_hierarchy(reader)


@pytest.fixture(scope="module")
def gallery(engine):
    return build_hierarchy(engine)
