"""Comparison of two sentences by a model.

How similar they are, whether one follows from the other, and which characters weigh most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from vsdemo.core.embeddings import Embeddings
from vsdemo.core.sentences import Sentence
from vsdemo.evaluation.text_embeddings import similarity
from vsdemo.search.engine import Reader


@dataclass(frozen=True)
class SentenceComparison:
    """What a model says about sentences a and b.

    Args:
        cosine: Between both embeddings, or their parts, as in the task `sts`; see `similarity`.
        excess: (D,) f(b) - f(a), or f(a) - f(b) where the order is reversed. b follows from a, as
            its generalisation, if no dimension is above 0 (Vendrov 2016, Eq. 2). Empty for a model
            without an order of each coordinate.
        attention: The weight of each character of a and of b, sum 1, for a model that reads
            characters.
        unknown: The words of a and of b that the model ignores.
    """

    cosine: float
    excess: tuple[float, ...] = ()
    attention: tuple[tuple[float, ...], ...] = ()
    unknown: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())

    @property
    def violations(self) -> tuple[float, float]:
        """The order violations |max(0, excess)|^2: 0 if b follows from a; and if a from b."""
        return _sum_of_squares(self.excess), _sum_of_squares([-e for e in self.excess])

    @property
    def violated(self) -> tuple[int, int]:
        """Numbers of dimensions in which b does not follow from a, and a does not from b."""
        return sum(e > 0 for e in self.excess), sum(e < 0 for e in self.excess)

    def record(self) -> dict[str, Any]:
        """Return the comparison for JSON.

        cosine and unknown; with an order also `order`: in both directions fit, 1 minus the
        violation, and the number of violated dimensions out of dim; for characters `attention`.
        """
        result: dict[str, Any] = {"cosine": self.cosine, "unknown": self.unknown}
        if self.excess:
            directions = ("second from first", "first from second")
            rows = zip(directions, self.violations, self.violated, strict=True)
            result["order"] = {
                direction: {"fit": 1 - violation, "violated": violated, "dim": len(self.excess)}
                for direction, violation, violated in rows
            }
        if self.attention:
            result["attention"] = self.attention
        return result


def _sum_of_squares(excess: Sequence[float]) -> float:
    return sum(e * e for e in excess if e > 0)


def compare_sentences(reader: Reader, a: str, b: str) -> SentenceComparison:
    """Compare two typed sentences.

    Raises:
        UserError: A sentence is blank, too long or contains control characters, or the model knows
            no word of it.
    """
    texts = [Sentence.from_user(text).text for text in (a, b)]
    first, second = reader.encode(texts[0]), reader.encode(texts[1])
    encoder: Any = reader.model.text
    excess: list[float] = []
    order = reader.score.order
    if order is not None and order.by_coordinates:
        parts = [Embeddings(reader.score.order_part(x.x)) for x in (second, first)]
        excess = order.excess(*parts)[0].tolist()
    attention: list[tuple[float, ...]] = []
    if encoder.weighs_characters:
        attention = [tuple(encoder.character_weights(Sentence(t)).tolist()) for t in texts]
    return SentenceComparison(
        cosine=float(similarity(first, second, reader.score)),
        excess=tuple(excess),
        attention=tuple(attention),
        unknown=(tuple(reader.unknown_words(a)), tuple(reader.unknown_words(b))),
    )
