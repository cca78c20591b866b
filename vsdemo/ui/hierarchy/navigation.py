"""What the tab Hierarchy shows of the place where somebody arrives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from vsdemo.hierarchy import walks
from vsdemo.hierarchy.nodes import Node
from vsdemo.hierarchy.order import CONCEPT, PHOTO, Step
from vsdemo.plots.embedding_map import MapView, map_figure, map_overlay
from vsdemo.ui.components.html import Source
from vsdemo.ui.hierarchy import view as places
from vsdemo.ui.hierarchy.loader import Ground
from vsdemo.ui.hierarchy.map import drawn
from vsdemo.ui.hierarchy.state import Standing

LISTED, STRIP = 7, 12  # words above and below, photos below


def at(ground: Ground, number: int) -> Node:
    """The place of an item."""
    item = ground.world.items[number]
    return Node(item.text, item.kind, ground.world.x[[number]], number)


def arrive(asked: Standing, ground: Ground, place: Node) -> Standing:
    """Standing there: the trail is the one walked where the place is on it or listed below its
    end, else what leads there from the root."""
    last = asked.place
    if place.number in asked.trail:
        trail = asked.trail[: asked.trail.index(place.number)]
    elif last and last.number is not None and place.number in _numbers_below(ground, last):
        trail = (*asked.trail, last.number)
    else:
        follows = ground.reach(place)
        steps = walks.climb(ground.world, place.embedding, place.kind, entailments=follows)
        trail = tuple(step.number for step in reversed(steps))
    photo = place.kind == PHOTO and place.number is not None
    wanted = ground.world.items[place.number].number if photo else asked.wanted
    return replace(asked, place=place, trail=trail, wanted=wanted)


def trail(asked: Standing, ground: Ground) -> str:
    """The way from the root to the place as HTML."""
    here = places.spoken(asked.place.text) if asked.place else ""
    if asked.place and asked.place.kind == PHOTO:
        here = "this photo"
    return places.trail(ground.world, asked.trail, here, asked.address)


def height(ground: Ground, place: Node) -> float:
    """How general a place is; the lower the more."""
    if place.number is not None:
        return float(ground.world.depths[place.number])
    return float(ground.world.depth(place.embedding))


def _below(ground: Ground, place: Node) -> tuple[list[Step], list[Step]]:
    """(words and sentences, photos) that are listed below a place."""
    if place.kind == PHOTO:
        return [], []
    own = height(ground, place)
    photos = ground.world.below(place.embedding, own, kind=PHOTO) if ground.of_photos else []
    return ground.world.below(place.embedding, own)[:LISTED], photos[:STRIP]


def _numbers_below(ground: Ground, place: Node) -> set[int]:
    return {step.number for steps in _below(ground, place) for step in steps}


def levels(ground: Ground, place: Node, source: Source) -> tuple[str, str, str]:
    """(what lies above, what lies below, photos) as HTML."""
    world, own = ground.world, height(ground, place)
    top = float("inf") if place.kind == PHOTO else own
    up = world.above(place.embedding, top, concepts_only=place.kind == CONCEPT)[:LISTED]
    above = places.steps(world, up, "Above: more general", "Nothing lies above the root.")
    if place.kind == PHOTO:
        near = [s.number for s in world.nearest(place.embedding, STRIP + 1, PHOTO)]
        others = [n for n in near if n != place.number][:STRIP]
        nothing = places.steps(world, [], "Below: more specific", "Nothing lies below a photo.")
        return above, nothing, places.photos(world, others, source, "Photos like it")
    down, shown = _below(ground, place)
    below = places.steps(world, down, "Below: more specific", "No word or sentence lies below.")
    return above, below, places.photos(world, [s.number for s in shown], source, "Photos below")


def here(ground: Ground, place: Node, picture: str) -> str:
    """Where one stands as HTML."""
    told = f"{ground.world.depth_name} {height(ground, place):.2f}" if place.kind != PHOTO else ""
    return places.here(places.spoken(place.text), place.kind, picture, told)


def map_value(asked: Standing, ground: Ground, points: np.ndarray, source: str, whole: bool) -> str:
    """The map, or what changes on it, with the trail and the place on it."""
    world, numbers = ground.world, ground.shown
    row = {number: i for i, number in enumerate(numbers)}
    place = asked.place
    chosen = row.get(place.number) if place and place.number is not None else None
    walked = [row[n] for n in asked.trail if n in row] + [chosen] * (chosen is not None)
    photos = [world.items[n].number for n in numbers if world.items[n].kind == PHOTO]
    ends = ((row[a.general], row[a.specific], a) for a in ground.arrows)
    view = MapView(
        points=points,
        kinds=[world.items[n].kind for n in numbers],
        texts=[places.spoken(world.items[n].text) for n in numbers],
        norms=world.depths[numbers].numpy(),
        norm_title=world.depth_name,
        arrows=[replace(a, general=g, specific=s) for g, s, a in ends],
        path=walked,
        chosen=chosen,
        photos=photos,
    )
    return drawn(map_figure(view) if whole else map_overlay(view), source)
