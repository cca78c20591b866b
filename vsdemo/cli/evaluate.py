"""`evaluate` and `difference`: metrics of checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from vsdemo.cli.options import Checkpoint, Gallery, HierarcapsDir, Json, Record, Split, StsDir
from vsdemo.cli.output import command_line, print_json
from vsdemo.evaluation.tasks import TASKS


def evaluate(  # noqa: PLR0913 (a command's parameters are its options)
    checkpoint: Checkpoint,
    split: Split = "test",
    data: Gallery = None,
    task: Annotated[
        str | None, typer.Option(help=f"{', '.join(TASKS)}; default: what it was trained for.")
    ] = None,
    sts_dir: StsDir = None,
    hierarcaps_dir: HierarcapsDir = None,
    record: Record = None,
    *,
    folds: Annotated[bool, typer.Option(help="Average over blocks of 1,000 photos.")] = False,
    as_json: Json = False,
) -> None:
    """Evaluate a checkpoint, with 95% confidence intervals.

    A parser is evaluated by UAS and LAS.
    """
    from vsdemo.data.text import parser
    from vsdemo.evaluation import evaluate as evaluation
    from vsdemo.evaluation.report import recording, records
    from vsdemo.evaluation.tasks import task as task_named

    if parser.is_pipeline(checkpoint):
        _evaluate_parser(checkpoint, split, data, record)
        return
    options: dict[str, Any] = {}
    if folds:
        options["folds"] = True
    if sts_dir:
        options["sts_dir"] = sts_dir
    if hierarcaps_dir:
        options["hierarcaps_dir"] = hierarcaps_dir
    metrics = evaluation.evaluate(checkpoint, split, data, task, options)
    measured = task_named(metrics["task"])
    if as_json or "ci95" not in metrics or measured.card is None:
        print_json(metrics)
    else:
        print(measured.table({split: metrics}))
    if record:
        result = recording.of_evaluation(checkpoint, metrics, command=command_line())
        records.write(record, result)


def _evaluate_parser(folder: Path, split: str, data: str | None, record: Path | None) -> None:
    from vsdemo.evaluation.report import recording, records
    from vsdemo.recipes.parsing import score

    metrics: dict[str, Any]
    if data == "storybook":
        metrics = score.on_storybook(folder, split)
    else:
        metrics, data = score.evaluate(folder, split), "UD English EWT"
    print_json(metrics)
    if record:
        result = recording.of_parser(
            folder, metrics, data=data, split=split, command=command_line()
        )
        records.write(record, result)


def difference(
    a: Checkpoint,
    b: Annotated[Path, typer.Argument(help="Checkpoint folder to subtract.")],
    split: Split = "test",
    data: Gallery = None,
    record: Record = None,
) -> None:
    """Print the metrics of checkpoint A minus those of B, as JSON.

    The 95% confidence intervals are paired.
    """
    from vsdemo.evaluation import evaluate as evaluation
    from vsdemo.evaluation.report import recording, records

    metrics = evaluation.difference(a, b, split, data)
    print_json(metrics)
    if record:
        result = recording.of_difference(a, b, metrics, data=data, command=command_line())
        records.write(record, result)
