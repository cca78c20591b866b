"""Does a model that was never told which box a phrase speaks of find it?

For a phrase that is tied to boxes (`tasks.phrases`) speak those fragments of which both words are
its own and those with its head; where there are none, those with any of its words. It gives each of
the model's regions what the sum of their scores lies above its mean over the photo's regions.

`pointing` and `iou50`: percent of phrases for which that is the right place (`tasks.pointing`), the
whole frame being a region too. `types`: the same by what is spoken of; a phrase of two types counts
for both. `baselines`: the same phrases with a region by lot, a window in the middle, or the frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from vsdemo.core.alignment import Fragment
from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence, Tree
from vsdemo.data.text.sentences import add_trees
from vsdemo.evaluation.metrics.accuracy import Shares
from vsdemo.evaluation.metrics.pointing import Answers, baselines, judged
from vsdemo.evaluation.metrics.ranks import with_intervals
from vsdemo.evaluation.tasks.phrases import Phrase, phrases, placed
from vsdemo.models.dual_encoder import DualEncoder

PRIMARY = "pointing"
NEEDS_BOXES = True
BLOCK = 512  # phrases at once


@dataclass(frozen=True)
class Found:
    """How well phrases were found. shares: by names such as `types.people.iou50`. left_out: how
    many phrases were not asked for: `unmatched`, as their words are not in the caption, and
    `untouched`, as no fragment has any of them."""

    shares: Shares
    left_out: dict[str, int]

    def __len__(self) -> int:
        return len(self.shares)

    def metrics(self, photos: np.ndarray | None = None) -> dict[str, Any]:
        """pointing and iou50 in percent: of all phrases, by type, and of the baselines; gain:
        points that pointing lies above the best baseline."""
        found = nested(self.shares.metrics(photos))
        best = max(guess["pointing"] for guess in found["baselines"].values())
        return {**found, "gain": found["pointing"] - best}


@dataclass(frozen=True)
class Question:
    """A phrase that is asked for, with the numbers of the fragments that speak for it."""

    phrase: Phrase
    fragments: list[int]


def nested(flat: dict[str, Any]) -> dict[str, Any]:
    """{"a.b": 1} as {"a": {"b": 1}}."""
    found: dict[str, Any] = {}
    for name, value in flat.items():
        *above, last = name.split(".")
        inner = found
        for key in above:
            inner = inner.setdefault(key, {})
        inner[last] = value
    return found


def speaking(fragments: Sequence[Fragment], words: frozenset[int], tree: Tree) -> list[int]:
    """The fragments that speak for a phrase of these words of a tree; [] where none touches it."""
    head = max((word for word in words if tree.heads[word] - 1 not in words), default=None)
    own = [
        m
        for m, fragment in enumerate(fragments)
        if head in fragment.words or words.issuperset(fragment.words)
    ]
    return own or [m for m, f in enumerate(fragments) if words.intersection(f.words)]


def given(aligned: Tensor, speak: Tensor, real: Tensor) -> Tensor:
    """What phrases give to regions, (Q, K): none below zero; the same to all where they tie.

    aligned: (Q, M, K), scores of fragments and regions. speak: (Q, M), fragments that speak for
    the phrase, at least one. real: (Q, K), regions that there are, at least one.
    """
    total = aligned.masked_fill(~speak[:, :, None], 0).sum(1)
    mean = total.masked_fill(~real, 0).sum(-1, keepdim=True) / real.sum(-1, keepdim=True)
    above = ((total - mean) * real).clamp(min=0)
    return torch.where((above > 0).any(-1, keepdim=True), above, real.to(above))


def questions(
    model: DualEncoder, asked: Sequence[Phrase], sentences: Sequence[Sentence]
) -> tuple[list[Question], dict[str, int]]:
    """(phrases with the fragments that speak for them, how many have none and why)."""
    trees = [sentence.tree for sentence in sentences]
    fragments = [model.text.fragments(sentence) for sentence in sentences]
    found, left_out = [], {"unmatched": 0, "untouched": 0}
    for phrase, words in zip(asked, placed(asked, trees), strict=True):
        speak = speaking(fragments[phrase.caption], words, trees[phrase.caption])
        if speak:
            found.append(Question(phrase, speak))
        else:
            left_out["untouched" if words else "unmatched"] += 1
    return found, left_out


def check(model: DualEncoder) -> None:
    """Raises UserError for a model that aligns nothing."""
    if not hasattr(model.score, "align"):
        raise UserError("This model compares whole sentences with whole photos and aligns no part.")


def measure(model: DualEncoder, split: CaptionSet, features: Tensor, boxes: Tensor) -> Found:
    """features: (P, K, F) and boxes (P, K, 4) in shares of the regions of each photo.

    Raises UserError for a model that aligns nothing, for a data set without known boxes, and where
    a score is not a number.
    """
    check(model)
    known = phrases(split)
    sentences = add_trees([Sentence(text) for text in split.captions], frozenset({"dep_tree"}))
    asked, left_out = questions(model, known, sentences)
    if not asked:
        raise UserError(f"No fragment of {split.name}'s captions is part of a phrase with a box.")
    owner, parts = torch.tensor(split.photo_of), []
    for block in (asked[i : i + BLOCK] for i in range(0, len(asked), BLOCK)):
        caption = torch.tensor([question.phrase.caption for question in block])
        aligned = _aligned(model, sentences, features, caption, owner)
        speak = torch.zeros(aligned.shape[:2], dtype=torch.bool)
        for row, question in enumerate(block):
            speak[row, question.fragments] = True
        own = boxes[owner[caption]]
        gold = pad_sequence([question.phrase.boxes for question in block], batch_first=True)
        found = judged(given(aligned, speak, (own != 0).any(-1)), own, gold)
        chance = {f"baselines.{k}": right for k, right in baselines(own, gold).items()}
        parts.append(found | chance)
    right = {name: torch.cat([part[name] for part in parts]) for name in parts[0]}
    return Found(_shares(split, [question.phrase for question in asked], right), left_out)


def _aligned(
    model: DualEncoder,
    sentences: Sequence[Sentence],
    features: Tensor,
    caption: Tensor,
    owner: Tensor,
) -> Tensor:
    """Scores of each phrase's caption with its photo, (Q, M, K); caption: (Q,), its number. What
    several phrases share is embedded once."""
    captions, of_phrase = caption.unique(return_inverse=True)
    photos, of_caption = owner[captions].unique(return_inverse=True)
    texts = model.encode_text([sentences[number] for number in captions])
    images = model.encode_image(features[photos])[of_caption]
    aligned = model.score.align_pairs(texts.to(model.device), images.to(model.device)).cpu()
    if aligned.isnan().any():
        raise UserError("Some scores are not numbers; the model's weights are damaged.")
    return aligned[of_phrase]


def _shares(split: CaptionSet, asked: Sequence[Phrase], right: Answers) -> Shares:
    """Of all phrases, and pointing and iou50 of those of each type."""
    photo = np.array([split.photo_of[phrase.caption] for phrase in asked])
    answers = {name: (photo, row.numpy()) for name, row in right.items()}
    for kind in sorted({kind for phrase in asked for kind in phrase.types}):
        rows = np.array([kind in phrase.types for phrase in asked])
        for name in ("pointing", "iou50"):
            answers[f"types.{kind}.{name}"] = (photo[rows], right[name].numpy()[rows])
    return Shares.of(len(split.photos), answers)


def evaluate(
    model: DualEncoder, split: CaptionSet, features: Tensor, boxes: Tensor
) -> dict[str, Any]:
    """pointing, iou50, gain, types (with n), baselines; n_phrases, n_images, n_left_out; ci95."""
    found = measure(model, split, features, boxes)
    result, asked = with_intervals(found), found.shares.questions
    for kind, figures in result["types"].items():
        figures["n"] = asked[f"types.{kind}.pointing"]
    sizes = {
        "n_phrases": asked["pointing"],
        "n_images": int((found.shares.asked["pointing"] > 0).sum()),
    }
    return {**result, **sizes, "n_left_out": found.left_out}
