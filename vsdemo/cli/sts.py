"""`sts` and `sentences`: similarity of sentences."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from vsdemo.cli.options import Checkpoints, Json, Split, StsDir, Svg
from vsdemo.cli.output import print_json, print_table
from vsdemo.core.errors import UserError


def sts(
    checkpoints: Checkpoints,
    split: Split = "test",
    sts_dir: StsDir = None,
    svg: Svg = None,
    *,
    as_json: Json = False,
) -> None:
    """Evaluate sentence similarity on STS, STS-B and SICK.

    The table has the results of Merckx & Frank 2019 next to those of the checkpoints.
    """
    from vsdemo.core.paths import write_text
    from vsdemo.evaluation import sts_report
    from vsdemo.plots.sts import sts_svg

    report = sts_report.report(checkpoints, split, sts_dir)
    if svg:
        write_text(svg, sts_svg(report))
    if as_json:
        print_json(report)
    else:
        print(svg or sts_report.markdown(report))


def sentences(
    first: Annotated[str, typer.Argument(help="Sentence.")],
    second: Annotated[str, typer.Argument(help="Sentence to compare it with.")],
    checkpoints: Annotated[
        list[Path] | None, typer.Argument(help="Checkpoint folders; default: all that ship.")
    ] = None,
    *,
    as_json: Json = False,
) -> None:
    """Compare two sentences.

    Each model tells how similar they are; those with an order, whether one follows from the other.
    """
    from vsdemo.core.sentences import Sentence
    from vsdemo.models.checkpoint import shipped
    from vsdemo.search.engine import Reader
    from vsdemo.serving import answers

    for text in (first, second):
        Sentence.from_user(text)
    readers: dict[str, Reader | str] = {}
    for folder in checkpoints or shipped():
        try:
            readers[str(folder)] = Reader(folder)
        except UserError as error:
            if checkpoints:
                raise
            readers[str(folder)] = str(error)
    answer = answers.sentences(readers, first, second)
    problems = [result["problem"] for result in answer.models.values() if "problem" in result]
    if checkpoints and problems:
        raise UserError(problems[0])
    if as_json:
        print_json(answer.model_dump())
        return
    header = ("cosine", "2 from 1", "1 from 2", "checkpoint")
    print_table([*map(_row, answer.models.items())], header=header)
    print('"2 from 1": 1 if the second sentence follows from the first, less otherwise')


def _row(result: tuple[str, dict[str, Any]]) -> tuple[str, str, str, str]:
    name, comparison = result
    if "problem" in comparison:
        return "", "", "", f"{name}: {comparison['problem']}"
    forward, backward = "", ""
    if order := comparison.get("order"):
        forward, backward = (f"{direction['fit']:.3f}" for direction in order.values())
    return f"{comparison['cosine']:.3f}", forward, backward, name
