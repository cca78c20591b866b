"""The levels of captions in HierarCaps (Alper & Averbuch-Elor, ECCV 2024, section 4).

The height of a text says how much it says: its length in an order, where lengths differ, else minus
its mean score over the photos. `tau` compares heights with the places in a chain.

A photo is described at LEVELS heights: at each, by the text of the whole set that scores highest
with it among those that are not higher. `precision` is the share of the different texts it gets
that are in its own chain, `recall` the share of its chain that is among them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch
from scipy.stats import kendalltau
from torch import Tensor

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.sentences import Sentence
from vsdemo.data.datasets import hierarcaps
from vsdemo.data.text.vocab import tokenize
from vsdemo.evaluation.metrics.bootstrap import intervals, with_intervals
from vsdemo.evaluation.task import PairedTask, PhotoData, Result
from vsdemo.models.dual_encoder import DualEncoder

LEVELS = 50
MIN_LENGTH_RANGE = 0.01  # lengths that differ by less count as equal


@dataclass(frozen=True)
class ChainScores:
    """Scores of each of P photos, all (P,).

    Args:
        tau: Kendall's tau of the heights in its chain, -1 to 1.
        words: The same with numbers of words as heights.
        letters: The same with numbers of letters.
        precision: Share of the texts describing it that are in its chain.
        recall: Share of its chain that is among the texts describing it.
    """

    tau: np.ndarray
    words: np.ndarray
    letters: np.ndarray
    precision: np.ndarray
    recall: np.ndarray

    def __len__(self) -> int:
        return len(self.tau)

    def metrics(self, photos: np.ndarray | None = None) -> dict[str, float]:
        """Return the means: tau, words and letters as they are, the others in percent."""
        rows = slice(None) if photos is None else photos
        return {
            "tau": float(self.tau[rows].mean()),
            "words": float(self.words[rows].mean()),
            "letters": float(self.letters[rows].mean()),
            "precision": 100 * float(self.precision[rows].mean()),
            "recall": 100 * float(self.recall[rows].mean()),
        }

    def above_words(self, photos: np.ndarray | None = None) -> dict[str, float]:
        """Return by how much tau is above that of numbers of words."""
        metrics = self.metrics(photos)
        return {"tau_above_words": metrics["tau"] - metrics["words"]}


@dataclass(frozen=True)
class HierarCaps(PairedTask):
    """Heights of captions, and retrieval at each height.

    Args:
        hierarcaps_dir: Folder of the data; VSDEMO_DATA/hierarcaps by default.
    """

    name: ClassVar[str] = "hierarcaps"
    needs: ClassVar[frozenset[str]] = frozenset({"photos"})
    primary: ClassVar[str] = "tau"
    options: ClassVar[frozenset[str]] = frozenset({"hierarcaps_dir"})

    hierarcaps_dir: Path | None = None

    def own_photos(self) -> CaptionSet:
        """Return the photos and chains."""
        return hierarcaps.load(self.hierarcaps_dir)

    def measure(self, model: DualEncoder, data: PhotoData) -> ChainScores:
        """Return the scores of each photo's chain."""
        captions = data.split.captions
        texts = list(dict.fromkeys(captions))
        row = {text: number for number, text in enumerate(texts)}
        chains = np.array([row[caption] for caption in captions]).reshape(-1, hierarcaps.LEVELS)
        embeddings = model.encode_text([Sentence(text) for text in texts])
        scores = model.score(embeddings, model.encode_image(data.features))  # (T, P)
        heights = _heights(model, embeddings, scores)
        precision, recall = _retrieval(scores, heights, chains)
        words = [[len(tokenize(texts[text])) for text in chain] for chain in chains]
        letters = [[len(texts[text]) for text in chain] for chain in chains]
        return ChainScores(
            tau=_taus(heights.numpy()[chains]),
            words=_taus(np.array(words)),
            letters=_taus(np.array(letters)),
            precision=precision,
            recall=recall,
        )

    def evaluate(self, model: DualEncoder, data: PhotoData) -> Result:
        """Return the metrics of `ChainScores`, ci95 over photos, and n_photos."""
        scores = self.measure(model, data)
        result = with_intervals(scores)
        above = scores.above_words()
        result["ci95"] |= intervals(scores.above_words, len(scores))
        return {**result, **above, "n_photos": len(scores)}


def _heights(model: DualEncoder, texts: Embeddings, scores: Tensor) -> Tensor:
    """Return how much each text says, (T,)."""
    if model.score.order is not None:
        lengths: Tensor = model.score.order_part(texts.x).norm(dim=1)
        if float(lengths.max() - lengths.min()) > MIN_LENGTH_RANGE:
            return lengths
    return -scores.mean(1)


def _taus(heights: np.ndarray) -> np.ndarray:
    """Return Kendall's tau-b of each row (P, L) with the order 1 ... L; 0 where all are equal."""
    places = np.arange(heights.shape[1])
    taus = [kendalltau(row, places).statistic for row in heights]
    result: np.ndarray = np.nan_to_num(np.array(taus))
    return result


def _retrieval(
    scores: Tensor, heights: Tensor, chains: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return precision and recall of the texts of each photo over all heights, (P,) each.

    Args:
        scores: (T, P).
        heights: (T,).
        chains: (P, L) the texts of each photo's chain.
    """
    levels = torch.linspace(float(heights.min()), float(heights.max()), LEVELS)
    order = heights.argsort(stable=True)
    best = scores[order].cummax(0).indices  # (T, P), among texts not higher
    count = torch.searchsorted(heights[order], levels, right=True).clamp(min=1)
    found = order[best[count - 1]].T.numpy()  # (P, LEVELS)
    precision, recall = np.zeros(len(chains)), np.zeros(len(chains))
    for photo, (texts, chain) in enumerate(zip(found, chains, strict=True)):
        different = set(texts.tolist())
        right = len(different & set(chain.tolist()))
        precision[photo], recall[photo] = right / len(different), right / len(chain)
    return precision, recall
