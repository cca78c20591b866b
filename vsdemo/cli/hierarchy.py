"""`walk`, `compose` and `common`: queries over a hierarchy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vsdemo.cli.options import Checkpoint, Gallery, Json, K, Split, is_photo, load_engine
from vsdemo.cli.output import print_json, print_table, table_lines

if TYPE_CHECKING:
    from vsdemo.hierarchy.joins import Items
    from vsdemo.hierarchy.order import Hierarchy, Node
    from vsdemo.search.engine import Reader
    from vsdemo.serving.records import WalkStep

Start = Annotated[
    str, typer.Argument(help="Photo file or sentence; for a model of concepts, a word.")
]
Parts = Annotated[
    list[str],
    typer.Argument(help="Two or more photo files or sentences; for a model of concepts, words."),
]


def walk(
    checkpoint: Checkpoint,
    start: Start,
    gallery: Gallery = None,
    split: Split = "test",
    *,
    as_json: Json = False,
) -> None:
    """Walk up the hierarchy from a photo, sentence or concept.

    The walk leads up to the root and down again. The number of each step is its order violation, 0
    if the upper item lies above the lower one.
    """
    from vsdemo.serving import answers

    reader, world = _load(checkpoint, gallery, split)
    answer = answers.walk_from(reader, world, _node(world, reader, start))
    if as_json:
        print_json(answer.model_dump())
        return
    rows = [("", answer.kind, answer.start, ""), *_rows(answer.up), *_rows(answer.down)]
    lines = table_lines(rows)
    if answer.down:
        lines.insert(1 + len(answer.up), "and down again")
    print("\n".join(lines))
    if not (answer.up or answer.down):
        print("nothing lies above or below")
    print("order violation of each step; 0 if the upper item lies above the lower one")


def compose(
    checkpoint: Checkpoint,
    parts: Parts,
    k: K = "5",
    gallery: Gallery = None,
    split: Split = "test",
    *,
    as_json: Json = False,
) -> None:
    """Find what combines several photos, sentences or words.

    It lies below each of them; the number of each result is its largest violation. For an
    order-embedding without known limits, it is nearest to the element-wise maximum of their
    embeddings, and the number is the squared distance.
    """
    from vsdemo.hierarchy import joins

    where = (checkpoint, gallery, split)
    _print_joined(where, parts, k, join=joins.together, as_json=as_json)


def common(
    checkpoint: Checkpoint,
    parts: Parts,
    k: K = "5",
    gallery: Gallery = None,
    split: Split = "test",
    *,
    as_json: Json = False,
) -> None:
    """Find what photos, sentences or words have in common.

    It lies above each of them; the number of each result is its largest violation. For an
    order-embedding without known limits, it is nearest to the element-wise minimum of their
    embeddings, and the number is the squared distance.
    """
    from vsdemo.hierarchy import joins

    where = (checkpoint, gallery, split)
    _print_joined(where, parts, k, join=joins.in_common, as_json=as_json)


def store_map(checkpoint: Checkpoint, split: Split = "test") -> None:
    """Store the map of a hierarchy in its checkpoint, so that the app shows it at once.

    It is the map of the data set that the model was trained on, and takes a minute.
    """
    from tqdm import tqdm

    from vsdemo.search import stored_hierarchies

    with tqdm(desc="map", unit="step") as bar:

        def report(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        path = stored_hierarchies.write(checkpoint, split, report)
    print(f"Stored in {path}, {path.stat().st_size / 1e6:.1f} MB.")


def _print_joined(
    where: tuple[Path, str | None, str],
    parts: Sequence[str],
    k: str,
    *,
    join: Callable[[Hierarchy, Sequence[Node], int], Items],
    as_json: bool,
) -> None:
    """Print what some parts say together, or have in common.

    Args:
        where: Checkpoint, gallery and split.
        parts: What to join.
        k: How many results of each kind.
        join: Returns the items by kind.
        as_json: Whether to print JSON.
    """
    from vsdemo.core.errors import UserError
    from vsdemo.hierarchy.joins import is_by_distance
    from vsdemo.search.engine import check_k

    count = check_k(k)
    if len(parts) < 2:
        raise UserError("A single item cannot be joined; give two photos, sentences or words.")
    reader, world = _load(*where)
    places = [_node(world, reader, text) for text in parts]
    number = "distance" if is_by_distance(world) else "violation"
    items = {
        kind: [(world.items[step.number].text, step.violation) for step in path]
        for kind, path in join(world, places, count).items()
    }
    if as_json:
        rows = {
            kind: [{"kind": kind, "text": text, number: value} for text, value in of_kind]
            for kind, of_kind in items.items()
        }
        print_json({"of": [place.text for place in places], **rows})
        return
    if not items:
        print("no item: none is within the limits of all of them")
        return
    print_table(
        [(f"{value:.3f}", kind, text) for kind, rows in items.items() for text, value in rows]
    )
    if number == "distance":
        print("squared distance; 0 for the same point")
    else:
        print("largest order violation; 0 if the upper item lies above the lower one")


def _load(checkpoint: Path, gallery: str | None, split: str) -> tuple[Reader, Hierarchy]:
    from vsdemo.hierarchy.order import check_order
    from vsdemo.search import hierarchies
    from vsdemo.search.engine import Reader

    reader = Reader(checkpoint)
    check_order(reader.score, reader.spec.preset)  # before photos are read, which takes long
    if not hierarchies.has_concepts_only(reader):
        reader = load_engine(checkpoint, gallery, split)
    return reader, hierarchies.build_hierarchy(reader)


def _node(world: Hierarchy, reader: Reader, text: str) -> Node:
    from vsdemo.core.images import open_photo
    from vsdemo.search import hierarchies

    if is_photo(text) and not hierarchies.has_concepts_only(reader):
        return hierarchies.photo_node(reader, open_photo(text), text)
    return hierarchies.text_node(world, reader, text)


def _rows(steps: Sequence[WalkStep]) -> list[tuple[str, str, str, str]]:
    words = {True: "true", False: "not true", None: ""}
    return [(f"{step.violation:.3f}", step.kind, step.text, words[step.true]) for step in steps]
