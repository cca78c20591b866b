"""Maps of embeddings as figures for plotly. The one home of plotly.

Colours are names of CSS variables, such as `var(--ink)`, which the page replaces. So a figure is
the same in the light and in the dark theme.
"""

from __future__ import annotations

import hashlib
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import plotly

from vsdemo.core.arrows import Arrow

SCRIPT = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
KINDS = {  # kind: name in the legend, marker, its size in pixels; later ones are drawn above
    "photo": ("Photos", "circle", 5),
    "caption": ("Captions", "square", 5),
    "concept": ("Concepts", "diamond", 10),
    "root": ("Root", "star", 18),
}
NUMEROUS = ("photo", "caption")  # thousands of points, drawn by the graphics card
LINE_LENGTH, MAX_LINES = 60, 6  # of a tooltip, in letters and lines
MAX_LABELS, LABEL_LENGTH = 40, 24  # names on the map, and letters of each
MAX_ARROWS = 300
RING = 11  # radius around the chosen point, in pixels
SCALE = [[0, "var(--map-general)"], [0.5, "var(--map-middle)"], [1, "var(--map-specific)"]]
BUTTONS = [  # plotly's defaults include one that uploads the figure
    ["pan2d", "lasso2d", "select2d"],
    ["zoomIn2d", "zoomOut2d", "resetScale2d"],
    ["toImage"],
]
Figure = dict[str, Any]


@dataclass(frozen=True)
class MapView:
    """N items on a map.

    Args:
        points: `(N, 2)`.
        kinds: N keys of KINDS.
        texts: N concepts, captions, or names of photos.
        norms: `(N,)`; general items have small ones.
        norm_title: What the norms are.
        arrows: Only the MAX_ARROWS of least violation are drawn.
        path: Indices of the items of a walk, in its order.
        chosen: Index of the item with a ring.
        photos: The index in its gallery of each item that is a photo; by default 0, 1, 2, ...

    Raises:
        ValueError: If lengths differ or a number is not finite.
    """

    points: np.ndarray
    kinds: Sequence[str]
    texts: Sequence[str]
    norms: np.ndarray
    norm_title: str
    arrows: Sequence[Arrow] = ()
    path: Sequence[int] = ()
    chosen: int | None = None
    photos: Sequence[int] | None = None

    def __post_init__(self) -> None:
        count = len(self.kinds)
        shapes = np.shape(self.points), np.shape(self.norms), len(self.texts)
        if shapes != ((count, 2), (count,), count):
            raise ValueError(f"{count} kinds, but points, norms and texts of {shapes}")
        if not (np.isfinite(self.points).all() and np.isfinite(self.norms).all()):
            raise ValueError("points and norms must be finite")
        if self.photos is not None and len(self.photos) != list(self.kinds).count("photo"):
            raise ValueError(f"{len(self.photos)} indices of photos")


def map_figure(view: MapView) -> Figure:
    """Return a figure as plotly reads it: data, layout and config.

    The customdata of a point is the index of its item. Zoom and pan stay while the points do.
    """
    kinds = [kind for kind in KINDS if kind in view.kinds]
    return {
        "data": [
            *(_items(view, kind) for kind in kinds),
            *(_legend_entry(kind) for kind in kinds),
            *map_overlay(view)["over"],
        ],
        "layout": _layout(view),
        "config": {
            "scrollZoom": True,
            "displaylogo": False,
            "responsive": False,
            "modeBarButtons": BUTTONS,
            "plotlyServerURL": "",  # nothing leaves the page
        },
    }


def map_overlay(view: MapView) -> Figure:
    """Return what a new choice changes in a figure: arrows, path and ring.

    It is a thousandth of the size of the figure.
    """
    traces = [*_arrows(view), _path(view)]
    return {"over": [{**trace, "meta": {"over": True}} for trace in traces], "shapes": _ring(view)}


