"""Maps of embeddings as figures for plotly. The one home of plotly.

Colours are names of CSS variables, such as `var(--ink)`, which the page puts in: a figure is the
same in light and dark.
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
KINDS = {  # kind: name in the legend, marker, its size in pixels; those below lie above
    "photo": ("Photos", "circle", 5),
    "caption": ("Captions", "square", 5),
    "concept": ("Concepts", "diamond", 10),
    "root": ("Root", "star", 18),
}
FAST = ("photo", "caption")  # thousands of points, which the graphics card draws
WIDTH, LINES = 60, 6  # letters of a line and lines of what is said where the pointer is
LABELS, LETTERS = 40, 24  # most names on the map, and letters of each
ARROWS = 300
RING = 11  # pixels from the chosen point
SCALE = [[0, "var(--map-general)"], [0.5, "var(--map-middle)"], [1, "var(--map-specific)"]]
BUTTONS = [  # all there are: plotly's own choice has one that sends the figure to its maker
    ["pan2d", "lasso2d", "select2d"],
    ["zoomIn2d", "zoomOut2d", "resetScale2d"],
    ["toImage"],
]
Figure = dict[str, Any]


@dataclass(frozen=True)
class MapView:
    """N items on a map.

    points: (N, 2). kinds: N of KINDS. texts: N names, captions or what stands for a photo.
    norms: (N,), the lower the more general. arrows: the ARROWS of least violation are drawn.
    path: items of a trail, in its order. chosen: the item with a ring.
    photos: the number in its gallery of each item that is a photo; by default 0, 1, 2, ...
    Raises ValueError when lengths differ or a number is not finite.
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
            raise ValueError(f"{len(self.photos)} numbers of photos")


def map_figure(view: MapView) -> Figure:
    """The figure as plotly reads it: data, layout and config. A point's customdata is the number
    of its item; zoom and pan stay as they are while the points are the same."""
    kinds = [kind for kind in KINDS if kind in view.kinds]
    return {
        "data": [
            *(_items(view, kind) for kind in kinds),
            *(_legend(kind) for kind in kinds),
            *map_overlay(view)["over"],
        ],
        "layout": _layout(view),
        "config": {
            "scrollZoom": True,
            "displaylogo": False,
            "responsive": False,
            "modeBarButtons": BUTTONS,
            "plotlyServerURL": "",  # nothing of this leaves the page
        },
    }


def map_overlay(view: MapView) -> Figure:
    """What changes with a choice, to put over a figure that is drawn: arrows, path and ring. It is
    a thousandth of the figure."""
    over = [*_arrows(view), _path(view)]
    return {"over": [{**trace, "meta": {"over": True}} for trace in over], "shapes": _ring(view)}


def _items(view: MapView, kind: str) -> Figure:
    """All items of a kind, the most general first."""
    numbers = [n for n, k in enumerate(view.kinds) if k == kind]
    gallery = range(len(numbers)) if view.photos is None else view.photos
    photos = dict(zip(numbers, gallery, strict=True)) if kind == "photo" else {}
    numbers.sort(key=lambda n: float(view.norms[n]))
    name, symbol, size = KINDS[kind]
    trace = {
        "type": "scattergl" if kind in FAST else "scatter",
        "mode": "markers",
        "name": name,
        **_at(view, numbers),
        "customdata": numbers,
        "hoverinfo": "text+name",
        "legendgroup": kind,
        "showlegend": False,
        "hovertext": [_wrapped(view.texts[n], view.norm_title, view.norms[n]) for n in numbers],
        "marker": {
            "symbol": symbol,
            "size": size,
            "coloraxis": "coloraxis",
            "color": [round(float(view.norms[n]), 4) for n in numbers],
            **({"opacity": 0.75} if kind in FAST else {"line": _line("paper", 1)}),
        },
        "meta": {"kind": kind},
    }
    if kind == "photo":
        trace["meta"]["photos"] = [int(photos[n]) for n in numbers]
    if kind not in FAST:
        trace |= {"mode": "markers+text", "textposition": "top center", "zorder": 3}
        trace["text"] = [_short(view.texts[n]) if i < LABELS else "" for i, n in enumerate(numbers)]
        trace["textfont"] = {"color": "var(--ink)", "size": 13}
    return trace


def _legend(kind: str) -> Figure:
    """The entry of a kind in the legend, without a point: a scale is no colour to stand there."""
    name, symbol, size = KINDS[kind]
    marker = {"symbol": symbol, "size": size, "color": "var(--quiet)"}
    entry = {"type": "scatter", "mode": "markers", "name": name, "legendgroup": kind}
    return {**entry, "x": [None], "y": [None], "hoverinfo": "skip", "marker": marker}


