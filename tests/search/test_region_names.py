"""Names of the regions of a map."""

import numpy as np
import pytest
import torch

from vsdemo.core.embeddings import Embeddings
from vsdemo.search import region_names
from vsdemo.search.index import Index
from vsdemo.search.region_names import candidates, name_regions

WORDS = {"dog": 1, "snow": 2, "beach": 3, "photo": 4}


class Directions:
    """A model whose words are directions of the space of the photos."""

    def __init__(self, x):
        self.photos = Index(Embeddings(x), [str(n) for n in range(len(x))], self.score)

    @staticmethod
    def score(general, specific):
        return general.x @ specific.x.T

    def index_texts(self, texts, progress=None):
        return Index(Embeddings(torch.eye(len(WORDS))[: len(texts)]), texts, self.score)


@pytest.fixture(autouse=True)
def words(request, monkeypatch):
    if "engine" not in request.fixturenames:
        monkeypatch.setattr(region_names, "candidates", lambda engine: WORDS)


def photos(region_of, regions, noise=0.1):
    """Return photos (N, D): those of a region show its word, and all show "photo"."""
    random = np.random.default_rng(0)
    x = noise * random.normal(size=(len(region_of), len(WORDS)))
    for region, word in regions.items():
        x[region_of == region, list(WORDS).index(word)] += 1
    x[:, list(WORDS).index("photo")] += 5
    return Directions(torch.tensor(x, dtype=torch.float32))


def test_a_region_has_the_word_that_fits_it_better_than_the_gallery():
    region_of = np.arange(120) % 3
    engine = photos(region_of, {0: "beach", 1: "dog", 2: "snow"})
    reported = []
    names = name_regions(engine, region_of, lambda *step: reported.append(step))
    assert names == ["beach", "dog", "snow"]
    assert reported[-1] == (len(WORDS), len(WORDS))


def test_no_name_is_given_twice_or_where_nothing_stands_out():
    region_of = np.arange(160) % 4
    names = name_regions(photos(region_of, {0: "dog", 1: "dog"}), region_of)
    assert names.count("dog") == 1
    assert names[2:] == ["", ""]
    assert name_regions(photos(region_of, {}), region_of) == ["", "", "", ""]


def test_one_region_of_everything_has_no_name():
    region_of = np.zeros(20, dtype=int)
    assert name_regions(photos(region_of, {0: "dog"}), region_of) == [""]


def test_a_small_region_needs_clearer_evidence():
    region_of = np.array([0] * 4 + [1] * 200)
    assert name_regions(photos(region_of, {0: "dog"}, noise=2.0), region_of)[0] == ""


def test_candidates_are_nouns_that_the_model_knows(engine):
    found = candidates(engine)
    known = set(engine.vocab.words)
    assert set(found) <= known
    assert min(found.values(), default=1) >= 1
