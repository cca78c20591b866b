"""`align` and `regions`: which words describe which part of a photo."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from vsdemo.cli.options import (
    Checkpoint,
    Gallery,
    ImageFile,
    Json,
    K,
    PhotoFile,
    Split,
    load_engine,
)
from vsdemo.cli.output import print_json, print_table
from vsdemo.core.alignment import Alignment


def align(
    checkpoint: Checkpoint,
    photo: PhotoFile,
    sentence: Annotated[str, typer.Argument(help="Sentence to align with the photo.")],
    to: ImageFile = None,
    boxes: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Boxes to use as regions: .json of COCO, or .xml of Pascal VOC."
        ),
    ] = None,
    *,
    as_json: Json = False,
) -> None:
    """Show which words describe which region of a photo."""
    from vsdemo.core.images import check_image_name, open_photo, save_image
    from vsdemo.core.paths import write_text
    from vsdemo.core.sentences import Sentence
    from vsdemo.data import box_files
    from vsdemo.plots import overlay_png, overlay_svg
    from vsdemo.search.engine import Reader
    from vsdemo.serving import answers

    text, image = Sentence.from_user(sentence).text, open_photo(photo)
    is_svg = to is not None and to.suffix.lower() == ".svg"
    if to and not is_svg:
        check_image_name(to)
    places = None if boxes is None else box_files.read(boxes, Path(photo).name, image.size)
    alignment = Reader(checkpoint).align(image, text, places)
    if to and is_svg:
        write_text(to, overlay_svg(image, alignment))
    elif to:
        save_image(overlay_png(image, alignment), to)
    if as_json:
        print_json(answers.alignment(alignment, text, name=str(photo)).model_dump())
    elif to:
        print(to)
    else:
        _print_alignment(alignment)


def _print_alignment(alignment: Alignment) -> None:
    """Print one line for each fragment, one for the rest, then the total score."""
    from vsdemo.plots.alignment_overlay import sum_of
    from vsdemo.plots.region_marks import absence, decimals, phrase, rest_phrase

    rows = []
    for m in alignment.content_fragments:
        fragment, region = alignment.fragments[m], alignment.best_region(m)
        score, box = "", absence(alignment, m)
        if region is not None:
            score = f"{alignment.best_score(m):.2f}"
            box = _box(alignment.boxes[region])
        rows.append((fragment.relation, phrase(alignment, m), score, box))
    print_table(rows)
    if alignment.rest_fragments:
        print(rest_phrase(alignment))
    print(f"score {alignment.total:z.{decimals([alignment.total])}f}, {sum_of(alignment)}")


def regions(  # noqa: PLR0913 (a command's parameters are its options)
    checkpoint: Checkpoint,
    sentence: Annotated[str, typer.Argument(help="Sentence to search regions for.")],
    k: K = "10",
    gallery: Gallery = None,
    split: Split = "all",
    to: ImageFile = None,
    *,
    as_json: Json = False,
) -> None:
    """Find the regions of photos that a sentence describes."""
    from vsdemo.core.images import check_image_name, open_photo, save_image
    from vsdemo.core.sentences import Sentence
    from vsdemo.plots import crop, crops_png
    from vsdemo.search.engine import Reader, check_k

    count, text = check_k(k), Sentence.from_user(sentence).text
    if to:
        check_image_name(to)
    Reader(checkpoint).check_can_align()  # before photos are read, which takes long
    engine = load_engine(checkpoint, gallery, split)
    hits = engine.regions(text, count)
    if to:
        crops = []
        for hit in hits:
            photo = open_photo(engine.gallery.photos[hit.number])
            crops.append((crop(photo, hit.box), f"{hit.rank}. {hit.score:.2f}  {hit.item}"))
        save_image(crops_png(crops), to)
    if as_json:
        print_json({"sentence": text, "hits": [asdict(hit) for hit in hits]})
    elif to:
        print(to)
    else:
        print_table([(str(hit.rank), f"{hit.score:.2f}", _box(hit.box), hit.item) for hit in hits])


def _box(box: tuple[float, float, float, float]) -> str:
    return " ".join(f"{edge:.2f}" for edge in box)
