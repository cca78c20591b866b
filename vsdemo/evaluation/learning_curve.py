"""Retrieval and sentence similarity on dev by epoch (Merckx & Frank 2019, Figure 4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vsdemo.core import markdown as md
from vsdemo.core.errors import UserError
from vsdemo.core.events import read
from vsdemo.core.paths import AnyPath, to_path
from vsdemo.evaluation.metrics.ranks import RECALLS

DIRECTIONS = {"i2t": "photo to caption", "t2i": "caption to photo"}
MEAN = "both, mean"
SEMANTICS = "STS-B, SICK"


def by_epoch(run: AnyPath) -> list[dict[str, Any]]:
    """Return a row for each evaluation on dev.

    epoch; r1, r5 and r10 of i2t and t2i in percent; r10, the mean of both, which the paper draws;
    rsum; with evaluate_sts=true also `semantics`, the result of `tasks.sts.on_dev`.

    Raises:
        UserError: The run has no evaluation of retrieval.
    """
    rows = []
    for event in read(to_path(run) / "events.jsonl"):
        if event["kind"] == "eval" and "rsum" in event:
            row: dict[str, Any] = {"epoch": event["epoch"]}
            for direction in DIRECTIONS:
                row[direction] = {f"r{k}": event[direction][f"r{k}"] for k in RECALLS}
            row["r10"] = (row["i2t"]["r10"] + row["t2i"]["r10"]) / 2
            row["rsum"] = event["rsum"]
            if "semantics" in event:
                row["semantics"] = event["semantics"]
            rows.append(row)
    if not rows:
        raise UserError(
            f"{run} has no evaluations of retrieval; give the folder of a run with photos."
        )
    return rows


def lines(rows: Sequence[dict[str, Any]]) -> dict[str, list[tuple[float, float]]]:
    """Return name -> points (epoch, R@10 in percent) of both directions and of their mean.

    Where it was measured, also points (epoch, Pearson's r x 100).
    """
    result = {
        name: [(row["epoch"], row[direction]["r10"]) for row in rows]
        for direction, name in DIRECTIONS.items()
    }
    result[MEAN] = [(row["epoch"], row["r10"]) for row in rows]
    semantics = [(row["epoch"], row["semantics"]["mean"]) for row in rows if "semantics" in row]
    if semantics:
        result[SEMANTICS] = semantics
    return result


def markdown(rows: Sequence[dict[str, Any]]) -> str:
    """Return the rows as a Markdown table."""
    recalls = [f"R@{k}" for k in RECALLS]
    sets = list(next((row["semantics"] for row in rows if "semantics" in row), {}))
    header = ["epoch"]
    for direction in DIRECTIONS:
        header += [f"{direction} {recalls[0]}", *recalls[1:]]
    header += ["mean R@10", "rsum", *(f"r, {name}" for name in sets)]
    lines = []
    for row in rows:
        values = [row[direction][f"r{k}"] for direction in DIRECTIONS for k in RECALLS]
        values += [row["r10"], row["rsum"]]
        cells = [str(row["epoch"]), *(f"{value:.1f}" for value in values)]
        semantics = row.get("semantics", {})
        cells += [f"{semantics[name]:.1f}" if name in semantics else "" for name in sets]
        lines.append(cells)
    return md.table(header, lines)
