"""A dozen pictures, so that training Pocket takes seconds."""

import pytest
import torch

from tests.conftest import COLOURS, SHAPES, draw
from vsdemo.core.caption_set import CaptionSet
from vsdemo.recipes.pocket import photos, teacher, train

SETS = {"flickr8k": 4, "photos_unlabelled": 2, "storybook": 6}
DESCRIBED = (0, 1, 2, 3, 6, 7, 8, 9, 10, 11)
COMPONENTS = 6


@pytest.fixture
def few_photos(tmp_path, monkeypatch):
    """A dozen pictures take the place of all photos, and random maps that of the teacher's."""
    names = [(s, c) for s in SHAPES for c in COLOURS][: sum(SETS.values())]
    paths = []
    for i, (shape, colour) in enumerate(names):
        paths.append(tmp_path / f"{i}.png")
        draw(shape, colour, "white").save(paths[-1])
    captions = tuple(f"a {names[i][1]} {names[i][0]} to the left" for i in DESCRIBED)
    found = photos.Photos(tuple(paths), captions, DESCRIBED, SETS)
    seeded = torch.Generator().manual_seed(0)
    maps = torch.randn(len(paths), COMPONENTS, 10, 10, generator=seeded).half()
    deviation = torch.linspace(2, 1, COMPONENTS)
    monkeypatch.setattr(photos, "training", lambda: found)
    monkeypatch.setattr(teacher, "look", lambda pictures, folder: (maps, {}))
    monkeypatch.setattr(teacher, "relevant", lambda maps, basis: (maps, deviation))
    dev = CaptionSet("few", "dev", found.paths, captions, DESCRIBED)
    monkeypatch.setattr(train.data, "load", lambda name, split: dev)
    return found
