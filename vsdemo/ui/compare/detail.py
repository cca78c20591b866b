"""The large photo of the tab Compare: its place in each ranking, and its alignments."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from markupsafe import Markup

from vsdemo.core.errors import UserError
from vsdemo.core.images import open_photo
from vsdemo.core.language import message, translate
from vsdemo.core.sentences import Sentence
from vsdemo.data.text.sentences import CONST_TREE, DEP_TREE
from vsdemo.plots import overlay_svg
from vsdemo.search.engine import Engine
from vsdemo.search.model_comparison import RankedColumn, RankingComparison
from vsdemo.ui.compare import view
from vsdemo.ui.compare.state import CompareState
from vsdemo.ui.components import html
from vsdemo.ui.components.html import Bar
from vsdemo.ui.components.sentence import dependency_tree, phrases_shown


def photo_detail(
    state: CompareState, engines: Mapping[str, Engine], address: html.PhotoAddress
) -> Markup:
    """Return a photo large, with what each model makes of it.

    Args:
        state: The query and what the models answer; a photo is shown large.
        engines: The models by key.
        address: Addresses of photos.
    """
    number, comparison = state.large, state.result
    assert number is not None
    ranks = {}
    if isinstance(comparison, RankingComparison):
        ranks = {column.title: column for column in comparison.columns}
    gallery = next(iter(engines.values())).gallery
    return view.detail(
        photo=address(number, "large"),
        alt=html.photo_text(gallery)(number),
        places=[
            _place(model, engine, number, state.text, ranks.get(model))
            for model, engine in engines.items()
        ],
        trees=_trees(state.text, engines),
    )


def _place(
    model: str, engine: Engine, number: int, text: str, column: RankedColumn | None
) -> view.Place:
    hits = column.hits if column else ()
    hit = next((hit for hit in hits if hit.number == number), None)
    picture, seen = Markup(), ""
    if engine.can_align:
        try:
            alignment = engine.align_photo(number, text)
        except UserError as error:
            seen = str(error)
        else:
            photo = open_photo(engine.gallery.photos[number])
            picture, seen = Markup(overlay_svg(photo, alignment)), phrases_shown(alignment)
    return view.Place(
        model=model,
        rank=column.rank(number) if column else None,
        total=column.total if column else 0,
        bar=Bar.of_hit(hit, column.ranking) if hit and column and column.ranking else None,
        picture=picture,
        summary=seen,
    )


def _trees(text: str, engines: Mapping[str, Engine]) -> list[view.ReadTree]:
    """Return the trees of a sentence that models read; none if it cannot be parsed."""
    trees = []
    for needs, title, draw in TREES:
        readers = [model for model, engine in engines.items() if needs & engine.model.text.needs]
        if readers:
            with suppress(UserError):
                drawing = draw(engines[readers[0]].parse(text))
                trees.append(view.ReadTree(translate(title, models=", ".join(readers)), drawing))
    return trees


def _dependencies(sentence: Sentence) -> Markup:
    assert sentence.tree is not None  # the model needs it
    return dependency_tree(sentence.text, sentence.tree)


def _phrases(sentence: Sentence) -> Markup:
    assert sentence.constituents is not None  # the model needs it
    return view.phrases(sentence.constituents)


# What a model needs of a sentence, the title of its drawing, and what draws it.
TREES = (
    (DEP_TREE, message("Dependency tree, read by {models}"), _dependencies),
    (CONST_TREE, message("Phrases within phrases, read by {models}"), _phrases),
)
