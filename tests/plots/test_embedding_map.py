import json
from html import unescape

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vsdemo.plots.embedding_map import (
    BUTTONS,
    LINE_LENGTH,
    MAX_ARROWS,
    MAX_LABELS,
    SCRIPT,
    Arrow,
    Figure,
    MapView,
    map_figure,
    map_overlay,
)

KINDS = ("root", "concept", "concept", "caption", "photo", "photo")
TEXTS = ("entity", "animal", "dog", "A <b>brown</b> dog & a ball .", "first.jpg", "second.jpg")


def view(**changes) -> MapView:
    random = np.random.default_rng(0)
    items = {
        "points": random.uniform(-1, 1, (6, 2)),
        "kinds": KINDS,
        "texts": TEXTS,
        "norms": np.array([0, 2, 1, 3, 5, 4.0]),
        "norm_title": "norm",
    }
    return MapView(**{**items, **changes})


def many(count: int, kind: str = "concept") -> MapView:
    points = np.stack([np.linspace(-1, 1, count), np.zeros(count)], 1)
    names = [f"name {n}" for n in range(count)]
    return MapView(points, [kind] * count, names, np.arange(count)[::-1], "norm")


def of_kind(figure: Figure, kind: str) -> Figure:
    (trace,) = [t for t in figure["data"] if t.get("meta", {}).get("kind") == kind]
    return trace


def test_every_item_is_there_once_where_it_is() -> None:
    map_view = view()
    figure = map_figure(map_view)
    seen = {}
    for trace in figure["data"]:
        for n, *place in zip(trace.get("customdata", ()), trace["x"], trace["y"], strict=False):
            assert trace["meta"]["kind"] == KINDS[n]
            assert n not in seen
            seen[n] = place
    assert sorted(seen) == list(range(6))
    for n, place in seen.items():
        assert place == pytest.approx(map_view.points[n].tolist(), abs=1e-4)


def test_plotly_knows_all_that_the_figure_says() -> None:
    arrows = [Arrow(1, 2, 0.25)]
    figure = map_figure(view(arrows=arrows, path=[0, 1, 2], chosen=3))
    go.Figure(figure["data"], figure["layout"])  # an unknown name or a bad value raises
    assert figure == json.loads(json.dumps(figure, allow_nan=False))


def test_kinds_differ_by_marker_and_can_be_hidden() -> None:
    figure = map_figure(view())
    own = [of_kind(figure, kind) for kind in set(KINDS)]
    assert len({t["marker"]["symbol"] for t in own}) == 4
    assert of_kind(figure, "root")["marker"]["symbol"] == "star"
    listed = {t["legendgroup"]: t for t in figure["data"] if t.get("showlegend", True)}
    for trace in own:
        entry = listed[trace["legendgroup"]]
        assert entry["marker"]["symbol"] == trace["marker"]["symbol"]
    assert set(listed) == set(KINDS)
    assert {t["marker"]["coloraxis"] for t in own} == {"coloraxis"}


def test_a_photo_has_its_number_in_the_gallery() -> None:
    trace = of_kind(map_figure(view()), "photo")
    assert (trace["customdata"], trace["meta"]["photos"]) == ([5, 4], [1, 0])
    trace = of_kind(map_figure(view(photos=[70, 80])), "photo")
    assert (trace["customdata"], trace["meta"]["photos"]) == ([5, 4], [80, 70])


def test_thousands_are_drawn_by_the_graphics_card() -> None:
    figure = map_figure(view())
    assert {of_kind(figure, k)["type"] for k in ("photo", "caption")} == {"scattergl"}


def test_only_the_most_general_concepts_have_names() -> None:
    trace = of_kind(map_figure(many(200)), "concept")
    named = [n for n, text in zip(trace["customdata"], trace["text"], strict=True) if text]
    assert named == list(range(199, 199 - MAX_LABELS, -1))


def test_what_strangers_wrote_has_no_tags() -> None:
    hover = of_kind(map_figure(view()), "caption")["hovertext"]
    assert hover == ["A &lt;b&gt;brown&lt;/b&gt; dog &amp; a ball .<br>norm 3.00"]


@given(st.text(max_size=900))
def test_any_text_is_wrapped_and_escaped(text: str) -> None:
    figure = map_figure(view(texts=[text] * 6, arrows=[Arrow(0, 1, 0.5)], path=[0, 3]))
    for trace in figure["data"]:
        for text in [*trace.get("hovertext", ()), *trace.get("text", ())]:
            lines = text.split("<br>")
            assert "<" not in "".join(lines)
            assert max(len(unescape(line)) for line in lines) <= LINE_LENGTH
            assert len(lines) <= 7


