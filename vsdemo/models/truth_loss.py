"""The loss of sentences that are known to be true or false of the pictures of a batch."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from vsdemo.core.embeddings import Embeddings
from vsdemo.models.objectives import Objective
from vsdemo.models.scores import Score

SCALE, BIAS = 30.0, -2.0  # initial values; most sentences are false of most pictures
OWN = 16.0  # weight of a sentence with the picture that it was written for
PHOTOS = 0.025  # weight of the ranking of pictures
SENTENCES = 0.3  # weight of the ranking of sentences
TELLING = 0.2  # preference for sentences that say more


@dataclass(frozen=True)
class TruthLabels:
    """What is known about T sentences and P pictures.

    Attributes:
        owner: (T,) the picture that each sentence was written for, truly or not.
        true: (T, P) whether a sentence is true of a picture: 1, 0, or -1 if that is undecided.
        shares: (T,) the share of all pictures that a sentence is true of, above 0.
    """

    owner: Tensor
    true: Tensor
    shares: Tensor


class TruthLoss(Objective):
    """Cross-entropy of truth, and a ranking of the true ones.

        l = a S + b + log p       logits of all pairs; a and b are learned, p is the share of all
                                  pictures that a sentence is true of
        classification = weighted mean of -[t log sigma(l) + (1 - t) log sigma(-l)]
        photos = mean over sentences of -log(sum of e^(a S) over true pictures / sum over all)
        sentences = mean over pictures of -sum over true sentences of
                    q log(e^(a S) / sum over all of e^(a S)),   q in proportion to p^(-TELLING)
        loss = classification + PHOTOS * photos + SENTENCES * sentences

    Like the sigmoid loss (Zhai et al. 2023), but for sentences that are true of several pictures,
    with their prior (Menon et al. 2021). Any true picture may be the first for a sentence. Among
    the true sentences for a picture, those that are true of few pictures are better, as "Outside."
    says little. Undecided pairs do not count, and sentences and pictures without a true match in
    the batch are not ranked. A pair of a sentence and its own picture weighs more (OWN): many
    sentences are false of it in one respect only, which is harder to detect than in a sentence
    about another picture.
    """

    def __init__(self) -> None:
        super().__init__()
        self.log_scale = nn.Parameter(torch.tensor(math.log(SCALE)))
        self.bias = nn.Parameter(torch.tensor(BIAS))

    def forward(
        self, score: Score, texts: Embeddings, photos: Embeddings, labels: TruthLabels
    ) -> dict[str, Tensor]:
        """Return `loss` and its parts."""
        scaled = self.log_scale.exp() * score(texts, photos)  # a S, (T, P)
        true, known = labels.true == 1, labels.true >= 0
        log_shares = labels.shares.to(scaled).log()[:, None]
        logits = scaled + self.bias + log_shares
        weights = known.to(logits)
        weights[torch.arange(len(weights)), labels.owner] *= OWN
        losses = F.binary_cross_entropy_with_logits(logits, true.to(logits), reduction="none")
        classification = (losses * weights).sum() / weights.sum().clamp(min=1)
        of_photos = _rank_photos(scaled, true, known)
        of_sentences = _rank_sentences(scaled, true, known, -TELLING * log_shares)
        return {
            "loss": classification + PHOTOS * of_photos + SENTENCES * of_sentences,
            "classification": classification.detach(),
            "photos": of_photos.detach(),
            "sentences": of_sentences.detach(),
            "scale": self.log_scale.detach().exp(),
        }


def _rank_photos(scaled: Tensor, true: Tensor, known: Tensor) -> Tensor:
    """Return the mean loss of those of T sentences that have a true picture.

    Args:
        scaled: a S, (T, P).
        true: Whether a sentence is true of a picture, (T, P).
        known: Whether it is true or false, and not undecided, (T, P).
    """
    rows = true.any(1)
    every = scaled[rows].masked_fill(~known[rows], -torch.inf).logsumexp(1)
    right = scaled[rows].masked_fill(~true[rows], -torch.inf).logsumexp(1)
    return (every - right).sum() / max(1, len(every))


def _rank_sentences(scaled: Tensor, true: Tensor, known: Tensor, telling: Tensor) -> Tensor:
    """Return the mean loss of those of P pictures that have a true sentence.

    Args:
        scaled: a S, (T, P).
        true: Whether a sentence is true of a picture, (T, P).
        known: Whether it is true or false, and not undecided, (T, P).
        telling: Logarithm of how good each sentence is, if it is true, (T, 1).
    """
    columns = true.any(0)
    true, known = true[:, columns], known[:, columns]
    chances = scaled[:, columns].masked_fill(~known, -torch.inf).log_softmax(0)
    wanted = telling.expand_as(chances).masked_fill(~true, -torch.inf).softmax(0)
    return -(wanted * chances.masked_fill(~true, 0.0)).sum() / max(1, true.shape[1])
