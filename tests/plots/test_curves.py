import csv
import io
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vsdemo.plots.curves import LARGEST, MAX_CACHED, PANELS, POINTS, _cache, csv_text, curves
from vsdemo.plots.region_marks import COLOURS

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=3)
    | st.just(10**400),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)
KEYS = ("step", "time", "loss", "learning_rate", "pairs_per_second", "rsum", "accuracy")
RECALLED = st.fixed_dictionaries({}, optional=dict.fromkeys(("r1", "r5", "r10"), VALUES))
EVENTS = st.fixed_dictionaries(
    {},
    optional={
        "kind": st.sampled_from(["start", "step", "eval", "checkpoint", "done", "new"]) | VALUES,
        **dict.fromkeys(KEYS, st.integers(0, 10**6) | VALUES),
        "i2t": RECALLED | VALUES,
        "t2i": RECALLED | VALUES,
        "text": VALUES,
    },
)
LOSSES = st.lists(st.floats(-1e6, 1e6) | st.just(math.nan), min_size=0, max_size=2500)


@pytest.fixture(autouse=True)
def nothing_cache():
    _cache.clear()


def step(number, loss=1.0, **values):
    common = {"kind": "step", "step": number, "time": 1.5, "loss": loss}
    return {**common, "learning_rate": 0.001, "pairs_per_second": 2000, **values}


def evaluated(number, **values):
    return {"kind": "eval", "step": number, "time": 1.0, "epoch": 1, "split": "dev", **values}


def retrieved(number, r1=40.0):
    ways = {
        "i2t": {"r1": r1, "r5": 60.0, "r10": 80.0},
        "t2i": {"r1": 20.0, "r5": 30.0, "r10": 40.0},
    }
    return evaluated(number, **ways, rsum=r1 + 230)


def curves_of(events):
    (run,) = curves({"run": events})["runs"]
    return run


def test_the_panels_of_a_run():
    events = [{"kind": "start", "step": 0, "config": {"loss": "ranking"}}]
    events += [
        step(1, 9.0),
        step(10, 4.0, learning_rate=0.0005),
        retrieved(10),
        retrieved(20, 50.0),
    ]
    first, second = curves({"a": events, "b": []})["runs"]
    assert first == {
        "name": "a",
        "colour": COLOURS[0],
        "dash": "solid",
        "loss": {"loss": {"x": [1, 10], "y": [9.0, 4.0]}},
        "learning_rate": {"learning_rate": {"x": [1, 10], "y": [0.001, 0.0005]}},
        "throughput": {"pairs_per_second": {"x": [1, 10], "y": [2000.0, 2000.0]}},
        "dev": {
            "rsum": {"x": [10, 20], "y": [270.0, 280.0]},
            "R@1": {"x": [10, 20], "y": [30.0, 35.0]},
            "R@5": {"x": [10, 20], "y": [45.0, 45.0]},
            "R@10": {"x": [10, 20], "y": [60.0, 60.0]},
        },
    }
    assert second == {
        "name": "b",
        "colour": COLOURS[1],
        "dash": "9px,4px",
        **{panel: {} for panel in (*PANELS, "dev")},
    }


def test_dev_begins_with_the_selection_metric():
    assert list(curves_of([evaluated(1, accuracy=90.0, yes=80.0)])["dev"]) == ["accuracy"]
    chosen = {"kind": "checkpoint", "step": 1, "time": 1.0, "pearson": 0.5}
    assert list(curves_of([evaluated(1, pearson=0.5, other=1.0), chosen])["dev"]) == ["pearson"]
    assert list(curves_of([retrieved(1)])["dev"]) == ["rsum", "R@1", "R@5", "R@10"]
    assert curves_of([evaluated(1, accuracy="high"), chosen])["dev"] == {}


def test_malformed_events_are_left_out():
    odd = [None, 3, "step", [], {}, {"kind": "step"}, {"kind": ["step"]}, step("1"), step(None)]
    odd += [step(-3), step(2**60), step(math.nan), step(math.inf), evaluated(1, i2t=3, t2i={})]
    odd += [{"kind": "shape", "step": 4, "loss": 1.0}, evaluated("x", rsum=3.0)]
    run = curves_of([step(1), *odd, step(2, None), step(3, "low"), step(4, 10**400), step(5, 0.5)])
    assert run["loss"]["loss"] == {"x": [1, 5], "y": [1.0, 0.5]}
    assert run["throughput"]["pairs_per_second"]["x"] == [1, 2, 3, 4, 5]
    assert run["dev"] == {}


