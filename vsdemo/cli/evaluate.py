"""`evaluate` and `difference`: metrics of checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from vsdemo.cli.options import Checkpoint, Gallery, Json, Split, StsDir
from vsdemo.cli.output import print_json
from vsdemo.evaluation.tasks import TASKS


def evaluate(  # noqa: PLR0913 (a command's parameters are its options)
    checkpoint: Checkpoint,
    split: Split = "test",
    data: Gallery = None,
    task: Annotated[
        str | None, typer.Option(help=f"{', '.join(TASKS)}; default: what it was trained for.")
    ] = None,
    sts_dir: StsDir = None,
    *,
    folds: Annotated[bool, typer.Option(help="Average over blocks of 1,000 photos.")] = False,
    as_json: Json = False,
) -> None:
    """Evaluate a checkpoint, with 95% confidence intervals.

    A parser is evaluated by UAS and LAS.
    """
    from vsdemo.data.text import parser
    from vsdemo.evaluation import evaluate as evaluation
    from vsdemo.evaluation.tasks import task as task_named

    if parser.is_pipeline(checkpoint):
        from vsdemo.recipes.parsing import score

        if data == "storybook":
            print_json(score.on_storybook(checkpoint, split))
        else:
            print_json(score.evaluate(checkpoint, split))
        return
    options: dict[str, Any] = {}
    if folds:
        options["folds"] = True
    if sts_dir:
        options["sts_dir"] = sts_dir
    metrics = evaluation.evaluate(checkpoint, split, data, task, options)
    measured = task_named(metrics["task"])
    if as_json or "ci95" not in metrics or measured.card is None:
        print_json(metrics)
    else:
        print(measured.table({split: metrics}))


def difference(
    a: Checkpoint,
    b: Annotated[Path, typer.Argument(help="Checkpoint folder to subtract.")],
    split: Split = "test",
    data: Gallery = None,
) -> None:
    """Print the metrics of checkpoint A minus those of B, as JSON.

    The 95% confidence intervals are paired.
    """
    from vsdemo.evaluation import evaluate as evaluation

    print_json(evaluation.difference(a, b, split, data))
