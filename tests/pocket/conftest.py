"""A dozen pictures, so that training Pocket takes seconds."""

import pytest
import torch

from tests.conftest import COLOURS, SHAPES, draw
from vsdemo.pocket import photos, teacher, train

COUNT = 12
COMPONENTS = 6


@pytest.fixture
def few_photos(tmp_path, monkeypatch):
    """Eight pictures with a caption each and four without take the place of all photos, and
    random maps that of the teacher's."""
    names = [(s, c) for s in SHAPES for c in COLOURS][:COUNT]
    paths = []
    for i, (shape, colour) in enumerate(names):
        paths.append(tmp_path / f"{i}.png")
        draw(shape, colour, "white").save(paths[-1])
    sets = {"storybook": 8, "photos_unlabelled": 4}
    captions = tuple(f"a {colour} {shape} to the left" for shape, colour in names[:8])
    found = photos.Photos(tuple(paths), captions, tuple(range(8)), sets)
    maps = torch.randn(COUNT, COMPONENTS, 10, 10, generator=torch.Generator().manual_seed(0)).half()
    basis = {"deviation": torch.linspace(2, 1, COMPONENTS)}
    monkeypatch.setattr(photos, "training", lambda: found)
    monkeypatch.setattr(teacher, "look", lambda pictures, folder: (maps, basis))
    monkeypatch.setattr(train.Trainer, "evaluate", lambda self: {"flickr8k": 9.0, "storybook": 9.0})
    return found
