"""A dozen pictures, so that training Pocket takes seconds."""

import pytest
import torch

from tests.conftest import COLOURS, SHAPES, draw
from vsdemo.core.caption_set import CaptionSet
from vsdemo.recipes.pocket import photos, teacher, train

COUNTS = {"flickr8k": 4, "photos_unlabelled": 2, "storybook": 6}
DESCRIBED = (0, 1, 2, 3, 6, 7, 8, 9, 10, 11)
COMPONENTS = 6


@pytest.fixture(scope="module")
def few_photos(tmp_path_factory):
    """Replace all photos by a dozen pictures, and the teacher's maps by random ones."""
    names = [(s, c) for s in SHAPES for c in COLOURS][: sum(COUNTS.values())]
    folder, paths = tmp_path_factory.mktemp("photos"), []
    for i, (shape, colour) in enumerate(names):
        paths.append(folder / f"{i}.png")
        draw(shape, colour, "white").save(paths[-1])
    captions = tuple(f"a {names[i][1]} {names[i][0]} to the left" for i in DESCRIBED)
    few = photos.PocketPhotos(tuple(paths), captions, DESCRIBED, COUNTS)
    generator = torch.Generator().manual_seed(0)
    maps = torch.randn(len(paths), COMPONENTS, 10, 10, generator=generator).half()
    deviation = torch.linspace(2, 1, COMPONENTS)
    dev = CaptionSet("few", "dev", few.paths, captions, DESCRIBED)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(photos, "load", lambda: few)
        patch.setattr(teacher, "check_reader", lambda: None)
        patch.setattr(teacher, "cached_maps", lambda pixels, folder: (maps, {}))
        patch.setattr(teacher, "project", lambda maps, basis: (maps, deviation))
        patch.setattr(train.datasets, "load", lambda name, split: dev)
        yield few