def _items(view: MapView, kind: str) -> Figure:
    """Return the items of a kind, the most general first."""
    numbers = [n for n, k in enumerate(view.kinds) if k == kind]
    gallery = range(len(numbers)) if view.photos is None else view.photos
    photos = dict(zip(numbers, gallery, strict=True)) if kind == "photo" else {}
    numbers.sort(key=lambda n: float(view.norms[n]))
    name, symbol, size = KINDS[kind]
    numerous = kind in NUMEROUS
    marker: Figure = {
        "symbol": symbol,
        "size": size,
        "coloraxis": "coloraxis",
        "color": [round(float(view.norms[n]), 4) for n in numbers],
    }
    if numerous:
        marker["opacity"] = 0.75
    else:
        marker["line"] = _line("paper", 1)
    trace: Figure = {
        "type": "scattergl" if numerous else "scatter",
        "mode": "markers",
        "name": name,
        **_coordinates(view, numbers),
        "customdata": numbers,
        "hoverinfo": "text+name",
        "legendgroup": kind,
        "showlegend": False,
        "hovertext": [_tooltip(view.texts[n], view.norm_title, view.norms[n]) for n in numbers],
        "marker": marker,
        "meta": {"kind": kind},
    }
    if kind == "photo":
        trace["meta"]["photos"] = [int(photos[n]) for n in numbers]
    if not numerous:
        labels = [_label(view.texts[n]) for n in numbers[:MAX_LABELS]]
        trace["mode"] = "markers+text"
        trace["textposition"] = "top center"
        trace["zorder"] = 3
        trace["text"] = labels + [""] * (len(numbers) - len(labels))
        trace["textfont"] = {"color": "var(--ink)", "size": 13}
    return trace


def _legend_entry(kind: str) -> Figure:
    """Return a trace without points, since an item's colour is not that of its kind."""
    name, symbol, size = KINDS[kind]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "legendgroup": kind,
        "x": [None],
        "y": [None],
        "hoverinfo": "skip",
        "marker": {"symbol": symbol, "size": size, "color": "var(--quiet)"},
    }


def _arrows(view: MapView) -> list[Figure]:
    """Return all arrows as one broken line, and their middles with the violation as tooltip."""
    arrows = sorted(view.arrows, key=lambda arrow: arrow.violation)[:MAX_ARROWS]
    ends = [_coordinates(view, [arrow.specific, arrow.general]) for arrow in arrows]
    lines = {axis: [v for end in ends for v in (*end[axis], None)] for axis in "xy"}
    middles = {axis: [round(sum(end[axis]) / 2, 4) for end in ends] for axis in "xy"}
    head = {
        "symbol": "arrow",
        "angleref": "previous",
        "standoff": 6,
        "color": "var(--quiet)",
        "size": [0, 9, 0] * len(arrows),
    }
    common = {"type": "scatter", "legendgroup": "arrows", "zorder": 1}
    return [
        {
            **common,
            **lines,
            "mode": "lines+markers",
            "hoverinfo": "skip",
            "name": "More general ➝",
            "showlegend": bool(arrows),
            "line": _line("quiet", 1),
            "marker": head,
        },
        {
            **common,
            **middles,
            "mode": "markers",
            "showlegend": False,
            "hoverinfo": "text",
            "hovertext": [_arrow_tooltip(view, arrow) for arrow in arrows],
            "marker": {"size": 5, "color": "var(--quiet)"},
        },
    ]


def _path(view: MapView) -> Figure:
    return {
        "type": "scatter",
        "mode": "lines+text",
        "name": "Path",
        **_coordinates(view, view.path),
        "text": [_label(view.texts[n]) for n in view.path],
        "textposition": "top center",
        "textfont": {"color": "var(--accent)", "size": 13},
        "line": _line("accent", 4),
        "hoverinfo": "skip",
        "showlegend": len(view.path) > 1,
        "zorder": 4,
    }


