"""Sentences that a model composes about photos, beside those that it finds.

Each photo of a split gets a composed sentence (`vsdemo.models.composition`) and the sentence of the
caption bank with the highest score. Both are compared with the human captions: `cider` by CIDEr
in percent, and `false_things` by the share of things they name that no human caption supports
(`metrics.caption_quality.Supported`), in percent. `gain` is by how much CIDEr of composed sentences
is higher, in percent.

`judged` is the mean score with the photo by another model, times 100: JUDGE of the same data, which
compares whole sentences and photos. Hessel et al., "CLIPScore: A reference-free evaluation metric
for image captioning", EMNLP 2021, do so with CLIP. `people.judged` is that of the first caption of
each photo.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError
from vsdemo.core.nested import unflatten
from vsdemo.core.paths import checkpoints_root
from vsdemo.core.sentences import Sentence, Tree
from vsdemo.data import caption_bank
from vsdemo.data.pairs import wordnet
from vsdemo.data.text.noun_phrases import named_things
from vsdemo.data.text.sentences import DEP_TREE, add_trees
from vsdemo.evaluation.metrics.accuracy import Accuracy
from vsdemo.evaluation.metrics.bootstrap import with_intervals
from vsdemo.evaluation.metrics.caption_quality import Supported, cider
from vsdemo.evaluation.task import PhotoData, Result, Task
from vsdemo.models import checkpoint
from vsdemo.models.composition import compose
from vsdemo.models.dual_encoder import DualEncoder

COMPOSED, RETRIEVED, PEOPLE = "composed", "retrieved", "people"
JUDGE = "vse"


@dataclass(frozen=True)
class Quality:
    """CIDEr, false things and the scores of a judge of two sentences about each of P photos.

    Args:
        accuracy: Means by names such as `composed.false_things`.
        of_photos: (P,) of each photo, by names such as `composed.cider`, in percent.
    """

    accuracy: Accuracy
    of_photos: dict[str, np.ndarray]

    def __len__(self) -> int:
        return len(self.accuracy)

    def metrics(self, photos: np.ndarray | None = None) -> dict[str, Any]:
        """Return the metrics of all photos, or of a sample of them."""
        rows = np.arange(len(self)) if photos is None else photos
        means = {name: float(values[rows].mean()) for name, values in self.of_photos.items()}
        result = unflatten({**self.accuracy.metrics(photos), **means})
        composed, retrieved = (result[name]["cider"] for name in (COMPOSED, RETRIEVED))
        return {**result, "gain": 100 * (composed / max(retrieved, 1e-9) - 1)}


@dataclass(frozen=True)
class Compositions(Task):
    """Composed sentences."""

    name: ClassVar[str] = "compositions"
    needs: ClassVar[frozenset[str]] = frozenset({"photos"})
    primary: ClassVar[str] = COMPOSED

    def check(self, model: DualEncoder) -> None:
        """Raise UserError for a model without a captioner."""
        if model.captioner is None:
            raise UserError(
                "This model cannot compose sentences; train its captioner "
                "(`python -m vsdemo train-captioner CHECKPOINT`)."
            )

    def evaluate(self, model: DualEncoder, data: PhotoData) -> Result:
        """Return cider, false_things and judged of both kinds, gain, counts and ci95 over photos.

        Raises:
            UserError: The model has no captioner, a photo has no captions, or the judge, WordNet
                or pycocoevalcap is missing.
        """
        self.check(model)
        split = data.split
        if not all(split.captions_of):
            raise UserError(f"{split.name} has photos without captions, which this task needs.")
        photos = model.encode_image(data.features)
        texts = {
            COMPOSED: [own[0].text if own else "" for own in compose(model, photos)],
            RETRIEVED: self._retrieve(model, photos),
        }
        gold = [split.own_captions(photo) for photo in range(len(split.photos))]
        supported = Supported(wordnet.load_nouns())
        known = [
            [noun for tree in trees(own) for noun in named_things(tree).values()] for own in gold
        ]
        shares = {}
        for name, sentences in texts.items():
            photo, false = [], []
            for row, tree in enumerate(trees(sentences)):
                named = [*dict.fromkeys(named_things(tree).values())]
                wrong = supported.unsupported(named, known[row])
                photo += [row] * len(named)
                false += [1.0] * len(wrong) + [0.0] * (len(named) - len(wrong))
            shares[f"{name}.false_things"] = (np.array(photo), np.array(false))
        of_photos = {f"{name}.cider": cider(own, gold) for name, own in texts.items()}
        texts[PEOPLE] = [own[0] for own in gold]
        for name, scores in judge(split, texts).items():
            of_photos[f"{name}.judged"] = scores
        quality = Quality(Accuracy.of(len(gold), shares), of_photos)
        return {**with_intervals(quality), "n_photos": len(gold)}

    @staticmethod
    def _retrieve(model: DualEncoder, photos: Any) -> list[str]:
        """Return the sentence of the caption bank with the highest score for each photo."""
        bank = caption_bank.sentences()
        scores = model.score(model.encode_text([Sentence(text) for text in bank]), photos)
        return [bank[row] for row in scores.argmax(0).tolist()]


def judge(split: CaptionSet, texts: Mapping[str, Sequence[str]]) -> dict[str, np.ndarray]:
    """Return the scores by another model of sentences about P photos, (P,) by name, in percent.

    Args:
        split: The photos.
        texts: A sentence about each photo, by name.

    Raises:
        UserError: The model or its image network is missing.
    """
    model, spec, _ = checkpoint.load(checkpoints_root() / split.name / JUDGE)
    cache = checkpoint.feature_cache(spec)
    photos = model.encode_image(cache.get(split.photos, keys=split.keys))
    scores = {}
    for name, own in texts.items():
        sentences = model.encode_text([Sentence(text) for text in own])
        scores[name] = 100 * model.score.pairs(sentences, photos).float().cpu().numpy()
    return scores


def trees(texts: Sequence[str]) -> list[Tree]:
    """Return the trees of sentences."""
    sentences = add_trees([Sentence(text) for text in texts], DEP_TREE)
    return [sentence.tree for sentence in sentences if sentence.tree]
