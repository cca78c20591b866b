"""What a photo probably shows, by its scores with the sentences of the caption bank.

    p_n = softmax_n(S(s_n, v) / T)        probabilities of the sentences s_1 ... s_N for a photo v
    P(c) = sum of p_n over the s_n from which c follows
    q(c) = share of the s_n from which c follows
    I(c) = -log q(c)        information (Resnik 1995)

c is a statement such as "a dog", see `vsdemo.data.relations.statements`. Even where no sentence is
probable, many of the best may agree that there is a dog. The temperature T makes the captions of a
photo as probable as possible (Guo et al., "On calibration of modern neural networks", ICML 2017).

Statements are chosen one after another, each time the one that adds most to

    sum over n of p_n max over the chosen c that follow from s_n of I(c)

so that the first is informative and probable, and the others add something to it, or are right
where it is wrong. A statement is likely if its probability beyond chance, (P - q) / (1 - q) as in
Cohen's kappa, is at least MIN_KAPPA: most sentences are about people, so that P is q even for a
photo that shows nothing.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import torch
from scipy.optimize import minimize_scalar
from scipy.sparse import coo_matrix
from torch import Tensor

from vsdemo.data import caption_bank
from vsdemo.data.relations import statements

# On dev photos, half of the statements with this probability beyond chance are true.
MIN_KAPPA = 0.3
MOST = 3  # likely statements about a photo
BOUNDS = (1e-4, 1e4)  # bounds of the temperature
DIGITS = 4
MIN_GAIN = 1e-6  # of information, beyond rounding


def fit_temperature(scores: Tensor, photo_of: Tensor) -> float:
    """Return the temperature at which photos best predict their captions.

    It minimizes the mean over photos of -log(sum of p_n over the captions n of the photo).

    Args:
        scores: Scores of C captions with P photos, (C, P).
        photo_of: The photo of each caption, (C,). Photos without captions do not count.
    """
    own = torch.arange(scores.shape[1]) == photo_of[:, None]  # (C, P)
    described = own.any(0)
    every = scores[:, described].double()
    right = every.masked_fill(~own[:, described], -torch.inf)

    def loss(log_temperature: float) -> float:
        scale = math.exp(-log_temperature)
        return float(((every * scale).logsumexp(0) - (right * scale).logsumexp(0)).mean())

    bounds = tuple(map(math.log, BOUNDS))
    best = minimize_scalar(loss, bounds=bounds, method="bounded").x
    return float(f"{math.exp(best):.{DIGITS}g}")


def likely_statements(scores: Tensor, temperature: float) -> list[tuple[str, ...]]:
    """Return what each of P photos probably shows: at most MOST statements, the best first.

    There may be none.

    Args:
        scores: Scores of the N sentences of the caption bank with the photos, (N, P).
        temperature: See `fit_temperature`.
    """
    sentences = (scores.double() / temperature).softmax(0).numpy()  # (N, P)
    shares = _shares()[:, None]  # (K, 1)
    is_likely = _follows() @ sentences - shares >= MIN_KAPPA * (1 - shares)  # (K, P)
    columns = zip(sentences.T, is_likely.T, strict=True)
    return [_most_informative(own, likely) for own, likely in columns]


def _most_informative(sentences: np.ndarray, is_likely: np.ndarray) -> tuple[str, ...]:
    """Choose the statements about a photo.

    Args:
        sentences: Probabilities of the N sentences, (N,).
        is_likely: Which of the K statements are likely, (K,).
    """
    follows, information = _follows(), -np.log(_shares())
    known = np.zeros(len(sentences))  # information of what is chosen, if a sentence is true
    chosen: list[int] = []
    while len(chosen) < MOST:
        added = (information[follows.row] - known[follows.col]).clip(min=0)  # for each entry
        gains = np.bincount(follows.row, added * sentences[follows.col], len(information))
        gains[~is_likely] = 0
        best = int(gains.argmax())
        if gains[best] <= MIN_GAIN:
            break
        chosen.append(best)
        own = follows.col[follows.row == best]
        known[own] = np.maximum(known[own], information[best])
    return tuple(statements.texts()[number] for number in chosen)


@cache
def _shares() -> np.ndarray:
    """Return from which share of the bank's sentences each of the K statements follows, (K,)."""
    counts = np.array([len(numbers) for numbers in statements.follows_from()])
    return counts / len(caption_bank.sentences())


@cache
def _follows() -> coo_matrix:
    """Return whether each of the K statements follows from each of the bank's sentences, (K, N)."""
    evidence = statements.follows_from()
    counts = [len(numbers) for numbers in evidence]
    rows = np.repeat(np.arange(len(evidence)), counts)
    columns = np.concatenate([np.array(numbers) for numbers in evidence])
    shape = (len(evidence), len(caption_bank.sentences()))
    return coo_matrix((np.ones(len(rows)), (rows, columns)), shape)
