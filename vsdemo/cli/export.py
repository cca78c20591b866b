"""`export`: embeddings and models as files for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vsdemo.cli.options import Gallery, Json, Split, checkpoint_folder, load_engine
from vsdemo.cli.output import print_json, print_table
from vsdemo.core.errors import UserError


def export(  # noqa: PLR0913 (a command's parameters are its options)
    checkpoint: Annotated[
        Path,
        typer.Argument(
            callback=checkpoint_folder,
            help="Checkpoint folder or clip:NAME; with --onnx also an image network: pocket.",
        ),
    ],
    to: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write embeddings to a .parquet or .npy file."),
    ] = None,
    gallery: Gallery = None,
    split: Split = "all",
    onnx: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write ONNX models into a folder.")
    ] = None,
    *,
    half: Annotated[
        bool, typer.Option("--half", help="Write embeddings as float16 instead of float32.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Export the embeddings of a gallery, or the model itself as ONNX.

    --to writes a row for each photo of the gallery and for each of its captions: kind, photo,
    number of the caption, text and embedding. A .npy file holds only the embeddings, and a
    .npy.json file next to it holds the rest. --onnx writes the encoders of sentences and photos and
    their score, or an image network, and a .json file that says how to use them without vsdemo.
    Older files are replaced.
    """
    if to is not None and onnx is None:
        about = _write_embeddings(checkpoint, to, gallery, split, half=half)
        if as_json:
            print_json({"file": str(to), **about})
        else:
            print("{photos:,} photos, {captions:,} captions, {dim:,} x {type}".format(**about))
            print(to)
    elif onnx is not None and to is None:
        if gallery is not None or split != "all" or half:
            raise UserError("--gallery, --split and --half are for embeddings; use --to.")
        files = _write_onnx(checkpoint, onnx)
        if as_json:
            print_json({"files": [str(file) for file in files]})
        else:
            print_table([(f"{file.stat().st_size / 1e6:.2f} MB", str(file)) for file in files])
    else:
        raise UserError("Give either --to FILE for embeddings or --onnx FOLDER.")


def _write_embeddings(
    checkpoint: Path, to: Path, gallery: str | None, split: str, *, half: bool
) -> dict[str, str | int]:
    from tqdm import tqdm

    from vsdemo.search import export as embedding_files
    from vsdemo.search.engine import Reader

    embedding_files.check(to, Reader(checkpoint).score)  # before photos are read, which takes long
    engine = load_engine(checkpoint, gallery, split)
    captions = len(engine.gallery.captions)
    with tqdm(total=captions, desc="captions", disable=not captions) as bar:
        return embedding_files.write(
            engine, to, half=half, progress=lambda done, _: bar.update(done - bar.n)
        )


def _write_onnx(checkpoint: Path, to: Path) -> list[Path]:
    from vsdemo.models import onnx_export
    from vsdemo.vision.backbones import is_backbone

    if is_backbone(str(checkpoint)) and not (checkpoint / "config.json").exists():
        return onnx_export.export_network(str(checkpoint), to)
    return onnx_export.export_checkpoint(checkpoint, to)
