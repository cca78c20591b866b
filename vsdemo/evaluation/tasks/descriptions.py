"""Whether photos as visitors have them are described rightly.

Each of the photos of `vsdemo.data.everyday_photos` is described by the sentences of the caption
bank that score highest with it. `first` is the share of the photos about which the first sentence
is right, `among_three` that of those about which one of the first three is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.sentences import Sentence
from vsdemo.data import caption_bank, everyday_photos
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
    columns: ClassVar[tuple[str, ...]] = ("first", "among_three")

    def own_photos(self) -> CaptionSet:
        """Return the photos."""
        return everyday_photos.load()

    def evaluate(self, model: DualEncoder, data: PhotoData) -> Result:
        """Return percentages, ci95 over photos, n_photos, n_sentences and the descriptions.

        `descriptions` has for each photo the first sentences and whether each is right.
        """
        texts = caption_bank.sentences()
        photos = model.encode_image(data.features)
        sentences = model.encode_text([Sentence(text) for text in texts])
        best = model.score(sentences, photos).T.topk(SHOWN).indices  # (P, SHOWN)
        shown = {
            photo.file: {texts[row]: photo.is_described_by(texts[row]) for row in rows}
            for photo, rows in zip(everyday_photos.described_photos(), best.tolist(), strict=True)
        }
        right = np.array([[*answers.values()] for answers in shown.values()], float)
        numbers = np.arange(len(photos))
        accuracy = Accuracy.of(
            len(photos), {"first": (numbers, right[:, 0]), "among_three": (numbers, right.max(1))}
        )
        return {
            **with_intervals(accuracy),
            "n_photos": len(photos),
            "n_sentences": len(texts),
            "descriptions": shown,
        }
