"""Whether a picture prefers a true sentence to its false twin, judged by the facts of Storybook.

A caption and its twin differ in one respect, such as a colour or who does what to whom, see
`vsdemo.data.storybook.false_twins`. For each picture and respect there is one pair, of the fullest
caption that has such a twin. `negation` is about two sentences that each go on to deny something:
the true one denies what the picture does not show, the false one what it does show. The metric of a
respect is the percentage of its pairs in which the true sentence has the higher score; chance is
50. `mean` is the mean over the respects in SUMMED.

In some pairs the sentences alone give the answer away. The twin of `count` always names more
things, as "two dogs" is true of three dogs, too. That of `time` and `weather` often names one where
the caption names none, and that of `roles` may be absurd, such as a drum that holds a boy.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from random import Random
from statistics import fmean
from typing import ClassVar, NamedTuple

import numpy as np
import torch

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.sentences import Sentence
from vsdemo.data import storybook
from vsdemo.data.storybook.facts import Facts, facts_of
from vsdemo.data.storybook.false_twins import RESPECTS, false_twin
from vsdemo.data.storybook.negation import negated_pair
from vsdemo.data.storybook.realization import Caption
from vsdemo.data.storybook.scene import Scene
from vsdemo.data.storybook.typed import TypedSentence
from vsdemo.data.storybook.visible_facts import visible_facts
from vsdemo.evaluation.metrics.accuracy import Accuracy, higher
from vsdemo.evaluation.metrics.bootstrap import with_intervals
from vsdemo.evaluation.storybook_facts import stories
from vsdemo.evaluation.task import PairedTask, PhotoData, Result
from vsdemo.models.dual_encoder import DualEncoder

NEGATION = "negation"
SUMMED = ("roles", "colour", "count", NEGATION)  # what `mean` averages


class Pair(NamedTuple):
    """A true and a false sentence about the picture with this number in its split."""

    photo: int
    true: TypedSentence
    false: TypedSentence


@lru_cache(maxsize=3)  # test, dev and compositional, for one model after the other
def pairs(split: CaptionSet) -> dict[str, list[Pair]]:
    """Return the pairs of each of RESPECTS and of negation, at most one for each picture."""
    scenes, _ = stories(split)
    result: dict[str, list[Pair]] = {name: [] for name in (*RESPECTS, NEGATION)}
    for photo, scene in enumerate(scenes):
        for name, (true, false) in pairs_about(scene).items():
            result[name].append(Pair(photo, true, false))
    return result


def pairs_about(scene: Scene) -> dict[str, tuple[TypedSentence, TypedSentence]]:
    """Return a true and a false sentence by respect; the same each time."""
    captions = storybook.captions_of(scene)[::-1]  # the fullest one first
    truth, shown = facts_of(scene), visible_facts(scene)
    result = {}
    for name in (*RESPECTS, NEGATION):
        rng = Random(f"twins/{scene.number}/{name}")
        for caption in captions:
            pair = _pair(caption, name, rng, truth, shown)
            if pair:
                result[name] = pair
                break
    return result


def _pair(
    caption: Caption, name: str, rng: Random, truth: Facts, shown: Facts
) -> tuple[TypedSentence, TypedSentence] | None:
    if name == NEGATION:
        return negated_pair(caption.text, caption.facts, rng, truth, shown)
    twin = false_twin(caption.message, name, shown, rng)
    return (_sentence(caption), _sentence(twin)) if twin else None


def _sentence(caption: Caption) -> TypedSentence:
    return TypedSentence(caption.text, caption.facts)


@dataclass(frozen=True)
class TwinAccuracy:
    """Right answers by respect."""

    accuracy: Accuracy

    def __len__(self) -> int:
        """Return the number of pictures."""
        return len(self.accuracy)

    def metrics(self, photos: np.ndarray | None = None) -> dict[str, float]:
        """Return the percentage of right answers in each respect with a pair, and the mean."""
        by_respect = self.accuracy.metrics(photos)
        return {"mean": fmean(by_respect[n] for n in SUMMED if n in by_respect), **by_respect}


@dataclass(frozen=True)
class Twins(PairedTask):
    """Percentages of true sentences that the picture prefers to their false twins."""

    name: ClassVar[str] = "twins"
    needs: ClassVar[frozenset[str]] = frozenset({"photos", "storybook"})
    primary: ClassVar[str] = "mean"
    columns: ClassVar[tuple[str, ...]] = ("mean", *SUMMED)

    def measure(self, model: DualEncoder, data: PhotoData) -> TwinAccuracy:
        """Return the right answers; sentences are parsed where the model needs trees."""
        by_name = pairs(data.split)
        every = [pair for rows in by_name.values() for pair in rows]
        texts = dict.fromkeys(text for pair in every for text in (pair.true.text, pair.false.text))
        row = {text: number for number, text in enumerate(texts)}
        sentences = model.encode_text([Sentence(text) for text in texts])
        photos = model.encode_image(data.features)
        answers = {}
        for name, rows in by_name.items():
            photo = torch.tensor([pair.photo for pair in rows], dtype=torch.long)
            true = torch.tensor([row[pair.true.text] for pair in rows], dtype=torch.long)
            false = torch.tensor([row[pair.false.text] for pair in rows], dtype=torch.long)
            right = higher(
                model.score.pairs(sentences[true], photos[photo]),
                model.score.pairs(sentences[false], photos[photo]),
            )
            answers[name] = (photo.numpy(), right)
        return TwinAccuracy(Accuracy.of(len(data.split.photos), answers))

    def evaluate(self, model: DualEncoder, data: PhotoData) -> Result:
        """Return the mean and each respect in percent, ci95 over pictures, n_pairs of each."""
        result = self.measure(model, data)
        return {**with_intervals(result), "n_pairs": result.accuracy.questions}
