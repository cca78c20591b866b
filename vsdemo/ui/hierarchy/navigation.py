"""Content of the tab Hierarchy for a node: the trail, the levels around it, and the map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from markupsafe import Markup

from vsdemo.core import language
from vsdemo.core.language import message, translate
from vsdemo.hierarchy import walks
from vsdemo.hierarchy.joins import Items
from vsdemo.hierarchy.order import CAPTION, PHOTO, ROOT, Hierarchy, Node, Step
from vsdemo.plots.embedding_map import MapView, map_overlay, map_record
from vsdemo.search.suggestions import UnreadWord
from vsdemo.ui.components.html import PhotoAddress
from vsdemo.ui.hierarchy import view
from vsdemo.ui.hierarchy.loader import NO_ORDER, NOT_CALIBRATED, HierarchyGallery
from vsdemo.ui.hierarchy.map import to_json
from vsdemo.ui.hierarchy.state import HierarchyState

MAX_TEXTS, MAX_PHOTOS = 7, 12  # listed above or below
FEW_TEXTS = 3  # for an untrained order without limits, as later ones are rarely true
REPLACED = {  # why another model than the chosen one is shown -> the same with its name
    NO_ORDER: message("{chosen} has no order, so this is the hierarchy of {model}."),
    NOT_CALIBRATED: message(
        "The order of {chosen} has not been calibrated on this data, so this is the hierarchy of "
        "{model}."
    ),
}


@dataclass(frozen=True)
class Levels:
    """The items around a node, as HTML."""

    above: Markup
    below: Markup
    photos: Markup


def arrive(
    state: HierarchyState, gallery: HierarchyGallery, node: Node
) -> tuple[HierarchyState, HierarchyGallery]:
    """Return the state after moving to another node, and what the visitor sees there.

    The trail is cut at the node if it is on it, and continued if the node is listed below its end;
    otherwise it is the path from the root to the node.
    """
    last = state.node
    if node.number in state.trail:
        trail = state.trail[: state.trail.index(node.number)]
    elif last and last.number is not None and node.number in _items_below(gallery, last):
        trail = (*state.trail, last.number)
    else:
        if node.number is not None and not gallery.is_shared(node.number):
            node = replace(node, number=None)  # an addition that another one will replace
        gallery, entailments = gallery.reach(node)
        steps = walks.climb(gallery.hierarchy, node, entailments=entailments)
        trail = tuple(step.number for step in reversed(steps))
    target = state.target
    if node.kind == PHOTO and node.number is not None:
        target = gallery.hierarchy.items[node.number].number
    state = replace(state, node=node, trail=trail, target=target, additions=gallery.additions)
    return state, gallery


def trail(state: HierarchyState, gallery: HierarchyGallery) -> Markup:
    """Return the path from the root to the node as HTML."""
    here = ""
    if state.node:
        is_photo = state.node.kind == PHOTO
        here = translate("this photo") if is_photo else view.spoken(state.node.text)
    hierarchy = gallery.hierarchy
    nodes = [hierarchy.node(number) for number in state.trail]
    truths = walks.truths(hierarchy, [*nodes, state.node], up=False) if state.node else ()
    return view.trail(hierarchy, state.trail, here, truths)


def unread_words(gallery: HierarchyGallery, node: Node) -> list[UnreadWord]:
    """Return the words of a sentence that the model has not learned."""
    return gallery.reader.unread_words(node.text) if node.kind == CAPTION else []


def source(gallery: HierarchyGallery) -> str:
    """Return which model the order belongs to, and how far a listed step may violate it."""
    hierarchy = gallery.hierarchy
    count, limits = language.number(len(hierarchy)), hierarchy.limits
    if not hierarchy.has_limits:
        return translate("By {model}, over {count} items.", model=gallery.name, count=count)
    return translate(
        "By {model}, over {count} items. Listed items violate the order by at most {texts}, or "
        "{photos} above photos; both limits were chosen on dev.",
        model=gallery.name,
        count=count,
        texts=language.number(limits.texts, 3),
        photos=language.number(limits.photos, 3),
    )


def caution(gallery: HierarchyGallery) -> str:
    """Return what a visitor should know of the order that is shown; empty if nothing."""
    name, sentences = gallery.name, []
    if chosen := gallery.replaced:
        sentences.append(translate(REPLACED[chosen.cause], chosen=chosen.model, model=name))
    if _is_guess(gallery.hierarchy):
        sentences.append(
            translate("{model} was not trained for an order, so expect mistakes.", model=name)
        )
    elif gallery.has_photos and not gallery.hierarchy.has_limits:
        sentences.append(
            translate(
                "The order of {model} has not been calibrated on this data, so expect mistakes.",
                model=name,
            )
        )
    return " ".join(sentences)


def _is_guess(hierarchy: Hierarchy) -> bool:
    """Return whether the order was not trained, and nothing limits what is listed."""
    return hierarchy.order.is_emergent and not hierarchy.has_limits


def mistaken_photo(gallery: HierarchyGallery) -> Node:
    """Return the first photo with something above it that is not true; else the first photo."""
    hierarchy = gallery.hierarchy
    nodes = [hierarchy.node(number) for number in hierarchy.of_kind[PHOTO].nonzero()[:, 0].tolist()]
    for node in nodes if hierarchy.truth else ():
        steps = walks.climb(hierarchy, node, max_steps=1)
        if steps and False in _truths(gallery, node, steps, up=True):
            return node
    return nodes[0]


def joined_truths(
    gallery: HierarchyGallery, nodes: Sequence[Node], items: Items, *, up: bool
) -> dict[str, list[bool | None]]:
    """Return whether each joined item is above or below all nodes, by kind."""

    def truth(step: Step) -> bool | None:
        single = [_truths(gallery, node, [step], up=up)[0] for node in nodes]
        return False if False in single else None if None in single else True

    return {kind: [truth(step) for step in steps] for kind, steps in items.items()}


def levels(gallery: HierarchyGallery, node: Node, address: PhotoAddress) -> Levels:
    """Return the items above and below a node, and the photos below or near it."""
    hierarchy = gallery.hierarchy
    upper = hierarchy.above(node)[: _most(hierarchy)]
    above = view.steps(
        hierarchy,
        upper,
        title=translate("Above: more general"),
        empty=(
            translate("No item is above the root.")
            if node.kind == ROOT
            else translate("Nothing is above.")
        ),
        limit=hierarchy.limit_below(node.kind),
        truths=_truths(gallery, node, upper, up=True),
    )
    if node.kind == PHOTO:
        near = [step.number for step in hierarchy.nearest(node.embedding, MAX_PHOTOS + 1, PHOTO)]
        photos = [number for number in near if number != node.number][:MAX_PHOTOS]
        lower: list[Step] = []
        title, empty = translate("Similar photos"), translate("No item is below a photo.")
    else:
        lower, lower_photos = _below(gallery, node)
        photos = [step.number for step in lower_photos]
        title, empty = translate("Photos below"), translate("No word or sentence is below.")
        if _has_unknown_words(gallery, node):
            empty = translate("Nothing is listed below, since the model cannot read all words.")
    return Levels(
        above=above,
        below=view.steps(
            hierarchy,
            lower,
            title=translate("Below: more specific"),
            empty=empty,
            limit=hierarchy.limits.texts,
            truths=_truths(gallery, node, lower, up=False),
        ),
        photos=view.photos(hierarchy, photos, address, title=title),
    )


def _truths(
    gallery: HierarchyGallery, node: Node, steps: Sequence[Step], *, up: bool
) -> list[bool | None]:
    """Return whether each item is really above or below the node."""
    hierarchy = gallery.hierarchy
    pairs = ([node, hierarchy.node(step.number)] for step in steps)
    return [truth for pair in pairs for truth in walks.truths(hierarchy, pair, up=up)]


def _below(gallery: HierarchyGallery, node: Node) -> tuple[list[Step], list[Step]]:
    """Return the (words and sentences, photos) listed below a node.

    None are below a sentence with words that the model cannot read: it seems to say less than it
    does.
    """
    if node.kind == PHOTO or _has_unknown_words(gallery, node):
        return [], []
    hierarchy = gallery.hierarchy
    photos = hierarchy.below(node, kind=PHOTO) if gallery.has_photos else []
    return hierarchy.children(node)[: _most(hierarchy)], photos[:MAX_PHOTOS]


def _most(hierarchy: Hierarchy) -> int:
    """Return how many texts are listed above or below at most."""
    return FEW_TEXTS if _is_guess(hierarchy) else MAX_TEXTS


def _has_unknown_words(gallery: HierarchyGallery, node: Node) -> bool:
    return node.kind == CAPTION and bool(gallery.reader.unknown_words(node.text))


def _items_below(gallery: HierarchyGallery, node: Node) -> set[int]:
    return {step.number for steps in _below(gallery, node) for step in steps}


def here(gallery: HierarchyGallery, node: Node, photo: str) -> Markup:
    """Return the node itself as HTML; `photo` is its address if it is a photo."""
    meaning = ""
    if node.kind != PHOTO:
        depth = language.number(gallery.hierarchy.depth_of(node), 2)
        meaning = f"{translate(gallery.hierarchy.depth_name)} {depth}"
    return view.here(view.name_of(node), node.kind, photo, meaning)


def map_value(
    state: HierarchyState,
    gallery: HierarchyGallery,
    points: np.ndarray,
    source: str,
    *,
    whole: bool,
) -> str:
    """Return the JSON of the map with trail and node, or only of its overlay.

    Args:
        state: The node and the trail.
        gallery: The hierarchy.
        points: Positions of its items on the map, (N, 2).
        source: Address of a photo, with {number} in place of its number in the gallery.
        whole: Whether to return the whole map.
    """
    hierarchy, numbers = gallery.hierarchy, gallery.map_items
    row = {number: i for i, number in enumerate(numbers)}
    chosen = None
    if state.node and state.node.number is not None:
        chosen = row.get(state.node.number)
    path = [row[number] for number in state.trail if number in row]
    if chosen is not None:
        path.append(chosen)
    if not whole:
        return to_json(map_overlay(path, chosen), source)
    map_view = MapView(
        points=points,
        kinds=[hierarchy.items[number].kind for number in numbers],
        texts=[view.spoken(hierarchy.items[number].text) for number in numbers],
        norms=hierarchy.depths[numbers].numpy(),
        norm_title=translate(hierarchy.depth_name),
        arrows=[
            replace(arrow, general=row[arrow.general], specific=row[arrow.specific])
            for arrow in gallery.arrows
        ],
        path=path,
        chosen=chosen,
        photos=[
            hierarchy.items[number].number
            for number in numbers
            if hierarchy.items[number].kind == PHOTO
        ],
    )
    return to_json(map_record(map_view), source)
