"""`train`: train a preset."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from vsdemo.cli.options import print_left_out


def train(  # noqa: PLR0913 (a command's parameters are its options)
    preset: Annotated[str, typer.Argument(help="Name of a preset; see `vsdemo models`.")],
    out: Annotated[Path, typer.Option(help="Output folder; an interrupted training resumes.")],
    data: Annotated[
        str | None,
        typer.Option(help="Data set, index or folder with captions; flickr8k by default."),
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
    from vsdemo import models
    from vsdemo.core.config import override
    from vsdemo.evaluation import cards
    from vsdemo.models import checkpoint
    from vsdemo.training import materials, preflight, state
    from vsdemo.training.tensorboard import Board
    from vsdemo.training.trainer import Trainer

    config = override(models.preset(preset)[1], settings or [])
    for note in preflight.require_dataset(config, data):
        print(note, file=sys.stderr)
    preflight.require_memory(preset, config, data)
    with state.exclusive_run(out):
        with state.time_limit(minutes):
            material = materials.create(preset, config, dataset=data, watched=watch or [])
            trainer = Trainer(out, material)
            if tensorboard:
                trainer.events.listeners.append(Board(out))
            outcome = trainer.run()
        print_left_out(material.unreadable)
        if outcome == "stopped":
            print(f"Training stopped and saved in {out}; run the same command to resume.")
            return
        metrics = cards.finish(out)
        print(cards.table(checkpoint.read_spec(out), metrics))
    if material.uses_photos:
        print(f'\nNext: python -m vsdemo search {out} "a brown dog runs" -k 5')
