"""Whether any photo of a gallery matches a sentence.

A search always has a best hit, even for a sentence about something that no photo shows. The match
score of a sentence s over the photos v of a gallery is the score of the best one, without what the
sentence adds to its scores with all photos (`Score.offset`), mapped to 0..1, times the share of the
words that the model knows:

    m(s) = to_unit(max_v score(s, v) - offset(s)) known(s)

Nothing matches a sentence whose match score is below a threshold. This is a low quantile of the
match scores of captions whose photo is in the gallery, so that few of them are said to match
nothing. The more photos there are, the higher the best one scores, so the threshold is calibrated
for galleries of several sizes. Short queries such as "a man" have lower scores than captions, so
they have their own threshold, calibrated on how captions begin.

The calibration also gives the scale of bars on the page: a bar is empty at a unit score that few
captions reach with a photo that is not their own, and full at one that few exceed with their own.
Between the two it is linear. This changes no score, only how long its bar is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.hits import UNRELATED, BarScale
from vsdemo.core.sentences import Sentence
from vsdemo.data.text.sentences import add_trees
from vsdemo.data.text.vocab import tokenize
from vsdemo.models.dual_encoder import DualEncoder

FALSE_ALARMS = 0.05  # share of matching sentences that may be said to match nothing
QUANTILE = 0.03  # of the calibration; below FALSE_ALARMS, as other sentences vary
FULL = 0.95  # quantile of the scores of own photos at which a bar is full
SIZES = (30, 100, 250, 500, 1000, 2500)  # photos in a gallery
BEYOND = 0.5  # slope above the largest size, as a share of that below it: it decreases with size
SENTENCES = 1000  # used in a calibration
DIGITS = 4
SHORT = 3  # words of a short query, at most
# No short query ends with one of these.
FUNCTION_WORDS = frozenset(
    ("a", "an", "the", "and", "in", "on", "at", "of", "with", "is", "are", "to", "by", "from")
)


@dataclass(frozen=True)
class MatchThreshold:
    """The lowest match score of a sentence that something matches, by the size of the gallery.

    Args:
        scores: Number of photos -> threshold, by ascending size.
        short_scores: The same for queries of at most SHORT words, with the same sizes.
        dataset: Name of the data set whose captions it was calibrated on.
        split: Its split.
        sentences: Number of captions.
        bar_scale: Scale of bars; None for a model that scores own photos no higher than others.
    """

    scores: Mapping[int, float]
    short_scores: Mapping[int, float]
    dataset: str
    split: str
    sentences: int
    bar_scale: BarScale | None = None

    def at(self, photos: int, text: str) -> float:
        """Return the threshold of a sentence for a gallery of `photos` photos, at least 0.

        It is linear in the logarithm of the size: between two sizes, below the first with the same
        slope as above it, and above the last with BEYOND times the slope below it.
        """
        scores = self.short_scores if is_short(text) else self.scores
        sizes = list(scores)
        if len(sizes) == 1:
            return scores[sizes[0]]
        after = min(max(int(np.searchsorted(sizes, photos)), 1), len(sizes) - 1)
        low, high = sizes[after - 1], sizes[after]
        share = float(np.log(max(photos, 1) / low) / np.log(high / low))
        if share > 1:
            share = 1 + BEYOND * (share - 1)
        return max(0.0, (1 - share) * scores[low] + share * scores[high])

    def to_json(self) -> dict[str, Any]:
        """Return the content of a file, without the checkpoint's hash."""
        return {
            "dataset": self.dataset,
            "split": self.split,
            "sentences": self.sentences,
            "scores": _to_json(self.scores),
            "short_scores": _to_json(self.short_scores),
            "bar_scale": self.bar_scale and asdict(self.bar_scale),
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> MatchThreshold:
        """Undo `to_json`.

        Raises:
            ValueError, LookupError, TypeError, AttributeError: The values are damaged.
        """
        return cls(
            scores=_from_json(values["scores"]),
            short_scores=_from_json(values["short_scores"]),
            dataset=str(values["dataset"]),
            split=str(values["split"]),
            sentences=int(values["sentences"]),
            bar_scale=_bar_scale(**scale) if (scale := values.get("bar_scale")) else None,
        )


def _bar_scale(empty: float, full: float) -> BarScale | None:
    empty, full = round(float(empty), DIGITS), round(float(full), DIGITS)
    return BarScale(empty, full) if empty < full else None


def _to_json(scores: Mapping[int, float]) -> dict[str, float]:
    return {str(size): round(score, DIGITS) for size, score in scores.items()}


def _from_json(values: Mapping[str, Any]) -> dict[int, float]:
    scores = {int(size): float(score) for size, score in values.items()}
    if not scores or min(scores) < 1:
        raise ValueError("no sizes of galleries")
    return dict(sorted(scores.items()))


def is_short(text: str) -> bool:
    """Return whether a query has at most SHORT words."""
    return len(tokenize(text)) <= SHORT


def opening(caption: str) -> str:
    """Return the first words of a caption as a short query, such as "a man" for "A man in red".

    It does not end with a function word; it is empty if fewer than two words are left.
    """
    words = tokenize(caption)[:SHORT]
    while words and words[-1] in FUNCTION_WORDS:
        words.pop()
    return " ".join(words) if len(words) > 1 else ""


def known_shares(model: DualEncoder, texts: Sequence[str]) -> Tensor:
    """Return the share of each sentence's words that a model knows, (N,)."""
    text: Any = model.text
    sentences = add_trees([Sentence(words) for words in texts], text.needs)
    return torch.tensor([text.known_share(sentence) for sentence in sentences])


def match_scores(model: DualEncoder, texts: Sequence[str], photos: Embeddings) -> Tensor:
    """Return the match scores of N sentences over the photos of a gallery, (N,)."""
    scores, offsets = _scores(model, texts, photos)
    return model.score.to_unit(scores.amax(1) - offsets) * known_shares(model, texts)


def _scores(model: DualEncoder, texts: Sequence[str], photos: Embeddings) -> tuple[Tensor, Tensor]:
    """Return the scores of N sentences with P photos, (N, P), and their offsets, (N,).

    Both are on the CPU.
    """
    sentences = model.encode_text([Sentence(text) for text in texts]).to(model.device)
    scores = model.score(sentences, photos.to(model.device).float())
    return scores.cpu(), model.score.offset(sentences).cpu()


def spread(captions: Sequence[int], count: int = SENTENCES) -> list[int]:
    """Return `count` evenly spaced caption numbers, or all if there are fewer."""
    at = np.linspace(0, len(captions) - 1, min(count, len(captions))).astype(int)
    return [captions[i] for i in at]


def calibrate(
    model: DualEncoder,
    split: CaptionSet,
    photos: Embeddings,
    *,
    captions: Sequence[int],
    sizes: Sequence[int] = (),
) -> MatchThreshold:
    """Return the threshold of a model over galleries of the photos of a split.

    Args:
        model: The model.
        split: P photos and their captions.
        photos: Embeddings of the photos, (P, D) or (P, K, D).
        captions: Numbers of the captions to calibrate on, at least one.
        sizes: Sizes of galleries, which are drawn from the photos and include the caption's own
            photo; those of more than P photos are left out. P is always one of the sizes.
    """
    pairs = [(split.captions[caption], split.photo_of[caption]) for caption in captions]
    long = [(text, photo) for text, photo in pairs if not is_short(text)] or pairs
    short = [(start, photo) for text, photo in pairs if (start := opening(text))] or pairs
    all_sizes = sorted({*(size for size in sizes if size < len(photos)), len(photos)})
    long_pairs = _Pairs.of(model, long, photos)
    return MatchThreshold(
        scores=long_pairs.thresholds(model, all_sizes),
        short_scores=_Pairs.of(model, short, photos).thresholds(model, all_sizes),
        dataset=split.name,
        split=split.split,
        sentences=len(pairs),
        bar_scale=long_pairs.bar_scale(model),
    )


@dataclass(frozen=True)
class _Pairs:
    """Scores of N sentences, each about one of P photos, with all of these photos.

    Args:
        scores: The scores, (N, P).
        offsets: What each sentence adds to all of its scores, (N,).
        own: For each sentence the number of its photo, (N,).
        known: For each sentence the share of words that the model knows, (N,).
    """

    scores: Tensor
    offsets: Tensor
    own: Tensor
    known: Tensor

    @classmethod
    def of(cls, model: DualEncoder, pairs: Sequence[tuple[str, int]], photos: Embeddings) -> _Pairs:
        """Score N sentences, each with the number of its photo."""
        texts = [text for text, _ in pairs]
        own = torch.tensor([photo for _, photo in pairs])
        return cls(*_scores(model, texts, photos), own, known_shares(model, texts))

    @property
    def own_scores(self) -> Tensor:
        """The score of each sentence with its photo, (N,)."""
        return self.scores.gather(1, self.own[:, None])[:, 0]

    def thresholds(self, model: DualEncoder, sizes: Sequence[int]) -> dict[int, float]:
        """Return the quantile of match scores by the size of the gallery, from 1 to P."""
        order = np.random.default_rng(0).permutation(self.scores.shape[1])
        best_of_first = self.scores[:, order].cummax(1).values  # (N, P)
        result = {}
        for size in sizes:
            best = torch.maximum(best_of_first[:, size - 1], self.own_scores)
            matched = model.score.to_unit(best - self.offsets) * self.known
            result[size] = float(np.quantile(matched.double().numpy(), QUANTILE))
        return result

    def bar_scale(self, model: DualEncoder) -> BarScale | None:
        """Return the scale of bars; None if sentences score no higher with their own photo."""
        is_own = torch.zeros_like(self.scores, dtype=torch.bool).scatter(1, self.own[:, None], True)
        others = model.score.to_unit(self.scores[~is_own])
        if not len(others):
            return None
        return _bar_scale(
            empty=float(np.quantile(others.double().numpy(), UNRELATED)),
            full=float(np.quantile(model.score.to_unit(self.own_scores).double().numpy(), FULL)),
        )
