"""`python -m vsdemo sts`, similarity subset by subset, and `sentences`, of two sentences."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from vsdemo.cli.options import Json, Split, StsDir, show


def sts(
    checkpoints: Annotated[list[Path], typer.Argument(help="Folders of checkpoints.")],
    split: Split = "test",
    sts_dir: StsDir = None,
    svg: Annotated[Path | None, typer.Option(help="File for bars of all sets.")] = None,
    json: Json = False,
) -> None:
    """Measure sentence similarity (STS, STS-B, SICK): a table beside the paper's; no photos."""
    from vsdemo.core.paths import write_text
    from vsdemo.evaluation import sts_report
    from vsdemo.plots.sts import sts_svg

    found = sts_report.report(checkpoints, split, sts_dir)
    if svg:
        write_text(svg, sts_svg(found))
    if json:
        show(found)
    elif svg:
        print(svg)
    else:
        print(sts_report.markdown(found))


def sentences(
    first: Annotated[str, typer.Argument(help="A sentence.")],
    second: Annotated[str, typer.Argument(help="Another one.")],
    checkpoints: Annotated[
        list[Path] | None, typer.Argument(help="Folders; unless given, all that ship.")
    ] = None,
    json: Json = False,
) -> None:
    """Compare two sentences: how alike are they, does one follow from the other? No photos."""
    from vsdemo.core.errors import UserError
    from vsdemo.core.sentences import Sentence
    from vsdemo.models.checkpoint import shipped
    from vsdemo.search.engine import Reader
    from vsdemo.search.sentence_comparison import likeness

    for text in (first, second):
        Sentence.from_user(text)
    found: dict[str, Any] = {}
    for folder in checkpoints or shipped():
        try:
            found[str(folder)] = likeness(Reader(folder), first, second).record()
        except UserError as error:
            if checkpoints:
                raise
            found[str(folder)] = {"problem": str(error)}
    if json:
        show({"first": first, "second": second, "models": found})
    else:
        print(_lines(found))


def _lines(found: dict[str, Any]) -> str:
    lines = ["cosine  2 from 1  1 from 2"]
    for name, said in found.items():
        if "problem" in said:
            lines.append(f"{'':26}  {name}: {said['problem']}")
            continue
        order = said.get("order")
        both = [f"{order[key]['fit']:8.3f}" for key in order] if order else [" " * 8] * 2
        lines.append("  ".join([f"{said['cosine']:6.3f}", *both, name]))
    return "\n".join([*lines, "        order fit: does one follow from the other? 1 is yes"])
