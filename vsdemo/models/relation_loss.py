"""The loss of known relations: which text lies above which text, and above which photo."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

SHARPNESS = 13.0  # of the logistic function of the violation
RAREST = 1e-4  # least share of photos that a text counts as true of


@dataclass(frozen=True)
class RelationLoss:
    """Losses over all violations E of a batch whose labels are 1 (true), 0 (false) or -1 (unknown).

    Attributes:
        margin: Violation that false relations of two texts should reach.
        negatives: False relations of each text, the worst ones, that count.
        boundary: Violation at which a text is as likely above a photo as not. If it is large, all
            texts keep some distance from all photos, as most are not true of them.
        true_weight: Weight of texts that are above a photo, as most are not.
    """

    margin: float
    negatives: int
    boundary: float = 0.25
    true_weight: float = 10.0

    def among_texts(self, violations: Tensor, labels: Tensor) -> Tensor:
        """Return the loss of T texts above T texts.

            mean of E over true pairs
            + mean of max(0, margin - E) over the worst false pairs of each general text
            + the same of each specific text

        Args:
            violations: E, (T, T), of general and specific texts.
            labels: (T, T).
        """
        hinges = (self.margin - violations).clamp(min=0).masked_fill(labels != 0, 0)
        k = min(self.negatives, len(hinges))
        worst = hinges.topk(k, dim=1).values.mean() + hinges.topk(k, dim=0).values.mean()
        return violations[labels == 1].mean() + worst

    def above_photos(
        self, violations: Tensor, labels: Tensor, shares: Tensor | None = None
    ) -> Tensor:
        """Return the loss of T texts above P photos: a logistic loss over all known pairs.

            p = 1 / (1 + exp(SHARPNESS (E - boundary) - c))    the text is true of the photo

        c is 0 without `shares`. With them, the texts are drawn for the photos of the batch, and so
        are true of more of them than of other photos. c = logit(share in the batch) - logit(share)
        removes this effect from what is learned, so that E says how likely a text is to be true of
        any photo.

        What a photo shows is never recognised with certainty. A hinge over the worst pairs would
        count only pairs that no network can distinguish.

        Args:
            violations: E, (T, P).
            labels: (T, P).
            shares: The share of all photos that a text is true of, (T,).
        """
        known = labels >= 0
        logits = SHARPNESS * (self.boundary - violations)
        if shares is not None:
            logits = logits + _more_likely(labels, shares)[:, None]
        logits = logits[known]
        right = labels[known].to(logits.dtype)
        return F.binary_cross_entropy_with_logits(
            logits, right, weight=1 + (self.true_weight - 1) * right
        )


def _more_likely(labels: Tensor, shares: Tensor) -> Tensor:
    """Return how much larger the logit of a text's share of the batch is, (T,), at least 0."""
    in_batch = (labels == 1).sum(1) / (labels >= 0).sum(1).clamp(min=1)
    return (torch.logit(in_batch, RAREST) - torch.logit(shares, RAREST)).clamp(min=0)
