"""How a model reads a sentence: what it means to it after each part that it has composed."""

from __future__ import annotations

from dataclasses import dataclass

from vsdemo.core.embeddings import Embeddings
from vsdemo.core.hits import Hit
from vsdemo.search.engine import Engine, check_k


@dataclass(frozen=True)
class ReadingStep:
    """A part of a sentence, and the photos that it describes best.

    Attributes:
        text: The words that the model has composed so far.
        hits: The photos, best first.
    """

    text: str
    hits: tuple[Hit, ...]


def read(engine: Engine, text: str, k: int = 4) -> list[ReadingStep]:
    """Return the parts of a typed sentence in the order in which a model composes them.

    A recurrent network reads one word after the other; a network over a tree composes each node
    from those below it. The last part is the whole sentence. There are none for a model that reads
    all parts side by side, such as fragments.

    Args:
        engine: The model and its photos.
        text: The sentence.
        k: Photos of each part.

    Raises:
        UserError: The sentence is blank or too long, or the model knows no word of it.
    """
    count = check_k(k)
    sentence = engine.parse(text)
    engine.check_known(sentence)
    texts, embeddings = engine.model.encode_parts(sentence)
    return [
        ReadingStep(part, tuple(engine.photos.top_specific(embeddings[row : row + 1], count)))
        for row, part in enumerate(texts)
    ]


def violations(engine: Engine, text: str, photo: int) -> list[float]:
    """Return by how much a sentence demands more than a photo has, in each coordinate, (D,).

    f(sentence) - f(photo): the sentence is true of the photo where no coordinate is above 0
    (Vendrov 2016, Eq. 2). Empty for a model without an order of each coordinate.

    Raises:
        UserError: As `read`.
    """
    order = engine.score.order
    if order is None or not order.by_coordinates:
        return []
    sentence, pictured = (
        Embeddings(engine.score.order_part(x.x.float().cpu()))
        for x in (engine.encode(text), engine.photo(photo))
    )
    return order.excess(sentence, pictured)[0].tolist()
