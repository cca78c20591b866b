"""Whether photos like those of visitors are described correctly.

The photos are those of `vsdemo.data.everyday_photos`. For each, a model says what it probably shows
(`vsdemo.evaluation.likely`), or that it is not sure. `first` is the share of all photos for which
the first of these sentences is right, `among_three` the share for which one of the first three is,
and `unsure` the share without any sentence. `nearest` is the share of photos for which the
highest-scoring sentence of the caption bank is right; for a model without a temperature, `first` is
the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.sentences import Sentence
from vsdemo.data import caption_bank, everyday_photos
from vsdemo.evaluation.likely import likely_statements
from vsdemo.evaluation.metrics.accuracy import Accuracy
from vsdemo.evaluation.metrics.bootstrap import with_intervals
from vsdemo.evaluation.task import PhotoData, Result, Task
from vsdemo.models.dual_encoder import DualEncoder

SHOWN = 3  # sentences for a photo


@dataclass(frozen=True)
class Descriptions(Task):
    """Right descriptions of photos without captions."""

    name: ClassVar[str] = "descriptions"
    needs: ClassVar[frozenset[str]] = frozenset({"photos"})
    primary: ClassVar[str] = "first"
    columns: ClassVar[tuple[str, ...]] = ("first", "among_three", "unsure", "nearest")

    def own_photos(self) -> CaptionSet:
        """Return the photos."""
        return everyday_photos.load()

    def evaluate(self, model: DualEncoder, data: PhotoData) -> Result:
        """Return percentages, ci95 over photos, n_photos, n_sentences and the descriptions.

        `descriptions` has the first sentences about each photo, and whether each is right.
        """
        texts = caption_bank.sentences()
        photos = model.encode_image(data.features)
        scores = model.score(model.encode_text([Sentence(text) for text in texts]), photos)
        best = [[texts[row] for row in rows] for rows in scores.T.topk(SHOWN).indices.tolist()]
        shown: Sequence[Sequence[str]] = best
        if model.temperature is not None:
            shown = likely_statements(scores, model.temperature)
        known = everyday_photos.described_photos()
        answers = [
            {text: photo.is_described_by(text) for text in sentences}
            for photo, sentences in zip(known, shown, strict=True)
        ]
        nearest = [photo.is_described_by(near[0]) for photo, near in zip(known, best, strict=True)]
        shares = {
            "first": [next(iter(answer.values()), False) for answer in answers],
            "among_three": [any(answer.values()) for answer in answers],
            "unsure": [not answer for answer in answers],
            "nearest": nearest,
        }
        numbers = np.arange(len(known))
        accuracy = Accuracy.of(
            len(known), {name: (numbers, np.array(of, float)) for name, of in shares.items()}
        )
        return {
            **with_intervals(accuracy),
            "n_photos": len(known),
            "n_sentences": len(texts),
            "descriptions": {p.file: answer for p, answer in zip(known, answers, strict=True)},
        }
