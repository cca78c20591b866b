"""Worlds to walk, made by hand and of any points; violations by plain loops."""

import torch
from hypothesis import strategies as st

from vsdemo.hierarchy.space import CAPTION, CONCEPT, PHOTO, ROOT, Item, World
from vsdemo.models.scores import SCORES

ORDER = SCORES["order"]
DIM = 4
QUARTERS = st.integers(0, 4).map(lambda n: n / 4)  # exact in any order of summation


def built(rows, **options) -> World:
    kinds, texts, points = zip(*rows, strict=True)
    items = [Item(kind, text) for kind, text in zip(kinds, texts, strict=True)]
    return World(items, torch.tensor(points, dtype=torch.float), ORDER, **options)


@st.composite
def worlds(draw, of_one_length=False, limits=(float("inf"),)):
    """A root at the origin and 2 to 12 other items, of which the last is a photo."""
    kinds = draw(st.lists(st.sampled_from([CONCEPT, CAPTION, PHOTO]), min_size=1, max_size=11))
    rows = [(ROOT, "anything", (0.0,) * (DIM + 1))]
    for kind in (*kinds, PHOTO):
        point = torch.tensor([1.0, *draw(st.lists(QUARTERS, min_size=DIM, max_size=DIM))])
        point = point / point.norm() if of_one_length else point
        rows.append((kind, "x", tuple(point.tolist())))
    return built(rows, limit=draw(st.sampled_from(limits)))


LIMITS = (0.1, 0.5, float("inf"))
ANY = st.one_of(worlds(limits=LIMITS), worlds(of_one_length=True, limits=LIMITS))


def violation(x, y) -> float:
    """E(x, y), x the general one."""
    return sum(max(0.0, a - b) ** 2 for a, b in zip(x.tolist(), y.tolist(), strict=True))


def names(world, steps) -> list[str]:
    return [world.items[step.number].text for step in steps]
