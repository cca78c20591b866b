"""Retrieval and semantics on dev by epoch, of any run (Merckx & Frank 2019, Figure 4), from its
events."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vsdemo.core import markdown as md
from vsdemo.core.errors import UserError
from vsdemo.core.events import read
from vsdemo.evaluation.metrics.ranks import RECALLS

WAYS = {"i2t": "photo to caption", "t2i": "caption to photo"}
MEAN = "both, mean"
SEMANTICS = "STS-B, SICK"


def by_epoch(run: Path) -> list[dict[str, Any]]:
    """A row for each evaluation on dev: epoch; of i2t and t2i r1, r5 and r10 in percent; r10, the
    mean of both, which the paper draws; rsum; where it was measured (semantics=true) also
    `semantics`, what `tasks.sts.on_dev` told. Raises UserError when the run has none.
    """
    rows = []
    for event in read(run / "events.jsonl"):
        if event["kind"] == "eval" and "rsum" in event:
            ways = {way: {f"r{k}": event[way][f"r{k}"] for k in RECALLS} for way in WAYS}
            both = sum(ways[way]["r10"] for way in WAYS) / len(WAYS)
            row = {"epoch": event["epoch"], **ways, "r10": both, "rsum": event["rsum"]}
            rows.append(row | {k: event[k] for k in ("semantics",) if k in event})
    if not rows:
        raise UserError(
            f"{run} has no evaluations of retrieval; give the folder of a run with photos."
        )
    return rows


def lines(rows: Sequence[dict[str, Any]]) -> dict[str, list[tuple[float, float]]]:
    """Name -> points (epoch, R@10 in percent) of both directions and of their mean, and where it
    was measured (epoch, Pearson's r x 100)."""
    found = {name: [(row["epoch"], row[way]["r10"]) for row in rows] for way, name in WAYS.items()}
    found[MEAN] = [(row["epoch"], row["r10"]) for row in rows]
    meant = [(row["epoch"], row["semantics"]["mean"]) for row in rows if "semantics" in row]
    return {**found, SEMANTICS: meant} if meant else found


def markdown(rows: Sequence[dict[str, Any]]) -> str:
    """The rows as a Markdown table."""
    titles = [f"{way} R@{k}" if k == RECALLS[0] else f"R@{k}" for way in WAYS for k in RECALLS]
    sets = list(next((row["semantics"] for row in rows if "semantics" in row), {}))
    header = ["epoch", *titles, "mean R@10", "rsum", *(f"r, {name}" for name in sets)]
    cells = []
    for row in rows:
        recalls = [row[way][f"r{k}"] for way in WAYS for k in RECALLS]
        meant = [row["semantics"][name] for name in sets] if "semantics" in row else []
        numbers = [f"{value:.1f}" for value in (*recalls, row["r10"], row["rsum"], *meant)]
        cells.append([str(row["epoch"]), *numbers, *[""] * (len(sets) - len(meant))])
    return md.table(header, cells)
