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

SCALE, BIAS = 30.0, -2.0  # at first; most sentences are false of most pictures
OWN = 16.0  # weight of a sentence with the picture that it was written for
RANKING = 0.025  # weight of the ranking


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
        ranking = mean over sentences of -log(sum of e^(a S) over true pictures / sum over all)
                + the same of pictures over sentences
        loss = classification + RANKING * ranking

    Like the sigmoid loss (Zhai et al. 2023), but for sentences that are true of several pictures.
    With log p (Menon et al. 2021), S is how much likelier a sentence is with a picture than without
    one, so that of all true sentences the one that says most has the highest score, and not
    "Outside.". Undecided pairs count nowhere, and what is true of nothing in the batch is not
    ranked. A pair of a sentence and its own picture weighs more (OWN): many sentences are false of
    it in one respect only, which is harder to tell than a sentence about another picture.
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
        logits = scaled + self.bias + labels.shares.to(scaled).log()[:, None]
        weights = known.to(logits)
        weights[torch.arange(len(weights)), labels.owner] *= OWN
        losses = F.binary_cross_entropy_with_logits(logits, true.to(logits), reduction="none")
        classification = (losses * weights).sum() / weights.sum().clamp(min=1)
        ranking = _ranking(scaled, true, known) + _ranking(scaled.T, true.T, known.T)
        return {
            "loss": classification + RANKING * ranking,
            "classification": classification.detach(),
            "ranking": ranking.detach(),
            "scale": self.log_scale.detach().exp(),
        }


def _ranking(logits: Tensor, true: Tensor, known: Tensor) -> Tensor:
    """Return the ranking loss of Q queries, of which those with a true item count.

    Args:
        logits: Of N items for each query, (Q, N).
        true: Whether an item is right, (Q, N).
        known: Whether it is right or wrong, and not undecided, (Q, N).
    """
    rows = true.any(1)
    every = logits[rows].masked_fill(~known[rows], -torch.inf).logsumexp(1)
    right = logits[rows].masked_fill(~true[rows], -torch.inf).logsumexp(1)
    return (every - right).sum() / max(1, len(every))
