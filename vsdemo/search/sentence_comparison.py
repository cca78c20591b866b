"""What a model says of two sentences: how alike they are, whether one follows from the other, and
which characters it looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch.nn.functional as F

from vsdemo.core.sentences import Sentence
from vsdemo.encoders import TextEncoder
from vsdemo.evaluation.text_embeddings import pooled
from vsdemo.search.engine import Reader

Both = tuple[float, float]


@dataclass(frozen=True)
class Likeness:
    """cosine: of both points, as the task `sts` has it; of sets their means.

    excess: by how much each dimension, (D,), says that b does not follow from a: f(b) - f(a), or
    f(a) - f(b) where the order is reversed; b follows from a, as its generalisation, where none is
    above 0 (Vendrov 2016, Eq. 2). Empty for models without an order.
    attention: of each character of a and of b its weight, sum 1, of models that read characters.
    unknown: words of a and of b that the model passes over.
    """

    cosine: float
    excess: tuple[float, ...] = ()
    attention: tuple[tuple[float, ...], ...] = ()
    unknown: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())

    @property
    def violations(self) -> Both:
        """|max(0, excess)|^2, which is 0 where b follows from a, and that of a from b."""
        return _squares(self.excess), _squares([-e for e in self.excess])

    @property
    def violated(self) -> tuple[int, int]:
        """In how many dimensions b does not follow from a, and a does not follow from b."""
        return sum(e > 0 for e in self.excess), sum(e < 0 for e in self.excess)

    def record(self) -> dict[str, Any]:
        """For programs: cosine, unknown and, where the model tells it, order (whether one follows
        from the other: fit, 1 minus the violation, and in how many of `dim` dimensions it is
        violated) and attention."""
        found: dict[str, Any] = {"cosine": self.cosine, "unknown": self.unknown}
        if self.excess:
            both = zip(self.violations, self.violated, strict=True)
            of_each = [{"fit": 1 - v, "violated": n, "dim": len(self.excess)} for v, n in both]
            found["order"] = dict(
                zip(("second from first", "first from second"), of_each, strict=True)
            )
        return {**found, "attention": self.attention} if self.attention else found


def _squares(excess: Sequence[float]) -> float:
    return sum(e * e for e in excess if e > 0)


def likeness(reader: Reader, a: str, b: str) -> Likeness:
    """What a checkpoint says of two typed sentences.

    Raises UserError when one is blank, too long or holds control characters, and when the model
    knows no word of it.
    """
    texts = [Sentence.from_user(text).text for text in (a, b)]
    first, second = (reader.encode(text) for text in texts)
    score, text = reader.model.score, reader.model.text
    ordered = score.is_order
    return Likeness(
        cosine=float(F.cosine_similarity(pooled(first), pooled(second))),
        excess=tuple(score.excess(second, first)[0].tolist()) if ordered else (),
        attention=tuple(_attention(text, t) for t in texts) if text.weighs_characters else (),
        unknown=(tuple(reader.unknown_words(a)), tuple(reader.unknown_words(b))),
    )


def _attention(encoder: TextEncoder, text: str) -> tuple[float, ...]:
    """Return the weight of each character."""
    return tuple(encoder.character_weights(Sentence(text)).tolist())
