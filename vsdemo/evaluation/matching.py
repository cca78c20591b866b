"""Whether any photo of a gallery matches a sentence.

A search always has a best hit, also for a sentence about what no photo shows. The match score of a
sentence s over the photos v of a gallery is the score of the best one, mapped to 0..1, times the
share of the words that the model knows:

    m(s) = to_unit(max_v score(s, v)) known(s)

Nothing matches a sentence whose match score is below a threshold. This is a low quantile of the
match scores of captions whose photo is in the gallery, so that few of them are said to match
nothing. The more photos there are, the better is the best of them; so the threshold is calibrated
for galleries of several sizes. Short queries such as "a man" have lower scores than captions, so
they have a threshold of their own, calibrated on how captions begin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.sentences import Sentence
from vsdemo.data.text.sentences import add_trees
from vsdemo.data.text.vocab import tokenize
from vsdemo.models.dual_encoder import DualEncoder

FALSE_ALARMS = 0.05  # share of matching sentences that may be said to match nothing
QUANTILE = 0.04  # of the calibration; below FALSE_ALARMS, as other sentences vary
SIZES = (30, 100, 250, 500, 1000, 2500)  # photos in a gallery
BEYOND = 0.5  # slope above the largest size, as a share of that below it: it decreases with size
SENTENCES = 1000  # of a calibration
DIGITS = 4
SHORT = 3  # words of a short query, at most
# With which no short query ends.
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
    """

    scores: Mapping[int, float]
    short_scores: Mapping[int, float]
    dataset: str
    split: str
    sentences: int

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
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> MatchThreshold:
        """Undo `to_json`.

        Raises:
            ValueError: The values are damaged; LookupError, TypeError and AttributeError likewise.
        """
        return cls(
            scores=_from_json(values["scores"]),
            short_scores=_from_json(values["short_scores"]),
            dataset=str(values["dataset"]),
            split=str(values["split"]),
            sentences=int(values["sentences"]),
        )


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
    """Return the share of words that a model knows of each sentence, (N,)."""
    text: Any = model.text
    sentences = add_trees([Sentence(words) for words in texts], text.needs)
    return torch.tensor([text.known_share(sentence) for sentence in sentences])


def match_scores(model: DualEncoder, texts: Sequence[str], photos: Embeddings) -> Tensor:
    """Return the match scores of N sentences over the photos of a gallery, (N,)."""
    best = _scores(model, texts, photos).amax(1)
    return model.score.to_unit(best) * known_shares(model, texts)


def _scores(model: DualEncoder, texts: Sequence[str], photos: Embeddings) -> Tensor:
    """Return the scores of N sentences with P photos, (N, P), on the CPU."""
    sentences = model.encode_text([Sentence(text) for text in texts])
    return model.score(sentences.to(model.device), photos.to(model.device)).cpu()


def spread(captions: Sequence[int], count: int = SENTENCES) -> list[int]:
    """Return `count` of the numbers of captions, evenly spaced, or all if there are fewer."""
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
        sizes: Sizes of galleries, which are drawn from the photos and have the caption's own
            photo; those of more than P photos are left out. P is always one of the sizes.
    """
    pairs = [(split.captions[caption], split.photo_of[caption]) for caption in captions]
    long = [(text, photo) for text, photo in pairs if not is_short(text)] or pairs
    short = [(start, photo) for text, photo in pairs if (start := opening(text))] or pairs
    all_sizes = sorted({*(size for size in sizes if size < len(photos)), len(photos)})
    return MatchThreshold(
        scores=_quantiles(model, long, photos, all_sizes),
        short_scores=_quantiles(model, short, photos, all_sizes),
        dataset=split.name,
        split=split.split,
        sentences=len(pairs),
    )


def _quantiles(
    model: DualEncoder,
    pairs: Sequence[tuple[str, int]],
    photos: Embeddings,
    sizes: Sequence[int],
) -> dict[int, float]:
    """Return the quantile of match scores by the size of the gallery.

    Args:
        model: The model.
        pairs: N sentences, each with the number of its photo.
        photos: Embeddings of the P photos.
        sizes: From 1 to P.
    """
    texts = [text for text, _ in pairs]
    owner = torch.tensor([photo for _, photo in pairs])
    scores = _scores(model, texts, photos)  # (N, P)
    own = scores.gather(1, owner[:, None])[:, 0]  # (N,)
    order = np.random.default_rng(0).permutation(len(photos))
    best_of_first = scores[:, order].cummax(1).values  # (N, P)
    known = known_shares(model, texts)  # (N,)
    result = {}
    for size in sizes:
        best = torch.maximum(best_of_first[:, size - 1], own)
        matched = model.score.to_unit(best) * known
        result[size] = float(np.quantile(matched.double().numpy(), QUANTILE))
    return result
