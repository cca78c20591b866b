"""The command line, one file for each group of commands."""

from __future__ import annotations

import sys

import typer

from vsdemo.cli import (
    align,
    app,
    bench,
    captioner,
    checkpoints,
    checksums,
    clip,
    compare,
    data,
    easel,
    embeddings,
    evaluate,
    export,
    fetch,
    finder,
    hierarchy,
    index,
    lab,
    label,
    parsing,
    pocket,
    report,
    reproduce,
    runs,
    saved,
    search,
    stores,
    sts,
    tables,
    train,
)
from vsdemo.core import cores
from vsdemo.core.errors import UserError
from vsdemo.core.interrupts import INTERRUPTED

HELP = """Visual-semantic embeddings: sentences and photos in one space.

Examples:

\b
  python -m vsdemo data                             list data sets
  python -m vsdemo fetch                            list downloads
  python -m vsdemo models                           list presets and checkpoints
  python -m vsdemo search checkpoints/flickr8k/order "a dog runs" -k 5
  python -m vsdemo parse "a dog runs through the grass"
  python -m vsdemo train gru --data flickr8k --out runs/gru
  python -m vsdemo app                              start the app in the browser
"""
COMMANDS = (
    app.app,
    index.index,
    search.search,
    search.describe,
    search.similar,
    search.embed,
    stores.store,
    sts.sentences,
    compare.compare,
    align.align,
    align.regions,
    hierarchy.walk,
    hierarchy.compose,
    hierarchy.common,
    hierarchy.store_map,
    parsing.parse,
    checkpoints.models,
    train.train,
    evaluate.evaluate,
    evaluate.difference,
    tables.table,
    lab.lab,
    reproduce.reproduce,
    report.report,
    sts.sts,
    checkpoints.curve,
    checkpoints.ensemble,
    checkpoints.calibrate,
    export.export,
    embeddings.embed_photos,
    embeddings.merge_embeddings,
    parsing.relations,
    fetch.fetch,
    checksums.checksums,
    parsing.train_parser,
    pocket.train_pocket,
    easel.train_easel,
    finder.train_finder,
    captioner.train_captioner,
    clip.train_clip,
)

cli = typer.Typer(
    help=HELP,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
)
for command in COMMANDS:
    cli.command()(command)
cli.add_typer(data.cli, name="data")
cli.add_typer(runs.cli, name="runs")
cli.add_typer(bench.cli, name="bench")
cli.add_typer(label.cli, name="label")
cli.add_typer(saved.cli, name="saved")


def main() -> None:
    """Run the command line; bad input prints one sentence and exits with 2."""
    cores.limit_threads()
    try:
        sys.exit(cli(sys.argv[1:] or ["--help"], standalone_mode=False))
    except UserError as error:
        message = str(error)
    except typer.TyperException as error:  # a wrong option
        message = f"{error.format_message().rstrip('.')}; see `python -m vsdemo --help`."
    except OSError as error:  # a full disk, a folder without write permission
        message = f"{error.filename}: {error.strerror}." if error.filename else f"{error}."
    except (typer.Abort, KeyboardInterrupt):
        sys.exit(INTERRUPTED)
    print("vsdemo:", " ".join(message.split()), file=sys.stderr)
    sys.exit(2)
