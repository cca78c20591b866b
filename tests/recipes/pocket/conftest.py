"""A dozen pictures, so that training Pocket takes seconds."""

import pytest
import torch

from tests.conftest import COLOURS, SHAPES, draw
from vsdemo.core.caption_set import CaptionSet
from vsdemo.recipes.pocket import photos, teacher, train
from vsdemo.recipes.pocket.teacher import Teacher
from vsdemo.vision.backbones.pocket import FEATURES, Pocket

COUNTS = {"flickr8k": 4, "photos_unlabelled": 2, "storybook": 6}
DESCRIBED = (0, 1, 2, 3, 6, 7, 8, 9, 10, 11)
COMPONENTS = 6


class Colours:
    """A teacher that sees mean colours; the number of its crops is counted."""

    mean = torch.zeros(3, 1, 1)
    seen = 0

    def __call__(self, pixels):
        Colours.seen += len(pixels)
        return None, torch.nn.functional.avg_pool2d(pixels, 32) / 255


def directions(maps):
    draw = torch.Generator().manual_seed(0)
    own = torch.randn(3, COMPONENTS, generator=draw)
    cells = torch.einsum("nchw,ck->nkhw", maps - maps.mean((0, 2, 3))[:, None, None], own)
    deviations = torch.stack([cells.transpose(0, 1).flatten(1).std(1), cells.mean((2, 3)).std(0)])
    return {"mean": maps.mean((0, 2, 3)), "directions": own, "deviations": deviations}


def random_start(teacher, crops):
    """Return random first weights, as `Colours` cannot be pruned."""
    torch.manual_seed(0)
    parts = Pocket(), torch.nn.Conv2d(FEATURES, COMPONENTS, 1)
    return tuple(part.state_dict() for part in parts)


@pytest.fixture(scope="module")
def few_photos(tmp_path_factory):
    """Replace all photos by a dozen pictures, and the teacher by random directions of pixels."""
    names = [(s, c) for s in SHAPES for c in COLOURS][: sum(COUNTS.values())]
    folder, paths = tmp_path_factory.mktemp("photos"), []
    for i, (shape, colour) in enumerate(names):
        paths.append(folder / f"{i}.png")
        draw(shape, colour, "white").save(paths[-1])
    captions = tuple(f"a {names[i][1]} {names[i][0]} to the left" for i in DESCRIBED)
    few = photos.PocketPhotos(tuple(paths), captions, DESCRIBED, COUNTS)
    dev = CaptionSet("few", "dev", few.paths, captions, DESCRIBED)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(photos, "load", lambda: few)
        patch.setattr(teacher, "check_files", lambda: None)
        patch.setattr(teacher, "find_weights", lambda name: name)
        patch.setattr(teacher, "load_backbone", lambda weights: Colours())
        patch.setattr(teacher, "directions", directions)
        patch.setattr(Teacher, "prune", random_start)
        patch.setattr(train.datasets, "load", lambda name, split: dev)
        yield few
