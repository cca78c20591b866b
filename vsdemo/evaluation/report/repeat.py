"""Which figures of the page can be repeated from what ships, and whether two measurements agree."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from vsdemo.core.nested import flatten
from vsdemo.data.text import parser
from vsdemo.evaluation.report import records
from vsdemo.evaluation.report.records import Record

# By how much figures may differ on another processor, whose sums are rounded in other places.
TOLERANCE: Final = {"percent": 0.5, "rsum": 1.5, "relative": 2}
RANKS = ("medr", "meanr")  # and what else is no percentage
PROGRAM = "python -m vsdemo "


def repeatable(root: Path) -> dict[str, Record]:
    """Return the records whose figures follow from shipped checkpoints by one command.

    Times are not among them.

    Args:
        root: The folder checkpoints/.
    """
    result = {}
    for path in sorted((root / "results").rglob("*.json")):
        record = records.read(path)
        command = record.command or ""
        if record.checkpoint and " bench " not in command:
            result[path.relative_to(root).with_suffix("").as_posix()] = record
    for path in sorted(
        [*root.glob("*/*/metrics.json"), *root.glob(f"{parser.FOLDER}/metrics.json")]
    ):
        name = path.parent.relative_to(root).as_posix()
        result[name] = records.read_checkpoint(root, name)
    return result


def disagreements(figures: Mapping[str, Any], repeated: Mapping[str, Any]) -> list[str]:
    """Return the figures that differ by more than TOLERANCE, or that are missing, in words.

    Intervals are not compared.

    Args:
        figures: Nested metrics of a record.
        repeated: Those of the same command today.
    """
    wanted, got = _values(figures), _values(repeated)
    problems = [f"{name} is missing" for name in wanted if name not in got]
    for name, value in wanted.items():
        if name in got and abs(got[name] - value) > _allowed(name, value):
            problems.append(f"{name} is {got[name]:.3f}, not {value:.3f}")
    return problems


def _values(figures: Mapping[str, Any]) -> dict[str, float]:
    values = flatten(figures, separator=" ")
    return {name: value for name, value in values.items() if "ci95" not in name.split()}


def _allowed(name: str, value: float) -> float:
    last = name.split()[-1]
    if last == "rsum":
        return TOLERANCE["rsum"]
    relative = abs(value) * TOLERANCE["relative"] / 100
    if last in RANKS:
        return max(1.0 if last == "medr" else 0.0, relative)
    return max(TOLERANCE["percent"], relative)
