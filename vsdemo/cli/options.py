"""Arguments and options that several commands share."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vsdemo.core.errors import UserError

if TYPE_CHECKING:
    from vsdemo.search.engine import Engine


def checkpoint_folder(name: Path) -> Path:
    """Return the folder of a checkpoint that is named on the command line."""
    if not str(name).startswith("clip:"):  # without importing torch
        return name
    from vsdemo.models import checkpoint_names

    return checkpoint_names.find(name)


def checkpoint_folders(names: list[Path]) -> list[Path]:
    """Return the folders of checkpoints that are named on the command line."""
    return [checkpoint_folder(name) for name in names]


Checkpoint = Annotated[
    Path,
    typer.Argument(
        callback=checkpoint_folder,
        help="Checkpoint folder, or clip:NAME for a model of open_clip; see `vsdemo models`.",
    ),
]
Checkpoints = Annotated[
    list[Path],
    typer.Argument(
        callback=checkpoint_folders,
        help="Checkpoint folders, or clip:NAME for models of open_clip.",
    ),
]
PhotoFile = Annotated[Path, typer.Argument(metavar="PHOTO", help="Photo file.")]
Gallery = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|PATH",
        help="Data set, captions.json or folder of photos; default: the checkpoint's data set.",
    ),
]
IndexName = Annotated[
    str | None,
    typer.Option(
        "--gallery",
        metavar="NAME|PATH",
        help="Index or its folder of photos; default: the only one there is.",
    ),
]
Split = Annotated[str, typer.Option(help="train, dev, test or all.")]
# Text, so that anything but a whole number gets the same message here as in the app.
K = Annotated[str, typer.Option("-k", metavar="INTEGER", help="Number of results, 1 to 1,000.")]
Parser = Annotated[
    str, typer.Option("--parser", help="shipped, or stanza if its models are downloaded.")
]
StsDir = Annotated[
    Path | None,
    typer.Option(help="Folder with STS.input.* and STS.gs.* files to add to the task sts."),
]
HierarcapsDir = Annotated[
    Path | None,
    typer.Option(help="Folder with hierarcaps.csv and images/ for the task hierarcaps."),
]
Svg = Annotated[Path | None, typer.Option(metavar="FILE", help="Write the figure to an SVG file.")]
ImageFile = Annotated[
    Path | None, typer.Option("--to", metavar="FILE", help="Write the result to an image file.")
]
Record = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Write the figures and this command to a JSON file for `report`."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def load_engine(checkpoint: Path, gallery: str | None, split: str) -> Engine:
    """Load a checkpoint over a gallery, and list unreadable photos on stderr."""
    from vsdemo.search.engine import Engine

    engine = Engine(checkpoint, gallery, split)
    print_left_out(engine.unreadable)
    return engine


def print_left_out(unreadable: Mapping[Path, str]) -> None:
    """Print on stderr how many photos cannot be read, and why the first one cannot."""
    if reasons := list(unreadable.values()):
        print(f"Photos left out: {len(reasons):,}, such as: {reasons[0]}", file=sys.stderr)


def index_name(gallery: str | None) -> str:
    """Return the name of an index that has photos, labels or saved searches."""
    from vsdemo.data.catalog.annotations import annotated_names
    from vsdemo.data.catalog.catalog import catalog_of, list_catalogs

    names = sorted({*list_catalogs(), *annotated_names()})
    if gallery in names:
        return gallery
    if gallery is None and len(names) == 1:
        return names[0]
    if gallery is not None and (catalog := catalog_of(Path(gallery).expanduser())):
        return catalog.name
    if not names:
        raise UserError("There is no index yet; `python -m vsdemo index FOLDER` makes one.")
    valid = ", ".join(names)
    if gallery is None:
        raise UserError(f"There are several indexes; choose one with --gallery: {valid}.")
    raise UserError(f"There is no index {gallery!r}; use one of {valid}.")


def is_photo(text: str) -> bool:
    """Return whether an argument names a photo file, and is not a sentence."""
    from vsdemo.core.images import SUFFIXES

    return Path(text[:255]).suffix.lower() in SUFFIXES
