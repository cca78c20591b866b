"""`python -m vsdemo align`, `regions`: which words speak of which part of a photo."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from vsdemo.cli import options
from vsdemo.cli.options import Checkpoint, Gallery, Json, K, Split
from vsdemo.core.alignment import Alignment

To = Annotated[Path | None, typer.Option(help="Image file to draw to, such as found.png.")]


def align(
    checkpoint: Checkpoint,
    photo: Annotated[Path, typer.Argument(help="A photo file.")],
    sentence: Annotated[str, typer.Argument(help="What may be in the photo.")],
    json: Json = False,
    to: To = None,
) -> None:
    """Show which region of a photo each fragment of a sentence speaks of."""
    from vsdemo.core.images import check_image_name, open_photo, save_image
    from vsdemo.core.sentences import Sentence
    from vsdemo.plots import overlay_png
    from vsdemo.search.engine import Reader

    asked, opened = Sentence.from_user(sentence), open_photo(photo)
    if to:
        check_image_name(to)
    found = Reader(checkpoint).align(opened, asked.text)
    if to:
        save_image(overlay_png(opened, found), to)
    if json:
        options.show({"photo": str(photo), "sentence": asked.text, **asdict(found)})
    else:
        print(to or "\n".join(_lines(found)))


def _lines(found: Alignment) -> list[str]:
    """A line a fragment, then the total."""
    from vsdemo.plots.alignment_overlay import sum_of
    from vsdemo.plots.region_marks import decimals, phrase

    phrases = [phrase(found, m) for m in range(len(found.fragments))]
    wide = max(map(len, phrases), default=0)
    lines = []
    for m, (fragment, words) in enumerate(zip(found.fragments, phrases, strict=True)):
        region = found.best_region(m)
        told = "not grounded"
        if region is not None:
            box = " ".join(f"{edge:.2f}" for edge in found.boxes[region])
            told = f"{found.scores[m][region]:7.2f}   {box}"
        lines.append(f"{fragment.relation:12} {words:{wide}} {told}")
    digits = decimals([found.total])
    return [*lines, f"score {found.total:.{digits}f}, {sum_of(found)}"]


def regions(
    checkpoint: Checkpoint,
    sentence: Annotated[str, typer.Argument(help="What a region should show.")],
    k: K = "10",
    gallery: Gallery = None,
    split: Split = "all",
    json: Json = False,
    to: To = None,
) -> None:
    """Find the regions of a gallery's photos that a sentence speaks of."""
    from vsdemo.core.images import check_image_name, open_photo, save_image
    from vsdemo.core.sentences import Sentence
    from vsdemo.plots import crop, crops_png
    from vsdemo.search.engine import Reader, check_k

    number, asked = check_k(k), Sentence.from_user(sentence)
    if to:
        check_image_name(to)
    Reader(checkpoint).check_aligns()  # before photos are looked at
    engine = options.engine(checkpoint, gallery, split)
    hits = engine.regions(asked.text, number)
    if to:
        photos = engine.gallery.photos
        crops = ((crop(open_photo(photos[h.number]), h.box), h) for h in hits)
        save_image(crops_png([(c, f"{h.rank}. {h.score:.2f}  {h.item}") for c, h in crops]), to)
    if json:
        rows = [asdict(h) for h in hits]
        options.show({"sentence": asked.text, "hits": rows})
    elif to:
        print(to)
    else:
        for h in hits:
            print(f"{h.rank:4} {h.score:7.2f}   {' '.join(f'{v:.2f}' for v in h.box)}   {h.item}")
