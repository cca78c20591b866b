"""Hierarchies that ship with a checkpoint."""

import shutil

import numpy as np
import pytest
import torch

from vsdemo.core.errors import UserError
from vsdemo.data import datasets, relations
from vsdemo.data.storybook.concepts import concept_phrases
from vsdemo.hierarchy import projection
from vsdemo.hierarchy.order import CAPTION, PHOTO
from vsdemo.models import checkpoint
from vsdemo.search import stored_hierarchies
from vsdemo.search.engine import Engine, Reader
from vsdemo.search.hierarchies import from_gallery


@pytest.fixture
def stored(toy_order, tmp_path, monkeypatch):
    """A copy of a checkpoint with its hierarchy."""
    monkeypatch.setattr(projection, "MIN_FOR_UMAP", 10_000)
    model, spec, vocab = checkpoint.load(toy_order)
    checkpoint.save(tmp_path / "copy", spec, vocab, model.state_dict())
    stored_hierarchies.write(tmp_path / "copy")
    return tmp_path / "copy"


def read(folder):
    return stored_hierarchies.read(Reader(folder), folder, "toy", "test")


def test_a_stored_hierarchy_is_that_of_the_gallery(stored):
    expected, result = from_gallery(Engine(stored, split="test")), read(stored)
    assert result.hierarchy.items == expected.items
    torch.testing.assert_close(result.hierarchy.x, expected.x, atol=1 / 255, rtol=0)
    texts = ~expected.of_kind[PHOTO]
    torch.testing.assert_close(result.hierarchy.x[texts], expected.x[texts])
    assert result.points.shape == (len(expected), 2)


def test_captions_of_a_data_set_are_not_stored(stored):
    content = stored_hierarchies.file(stored, "toy", "test").read_bytes()
    assert b"circle" not in content


def test_what_is_true_is_stored_where_all_facts_are_known(toy_order, tmp_path, monkeypatch):
    class Facts:
        def __init__(self, split):
            self.texts = [*concept_phrases(), *split.captions]

        def among_texts(self, general, specific):
            return (general[:, None] < specific).astype(np.int8)

        def above_photos(self, texts, photos):
            return ((texts[:, None] + photos) % 2).astype(np.int8)

    monkeypatch.setattr(projection, "MIN_FOR_UMAP", 10_000)
    monkeypatch.setattr(relations, "EXACT", {"toy"})
    monkeypatch.setattr(relations, "load", Facts)
    folder = shutil.copytree(toy_order, tmp_path / "copy")
    stored_hierarchies.write(folder)
    monkeypatch.setattr(stored_hierarchies, "truth_of", lambda *_: pytest.fail("was stored"))
    hierarchy = read(folder).hierarchy
    first, second = [item.text for item in hierarchy.items if item.kind == CAPTION][:2]
    assert hierarchy.truth.follows(first, second) is True
    assert hierarchy.truth.follows(second, first) is False
    known = Facts(datasets.load("toy", "test"))
    row = np.array([known.texts.index(second)])
    for photo in range(3):
        expected = bool(known.above_photos(row, np.array([photo])))
        assert hierarchy.truth.describes(second, photo) is expected


@pytest.mark.parametrize("damage", ["missing", "cut off", "changed", "other weights"])
def test_a_file_that_does_not_fit_is_not_used(stored, damage):
    path = stored_hierarchies.file(stored, "toy", "test")
    if damage == "missing":
        path.unlink()
    elif damage == "cut off":
        path.write_bytes(path.read_bytes()[:100])
    elif damage == "changed":
        path.write_bytes(path.read_bytes()[:-1] + b"x")
    else:
        model, spec, vocab = checkpoint.load(stored)
        state = {name: tensor + 0.5 for name, tensor in model.state_dict().items()}
        checkpoint.save(stored, spec, vocab, state)
    assert read(stored) is None


def test_coordinates_must_fit(toy_order, monkeypatch):
    hierarchy = from_gallery(Engine(toy_order))
    hierarchy.x = 20 * hierarchy.x
    monkeypatch.setattr(stored_hierarchies, "from_gallery", lambda engine: hierarchy)
    with pytest.raises(UserError, match=r"not in 0\.\.1"):
        stored_hierarchies.write(toy_order)
