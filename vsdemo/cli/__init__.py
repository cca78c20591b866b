"""The command line: one command a verb."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from vsdemo.cli import (
    align,
    bench,
    checkpoints,
    fetch,
    hierarchy,
    lab,
    options,
    parsing,
    pocket,
    runs,
    sts,
    tables,
    train,
)
from vsdemo.cli import data as cli_data
from vsdemo.cli.options import Checkpoint, Gallery, Json, K, Split, StsDir, show
from vsdemo.core.errors import UserError
from vsdemo.evaluation.tasks import TASKS

HELP = """Visual-semantic embeddings: sentences and photos in one space.

Next, type:

\b
  python -m vsdemo data                             what data is here
  python -m vsdemo fetch                            what can be downloaded
  python -m vsdemo models                           presets to train, checkpoints to use
  python -m vsdemo search checkpoints/flickr8k/order "a dog runs" -k 5
  python -m vsdemo parse "a dog runs through the grass"
  python -m vsdemo train gru --data flickr8k --out runs/gru
  python -m vsdemo app                              the same in the browser
"""

cli = typer.Typer(
    help=HELP,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
)
cli.add_typer(cli_data.cli, name="data")
cli.add_typer(bench.cli, name="bench")
cli.add_typer(runs.cli, name="runs")
for verb in (
    train.train,
    *(fetch.fetch, lab.lab, tables.table, parsing.parse, parsing.relations),
    *(parsing.train_parser, pocket.train_pocket, align.align, align.regions),
    *(checkpoints.curve, checkpoints.ensemble, sts.sts, sts.sentences),
    *(hierarchy.traverse, hierarchy.compose, hierarchy.abstract),
):
    cli.command()(verb)


def _show_hits(hits: list[Any], key: str, unit: str, as_json: bool, **head: Any) -> None:
    if as_json:
        rows = [{"rank": h.rank, key: h.item, "score": h.score, "fit": h.unit_score} for h in hits]
        show({**head, "unit": unit, "hits": rows})
    else:
        for h in hits:
            print(f"{h.rank:4}  {h.unit_score:.3f}  {h.item}")
        print(f"      {unit}, higher is better")


@cli.command()
def evaluate(
    checkpoint: Checkpoint,
    split: Split = "test",
    data: Gallery = None,
    task: Annotated[
        str | None, typer.Option(help=f"{', '.join(TASKS)}; else what it was trained for.")
    ] = None,
    folds: Annotated[bool, typer.Option(help="Average blocks of 1,000 photos.")] = False,
    sts_dir: StsDir = None,
    json: Json = False,
) -> None:
    """Measure a checkpoint: recalls, ranks and their 95% intervals; of a parser UAS and LAS."""
    from vsdemo.data.text import parser
    from vsdemo.evaluation import evaluate as evaluation

    if parser.is_pipeline(checkpoint):
        from vsdemo.recipes.parsing import score

        if data == "storybook":
            return show(score.on_storybook(checkpoint, split))
        return show(score.evaluate(checkpoint, split))

    result = evaluation.evaluate(checkpoint, split, data, task, folds, sts_dir)
    if json or "ci95" not in result or result["task"] != "retrieval":
        show(result)
    else:
        print(evaluation.table({split: result}))


@cli.command()
def difference(
    a: Checkpoint,
    b: Annotated[Path, typer.Argument(help="Checkpoint to subtract.")],
    split: Split = "test",
    data: Gallery = None,
) -> None:
    """Metrics of checkpoint A minus those of B, with paired 95% intervals, as JSON."""
    from vsdemo.evaluation import evaluate as evaluation

    show(evaluation.difference(a, b, split, data))


@cli.command()
def search(
    checkpoint: Checkpoint,
    sentence: Annotated[str, typer.Argument(help="What the photos should show.")],
    k: K = "10",
    gallery: Gallery = None,
    split: Split = "all",
    json: Json = False,
) -> None:
    """Find the photos that a sentence describes."""
    from vsdemo.core.sentences import Sentence
    from vsdemo.search.engine import check_k

    number, asked = check_k(k), Sentence.from_user(sentence)
    engine = options.engine(checkpoint, gallery, split)
    hits = engine.search(asked.text, number)
    unknown = engine.unknown_words(asked.text)
    if unknown and not json:
        print(f"Words this model does not know: {', '.join(unknown)}", file=sys.stderr)
    _show_hits(hits, "photo", engine.score.unit, json, sentence=asked.text, unknown_words=unknown)


@cli.command()
def caption(
    checkpoint: Checkpoint,
    photo: Annotated[Path, typer.Argument(help="A photo file.")],
    k: K = "10",
    gallery: Gallery = None,
    split: Split = "all",
    json: Json = False,
) -> None:
    """Find the sentences that describe a photo: of our own, or the captions of --gallery."""
    from vsdemo.core.images import open_photo
    from vsdemo.search.engine import Reader, check_k

    if gallery is None and split != "all":
        raise UserError("--split is a part of --gallery; name that too.")
    number, opened = check_k(k), open_photo(photo)
    reader = Reader(checkpoint) if gallery is None else options.engine(checkpoint, gallery, split)
    hits = reader.caption(opened, number)
    _show_hits(hits, "sentence", reader.score.unit, json, photo=str(photo))


@cli.command()
def neighbours(
    checkpoint: Checkpoint,
    query: Annotated[str, typer.Argument(help="A sentence, or a photo file.")],
    k: K = "10",
    gallery: Gallery = None,
    split: Split = "all",
    json: Json = False,
) -> None:
    """Find the photos most like a photo, or the sentences most like a sentence."""
    from vsdemo.core.images import SUFFIXES, open_photo
    from vsdemo.search.engine import check_k

    number = check_k(k)
    engine = options.engine(checkpoint, gallery, split)
    if Path(query[:255]).suffix.lower() in SUFFIXES:
        hits, key = engine.photos_like(open_photo(query), number), "photo"
    else:
        hits, key = engine.similar_sentences(query, number), "sentence"
    _show_hits(hits, key, engine.score.unit, json, query=query)


@cli.command()
def models() -> None:
    """List presets with their settings, and the checkpoints here."""
    from vsdemo import models as registry
    from vsdemo.core.config import describe
    from vsdemo.models import checkpoint

    print("Presets (python -m vsdemo train PRESET --out DIR [--set key=value]):")
    for name, (model, _) in registry.presets().items():
        print(f"  {name:18} {(registry.module(model).__doc__ or '').splitlines()[0]}")
    print("\nSettings (--set key=value), with the default of the first preset of each model:")
    for model in registry.MODELS:
        print(f"  {model}: {describe(next(iter(registry.module(model).PRESETS.values())))}")
    print("\nCheckpoints:")
    for folder in checkpoint.shipped():
        print(f"  {folder}")


@cli.command()
def app(
    port: Annotated[int, typer.Option(help="Of the web server.")] = 7860,
    gallery: Gallery = None,
) -> None:
    """Open the app in the browser."""
    from vsdemo.ui import launch

    launch(port=port, gallery=gallery)


def main() -> None:
    """Runs the command line; bad input prints one sentence and exits with 2."""
    try:
        sys.exit(cli(sys.argv[1:] or ["--help"], standalone_mode=False))
    except UserError as error:
        sentence = str(error)
    except typer.TyperException as error:  # a wrong option
        sentence = f"{error.format_message().rstrip('.')}; see `python -m vsdemo --help`."
    except OSError as error:  # a full disk, a folder that cannot be written
        sentence = f"{error.filename}: {error.strerror}." if error.filename else f"{error}."
    print("vsdemo:", " ".join(sentence.split()), file=sys.stderr)
    sys.exit(2)
