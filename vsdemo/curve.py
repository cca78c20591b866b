"""Retrieval on dev by epoch, of any run (Merckx & Frank 2019, Figure 4), from its events."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vsdemo.events import read
from vsdemo.tasks.ranks import RECALLS
from vsdemo.types import UserError

WAYS = {"i2t": "photo to caption", "t2i": "caption to photo"}
MEAN = "both, mean"


def by_epoch(run: Path) -> list[dict[str, Any]]:
    """A row for each evaluation on dev: epoch; of i2t and t2i r1, r5 and r10 in percent; r10, the
    mean of both, which the paper draws; rsum. Raises UserError when the run has none.
    """
    rows = []
    for event in read(run / "events.jsonl"):
        if event["kind"] == "eval":
            ways = {way: {f"r{k}": event[way][f"r{k}"] for k in RECALLS} for way in WAYS}
            both = sum(ways[way]["r10"] for way in WAYS) / len(WAYS)
            rows.append({"epoch": event["epoch"], **ways, "r10": both, "rsum": event["rsum"]})
    if not rows:
        raise UserError(f"{run} has no evaluations; give the folder of a run that was trained.")
    return rows


def lines(rows: Sequence[dict[str, Any]]) -> dict[str, list[tuple[float, float]]]:
    """Name -> points (epoch, R@10 in percent) of both directions and of their mean."""
    found = {name: [(row["epoch"], row[way]["r10"]) for row in rows] for way, name in WAYS.items()}
    return {**found, MEAN: [(row["epoch"], row["r10"]) for row in rows]}


def markdown(rows: Sequence[dict[str, Any]]) -> str:
    """The rows as a Markdown table."""
    titles = [f"{way} R@{k}" if k == RECALLS[0] else f"R@{k}" for way in WAYS for k in RECALLS]
    cells = [["epoch", *titles, "mean R@10", "rsum"], ["---"] * (3 + len(titles))]
    for row in rows:
        recalls = [f"{row[way][f'r{k}']:.1f}" for way in WAYS for k in RECALLS]
        cells.append([str(row["epoch"]), *recalls, f"{row['r10']:.1f}", f"{row['rsum']:.1f}"])
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)
