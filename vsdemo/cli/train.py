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

    Ctrl-C saves and stops; the same command resumes. Several processes share each batch if they are
    started by `torchrun --nproc-per-node 2 -m vsdemo train ...`.
    """
    from vsdemo import models
    from vsdemo.core.config import override
    from vsdemo.training import distributed, materials, preflight, state
    from vsdemo.training.tensorboard import Board
    from vsdemo.training.trainer import Trainer

    with distributed.session():
        config = models.preset(preset)[1]
        adapted: tuple[str, ...] = ()
        if not any(setting.startswith("backbone=") for setting in settings or []):
            adapted = preflight.default_settings(config, data)
        config = override(config, [*adapted, *(settings or [])])
        with distributed.main_first():
            notes = preflight.require_dataset(config, data)
            preflight.require_memory(preset, config, data, distributed.count_here())
        if distributed.is_main():
            print(*notes, sep="\n", end="\n" if notes else "", file=sys.stderr)
        with distributed.main_only(state.exclusive_run(out)):
            with state.time_limit(minutes):
                with distributed.main_first():
                    material = materials.create(preset, config, dataset=data, watched=watch or [])
                    trainer = Trainer(out, material)
                material.join_ranks()
                if tensorboard and distributed.is_main():
                    trainer.events.listeners.append(Board(out))
                if adapted and distributed.is_main():
                    settings_text = " ".join(f"--set {setting}" for setting in adapted)
                    print(f"Adapted to the data: {settings_text}", file=sys.stderr)
                outcome = trainer.run()
            if distributed.is_main():
                print_left_out(material.unreadable)
                _finish(out, is_stopped=outcome == "stopped", uses_photos=material.uses_photos)


def _finish(out: Path, *, is_stopped: bool, uses_photos: bool) -> None:
    """Measure the trained model, unless the training was stopped, and print what comes next."""
    from vsdemo.evaluation import cards
    from vsdemo.models import checkpoint

    if is_stopped:
        print(f"Training stopped and saved in {out}; run the same command to resume.")
        return
    metrics = cards.finish(out)
    print(cards.table(checkpoint.read_spec(out), metrics))
    if uses_photos:
        print(f'\nNext: python -m vsdemo search {out} "a brown dog runs" -k 5')
