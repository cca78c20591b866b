"""`python -m vsdemo train`: a preset, by the trainer of what it learns from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer


def train(
    preset: Annotated[str, typer.Argument(help="Name of a preset; `vsdemo models`.")],
    out: Annotated[Path, typer.Option(help="Folder of the run; an interrupted one goes on.")],
    data: Annotated[
        str | None, typer.Option(help="Data set to train on; flickr8k unless given.")
    ] = None,
    set: Annotated[
        list[str] | None, typer.Option(help="key=value, as often as needed; see `vsdemo models`.")
    ] = None,
    watch: Annotated[
        list[str] | None,
        typer.Option(help="A sentence whose photos of dev are written at each evaluation."),
    ] = None,
    minutes: Annotated[
        float | None, typer.Option(min=0.01, help="Stop and save after so many minutes.")
    ] = None,
    tensorboard: Annotated[
        bool, typer.Option("--tensorboard", help="Write for TensorBoard too, into --out.")
    ] = False,
) -> None:
    """Train a preset; then measure it on dev and test. Ctrl-C saves, the same command goes on."""
    from vsdemo.training import state
    from vsdemo.training.tensorboard import Board

    with state.exclusive_run(out):
        with state.time_limit(minutes):
            kind, trainer = _trainer(preset, out, data, set or [], watch or [])
            if tensorboard:
                trainer.events.also.append(Board(out))
            ended = trainer.run()
        if ended == "stopped":
            print(f"Stopped and saved; the same command goes on. {out}")
            return
        print(kind.table(kind.finish(out)))
    if trainer.watch:
        print(f'\nNext: python -m vsdemo search {out} "a brown dog runs" -k 5')


def _trainer(
    preset: str, out: Path, data: str | None, settings: list[str], watched: list[str]
) -> tuple[Any, Any]:
    """The module that measures what is trained, and the trainer."""
    from vsdemo import models
    from vsdemo.core.config import override
    from vsdemo.core.errors import UserError
    from vsdemo.evaluation import evaluate
    from vsdemo.training import hypernym_pairs, sentence_pairs
    from vsdemo.training.trainer import Trainer

    config = override(models.preset(preset)[1], settings)
    if watched and config.text_only:
        raise UserError(f"{preset} learns without photos to watch; leave --watch out.")
    if "concepts" in config.needs:
        concepts = hypernym_pairs.HypernymTrainer(out, preset, config, data or "wordnet")
        return hypernym_pairs, concepts
    if config.text_only:
        return sentence_pairs, sentence_pairs.trainer(out, preset, config, data)
    return evaluate, Trainer(out, preset, config, data or "flickr8k", watched)
