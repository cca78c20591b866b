"""What can be walked: the concepts of a table, or a gallery's photos and captions with concepts."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor

from vsdemo.core.arrows import Arrow
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.images import SUFFIXES, open_photo
from vsdemo.core.sentences import Sentence
from vsdemo.data import caption_bank
from vsdemo.data.storybook import lexicon
from vsdemo.data.text import parser
from vsdemo.data.text.vocab import tokenize
from vsdemo.encoders.concepts import SENSE
from vsdemo.hierarchy import generalize
from vsdemo.hierarchy.space import (
    CAPTION,
    CONCEPT,
    PHOTO,
    ROOT,
    Follows,
    Item,
    Step,
    World,
    check_order,
)
from vsdemo.search.engine import Engine, Reader

ANYTHING = "anything"
CAPTIONS = 2000  # at most; spread evenly over a gallery that has more
CLEAR = 0.5  # of the violation the other way: what an arrow violates at most
ON_MAP = 300  # of concepts, the most general and those of everyday words
PARENTS = 2  # arrows up from one item


def is_of_concepts(reader: Reader) -> bool:
    """Whether a model knows concepts by their names, and no sentences."""
    return "concepts" in reader.model.text.needs


def of_concepts(reader: Reader) -> World:
    """All concepts of a model of these; the one nearest to the origin is the root.

    Raises UserError for a model without an order.
    """
    score = check_order(reader.score, reader.spec.preset)
    names = reader.model.text.names
    x = reader.model.encode_text([Sentence(name) for name in names]).x
    root = int(x.norm(dim=1).argmin())
    items = [Item((CONCEPT, ROOT)[i == root], name, i) for i, name in enumerate(names)]
    return World(items, x, score, limit=reader.spec.config.margin)


def of_gallery(engine: Engine, captions: int = CAPTIONS) -> World:
    """The origin, concepts that the model knows, captions and all photos of a gallery.

    Raises UserError for a model without an order.
    """
    score = check_order(engine.score, engine.spec.preset)
    phrases = [p for p in phrases_of_concepts() if not engine.unknown_words(p)]
    written = list(dict.fromkeys(engine.gallery.captions)) or caption_bank.sentences()
    told = engine.embedded(written[:: max(1, -(-len(written) // captions))])
    items = [Item(ROOT, ANYTHING), *(Item(CONCEPT, p) for p in phrases)]
    items += [Item(CAPTION, text) for text in told.items]
    items += [Item(PHOTO, name, i) for i, name in enumerate(engine.photos.items)]
    concepts = engine.model.encode_text([Sentence(p) for p in phrases]).x
    parts = [concepts, told.embeddings.x.cpu(), engine.photos.embeddings.x.cpu()]
    root = torch.zeros(1, concepts.shape[1])
    return World(items, torch.cat([root, *parts]), score)


def phrases_of_concepts() -> list[str]:
    """What Storybook's lexicon has nouns for, as people would say it: `a dog`, `an animal`."""
    concepts = lexicon.load_lexicon().concepts.values()
    nouns = [(c.nouns[0], c.mass) for c in concepts if c.nouns]
    return [n if mass else f"{'an' if n[0] in 'aeiou' else 'a'} {n}" for n, mass in nouns]


def find(world: World, text: str) -> int | None:
    """The number of the concept or caption that a text is, but for case and punctuation, which
    data sets set apart and pages do not."""
    wanted = tokenize(text)
    for number, item in enumerate(world.items):
        if wanted and item.kind != PHOTO and tokenize(item.text) == wanted:
            return number
    return None


def arrows(world: World, numbers: Sequence[int]) -> list[Arrow]:
    """The order among some items after transitive reduction: of each those directly above it, at
    most PARENTS, with less violation one way than CLEAR of that the other way."""
    chosen = torch.tensor(sorted(set(numbers)))
    x, heights = Embeddings(world.x[chosen]), world.heights[chosen]
    violation = -world.score(x, x)  # (N, N), general and specific
    above = (violation <= CLEAR * violation.T) & (heights[:, None] < heights)
    above &= violation <= world.limit
    direct = above & ~_in_two_steps(above)
    found = []
    for specific, column in enumerate(violation.masked_fill(~direct, torch.inf).T):
        for general in column.argsort()[:PARENTS].tolist():
            if direct[general, specific]:
                pair = int(chosen[general]), int(chosen[specific])
                found.append(Arrow(*pair, float(column[general])))
    return found


