"""The hierarchy of a concept model or of a gallery, and the nodes of texts and photos in it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from copy import copy
from pathlib import Path
from typing import cast

from PIL import Image
from torch import Tensor

from vsdemo.core.errors import UserError
from vsdemo.core.progress import Progress
from vsdemo.core.sentences import Sentence
from vsdemo.data import datasets, relations
from vsdemo.data.pairs import hypernyms
from vsdemo.data.relations import Relations, common_sentences, generalize
from vsdemo.data.storybook.concepts import concept_phrases
from vsdemo.data.text import parser
from vsdemo.encoders import TextEncoder
from vsdemo.encoders.concepts import ConceptTable
from vsdemo.hierarchy.concept_truth import ConceptTruth
from vsdemo.hierarchy.nodes import find_item
from vsdemo.hierarchy.order import (
    CAPTION,
    CONCEPT,
    PHOTO,
    Hierarchy,
    Item,
    Node,
    check_order,
    hierarchy_of_concepts,
    hierarchy_of_photos,
)
from vsdemo.hierarchy.truth import Truth
from vsdemo.hierarchy.walks import Entailments, climb
from vsdemo.search.engine import Engine, Reader

MAX_CAPTIONS = 2000  # captions of a gallery; evenly spaced if it has more


def build_hierarchy(reader: Reader) -> Hierarchy:
    """Return the hierarchy of a concept model, or of an engine's gallery.

    Raises:
        UserError: If the model has no order.
    """
    return from_gallery(reader) if isinstance(reader, Engine) else from_concepts(reader)


def from_concepts(reader: Reader) -> Hierarchy:
    """Return all concepts of a concept model; the one with the shortest embedding is the root.

    What is true is known if the taxonomy of the training is available.

    Raises:
        UserError: If the model has no order.
    """
    order = check_order(reader.score, reader.spec.preset)
    names = concept_table(reader).names
    x = text_coordinates(reader, names)  # (N, K)
    hierarchy = hierarchy_of_concepts(names, x, order, reader.model.limits.usable)
    if not hierarchy.has_limits:
        hierarchy.arrow_limit = reader.spec.config.margin  # false pairs were trained to exceed it
    hierarchy.truth = truth_of_concepts(reader.spec.dataset)
    return hierarchy


def truth_of_concepts(dataset: str) -> ConceptTruth | None:
    """Return what is true of the concepts of a taxonomy; None where it is missing or damaged."""
    try:
        return ConceptTruth(hypernyms.load(dataset))
    except UserError:
        return None


def from_gallery(
    engine: Engine, max_captions: int = MAX_CAPTIONS, progress: Progress | None = None
) -> Hierarchy:
    """Return the origin, the texts of `gallery_texts`, and a gallery's photos.

    A gallery without captions gets the sentences of the caption bank.

    Args:
        engine: A model and a gallery.
        max_captions: The most captions to take; these are spread evenly.
        progress: Called with the number of encoded captions and the total.

    Raises:
        UserError: If the model has no order.
    """
    order = check_order(engine.score, engine.spec.preset)
    items = gallery_texts(engine, engine.gallery.name, engine.sentences(), max_captions)
    texts = engine.index_texts([item.text for item in items], progress)
    x_texts = engine.score.order_part(texts.embeddings.x.cpu())
    x_photos = engine.score.order_part(engine.photos.embeddings.x.float().cpu())
    limits = engine.model.limits.usable
    hierarchy = hierarchy_of_photos(items, x_texts, engine.photos.items, x_photos, order, limits)
    hierarchy.truth = truth_of(engine.gallery.name, engine.gallery.split)
    return hierarchy


def truth_of(dataset: str, split: str) -> Truth | None:
    """Return what is true in a gallery; None where not all facts are known."""
    if dataset not in relations.EXACT:
        return None

    def load() -> Relations | None:
        if not all(map(Path.exists, datasets.photos(dataset, split))):  # not drawn yet
            return None
        return relations.load(datasets.load(dataset, split))

    return Truth(load)


def gallery_texts(
    reader: Reader, dataset: str, captions: Sequence[str], max_captions: int = MAX_CAPTIONS
) -> list[Item]:
    """Return the concepts that a model knows, common sentences, and captions of a gallery.

    If all facts are known, the captions are short enough, so common sentences are left out.

    Args:
        reader: The model.
        dataset: Name of the gallery.
        captions: Its captions.
        max_captions: The most captions to take; these are spread evenly.
    """
    items = known_concepts(reader)
    if dataset not in relations.EXACT:
        shared = [text for text in common_sentences.sentences() if not reader.unknown_words(text)]
        items += [Item(CAPTION, text) for text in captions_beside(items, shared)]
    beside = captions_beside(items, captions)
    return [*items, *(Item(CAPTION, text) for text in thinned(beside, max_captions))]


def known_concepts(reader: Reader) -> list[Item]:
    """Return the concepts that a model learned, or those of Storybook whose words it knows."""
    phrases = reader.model.concepts or tuple(concept_phrases())
    return [Item(CONCEPT, phrase) for phrase in phrases if not reader.unknown_words(phrase)]


def captions_beside(items: Sequence[Item], captions: Sequence[str]) -> list[str]:
    """Return different captions that no item has: not "A dog." beside "a dog"."""
    known = {generalize.key(item.text) for item in items}
    return [text for text in dict.fromkeys(captions) if generalize.key(text) not in known]


def thinned(captions: Collection[str], most: int = MAX_CAPTIONS) -> list[str]:
    """Return at most `most` captions, spread evenly."""
    return list(captions)[:: max(1, -(-len(captions) // most))]


def add_generalizations(
    hierarchy: Hierarchy, reader: Reader, start: Node
) -> tuple[Hierarchy, Entailments | None]:
    """Add the sentences that follow from a caption, or from the caption nearest above a photo.

    A walk up that keeps to them stays true. A gallery's captions are about other photos, and what
    a retrieval model puts above a photo is rarely true of it.

    Returns:
        The extended hierarchy, and for `walks.climb` what follows from what. A concept or a
        photo without a caption above it adds nothing; then the second value is None.
    """
    if start.kind == PHOTO:
        steps = climb(hierarchy, start, max_steps=1)
        if not steps or hierarchy.items[steps[0].number].kind != CAPTION:
            return hierarchy, None
        first: int | None = steps[0].number
        text = hierarchy.items[steps[0].number].text
    elif start.kind == CAPTION:
        first, text = start.number, start.text
    else:
        return hierarchy, None
    trees = parser.load("shipped").parse([text])  # takes about 30 ms
    closure = generalize.closure(trees)
    numbers = hierarchy.number_of_text
    encoder = cast(TextEncoder, reader.model.text)
    new = [
        sentence
        for sentence in sorted(set(closure) - set(numbers))
        if encoder.unknown(Sentence(sentence))[0]  # some word is known
    ]
    if new:
        x = text_coordinates(reader, new)
        numbers = {**numbers, **{text: len(hierarchy) + i for i, text in enumerate(new)}}
        hierarchy = hierarchy.extended([Item(CAPTION, text) for text in new], x)
    else:
        hierarchy = copy(hierarchy)
    hierarchy.grammar = closure
    entailments: dict[int | None, set[int]] = {
        numbers[sentence]: {numbers[general] for general in above if general in numbers}
        for sentence, above in closure.items()
        if sentence in numbers
    }
    start_key = generalize.key(" ".join(trees[0].words))
    from_start = entailments.get(numbers.get(start_key, -1), set())
    return hierarchy, entailments | {first: from_start, None: from_start}


def has_concepts_only(reader: Reader) -> bool:
    """Return whether a model knows concepts by name, and neither sentences nor photos."""
    return "concepts" in reader.model.text.needs


def concept_table(reader: Reader) -> ConceptTable:
    """Return the text encoder of a model for which `has_concepts_only` is true."""
    return cast(ConceptTable, reader.model.text)


def text_coordinates(reader: Reader, texts: Sequence[str]) -> Tensor:
    """Return what the order of a model compares of N concepts or sentences, (N, K)."""
    x = reader.model.encode_text([Sentence(text) for text in texts]).x.float().cpu()
    return reader.score.order_part(x)


def text_node(hierarchy: Hierarchy, reader: Reader, text: str) -> Node:
    """Return the node of a concept, or of any sentence.

    Raises:
        UserError: If a word or sense is unknown.
    """
    if has_concepts_only(reader):
        return hierarchy.node(concept_table(reader).find(text))
    sentence = Sentence.from_user(text).text
    number = find_item(hierarchy, sentence)
    if number is not None:
        return hierarchy.node(number)
    embedding = reader.score.order_part(reader.encode(sentence).x.float().cpu())
    return Node(text=sentence, kind=CAPTION, embedding=embedding)


def photo_node(reader: Reader, photo: Image.Image, name: str) -> Node:
    """Return the node of any photo."""
    x = reader.encode_photo(photo).x.float().cpu()
    return Node(text=name, kind=PHOTO, embedding=reader.score.order_part(x))
