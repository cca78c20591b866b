"""What a photo probably shows, by its scores with the sentences of the caption bank.

    p_n = softmax_n(S(s_n, v) / T)        probabilities of the sentences s_1 ... s_N for a photo v
    P(c) = sum of p_n over the s_n from which c follows

c is a statement such as "a dog", see `vsdemo.data.relations.statements`. Even where no sentence is
probable, many of the best may agree that there is a dog. The temperature T makes the captions of a
photo as probable as possible (Guo et al., "On calibration of modern neural networks", ICML 2017).
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import torch
from scipy.optimize import minimize_scalar
from scipy.sparse import csr_matrix
from torch import Tensor

from vsdemo.data import caption_bank
from vsdemo.data.relations import statements

LEAST = 0.5  # probability of a likely statement
MOST = 3  # likely statements about a photo
WITHIN = 0.9  # a statement with this share of the evidence of a chosen one adds nothing to it
BOUNDS = (1e-4, 1e4)  # bounds of the temperature
DIGITS = 4


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
    """Return what each of P photos probably shows: at most MOST statements, most specific first.

    A statement that adds nothing to those before it is left out. There may be none.

    Args:
        scores: Scores of the N sentences of the caption bank with the photos, (N, P).
        temperature: See `fit_temperature`.
    """
    follows = _follows()
    probabilities = follows @ (scores.double() / temperature).softmax(0).numpy()  # (K, P)
    return [_most_special(column) for column in probabilities.T]


def _most_special(probabilities: np.ndarray) -> tuple[str, ...]:
    """Return the likely statements of K, most specific first, by their probabilities (K,)."""
    evidence = statements.follows_from()
    likely = np.flatnonzero(probabilities >= LEAST).tolist()
    chosen: list[int] = []
    for number in sorted(likely, key=lambda number: len(evidence[number])):
        own = set(evidence[number])
        shared = (len(own.intersection(evidence[other])) / len(evidence[other]) for other in chosen)
        if max(shared, default=0) < WITHIN:
            chosen.append(number)
    return tuple(statements.texts()[number] for number in chosen[:MOST])


@cache
def _follows() -> csr_matrix:
    """Return whether each of the K statements follows from each of the bank's sentences, (K, N)."""
    evidence = statements.follows_from()
    counts = [len(numbers) for numbers in evidence]
    rows = np.repeat(np.arange(len(evidence)), counts)
    columns = np.concatenate([np.array(numbers) for numbers in evidence])
    shape = (len(evidence), len(caption_bank.sentences()))
    return csr_matrix((np.ones(len(rows)), (rows, columns)), shape)
