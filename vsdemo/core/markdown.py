"""Markdown tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of cells with Markdown in them, without a newline at its end."""
    rule = "|" + "---|" * len(header)
    return "\n".join([row(header), rule, *map(row, rows)])


def row(cells: Sequence[str]) -> str:
    """Return one line of a table."""
    return f"| {' | '.join(cells)} |"
