"""Does a sentence follow from another? (Vendrov 2016, section 5.4 and Table 3: SNLI in 2 classes.)

Yes where score(hypothesis, premise), the hypothesis being the general one, reaches the threshold
that does best on dev (`data.nli.held_out`); accuracy in percent of SNLI's and SICK's test pairs.
`neutral` and `contradiction` are the same answer, no. Baselines, each with a threshold of its own
from dev: `majority`, the answer that is right more often there; `cosine` of the model's own
embeddings, without its order (the paper's symmetric model is trained with the cosine, as preset
`order/entailment_symmetric` is); `overlap`, the share of the hypothesis' words that the premise
has, without a model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch.nn.functional as F

from vsdemo.core.errors import UserError
from vsdemo.data.pairs import nli
from vsdemo.data.pairs.nli import NliPair
from vsdemo.data.text.vocab import tokenize
from vsdemo.evaluation.metrics.accuracy import OWN, Judged, Shares, best_threshold, higher
from vsdemo.evaluation.metrics.ranks import with_intervals
from vsdemo.evaluation.tasks.text_embeddings import Texts, points
from vsdemo.models.dual_encoder import DualEncoder

PRIMARY = "SNLI"
TEXT_ONLY = True
SPLITS = ("dev", "test")


def entailed(pairs: Sequence[NliPair]) -> np.ndarray:
    """Whether the answer is yes, (N,)."""
    return np.array([pair.entailed for pair in pairs])


def overlap(pair: NliPair) -> float:
    """The share of the hypothesis' words that the premise has; 0 where there is no word."""
    words, known = tokenize(pair.hypothesis), set(tokenize(pair.premise))
    return sum(word in known for word in words) / max(1, len(words))


def scored(
    model: DualEncoder, texts: Texts, pairs: Sequence[NliPair]
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """(scores of pairs by the model, as `accuracy`, and by each baseline, (N,) each; whether the
    model's is higher than with premise and hypothesis exchanged, (N,))."""
    premise = texts.of([pair.premise for pair in pairs])
    hypothesis = texts.of([pair.hypothesis for pair in pairs])
    forward = model.score.pairs(hypothesis, premise)
    scores = {
        OWN: forward.numpy(),
        "baselines.majority": np.zeros(len(pairs)),
        "baselines.cosine": F.cosine_similarity(points(premise), points(hypothesis)).numpy(),
        "baselines.overlap": np.array([overlap(pair) for pair in pairs]),
    }
    return scores, higher(forward, model.score.pairs(premise, hypothesis))


def measure(
    model: DualEncoder, dev: Sequence[NliPair], asked: Sequence[NliPair]
) -> tuple[Judged, int]:
    """(the answers for the pairs `asked`, of how many of their sentences the model knows no word).

    dev: the pairs that the thresholds are chosen on.
    """
    told = [text for pair in asked for text in (pair.premise, pair.hypothesis)]
    known = [text for pair in dev for text in (pair.premise, pair.hypothesis)]
    texts = Texts(model, [*told, *known])
    on_dev, _ = scored(model, texts, dev)
    scores, directed = scored(model, texts, asked)
    numbers, yes = np.arange(len(asked)), entailed(asked)
    answers = {}
    for name, values in scores.items():
        threshold = best_threshold(on_dev[name], entailed(dev), balanced=False)
        answers[name] = (numbers, (values >= threshold) == yes)
    right = answers[OWN][1]
    answers |= {"yes": (numbers[yes], right[yes]), "no": (numbers[~yes], right[~yes])}
    answers["direction"] = (numbers[yes], directed[yes])
    return Judged(Shares.of(len(asked), answers)), texts.unknown(told)


def evaluate(model: DualEncoder, split: str = "test") -> dict[str, Any]:
    """Of SNLI and of SICK what `Judged.metrics` tells, ci95 over pairs, n pairs, n_entailed, and
    n_unknown, sentences of which the model knows no word.

    Raises UserError for other splits than dev and test, and when data are missing or damaged.
    """
    if split not in SPLITS:
        raise UserError(f"Entailment is measured on dev or test, not on {split}.")
    result: dict[str, Any] = {}
    for name in nli.DATASETS:
        asked = nli.held_out(name) if split == "dev" else nli.load(name, split)
        found, unknown = measure(model, nli.held_out(name), asked)
        sizes = {"n": len(asked), "n_entailed": int(entailed(asked).sum()), "n_unknown": unknown}
        result[name] = {**with_intervals(found), **sizes}
    return result