def _arrows(view: MapView) -> list[Figure]:
    """All arrows as one broken line, and a dot in the middle of each that says its violation."""
    arrows = sorted(view.arrows, key=lambda a: a.violation)[:ARROWS]
    ends = [_at(view, [a.specific, a.general]) for a in arrows]
    line = {axis: [v for e in ends for v in (*e[axis], None)] for axis in "xy"}
    middle = {axis: [round(sum(e[axis]) / 2, 4) for e in ends] for axis in "xy"}
    common = {"type": "scatter", "legendgroup": "arrows", "zorder": 1}
    heads = {"symbol": "arrow", "angleref": "previous", "standoff": 6, "color": "var(--quiet)"}
    return [
        {
            **common,
            **line,
            "mode": "lines+markers",
            "hoverinfo": "skip",
            "name": "More general ➝",
            "showlegend": bool(arrows),
            "line": _line("quiet", 1),
            "marker": {**heads, "size": [0, 9, 0] * len(arrows)},
        },
        {
            **common,
            **middle,
            "mode": "markers",
            "showlegend": False,
            "hoverinfo": "text",
            "hovertext": [_ordered(view, arrow) for arrow in arrows],
            "marker": {"size": 5, "color": "var(--quiet)"},
        },
    ]


def _path(view: MapView) -> Figure:
    return {
        "type": "scatter",
        "mode": "lines+text",
        "name": "Path",
        **_at(view, view.path),
        "text": [_short(view.texts[n]) for n in view.path],
        "textposition": "top center",
        "textfont": {"color": "var(--accent)", "size": 13},
        "line": _line("accent", 4),
        "hoverinfo": "skip",
        "showlegend": len(view.path) > 1,
        "zorder": 4,
    }


def _ring(view: MapView) -> list[Figure]:
    if view.chosen is None:
        return []
    x, y = (float(v) for v in view.points[view.chosen])
    size = {"x0": -RING, "x1": RING, "y0": -RING, "y1": RING}
    pixels = {"xsizemode": "pixel", "ysizemode": "pixel", "xanchor": x, "yanchor": y}
    return [{"type": "circle", "layer": "above", "line": _line("accent", 3), **pixels, **size}]


def _layout(view: MapView) -> Figure:
    points = np.ascontiguousarray(view.points, dtype=np.float32)
    legend = {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "itemsizing": "constant"}
    bar = {"orientation": "h", "thickness": 8, "len": 220, "x": 0, "xanchor": "left", "nticks": 4}
    bar |= {"y": 0, "yanchor": "top", "outlinewidth": 0, "xpad": 0, "lenmode": "pixels"}
    card = {"bgcolor": "var(--raised)", "bordercolor": "var(--line)", "align": "left"}
    return {
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "dragmode": "pan",
        "hovermode": "closest",
        "clickmode": "event",
        "uirevision": hashlib.sha256(points.tobytes()).hexdigest()[:16],
        "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
        "font": {"color": "var(--ink)", "family": "system-ui, sans-serif"},
        "xaxis": {"visible": False, "range": _range(points[:, 0])},
        "yaxis": {"visible": False, "range": _range(points[:, 1])},
        "coloraxis": {
            "colorscale": SCALE,
            "colorbar": {**bar, "title": {"text": _escaped(view.norm_title), "side": "top"}},
        },
        "legend": legend,
        "shapes": _ring(view),
        "hoverlabel": {**card, "namelength": -1, "font": {"color": "var(--ink)", "size": 13}},
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": "var(--quiet)"}
        | {"activecolor": "var(--accent)", "orientation": "v"},
    }


def _at(view: MapView, numbers: Sequence[int]) -> dict[str, list[float]]:
    """Where items are, to a ten-thousandth."""
    places = np.asarray(view.points, dtype=float)[list(numbers)].reshape(-1, 2).round(4)
    return {"x": places[:, 0].tolist(), "y": places[:, 1].tolist()}


def _range(values: np.ndarray) -> list[float]:
    """From the least to the largest, and a little more."""
    low, high = (float(values.min()), float(values.max())) if len(values) else (-1.0, 1.0)
    more = (high - low) * 0.06 or 1.0
    return [low - more, high + more]


def _line(colour: str, width: int) -> Figure:
    return {"color": f"var(--{colour})", "width": width}


def _ordered(view: MapView, arrow: Arrow) -> str:
    above, below = (_short(view.texts[n]) for n in (arrow.general, arrow.specific))
    return f"{above}<br>is above {below}<br>order violation {arrow.violation:.3f}"


def _wrapped(text: str, title: str, norm: float) -> str:
    """A text in lines, and its norm. Plotly reads some tags: what strangers wrote has none."""
    lines = textwrap.wrap(text, WIDTH, max_lines=LINES, placeholder=" …")
    return "<br>".join([*map(_escaped, lines), f"{_escaped(title)} {norm:.2f}"])


def _short(text: str) -> str:
    return _escaped(
        textwrap.shorten(text, LETTERS, placeholder=" …") if " " in text else text[:LETTERS]
    )


def _escaped(text: str) -> str:
    return escape(text, quote=False)