def _in_two_steps(above: Tensor) -> Tensor:
    """Which pairs a third item lies between."""
    steps = above.float()
    return steps @ steps > 0


@dataclass(frozen=True)
class Place:
    """A point (1, D) to walk from: an item's where there is one, a photo's or a sentence's."""

    text: str
    kind: str
    point: Tensor = field(compare=False)
    number: int | None = None


def opened(reader: Reader) -> World:
    """The world of a model of concepts, or of an engine's gallery."""
    return of_gallery(reader) if isinstance(reader, Engine) else of_concepts(reader)


def place(world: World, reader: Reader, text: str) -> Place:
    """Where a concept, a typed sentence or the file of a photo lies.

    Raises UserError for unknown words or senses, and for a file that is no photo.
    """
    if is_of_concepts(reader):
        number = reader.model.text.find(text)
        item = world.items[number]
        return Place(item.text, item.kind, world.x[[number]], number)
    if Path(text[:255]).suffix.lower() in SUFFIXES:
        return Place(text, PHOTO, reader.encode_photo(open_photo(text)).x.float().cpu())
    sentence = Sentence.from_user(text).text
    if (number := find(world, sentence)) is not None:
        return Place(world.items[number].text, world.items[number].kind, world.x[[number]], number)
    return Place(sentence, CAPTION, reader.encode(sentence).x.float().cpu())


def reached(world: World, engine: Engine, start: Place) -> tuple[World, Follows | None]:
    """(the world with all that follows from a sentence, or from the one nearest above a photo, by
    its tree: `data.ladders`; what follows from what, for `World.climb`, None from a concept).

    A walk up keeps to it: a gallery's captions tell of other photos, and what a model for retrieval
    puts above each other is rarely true of one.
    """
    text, begin = start.text, start.number
    if start.kind == PHOTO:
        begin = world.climb(start.point, PHOTO, most=1)[0].number
        text = world.items[begin].text
    elif start.kind != CAPTION:
        return world, None
    trees = parser.load("shipped").parse([text])  # some 30 ms
    closure = generalize.closure(trees)
    number = {generalize.key(i.text): n for n, i in enumerate(world.items) if i.kind != PHOTO}
    new = [
        t for t in sorted(set(closure) - set(number)) if engine.model.text.unknown(Sentence(t))[0]
    ]
    if new:
        points = engine.model.encode_text([Sentence(text) for text in new]).x.float().cpu()
        number |= {text: len(world) + i for i, text in enumerate(new)}
        world = world.extended([Item(CAPTION, text) for text in new], points)
    follows = {
        number[text]: {number[t] for t in above if t in number}
        for text, above in closure.items()
        if text in number
    }
    own = follows.get(number.get(generalize.key(" ".join(trees[0].words)), -1), set())
    return world, {**follows, begin: own, None: own}


def walk(
    world: World, start: Place, follows: Follows | None = None
) -> tuple[list[Step], list[Step]]:
    """(the steps from a place up to the root, those down again from the last before the root, or
    from the place itself where it is not at the bottom); follows: as of `World.climb`."""
    up = world.climb(start.point, start.kind, follows)
    top = start.number
    if start.kind in (PHOTO, CAPTION) or top is None:
        inner = [step.number for step in up if world.items[step.number].kind != ROOT]
        top = inner[-1] if inner else top
    return up, world.descend(top) if top is not None else []


def nearest(world: World, point: Tensor, without: Sequence[Place], k: int) -> dict[str, list[Step]]:
    """Of each kind that there is the k items nearest to a point (1, D), those of some places, which
    it was made of, left out."""
    left_out = {p.number for p in without}
    found = {}
    for kind in (CONCEPT, CAPTION, PHOTO):
        steps = world.near(point, k + len(left_out), kind)
        if kept := [step for step in steps if step.number not in left_out][:k]:
            found[kind] = kept
    return found


def on_map(world: World, words: Container[str] = ()) -> list[int]:
    """Numbers of what a map shows: all, or where concepts are many the ON_MAP most general and the
    first senses of some words."""
    if bool(world.of_kind[PHOTO].any()) or len(world) <= 2 * ON_MAP:
        return list(range(len(world)))
    general = world.heights.argsort()[:ON_MAP].tolist()
    first: dict[str, int] = {}
    for name, number in sorted((item.text, i) for i, item in enumerate(world.items)):
        if (word := name.partition(SENSE)[0]) in words:
            first.setdefault(word, number)
    return sorted({*general, *first.values()})