@given(st.lists(EVENTS | VALUES, max_size=30), st.lists(EVENTS, max_size=30))
def test_curves_of_any_events_are_json(events, more):
    result = curves({"a": events, "b": more})
    assert result == curves({"a": [*events], "b": more})
    json.dumps(result, allow_nan=False)
    for run in result["runs"]:
        for line in (line for panel in (*PANELS, "dev") for line in run[panel].values()):
            assert 0 < len(line["x"]) == len(line["y"]) <= POINTS
            assert line["x"] == sorted(line["x"])
    list(csv.DictReader(io.StringIO(csv_text(events))))


@settings(max_examples=30)
@given(LOSSES)
def test_bucket_means_equal_a_plain_loop(losses):
    run = curves_of([step(10 * i, loss) for i, loss in enumerate(losses)])
    points = [(10 * i, loss) for i, loss in enumerate(losses) if not math.isnan(loss)]
    size = 1
    if len(points) > POINTS:
        while math.ceil((len(points) - 2) / size) > POINTS - 2:
            size *= 2
    middle = [points[i : min(i + size, len(points) - 1)] for i in range(1, len(points) - 1, size)]
    expected = [[sum(part) / len(part) for part in zip(*m, strict=True)] for m in middle]
    expected = [*points[:1], *expected, *points[1:][-1:]]
    line = run["loss"].get("loss", {"x": [], "y": []})
    assert len(line["x"]) == len(expected) <= POINTS
    np.testing.assert_allclose(line["x"], [x for x, _ in expected], atol=0.51)
    np.testing.assert_allclose(line["y"], [y for _, y in expected], rtol=1e-4, atol=1e-6)


@settings(max_examples=30)
@given(st.lists(EVENTS, max_size=20), st.lists(EVENTS, max_size=20), st.booleans())
def test_what_was_cache_changes_nothing(before, after, same):
    curves({"run": before})
    events = [*before, *after] if same else [*after, *before]
    again = curves_of(events)
    _cache.clear()
    assert again == curves_of(events)


def test_buckets_stay_while_a_run_grows():
    rng = np.random.default_rng(0)
    events = [step(i, float(v)) for i, v in enumerate(rng.normal(size=1590))]
    short, long = curves_of(events[:1500])["loss"]["loss"], curves_of(events)["loss"]["loss"]
    assert long["y"][:370] == short["y"][:370]
    assert len(long["y"]) > len(short["y"])


def test_few_runs_are_cached_and_huge_numbers_left_out():
    for number in range(2 * MAX_CACHED):
        result = curves({f"run {number}": [step(1, LARGEST * 2), step(2)]})
    assert len(_cache) == MAX_CACHED
    assert result["runs"][0]["loss"]["loss"]["x"] == [2]


def test_a_long_run_keeps_its_first_and_last_step():
    events = [step(i + 1, 1 / (i + 1)) for i in range(10_000)]
    line = curves_of(events)["loss"]["loss"]
    assert (line["x"][0], line["x"][-1]) == (1, 10_000)
    assert (line["y"][0], line["y"][-1]) == (1.0, 0.0001)
    assert len(line["x"]) <= POINTS


def test_csv_has_a_row_for_each_event_and_a_column_for_each_number():
    start = {
        "kind": "start",
        "step": 0,
        "time": 0.5,
        "config": {"seed": 3},
        "steps": 20,
        "sizes": [1],
    }
    text = csv_text(
        [start, step(1, 9.25), None, retrieved(10), {"kind": "error", "message": "a,b"}]
    )
    rows = list(csv.DictReader(io.StringIO(text)))
    names = ["kind", "step", "time", "steps", "loss", "learning_rate", "pairs_per_second", "epoch"]
    ways = [f"{way}.r{k}" for way in ("i2t", "t2i") for k in (1, 5, 10)]
    assert list(rows[0]) == [*names, *ways, "rsum"]
    assert [row["kind"] for row in rows] == ["start", "step", "eval", "error"]
    assert rows[0] == {**dict.fromkeys(rows[0], ""), "kind": "start", "step": "0"} | {
        "time": "0.5",
        "steps": "20",
    }
    assert float(rows[1]["loss"]) == 9.25
    assert float(rows[2]["i2t.r1"]) == 40.0
    assert csv_text([]).split() == ["kind,step,time"]


@given(st.lists(EVENTS, max_size=10))
def test_csv_can_be_read_back(events):
    rows = list(csv.DictReader(io.StringIO(csv_text(events))))
    assert len(rows) == len(events)
    for row, event in zip(rows, events, strict=True):
        loss = event.get("loss")
        if isinstance(loss, (int, float)) and not isinstance(loss, bool) and abs(loss) <= LARGEST:
            assert float(row["loss"]) == loss
