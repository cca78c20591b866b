"""Grounding of phrases by a model that was never shown which box a phrase belongs to.

A phrase with boxes (`evaluation.phrases`) is represented by the fragments that lie within it and
those that include its head; if there are none, by those with any of its words. Each region of the
photo gets the sum of its scores with these fragments minus the mean over the regions.

`pointing` and `iou50`: percent of phrases for which that is the right place (`metrics.pointing`),
the whole frame being a region too. `types`: the same by type of thing; a phrase of two types counts
for both. `baselines`: the same phrases with a random region, a window in the centre, or the frame.

`presence.kept`: percent of the fragments with nouns that the model finds in their own photo, as the
score with the best region is above its limit; `presence.absent`: percent that it does not find in a
photo whose captions have none of these nouns (`evaluation.presence`). `function_words`: percent of
the sentences in which a function word has a region (`evaluation.function_words`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from vsdemo.core.alignment import WHOLE, Fragment
from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.nested import unflatten
from vsdemo.core.sentences import Sentence, Tree
from vsdemo.data.text.sentences import DEP_TREE, add_trees
from vsdemo.evaluation import presence
from vsdemo.evaluation.function_words import shows_function_word
from vsdemo.evaluation.metrics import pointing
from vsdemo.evaluation.metrics.accuracy import Accuracy, Answered
from vsdemo.evaluation.metrics.bootstrap import with_intervals
from vsdemo.evaluation.metrics.pointing import Answers
from vsdemo.evaluation.phrases import Phrase, match_words, phrases
from vsdemo.evaluation.presence import Presence
from vsdemo.evaluation.task import PairedTask, PhotoData, Result
from vsdemo.models.alignment import of_scores
from vsdemo.models.dual_encoder import DualEncoder

BLOCK = 512  # phrases at once


@dataclass(frozen=True)
class PhraseAccuracy:
    """How well phrases were localised.

    Args:
        accuracy: Accuracy by names such as `types.people.iou50`.
        left_out: Number of phrases that were left out: `unmatched`, because their words are not
            in the caption, and `untouched`, because no fragment has any of them.
    """

    accuracy: Accuracy
    left_out: dict[str, int]

    def __len__(self) -> int:
        return len(self.accuracy)

    def metrics(self, photos: np.ndarray | None = None) -> dict[str, Any]:
        """Return pointing and iou50 in percent: of all phrases, by type, and of the baselines.

        gain: pointing minus the best baseline, in points.
        """
        result = unflatten(self.accuracy.metrics(photos))
        best = max(baseline["pointing"] for baseline in result["baselines"].values())
        return {**result, "gain": result["pointing"] - best}


@dataclass(frozen=True)
class Query:
    """A phrase with the numbers of the fragments that represent it."""

    phrase: Phrase
    fragments: list[int]


def matching_fragments(
    fragments: Sequence[Fragment], words: frozenset[int], tree: Tree
) -> list[int]:
    """Return the numbers of the fragments that represent a phrase; [] where none touches it.

    Args:
        fragments: Fragments of the caption.
        words: The phrase's words in the tree.
        tree: Tree of the caption.
    """
    head = max((word for word in words if tree.heads[word] - 1 not in words), default=None)
    parts = {n: {*f.words} for n, f in enumerate(fragments) if f.relation != WHOLE}
    own = [number for number, part in parts.items() if head in part or part <= words]
    touching = [number for number, part in parts.items() if part & words]
    return own or touching


def region_scores(aligned: Tensor, selected: Tensor, real: Tensor) -> Tensor:
    """Return the scores of regions for phrases, (Q, K), none negative; all equal where they tie.

    Args:
        aligned: (Q, M, K) scores of fragments and regions.
        selected: (Q, M) the fragments that represent the phrase, at least one.
        real: (Q, K) the regions that are not padding, at least one.
    """
    total = aligned.masked_fill(~selected[:, :, None], 0).sum(1)  # (Q, K)
    mean = total.masked_fill(~real, 0).sum(-1, keepdim=True) / real.sum(-1, keepdim=True)
    above = ((total - mean) * real).clamp(min=0)
    return torch.where((above > 0).any(-1, keepdim=True), above, real.to(above))


def queries(
    model: DualEncoder, known: Sequence[Phrase], sentences: Sequence[Sentence]
) -> tuple[list[Query], dict[str, int]]:
    """Return the phrases with the fragments that represent them, and why others have none."""
    encoder: Any = model.text
    trees = [cast(Tree, sentence.tree) for sentence in sentences]
    fragments = [encoder.fragments(sentence) for sentence in sentences]
    result: list[Query] = []
    left_out = {"unmatched": 0, "untouched": 0}
    for phrase, words in zip(known, match_words(known, trees), strict=True):
        own = matching_fragments(fragments[phrase.caption], words, trees[phrase.caption])
        if own:
            result.append(Query(phrase, own))
        else:
            left_out["untouched" if words else "unmatched"] += 1
    return result, left_out


@dataclass(frozen=True)
class Alignment(PairedTask):
    """Grounding of phrases in regions."""

    name: ClassVar[str] = "alignment"
    needs: ClassVar[frozenset[str]] = frozenset({"photos", "boxes"})
    primary: ClassVar[str] = "pointing"

    def check(self, model: DualEncoder) -> None:
        """Raise UserError for a model that aligns no parts."""
        if not model.score.can_align:
            raise UserError(
                "This model compares whole sentences with whole photos and aligns no parts."
            )

    def measure(self, model: DualEncoder, data: PhotoData) -> PhraseAccuracy:
        """Return how well the phrases of a split are localised.

        Raises:
            UserError: The model aligns no parts, the data set has no known boxes, or a score is
                NaN.
        """
        self.check(model)
        split = data.split
        known = phrases(split)
        sentences = add_trees([Sentence(text) for text in split.captions], DEP_TREE)
        to_align, left_out = queries(model, known, sentences)
        if not to_align:
            raise UserError(
                f"No fragment of {split.name}'s captions is part of a phrase with a box."
            )
        blocks = [
            _answers(model, sentences, data, to_align[start : start + BLOCK])
            for start in range(0, len(to_align), BLOCK)
        ]
        answers = {name: torch.cat([block[name] for block in blocks]) for name in blocks[0]}
        accuracy = _accuracy(split, [query.phrase for query in to_align], answers)
        embedded = model.encode_text(sentences), model.encode_image(data.features)
        measured = presence.measure(model, split, *embedded)
        more = {
            **_presence(measured, model.presence),
            "function_words": _function_words(model, sentences, data, *embedded),
        }
        return PhraseAccuracy(accuracy.with_answers(more), left_out)

    def evaluate(self, model: DualEncoder, data: PhotoData) -> Result:
        """Return pointing, iou50, types, baselines, gain, presence, counts, and ci95 over photos.

        Each type has its number of phrases n; n_phrases, n_images and n_left_out are of all.
        """
        measured = self.measure(model, data)
        result, counts = with_intervals(measured), measured.accuracy.questions
        for kind, metrics in result["types"].items():
            metrics["n"] = counts[f"types.{kind}.pointing"]
        sizes = {
            "n_phrases": counts["pointing"],
            "n_images": int((measured.accuracy.counts["pointing"] > 0).sum()),
        }
        return {**result, **sizes, "n_left_out": measured.left_out}


def _answers(
    model: DualEncoder, sentences: Sequence[Sentence], data: PhotoData, block: Sequence[Query]
) -> Answers:
    """Return pointing and iou50 of each phrase of a block, and of the baselines."""
    assert data.boxes is not None
    owner = torch.tensor(data.split.photo_of)
    caption = torch.tensor([query.phrase.caption for query in block])  # (Q,)
    aligned = _align(model, sentences, data.features, caption, owner)
    selected = torch.zeros(aligned.shape[:2], dtype=torch.bool)
    for row, query in enumerate(block):
        selected[row, query.fragments] = True
    boxes = data.boxes[owner[caption]]  # (Q, K, 4)
    gold = pad_sequence([query.phrase.boxes for query in block], batch_first=True)
    scores = region_scores(aligned, selected, real=(boxes != 0).any(-1))
    answers = pointing.accuracy(scores, boxes, gold)
    chance = pointing.baselines(boxes, gold)
    return answers | {f"baselines.{name}": right for name, right in chance.items()}


def _align(
    model: DualEncoder,
    sentences: Sequence[Sentence],
    features: Tensor,
    caption: Tensor,
    owner: Tensor,
) -> Tensor:
    """Return the scores of each phrase's caption with its photo, (Q, M, K).

    Captions and photos that several phrases share are encoded once.

    Args:
        model: Encodes and aligns them.
        sentences: The captions of the split.
        features: (P, K, F) of the regions.
        caption: (Q,) number of each phrase's caption.
        owner: (C,) number of each caption's photo.
    """
    captions, of_phrase = torch.unique(caption, return_inverse=True)
    photos, of_caption = torch.unique(owner[captions], return_inverse=True)
    texts = model.encode_text([sentences[number] for number in captions])
    images = model.encode_image(features[photos])[of_caption]
    aligned: Tensor = model.score.align_pairs(texts.to(model.device), images.to(model.device))
    if aligned.isnan().any():
        raise UserError("Some scores are NaN; the model's weights are damaged.")
    return aligned.cpu()[of_phrase]


def _presence(measured: Presence, limit: float) -> dict[str, Answered]:
    """Return which phrases are above the limit in their own photo, and not in the other one."""
    photo = measured.things.own.numpy()
    return {
        "presence.kept": (photo, (measured.own > limit).float().numpy()),
        "presence.absent": (photo, (measured.other <= limit).float().numpy()),
    }


def _function_words(
    model: DualEncoder,
    sentences: Sequence[Sentence],
    data: PhotoData,
    texts: Embeddings,
    photos: Embeddings,
) -> Answered:
    """Return in which captions a function word has a region of the caption's photo."""
    assert data.boxes is not None
    assert texts.mask is not None
    owner = torch.tensor(data.split.photo_of)
    shown: list[bool] = []
    for rows in torch.arange(len(sentences)).split(BLOCK):
        aligned = model.score.align_pairs(texts[rows], photos[owner[rows]]).cpu()  # (B, M, K)
        for row, scores in zip(rows.tolist(), aligned, strict=True):
            boxes = data.boxes[owner[row]]
            real = (boxes != 0).any(-1)
            fragments = int(texts.mask[row].sum())
            own = of_scores(model, sentences[row], scores[:fragments, real], boxes[real])
            shown.append(shows_function_word(own))
    return owner.numpy(), np.array(shown, dtype=float)


def _accuracy(split: CaptionSet, queried: Sequence[Phrase], answers: Answers) -> Accuracy:
    """Return the accuracy on all phrases, and pointing and iou50 of those of each type."""
    photo = np.array([split.photo_of[phrase.caption] for phrase in queried])
    by_name = {name: (photo, right.numpy()) for name, right in answers.items()}
    for kind in sorted({kind for phrase in queried for kind in phrase.types}):
        rows = np.array([kind in phrase.types for phrase in queried])
        for name in ("pointing", "iou50"):
            by_name[f"types.{kind}.{name}"] = (photo[rows], answers[name].numpy()[rows])
    return Accuracy.of(len(split.photos), by_name)
