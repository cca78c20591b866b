"""Small hierarchies: built by hand, or random for hypothesis; violations by plain loops."""

import torch
from hypothesis import strategies as st

from vsdemo.hierarchy.order import CAPTION, CONCEPT, PHOTO, ROOT, Hierarchy, Item
from vsdemo.models.limits import Limits
from vsdemo.models.scores import SCORES

ORDER = SCORES["order"]
DIM = 4
QUARTERS = st.integers(0, 4).map(lambda n: n / 4)  # exact in any order of summation
INFINITY = float("inf")


def hierarchy_of(rows, limit=INFINITY, order=ORDER) -> Hierarchy:
    """Build a hierarchy from rows of (kind, text, embedding)."""
    items = [Item(kind, text) for kind, text, _ in rows]
    x = torch.tensor([embedding for _, _, embedding in rows], dtype=torch.float)
    return Hierarchy(items, x, order, Limits(limit, limit))


@st.composite
def hierarchies(draw, unit_length=False, limits=(INFINITY,)):
    """A root at the origin and 2 to 12 other items, of which the last is a photo."""
    kinds = draw(st.lists(st.sampled_from([CONCEPT, CAPTION, PHOTO]), min_size=1, max_size=11))
    rows = [(ROOT, "anything", (0.0,) * (DIM + 1))]
    for kind in (*kinds, PHOTO):
        x = torch.tensor([1.0, *draw(st.lists(QUARTERS, min_size=DIM, max_size=DIM))])
        x = x / x.norm() if unit_length else x
        rows.append((kind, "x", tuple(x.tolist())))
    return hierarchy_of(rows, limit=draw(st.sampled_from(limits)))


LIMITS = (0.1, 0.5, INFINITY)
ANY_HIERARCHY = st.one_of(hierarchies(limits=LIMITS), hierarchies(unit_length=True, limits=LIMITS))


def violation(x, y) -> float:
    """Return E(x, y), where x is the general embedding."""
    return sum(max(0.0, a - b) ** 2 for a, b in zip(x.tolist(), y.tolist(), strict=True))


def texts(hierarchy, steps) -> list[str]:
    return [hierarchy.items[step.number].text for step in steps]
