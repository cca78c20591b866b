"""The map of a gallery as a component: drawn in the browser, and reporting what is selected."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import gradio as gr
import numpy as np

from vsdemo.core.language import translate
from vsdemo.search.gallery_map import GRID, GalleryMap
from vsdemo.ui.components.labels import template
from vsdemo.ui.components.templates import render


def gallery_map_widget(label: str, name: str | None = None) -> gr.HTML:
    """Return an empty map, which draws the JSON of a `MapRecord` as its value.

    Its events are `select` with the `number` of a clicked photo, `area` with the corners of a
    `polygon` on the map, `region` with the `number` of a region whose name was clicked, and
    `points` when the page needs a value with the positions.

    Args:
        label: Name of the map for screen readers, in English.
        name: The component's elem_id.
    """
    script = Path(__file__).with_name("map.js").read_text(encoding="utf-8")
    page = template(lambda: render("search/map.html", label=translate(label)))
    return gr.HTML(
        "",
        html_template=page,
        js_on_load=script,
        elem_id=name,
        padding=False,
    )


@dataclass(frozen=True)
class MapRecord:
    """What the component shows.

    Attributes:
        gallery_map: The map.
        key: Identifies the map; the page keeps the positions of a key.
        source: Address of a photo, with {number} in place of its number.
        highlighted: Numbers of the photos to highlight while none are selected.
        chosen: Number of the photo with a ring around it.
        selected: Numbers of the photos of a selected area; None without a selection.
    """

    gallery_map: GalleryMap
    key: str
    source: str
    highlighted: Sequence[int] = ()
    chosen: int | None = None
    selected: Sequence[int] | None = None

    def to_json(self, *, has_points: bool = False) -> str:
        """Return the value of the component.

        Args:
            has_points: Include the positions, as 16-bit integers.
        """
        positions, count = self.gallery_map.positions, len(self.gallery_map.positions)
        names = [
            {"number": number, **asdict(region)}
            for number, region in enumerate(self.gallery_map.regions)
            if region.name
        ]
        record: dict[str, Any] = {
            "key": self.key,
            "count": count,
            "source": self.source,
            "regions": names,
            "highlighted": _bits(self.highlighted, count) if self.highlighted else None,
            "chosen": self.chosen,
            "selected": None if self.selected is None else _bits(self.selected, count),
        }
        if has_points:
            points = np.round(positions * GRID).astype("<i2")
            record["points"] = base64.b64encode(points.tobytes()).decode()
        return json.dumps(record, allow_nan=False, separators=(",", ":"))


def _bits(numbers: Sequence[int], count: int) -> str:
    """Return which of `count` photos are among `numbers`, a bit each, in base64."""
    is_in = np.zeros(count, dtype=bool)
    is_in[np.asarray(numbers, dtype=int)] = True
    return base64.b64encode(np.packbits(is_in, bitorder="little").tobytes()).decode()
