"""Whether a search says so when no photo matches a sentence.

The threshold of `vsdemo.evaluation.matching` is calibrated on captions of every other photo of the
split. Over the gallery of all its photos, `false_alarms` is the share of the other photos' captions
that are said to match nothing, `short_false_alarms` that of the first words of these captions, and
`recall` that of sentences about things that no photo shows, see `vsdemo.data.absent`. For
Storybook, `twins` is that of false twins of captions, which use its own words but are true of none
of the pictures. None of these sentences is used to calibrate the threshold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vsdemo.core.errors import UserError
from vsdemo.data import absent
from vsdemo.evaluation import matching
from vsdemo.evaluation.matching import opening
from vsdemo.evaluation.metrics.accuracy import Accuracy
from vsdemo.evaluation.metrics.bootstrap import with_intervals
from vsdemo.evaluation.storybook_facts import has_facts, twins_of_nothing
from vsdemo.evaluation.task import PhotoData, Result, Task
from vsdemo.models.dual_encoder import DualEncoder

CAPTIONS = 1000  # of each half, at most


@dataclass(frozen=True)
class Absent(Task):
    """Sentences that nothing in the gallery matches."""

    name: ClassVar[str] = "absent"
    needs: ClassVar[frozenset[str]] = frozenset({"photos"})
    primary: ClassVar[str] = "recall"
    columns: ClassVar[tuple[str, ...]] = ("recall", "twins", "false_alarms", "short_false_alarms")

    def evaluate(self, model: DualEncoder, data: PhotoData) -> Result:
        """Return false_alarms, short_false_alarms and recall in percent, counts, and ci95.

        For Storybook also twins.

        The intervals are over sentences.

        Raises:
            UserError: The split has captions of fewer than two photos.
        """
        split = data.split
        halves: tuple[list[int], list[int]] = ([], [])
        for caption, photo in enumerate(split.photo_of):
            halves[photo % 2].append(caption)
        if not all(halves):
            raise UserError(f"{split.name} has too few photos with captions; two are needed.")
        chosen, measured = (matching.spread(half, CAPTIONS) for half in halves)
        photos = model.encode_image(data.features)
        threshold = matching.calibrate(model, split, photos, captions=chosen)
        captions = [split.captions[caption] for caption in measured]
        sentences = {
            "false_alarms": captions,
            "short_false_alarms": [start for text in captions if (start := opening(text))],
            "recall": list(absent.sentences(split.name)),
        }
        if has_facts(split):
            sentences["twins"] = list(twins_of_nothing(split))
        answers = {
            name: matching.match_scores(model, texts, photos).numpy()
            < [threshold.at(len(photos), text) for text in texts]
            for name, texts in sentences.items()
        }
        accuracy = Accuracy.of(
            max(map(len, sentences.values())),
            {name: (np.arange(len(said)), said.astype(float)) for name, said in answers.items()},
        )
        return {
            **with_intervals(accuracy),
            "n_captions": len(measured),
            "n_absent": len(sentences["recall"]),
        }
