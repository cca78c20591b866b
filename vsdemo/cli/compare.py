"""`compare`: one query, and what several models answer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vsdemo.cli.options import Checkpoints, Gallery, Json, Split, load_engine
from vsdemo.cli.output import print_json, print_table
from vsdemo.core.errors import UserError
from vsdemo.core.paths import short_name

if TYPE_CHECKING:
    from vsdemo.serving.records import CompareAnswer, ComparePairAnswer, RankedList


def compare(  # noqa: PLR0913 (a command's parameters are its options)
    checkpoints: Checkpoints,
    sentence: Annotated[
        str, typer.Option("--sentence", help="Sentence to search for by each model.")
    ] = "",
    second: Annotated[
        str, typer.Option("--second", help="Another one: which models notice the difference?")
    ] = "",
    photo: Annotated[
        Path | None, typer.Option(help="Photo to describe by each model, instead of a sentence.")
    ] = None,
    k: Annotated[
        str, typer.Option("-k", metavar="INTEGER", help="Results of each model, 1 to 1,000.")
    ] = "6",
    gallery: Gallery = None,
    split: Split = "all",
    *,
    as_json: Json = False,
) -> None:
    """Compare what two to four models rank first for a sentence, two sentences or a photo."""
    from vsdemo.core.images import open_photo
    from vsdemo.core.sentences import Sentence
    from vsdemo.search.engine import check_k
    from vsdemo.search.model_comparison import check_count
    from vsdemo.serving import answers

    if bool(sentence) == bool(photo) or (second and photo):
        raise UserError("Give either --sentence, to which you can add --second, or --photo.")
    image = open_photo(photo) if photo else None
    for text in filter(None, (sentence, second)):
        Sentence.from_user(text)
    check_count(checkpoints)
    count = check_k(k)
    first = load_engine(checkpoints[0], gallery, split)
    shared = gallery or first.gallery.name
    others = (load_engine(folder, shared, split) for folder in checkpoints[1:])
    names = [short_name(folder) for folder in checkpoints]
    engines = dict(zip(names, (first, *others), strict=True))
    answer: CompareAnswer | ComparePairAnswer
    if image is not None:
        answer = answers.compare_photo(engines, image, count, name=str(photo))
    elif second:
        answer = answers.compare_pair(engines, sentence, second, count)
    else:
        answer = answers.compare(engines, sentence, count)
    if as_json:
        print_json(answer.model_dump())
    else:
        _show(answer)


def _show(answer: CompareAnswer | ComparePairAnswer) -> None:
    """Print the rankings as tables."""
    from vsdemo.serving.records import CompareAnswer

    if isinstance(answer, CompareAnswer):
        _print_lists(answer.models)
        if answer.agreement is not None:
            print(f"{answer.agreement:.0%} in common, on average over all pairs of models")
        return
    for pair in answer.models:
        print(pair.model)
        _print_lists(pair.sentences)
        if pair.agreement is not None and pair.similarity is not None:
            print(f"{pair.agreement:.0%} in common; similarity {pair.similarity:.2f}")


def _print_lists(lists: Sequence[RankedList]) -> None:
    for ranked in lists:
        print(f"{ranked.title}: {ranked.problem or ranked.unit}")
        rows = [
            (str(item.rank), f"{item.unit_score:.3f}", item.item, _others(item.other_ranks))
            for item in ranked.items
        ]
        print_table(rows, indent=2)


def _others(ranks: dict[str, int]) -> str:
    return ", ".join(f"{rank:,} for {title}" for title, rank in ranks.items())
