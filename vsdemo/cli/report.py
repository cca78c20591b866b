"""`report`: the page of all results, checkpoints/README.md."""

from __future__ import annotations

import sys
from difflib import unified_diff
from typing import Annotated

import typer


def report(
    *,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit with 1 if the page is outdated.")
    ] = False,
) -> None:
    """Write checkpoints/README.md from the metrics of checkpoints and from checkpoints/results.

    `evaluate`, `difference`, `table` and `lab` write the records with --record.
    """
    from vsdemo.core.paths import checkpoints_root, write_text
    from vsdemo.evaluation.report.page import Page

    root = checkpoints_root()
    page, path = Page(root), root / "README.md"
    text = page.render()
    for unused in page.unused():
        print(f"Not on the page: {unused}", file=sys.stderr)
    if not check:
        write_text(path, text)
        print(path)
        return
    written = path.read_text(encoding="utf-8") if path.exists() else ""
    if written == text:
        print(f"{path} is up to date.")
        return
    names = str(path), "python -m vsdemo report"
    lines = unified_diff(written.splitlines(), text.splitlines(), *names, n=0, lineterm="")
    print("\n".join(lines))
    raise typer.Exit(1)
