"""`python -m vsdemo traverse`, `compose`, `abstract`: what lies above and below what."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vsdemo.cli import options
from vsdemo.cli.options import Checkpoint, Gallery, Json, K, Split

if TYPE_CHECKING:
    from torch import Tensor

    from vsdemo.hierarchy.space import Step, World
    from vsdemo.search.engine import Reader

Start = Annotated[str, typer.Argument(help="A photo file, a sentence, or of concepts a word.")]
Parts = Annotated[list[str], typer.Argument(help="Photo files, sentences or words; at least two.")]


def _opened(folder: Path, gallery: str | None, split: str) -> tuple[Reader, World]:
    from vsdemo.hierarchy import build
    from vsdemo.hierarchy.space import check_order
    from vsdemo.search.engine import Reader

    reader = Reader(folder)
    check_order(reader.score, reader.spec.preset)  # before photos are looked at
    if not build.is_of_concepts(reader):
        reader = options.engine(folder, gallery, split)
    return reader, build.opened(reader)


def traverse(
    checkpoint: Checkpoint,
    start: Start,
    gallery: Gallery = None,
    split: Split = "test",
    json: Json = False,
) -> None:
    """Walk from a photo, sentence or concept up to the root of the hierarchy, and down again."""
    from vsdemo.hierarchy import build

    reader, world = _opened(checkpoint, gallery, split)
    place = build.place(world, reader, start)
    follows = None
    if not build.is_of_concepts(reader):
        world, follows = build.reached(world, reader, place)
    up, down = build.walk(world, place, follows)
    if json:
        told = {"up": _rows(world, up), "down": _rows(world, down)}
        return options.show({"start": place.text, "kind": place.kind, **told})
    print(f"{'':10}{place.kind:8}  {place.text}")
    print("\n".join(_lines(world, up)))
    if down:
        print("and down again")
        print("\n".join(_lines(world, down)))
    print("          order violation of each step; 0: it lies above without any")


def _rows(world: World, steps: Sequence[Step]) -> list[dict[str, Any]]:
    items = [(world.items[s.number], s.violation) for s in steps]
    return [{"kind": item.kind, "text": item.text, "violation": v} for item, v in items]


def _lines(world: World, steps: Sequence[Step]) -> list[str]:
    return [
        f"{row['violation']:8.3f}  {row['kind']:8}  {row['text']}" for row in _rows(world, steps)
    ]


def compose(
    checkpoint: Checkpoint,
    parts: Parts,
    k: K = "5",
    gallery: Gallery = None,
    split: Split = "test",
    json: Json = False,
) -> None:
    """Find what is all of these at once: the element-wise maximum of their points."""
    from vsdemo.hierarchy.space import composed

    _joined(checkpoint, parts, k, gallery, split, json, composed)


def abstract(
    checkpoint: Checkpoint,
    parts: Parts,
    k: K = "5",
    gallery: Gallery = None,
    split: Split = "test",
    json: Json = False,
) -> None:
    """Find what these have in common: the element-wise minimum of their points."""
    from vsdemo.hierarchy.space import abstracted

    _joined(checkpoint, parts, k, gallery, split, json, abstracted)


def _joined(
    folder: Path,
    parts: Sequence[str],
    k: str,
    gallery: str | None,
    split: str,
    json: bool,
    join: Callable[[Tensor], Tensor],
) -> None:
    import torch

    from vsdemo.core.errors import UserError
    from vsdemo.hierarchy import build
    from vsdemo.search.engine import check_k

    number = check_k(k)
    if len(parts) < 2:
        raise UserError("One thing alone cannot be joined; give two photos, sentences or words.")
    reader, world = _opened(folder, gallery, split)
    places = [build.place(world, reader, text) for text in parts]
    found = build.nearest(world, join(torch.cat([p.point for p in places])), places, number)
    if json:
        rows = {kind: _rows(world, steps) for kind, steps in found.items()}
        return options.show({"of": [p.text for p in places], **rows})
    print("\n".join(line for steps in found.values() for line in _lines(world, steps)))
    print("          squared distance; 0 is the same point")
