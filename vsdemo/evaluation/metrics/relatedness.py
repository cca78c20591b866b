"""Relatedness of two sentences by a classifier on their embeddings (Tai 2015, section 4.2).

SentEval does the same. A linear softmax classifier on [|u - v|, u * v] over the whole numbers of
the scale; the target of a score between two of them is a mixture of both, and the prediction is
the expected value:

    y = sum_k k p_k,    p = softmax(W [|u - v|, u * v] + b)

W and b minimise the cross entropy to these mixtures on train plus strength / 2 |W|^2, with
features of variance 1; the strength is the best one on dev. Merckx & Frank 2019, section 3.4,
report Pearson's r of y.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

STRENGTHS = (3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)  # tried until dev gets worse
ITERATIONS = 60  # of L-BFGS for each strength, from the previous optimum


def pair_features(u: Tensor, v: Tensor) -> Tensor:
    """Return [|u - v|, u * v]: (N, D) and (N, D) -> (N, 2 D)."""
    return torch.cat([(u - v).abs(), u * v], 1)


def mixtures(scores: Tensor, scale: Sequence[int]) -> Tensor:
    """Return scores (N,) as weights of the K numbers of a scale, (N, K).

    A score of 2.3 is 0.7 of 2 and 0.3 of 3.
    """
    values = torch.tensor(scale, dtype=scores.dtype)
    return (1 - (scores[:, None] - values).abs()).clamp(min=0)


class Classifier:
    """The softmax classifier.

    Args:
        features: (N, F) of the training pairs.
        scores: (N,) of the training pairs.
        scale: The whole numbers from the lowest score to the highest.
    """

    def __init__(self, features: Tensor, scores: Tensor, scale: Sequence[int]) -> None:
        self.scale = torch.tensor(scale, dtype=torch.float)
        self.mean, deviation = features.mean(0), features.std(0)
        self.deviation = torch.where(deviation > 1e-6, deviation, 1)
        self._features, self._target = self._standardize(features), mixtures(scores, scale)
        self.weight = torch.zeros(len(scale), features.shape[1], requires_grad=True)
        self.bias = self._target.mean(0).clamp(min=1e-4).log().requires_grad_()

    def _standardize(self, features: Tensor) -> Tensor:
        return (features - self.mean) / self.deviation

    @torch.enable_grad()
    def fit(self, strength: float) -> None:
        """Continue to the optimum with this strength of the penalty."""
        optimizer = torch.optim.LBFGS(
            [self.weight, self.bias], max_iter=ITERATIONS, line_search_fn="strong_wolfe"
        )

        def loss() -> Tensor:
            optimizer.zero_grad()
            logits = F.linear(self._features, self.weight, self.bias)
            total = F.cross_entropy(logits, self._target)
            total = total + strength / 2 * self.weight.square().sum()
            total.backward()
            return total

        optimizer.step(loss)

    @torch.no_grad()
    def predict(self, features: Tensor) -> Tensor:
        """Return the expected scores of pairs (N, F), (N,)."""
        logits = F.linear(self._standardize(features), self.weight, self.bias)
        return logits.softmax(1) @ self.scale


def predict_best(
    train: tuple[Tensor, Tensor],
    dev: tuple[Tensor, Tensor],
    features: Tensor,
    scale: Sequence[int],
    agreement: Callable[[Tensor, Tensor], float],
) -> Tensor:
    """Return the scores of pairs (N, F) by the classifier that does best on dev, (N,).

    Args:
        train: Features (N, F) and scores (N,) to fit the classifier to.
        dev: Features and scores to choose its strength on.
        features: Features of the pairs to predict.
        scale: The whole numbers from the lowest score to the highest.
        agreement: Returns how well predictions agree with scores; higher is better.
    """
    classifier = Classifier(train[0], train[1], scale)
    best = -torch.inf
    predictions = torch.zeros(len(features))
    for strength in STRENGTHS:
        classifier.fit(strength)
        on_dev = agreement(classifier.predict(dev[0]), dev[1])
        if on_dev < best:
            break
        best, predictions = on_dev, classifier.predict(features)
    return predictions
