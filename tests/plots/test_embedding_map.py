"""The records that the map in the page draws."""

import json

import numpy as np
import pytest

from vsdemo.core.arrows import Arrow
from vsdemo.plots.embedding_map import KINDS, MAX_ARROWS, MapView, map_overlay, map_record

SIX = ("root", "concept", "concept", "caption", "photo", "photo")
TEXTS = ("entity", "animal", "dog", "A <b>brown</b> dog & a ball .", "first.jpg", "second.jpg")


def view(**changes) -> MapView:
    random = np.random.default_rng(0)
    items = {
        "points": random.uniform(-1, 1, (6, 2)),
        "kinds": SIX,
        "texts": TEXTS,
        "norms": np.array([0, 2, 1, 3, 5, 4.0]),
        "norm_title": "norm",
    }
    return MapView(**{**items, **changes})


def test_every_item_is_there_where_it_is() -> None:
    map_view = view()
    record = map_record(map_view)
    np.testing.assert_allclose(record["points"], map_view.points, atol=1e-4)
    assert [KINDS[kind] for kind in record["kinds"]] == list(SIX)
    assert record["texts"] == list(TEXTS)
    assert record["norms"] == [0, 2, 1, 3, 5, 4]
    json.dumps(record, allow_nan=False)


@pytest.mark.parametrize(("photos", "expected"), [(None, [0, 1]), ([7, 3], [7, 3])])
def test_photos_have_the_numbers_of_their_gallery(photos, expected) -> None:
    assert map_record(view(photos=photos))["photos"] == [None] * 4 + expected


def test_the_arrows_of_least_violation_are_drawn() -> None:
    arrows = [Arrow(0, 1 + n % 2, violation=float(n % 97)) for n in range(2 * MAX_ARROWS)]
    drawn = map_record(view(arrows=arrows))["arrows"]
    assert [arrow["violation"] for arrow in drawn] == sorted(a.violation for a in arrows)[
        :MAX_ARROWS
    ]


def test_an_overlay_is_a_part_of_the_record() -> None:
    record = map_record(view(path=[0, 1], chosen=1))
    assert map_overlay([0, 1], 1).items() <= record.items()


def test_the_key_tells_maps_apart() -> None:
    assert map_record(view())["key"] == map_record(view(path=[0], chosen=2))["key"]
    assert map_record(view())["key"] != map_record(view(points=np.zeros((6, 2))))["key"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"points": np.zeros((5, 2))}, "6 kinds, but"),
        ({"points": np.full((6, 2), np.nan)}, "must be finite"),
        ({"norms": np.full(6, np.inf)}, "must be finite"),
        ({"texts": TEXTS[:5]}, "6 kinds, but"),
        ({"photos": [1]}, "indices of photos"),
    ],
)
def test_wrong_views_are_refused(changes, message) -> None:
    with pytest.raises(ValueError, match=message):
        view(**changes)
