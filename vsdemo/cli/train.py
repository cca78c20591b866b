"""`train`: train a preset."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer


def train(  # noqa: PLR0913 (a command's parameters are its options)
    preset: Annotated[str, typer.Argument(help="Name of a preset; see `vsdemo models`.")],
    out: Annotated[Path, typer.Option(help="Output folder; an interrupted training resumes.")],
    data: Annotated[
        str | None, typer.Option(help="Data set to train on; flickr8k by default.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Setting; may be repeated."),
    ] = None,
    watch: Annotated[
        list[str] | None,
        typer.Option(help="Sentence to search photos of dev for at each evaluation; repeatable."),
    ] = None,
    minutes: Annotated[
        float | None, typer.Option(min=0.01, help="Save and stop after this many minutes.")
    ] = None,
    *,
    tensorboard: Annotated[
        bool, typer.Option("--tensorboard", help="Write TensorBoard events into --out.")
    ] = False,
) -> None:
    """Train a preset, and evaluate it on dev and test.

    Ctrl-C saves and stops; the same command resumes.
    """
    from vsdemo.training import state
    from vsdemo.training.tensorboard import Board

    with state.exclusive_run(out):
        with state.time_limit(minutes):
            kind, trainer = _trainer(preset, out, data, settings or [], watch or [])
            if tensorboard:
                trainer.events.listeners.append(Board(out))
            outcome = trainer.run()
        if outcome == "stopped":
            print(f"Saved in {out} and stopped; the same command resumes.")
            return
        print(kind.table(kind.finish(out)))
    if trainer.watch:
        print(f'\nNext: python -m vsdemo search {out} "a brown dog runs" -k 5')


def _trainer(
    preset: str, out: Path, data: str | None, settings: list[str], watch: list[str]
) -> tuple[Any, Any]:
    """Return the module that evaluates a preset, and its trainer."""
    from vsdemo import models
    from vsdemo.core.config import override
    from vsdemo.core.errors import UserError
    from vsdemo.evaluation import evaluate
    from vsdemo.training import hypernym_pairs, sentence_pairs
    from vsdemo.training.trainer import Trainer

    config = override(models.preset(preset)[1], settings)
    if watch and config.text_only:
        raise UserError(f"{preset} learns without photos; leave --watch out.")
    if "concepts" in config.needs:
        concepts = hypernym_pairs.HypernymTrainer(out, preset, config, data or "wordnet")
        return hypernym_pairs, concepts
    if config.text_only:
        return sentence_pairs, sentence_pairs.trainer(out, preset, config, data)
    return evaluate, Trainer(out, preset, config, data or "flickr8k", watch)
