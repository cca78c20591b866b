"""How alike two sentences are, learnt from examples (Tai 2015, section 4.2; so does SentEval).

A linear softmax classifier on [|u - v|, u * v] over the whole numbers of the scale; a score between
two of them is a mixture of both, and the prediction is the expected value:

    y = sum_k k p_k,    p = softmax(W [|u - v|, u * v] + b)

W and b have the least cross entropy to these mixtures on train plus strength / 2 |W|^2, features
brought to variance 1; the strength that does best on dev is taken. Merckx & Frank 2019, section
3.4, report Pearson's r of y.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

STRENGTHS = (3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)  # tried until dev gets worse
ROUNDS = 60  # of L-BFGS, for each strength, beginning where the one before ended


def pair_features(u: Tensor, v: Tensor) -> Tensor:
    """[|u - v|, u * v]: (N, D) and (N, D) -> (N, 2 D)."""
    return torch.cat([(u - v).abs(), u * v], 1)


def mixtures(scores: Tensor, scale: Sequence[int]) -> Tensor:
    """Scores (N,) as weights of the K whole numbers of a scale, (N, K): 2.3 is 0.7 of 2 and 0.3
    of 3."""
    values = torch.tensor(scale, dtype=scores.dtype)
    return (1 - (scores[:, None] - values).abs()).clamp(min=0)


class Classifier:
    """scale: the whole numbers from the least score to the highest."""

    def __init__(self, features: Tensor, scores: Tensor, scale: Sequence[int]) -> None:
        """features: (N, F) of the training pairs, scores: (N,)."""
        self.scale = torch.tensor(scale, dtype=torch.float)
        self.mean, spread = features.mean(0), features.std(0)
        self.spread = torch.where(spread > 1e-6, spread, 1)
        self._x, self._target = self._standard(features), mixtures(scores, scale)
        self.weight = torch.zeros(len(scale), features.shape[1], requires_grad=True)
        self.bias = self._target.mean(0).clamp(min=1e-4).log().requires_grad_()

    def _standard(self, features: Tensor) -> Tensor:
        return (features - self.mean) / self.spread

    @torch.enable_grad()
    def fit(self, strength: float) -> None:
        """Goes on to the optimum of this strength."""
        optimizer = torch.optim.LBFGS(
            [self.weight, self.bias], max_iter=ROUNDS, line_search_fn="strong_wolfe"
        )

        def loss() -> Tensor:
            optimizer.zero_grad()
            logits = F.linear(self._x, self.weight, self.bias)
            total = F.cross_entropy(logits, self._target)
            total = total + strength / 2 * self.weight.square().sum()
            total.backward()
            return total

        optimizer.step(loss)

    @torch.no_grad()
    def predict(self, features: Tensor) -> Tensor:
        """Expected scores of pairs, (N,)."""
        logits = F.linear(self._standard(features), self.weight, self.bias)
        return logits.softmax(1) @ self.scale


def fitted(
    train: tuple[Tensor, Tensor],
    dev: tuple[Tensor, Tensor],
    wanted: Tensor,
    scale: Sequence[int],
    agreement: Callable[[Tensor, Tensor], float],
) -> Tensor:
    """The predictions for the pairs `wanted` (N, F) by the classifier that does best on dev, (N,).

    train, dev: features (N, F) and scores (N,). agreement: of predictions and scores, the higher
    the better.
    """
    classifier, best = Classifier(*train, scale), -torch.inf
    found = torch.zeros(len(wanted))
    for strength in STRENGTHS:
        classifier.fit(strength)
        on_dev = agreement(classifier.predict(dev[0]), dev[1])
        if on_dev < best:
            break
        best, found = on_dev, classifier.predict(wanted)
    return found