def _ring(view: MapView) -> list[Figure]:
    """Return a circle around the chosen item, if there is one."""
    if view.chosen is None:
        return []
    x, y = (float(v) for v in view.points[view.chosen])
    return [
        {
            "type": "circle",
            "layer": "above",
            "line": _line("accent", 3),
            "xsizemode": "pixel",
            "ysizemode": "pixel",
            "xanchor": x,
            "yanchor": y,
            "x0": -RING,
            "x1": RING,
            "y0": -RING,
            "y1": RING,
        }
    ]


def _layout(view: MapView) -> Figure:
    points = np.ascontiguousarray(view.points, dtype=np.float32)
    colorbar = {
        "orientation": "h",
        "thickness": 8,
        "len": 220,
        "lenmode": "pixels",
        "x": 0,
        "xanchor": "left",
        "xpad": 0,
        "y": 0,
        "yanchor": "top",
        "nticks": 4,
        "outlinewidth": 0,
        "title": {"text": _escape(view.norm_title), "side": "top"},
    }
    return {
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "dragmode": "pan",
        "hovermode": "closest",
        "clickmode": "event",
        "uirevision": hashlib.sha256(points.tobytes()).hexdigest()[:16],
        "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
        "font": {"color": "var(--ink)", "family": "system-ui, sans-serif"},
        "xaxis": {"visible": False, "range": _padded_range(points[:, 0])},
        "yaxis": {"visible": False, "range": _padded_range(points[:, 1])},
        "coloraxis": {"colorscale": SCALE, "colorbar": colorbar},
        "legend": {
            "orientation": "h",
            "x": 0,
            "y": 1,
            "yanchor": "bottom",
            "itemsizing": "constant",
        },
        "shapes": _ring(view),
        "hoverlabel": {
            "bgcolor": "var(--raised)",
            "bordercolor": "var(--line)",
            "align": "left",
            "namelength": -1,
            "font": {"color": "var(--ink)", "size": 13},
        },
        "modebar": {
            "bgcolor": "rgba(0,0,0,0)",
            "color": "var(--quiet)",
            "activecolor": "var(--accent)",
            "orientation": "v",
        },
    }


def _coordinates(view: MapView, numbers: Sequence[int]) -> dict[str, list[float]]:
    """Return the places of items, rounded to four decimals."""
    places = np.asarray(view.points, dtype=float)[list(numbers)].reshape(-1, 2).round(4)
    return {"x": places[:, 0].tolist(), "y": places[:, 1].tolist()}


def _padded_range(values: np.ndarray) -> list[float]:
    """Return the least and the largest value with a margin."""
    low, high = (float(values.min()), float(values.max())) if len(values) else (-1.0, 1.0)
    margin = (high - low) * 0.06 or 1.0
    return [low - margin, high + margin]


def _line(colour: str, width: int) -> Figure:
    return {"color": f"var(--{colour})", "width": width}


def _arrow_tooltip(view: MapView, arrow: Arrow) -> str:
    general, specific = _label(view.texts[arrow.general]), _label(view.texts[arrow.specific])
    return f"{general}<br>is above {specific}<br>order violation {arrow.violation:.3f}"


def _tooltip(text: str, norm_title: str, norm: float) -> str:
    """Return a text in lines, and its norm. Plotly reads some tags, so texts are escaped."""
    lines = textwrap.wrap(text, LINE_LENGTH, max_lines=MAX_LINES, placeholder=" …")
    return "<br>".join([*map(_escape, lines), f"{_escape(norm_title)} {norm:.2f}"])


def _label(text: str) -> str:
    """Return a text shortened to a label, escaped."""
    if " " in text:
        return _escape(textwrap.shorten(text, LABEL_LENGTH, placeholder=" …"))
    return _escape(text[:LABEL_LENGTH])


def _escape(text: str) -> str:
    return escape(text, quote=False)
