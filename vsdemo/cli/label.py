"""`label`: labels of photos, learned from a few that are marked."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vsdemo.cli.options import IndexName, Json, K, checkpoint_folder, index_name, load_engine
from vsdemo.cli.output import print_json, print_table
from vsdemo.core.errors import UserError
from vsdemo.core.paths import printable

if TYPE_CHECKING:
    from vsdemo.search.engine import Engine
    from vsdemo.search.labels import LabelHit, TrainedLabel

Name = Annotated[str, typer.Argument(help="Name of the label.")]
Model = Annotated[
    Path | None,
    typer.Option(
        "--model",
        callback=lambda name: name and checkpoint_folder(name),
        help="Checkpoint folder or clip:NAME; default: the first that photos are indexed for.",
    ),
]

cli = typer.Typer(invoke_without_command=True)


@cli.callback()
def label(context: typer.Context, gallery: IndexName = None, *, as_json: Json = False) -> None:
    """List, mark, suggest and write labels of photos.

    Without a command, list them with how many photos are marked as fitting and as not fitting.
    """
    from vsdemo.data.catalog.annotations import Annotations

    if context.invoked_subcommand:
        return
    labels = Annotations(index_name(gallery)).labels()
    if as_json:
        print_json(
            [
                {"name": one.name, "positive": len(one.positive), "negative": len(one.negative)}
                for one in labels
            ]
        )
    elif labels:
        rows = [(one.name, str(len(one.positive)), str(len(one.negative))) for one in labels]
        print_table(rows, header=("label", "fits", "does not"))
    else:
        print("There are no labels yet; `python -m vsdemo label mark NAME PHOTO` makes one.")


@cli.command()
def mark(
    name: Name,
    photos: Annotated[list[Path], typer.Argument(metavar="PHOTO...", help="Photo files.")],
    gallery: IndexName = None,
    *,
    negative: Annotated[bool, typer.Option("--not", help="The label does not fit them.")] = False,
    clear: Annotated[bool, typer.Option("--clear", help="Forget that they are marked.")] = False,
) -> None:
    """Mark photos that a label fits, or with --not that it does not fit."""
    from vsdemo.data.catalog.annotations import Annotations
    from vsdemo.data.catalog.catalog import Catalog
    from vsdemo.data.catalog.examine import content_hash

    if negative and clear:
        raise UserError("--not and --clear exclude each other; choose one.")
    catalog = Catalog(index_name(gallery))
    indexed = {*catalog.photos()[1]}
    keys = []
    for photo in photos:
        keys.append(content_hash(photo))
        if keys[-1] not in indexed:
            raise UserError(f"{photo} is not in the index {catalog.name!r}; index its folder.")
    annotations = Annotations(catalog.name)
    if clear:
        annotations.unmark(name, keys)
    else:
        annotations.mark(name, keys, positive=not negative)
    marked = annotations.label(name)
    print(f"{marked.name}: {len(marked.positive):,} fit, {len(marked.negative):,} do not")


@cli.command()
def suggest(
    name: Name,
    k: K = "20",
    threshold: Annotated[
        float, typer.Option(min=0, max=1, help="Minimum probability of a photo.")
    ] = 0.5,
    model: Model = None,
    gallery: IndexName = None,
    *,
    as_json: Json = False,
) -> None:
    """Find photos that a label probably fits, the best first, and say how sure that is.

    In JSON, `uncertain` has the photos that are best marked next.
    """
    from vsdemo.search.engine import check_k

    count = check_k(k)
    engine, trained = _train(index_name(gallery), name, model)
    hits, uncertain = trained.suggestions(count, threshold), trained.uncertain(count)
    if as_json:
        print_json(
            {
                "label": name,
                "positive": len(trained.positives),
                "negative": len(trained.negatives),
                "missing": trained.missing,
                "reliability": trained.reliability,
                "accuracy": trained.accuracy
                and {
                    "right": trained.accuracy.right,
                    "examples": trained.accuracy.examples,
                    "interval": trained.accuracy.interval,
                },
                "suggestions": [_record(engine, hit) for hit in hits],
                "uncertain": [_record(engine, hit) for hit in uncertain],
            }
        )
        return
    records = [_record(engine, hit) for hit in hits]
    print_table([(str(r["rank"]), f"{r['probability']:.3f}", r["photo"]) for r in records])
    if not records:
        print(f"No other photo has a probability of at least {threshold:g}.")
    print(trained.reliability)


@cli.command("write-xmp")
def write_xmp(
    name: Name,
    threshold: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Also for unmarked photos of at least this probability."),
    ] = None,
    model: Model = None,
    gallery: IndexName = None,
    *,
    remove: Annotated[
        bool, typer.Option("--remove", help="Remove it where it was written by this command.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Write a label as a keyword into the XMP sidecars of the photos that are marked as fitting.

    It is removed from those where it was written before and no longer fits. Photos are not changed,
    and sidecars keep whatever else they hold.
    """
    from vsdemo.data.catalog.annotations import Annotations
    from vsdemo.data.catalog.catalog import Catalog
    from vsdemo.data.catalog.keywords import remove_keyword, write_keyword

    catalog = Catalog(index_name(gallery))
    annotations = Annotations(catalog.name)
    if remove:
        summary = remove_keyword(catalog, annotations, name)
    else:
        marked = annotations.label(name)
        photos = {*marked.positive}
        if threshold is not None:
            trained = _train(catalog.name, name, model)[1]
            photos |= {hit.key for hit in trained.suggestions(len(trained.keys), threshold)}
        summary = write_keyword(catalog, annotations, marked.name, photos)
    if as_json:
        print_json(asdict(summary))
    else:
        print(
            f"{summary.keyword}: {summary.written:,} sidecars written, {summary.unchanged:,} had "
            f"it, {summary.removed:,} lost it"
        )


@cli.command()
def rename(
    name: Name,
    new: Annotated[str, typer.Argument(help="Its new name.")],
    gallery: IndexName = None,
) -> None:
    """Rename a label; keywords in sidecars stay as they are."""
    from vsdemo.data.catalog.annotations import Annotations

    Annotations(index_name(gallery)).rename_label(name, new)
    print(f"{name} renamed to {new}.")


@cli.command()
def delete(name: Name, gallery: IndexName = None) -> None:
    """Delete a label; keywords in sidecars stay unless `write-xmp --remove` removes them."""
    from vsdemo.data.catalog.annotations import Annotations

    Annotations(index_name(gallery)).delete_label(name)
    print(f"{name} deleted.")


def _train(index: str, name: str, model: Path | None) -> tuple[Engine, TrainedLabel]:
    """Train a label on the photos of an index."""
    from vsdemo.data.catalog.annotations import Annotations
    from vsdemo.search import indexing
    from vsdemo.search.labels import train_on_gallery

    marked = Annotations(index).label(name)  # before photos are read, which takes long
    folder = model or next(iter(indexing.default_checkpoints()), None)
    if folder is None:
        raise UserError("No model for photos is available; name one with --model.")
    engine = load_engine(folder, index, "all")
    return engine, train_on_gallery(engine, marked.examples)


def _record(engine: Engine, hit: LabelHit) -> dict[str, Any]:
    """Return a photo as JSON."""
    return {
        "rank": hit.rank,
        "photo": printable(str(engine.gallery.photos[hit.number])),
        "probability": hit.probability,
    }