def test_an_arrow_goes_up_from_the_specific_item() -> None:
    map_view = view(arrows=[Arrow(general=1, specific=2, violation=0.125)])
    line, dots, _ = map_overlay(map_view)["over"]
    (x0, y0), (x1, y1) = map_view.points[2], map_view.points[1]
    assert line["x"] == [pytest.approx(x0, abs=1e-4), pytest.approx(x1, abs=1e-4), None]
    assert line["marker"]["size"][0] == 0 < line["marker"]["size"][1]
    assert dots["y"] == [pytest.approx((y0 + y1) / 2, abs=1e-3)]
    assert dots["hovertext"] == ["animal<br>is above dog<br>order violation 0.125"]


def test_of_many_arrows_the_surest_are_drawn() -> None:
    arrows = [Arrow(0, 1, float(v)) for v in range(MAX_ARROWS + 50, 0, -1)]
    _, dots, _ = map_overlay(view(arrows=arrows))["over"]
    violations = {text.rsplit(" ", 1)[1] for text in dots["hovertext"]}
    assert violations == {f"{v}.000" for v in range(1, MAX_ARROWS + 1)}


def test_path_and_ring_are_where_their_items_are() -> None:
    map_view = view(path=[0, 1, 3], chosen=4)
    over = map_overlay(map_view)
    path, (ring,) = over["over"][-1], over["shapes"]
    assert path["x"] == pytest.approx(map_view.points[[0, 1, 3], 0].tolist(), abs=1e-4)
    assert (ring["xanchor"], ring["yanchor"]) == tuple(map_view.points[4])
    assert map_overlay(view())["shapes"] == []


def test_a_choice_changes_the_overlay_only() -> None:
    before, after = map_figure(view()), map_figure(view(path=[0, 1], chosen=1))
    own = [[t for t in f["data"] if "over" not in t.get("meta", {})] for f in (before, after)]
    assert own[0] == own[1]
    assert {k: v for k, v in before["layout"].items() if k != "shapes"} == {
        k: v for k, v in after["layout"].items() if k != "shapes"
    }
    assert [t for t in after["data"] if t.get("meta", {}).get("over")] == map_overlay(
        view(path=[0, 1], chosen=1)
    )["over"]


def test_zoom_stays_for_the_same_points_only() -> None:
    key = map_figure(view())["layout"]["uirevision"]
    assert key == map_figure(view(chosen=2))["layout"]["uirevision"]
    assert key != map_figure(view(points=np.zeros((6, 2))))["layout"]["uirevision"]


def test_all_points_lie_within_the_axes() -> None:
    for points in (view().points * 7 + 3, np.zeros((6, 2))):
        layout = map_figure(view(points=points))["layout"]
        for axis, values in (("xaxis", points[:, 0]), ("yaxis", points[:, 1])):
            low, high = layout[axis]["range"]
            assert low < values.min()
            assert values.max() < high


def test_no_items() -> None:
    empty = MapView(np.zeros((0, 2)), [], [], np.zeros(0), "norm")
    figure = map_figure(empty)
    assert [t for t in figure["data"] if t.get("customdata")] == []
    go.Figure(figure["data"], figure["layout"])


@pytest.mark.parametrize(
    "changes",
    [
        {"points": np.zeros((5, 2))},
        {"texts": TEXTS[1:]},
        {"norms": np.zeros(7)},
        {"norms": np.full(6, np.nan)},
        {"points": np.full((6, 2), np.inf)},
        {"photos": [1]},
    ],
)
def test_what_does_not_fit_together_is_refused(changes) -> None:
    with pytest.raises(ValueError, match=r"points|photos"):
        view(**changes)


def test_plotlys_script_is_there_and_nothing_is_sent_to_its_maker() -> None:
    assert SCRIPT.stat().st_size > 1_000_000
    config = map_figure(view())["config"]
    assert config["plotlyServerURL"] == ""
    assert config["modeBarButtons"] == BUTTONS
    assert {name for group in BUTTONS for name in group} <= {
        *("pan2d", "lasso2d", "select2d", "zoomIn2d", "zoomOut2d", "resetScale2d", "toImage")
    }
