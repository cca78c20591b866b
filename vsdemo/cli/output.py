"""Print results as aligned text or as JSON."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vsdemo.core.progress import Progress, StageProgress
from vsdemo.serving.records import (
    DescribeAnswer,
    PhotoHit,
    SearchAnswer,
    SimilarPhotos,
    SimilarSentences,
    StoreAnswer,
)

NO_PHOTO = "No photo meets these conditions."
MAX_PROBLEMS = 10  # files that are named in the terminal
NUMERIC = set("0123456789.,-+%")
DELAY = 1.0  # seconds before a progress bar is shown
LOG_PAUSE = 60.0  # seconds between its lines in a log


def print_json(result: Any) -> None:
    """Print a result as indented JSON."""
    print(json.dumps(result, indent=1, ensure_ascii=False))


def command_line() -> str:
    """Return the command that runs, without the option --record."""
    words = sys.argv[1:]
    if "--record" in words:
        place = words.index("--record")
        del words[place : place + 2]
    words = [word for word in words if not word.startswith("--record=")]
    return shlex.join(["python", "-m", "vsdemo", *words])


def print_table(
    rows: Sequence[Sequence[str]], *, header: Sequence[str] = (), indent: int = 0
) -> None:
    """Print rows of cells in aligned columns."""
    for line in table_lines(rows, header=header):
        print(" " * indent + line)


def table_lines(rows: Sequence[Sequence[str]], *, header: Sequence[str] = ()) -> list[str]:
    """Return rows of cells as lines; columns of numbers are aligned to the right."""
    is_number = [
        all(set(cell) <= NUMERIC for cell in column)
        for column in zip(*(rows or [header]), strict=True)
    ]
    table = [header, *rows] if header else rows
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = []
    for row in table:
        cells = [
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, is_number, strict=True)
        ]
        lines.append("  ".join(cells).rstrip())
    return lines


def print_hits(
    answer: SearchAnswer | StoreAnswer | DescribeAnswer | SimilarPhotos | SimilarSentences,
) -> None:
    """Print the results of a search as a table, best first."""
    rows = []
    for hit in answer.hits:
        item = hit.photo if isinstance(hit, PhotoHit) else hit.sentence
        rows.append((str(hit.rank), f"{hit.unit_score:.3f}", item))
    print_table(rows)
    print(f"{answer.unit}, higher is better")


def print_unknown(words: Sequence[str]) -> None:
    """Say on stderr which words of a sentence the model does not know."""
    if words:
        print(f"Words this model does not know: {', '.join(words)}", file=sys.stderr)


def print_problems(problems: Mapping[str, str]) -> None:
    """Print the first files that cannot be read, and why."""
    for path, why in [*problems.items()][:MAX_PROBLEMS]:
        folder = Path(path).parent.as_posix()
        print(" ".join((f"  {why}" if folder == "." else f"  {folder}/: {why}").split("\n")))
    if len(problems) > MAX_PROBLEMS:
        print(f"  and {len(problems) - MAX_PROBLEMS:,} more; --json names them all")


@contextmanager
def photo_progress(stage: str) -> Iterator[Progress]:
    """Show a progress bar with the time left; in the log of a job, a line each minute."""
    from tqdm import tqdm

    pause = 0.1 if sys.stderr.isatty() else LOG_PAUSE
    with tqdm(unit="photo", desc=stage, delay=DELAY, mininterval=pause) as bar:

        def report(done: int, total: int) -> None:
            if bar.total is None and total:  # what an earlier run has done says nothing about speed
                bar.initial = bar.n = bar.last_print_n = done
            bar.total = total or None
            bar.update(done - bar.n)

        yield report


@contextmanager
def stage_progress() -> Iterator[StageProgress]:
    """Show a progress bar for each stage."""
    from tqdm import tqdm

    with tqdm(unit="photo", disable=None) as bar:

        def report(stage: str, done: int, total: int) -> None:
            bar.set_description(stage, refresh=False)
            if bar.total != (total or None):
                bar.reset(total or None)
            bar.update(done - bar.n)

        yield report
