"""Whether the first answer is true, judged by the facts of Storybook's scenes.

A caption such as "An animal outside." is true of many pictures, and any of them is a right answer.
`captions` is the share of captions that are true of their first picture, `pictures` that of
pictures whose first caption is true of them, and `typed` that of sentences as people type them, see
`vsdemo.data.storybook.typed`; `typed_3` counts a right answer among the first three. Where answers
tie, the share of right ones counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.sentences import Sentence
from vsdemo.data.storybook.facts import facts_of
from vsdemo.data.storybook.truth import entailed, fact_table
from vsdemo.data.storybook.typed import typed_sentences
from vsdemo.evaluation.metrics.accuracy import Accuracy
from vsdemo.evaluation.metrics.bootstrap import with_intervals
from vsdemo.evaluation.storybook_facts import stories
from vsdemo.evaluation.task import PhotoData, Result, Task
from vsdemo.models.dual_encoder import DualEncoder

FIRST = 3  # answers to a typed sentence


@lru_cache(maxsize=3)  # test, dev and compositional, for one model after the other
def truth_of_captions(split: CaptionSet) -> np.ndarray:
    """Return whether each caption of a split is true of each of its pictures, (C, P)."""
    scenes, captions = stories(split)
    pictures = fact_table([facts_of(scene) for scene in scenes])
    return entailed(pictures, fact_table([caption.facts for caption in captions]))


@lru_cache(maxsize=3)
def truth_of_typed(split: CaptionSet) -> np.ndarray:
    """Return whether each typed sentence of a split is true of each of its pictures, (T, P)."""
    pictures = [facts_of(scene) for scene in stories(split)[0]]
    typed = typed_sentences(split.split)
    answers = [[sentence.is_true(picture) for picture in pictures] for sentence in typed]
    return np.array(answers, bool).reshape(len(typed), len(pictures))


def first_is_true(scores: Tensor, true: np.ndarray) -> np.ndarray:
    """Return the share of true answers among the best ones of each query, (Q,).

    Args:
        scores: (Q, N), higher is better.
        true: (Q, N).
    """
    best = (scores == scores.amax(1, keepdim=True)).numpy()
    share: np.ndarray = (best & true).sum(1) / best.sum(1)
    return share


@dataclass(frozen=True)
class Truth(Task):
    """First answers judged by facts."""

    name: ClassVar[str] = "truth"
    needs: ClassVar[frozenset[str]] = frozenset({"photos", "storybook"})
    primary: ClassVar[str] = "captions"
    columns: ClassVar[tuple[str, ...]] = ("captions", "pictures", "typed", "typed_3")

    def evaluate(self, model: DualEncoder, data: PhotoData) -> Result:
        """Return percentages, ci95 over pictures and sentences, n_captions and n_typed.

        Splits without typed sentences have no `typed` and `typed_3`.
        """
        split, true = data.split, truth_of_captions(data.split)
        photos = model.encode_image(data.features)
        captions = model.encode_text([Sentence(caption) for caption in split.captions])
        scores = model.score(captions, photos)  # (C, P)
        answers = {
            "captions": (np.array(split.photo_of), first_is_true(scores, true)),
            "pictures": (np.arange(len(photos)), first_is_true(scores.T, true.T)),
        }
        typed = typed_sentences(split.split)
        if typed:
            texts = model.encode_text([Sentence(sentence.text) for sentence in typed])
            scores, true = model.score(texts, photos), truth_of_typed(split)  # (T, P)
            first = scores.topk(min(FIRST, len(photos)), dim=1).indices  # (T, 3)
            among = torch.from_numpy(true).gather(1, first).any(1)
            numbers = np.arange(len(typed))
            answers["typed"] = (numbers, first_is_true(scores, true))
            answers["typed_3"] = (numbers, among.numpy().astype(float))
        accuracy = Accuracy.of(max(len(photos), len(typed)), answers)
        counts = {"n_captions": len(split.captions), "n_typed": len(typed)}
        return {**with_intervals(accuracy), **counts}
