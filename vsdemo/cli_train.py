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
) -> None:
    """Train a preset; then measure it on dev and test. Ctrl-C saves, the same command goes on."""
    from vsdemo import evaluate, models, train_hypernyms, train_pairs
    from vsdemo.config import override
    from vsdemo.train import Trainer

    config = override(models.preset(preset)[1], set or [])
    kind: Any = evaluate
    if "concepts" in config.needs:
        kind = train_hypernyms
        trainer: Trainer = kind.HypernymTrainer(out, preset, config, data or "wordnet")
    elif config.text_only:
        kind = train_pairs
        trainer = kind.trainer(out, preset, config, data)
    else:
        trainer = Trainer(out, preset, config, data or "flickr8k")
    if trainer.run() == "stopped":
        print(f"Stopped and saved; the same command goes on. {out}")
        return
    print(kind.table(kind.finish(out)))
    if config.text_only:
        return
    print(f'\nNext: python -m vsdemo search {out} "a brown dog runs" -k 5')
