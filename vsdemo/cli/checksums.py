"""`checksums`: whether the files that come with vsdemo are intact."""

from __future__ import annotations

from typing import Annotated

import typer


def checksums(
    *,
    write: Annotated[
        bool, typer.Option("--write", help="Write the checksums of the files as they are now.")
    ] = False,
) -> None:
    """Compare the files that come with vsdemo with their checksums."""
    from vsdemo.models import shipped_files

    if write:
        shipped_files.write()
    problems = list(shipped_files.problems())
    for problem in problems:
        print(f"! {problem}")
    count = sum(len(files) for files in shipped_files.lists().values())
    print(f"{count} files: {len(problems)} {'problem' if len(problems) == 1 else 'problems'}")
    if problems:
        raise typer.Exit(1)
