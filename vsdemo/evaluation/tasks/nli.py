"""Natural language inference (Vendrov 2016, section 5.4 and Table 3: SNLI in 2 classes).

The answer is yes where score(hypothesis, premise), the hypothesis being the general one, reaches
the threshold that does best on dev (`data.pairs.nli.held_out`); accuracy is in percent of SNLI's
and SICK's test pairs. `neutral` and `contradiction` are the same answer, no. Baselines, each with
its own threshold from dev: `majority`, the answer that is right more often there; `cosine` of the
model's own embeddings, without its order (the paper's symmetric model is trained with the cosine,
as preset `order/entailment_symmetric` is); `overlap`, the share of the hypothesis' words that the
premise has, without a model. The direction of entailed pairs has baselines too: `overlap`, by the
same share, and `words`, by which the sentence with fewer words is the general one.

A set with sentences that the model has read in its training (`vsdemo.data.pairs.contamination`) is
measured without their pairs too, as NAME.clean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch

from vsdemo.core import markdown
from vsdemo.core.errors import UserError
from vsdemo.data.pairs import nli
from vsdemo.data.pairs.contamination import CLEAN, clean_places
from vsdemo.data.pairs.nli import NliPair
from vsdemo.data.text.vocab import tokenize
from vsdemo.evaluation.metrics.accuracy import (
    ACCURACY,
    Accuracy,
    PairAccuracy,
    best_threshold,
    higher,
)
from vsdemo.evaluation.metrics.bootstrap import Parts, with_intervals
from vsdemo.evaluation.task import CardText, PairedTask, Result, SentenceData
from vsdemo.evaluation.text_embeddings import TextEmbeddings, similarity
from vsdemo.models.checkpoint import Spec
from vsdemo.models.dual_encoder import DualEncoder

SPLITS = ("dev", "test")


def entailed(pairs: Sequence[NliPair]) -> np.ndarray:
    """Return whether the answer is yes, (N,)."""
    return np.array([pair.entailed for pair in pairs])


def overlap(pair: NliPair) -> float:
    """Return the share of the hypothesis' words that the premise has; 0 if it has no word."""
    words, premise = tokenize(pair.hypothesis), set(tokenize(pair.premise))
    return sum(word in premise for word in words) / max(1, len(words))


def directions(pairs: Sequence[NliPair]) -> dict[str, np.ndarray]:
    """Return whether baselines take the hypothesis for the general sentence, (N,), by name."""
    turned = [NliPair(p.hypothesis, p.premise, p.label) for p in pairs]
    shares = torch.tensor([[overlap(pair) for pair in side] for side in (pairs, turned)])
    sides = [(len(tokenize(p.premise)), len(tokenize(p.hypothesis))) for p in pairs]
    words = torch.tensor(sides, dtype=torch.float).reshape(-1, 2).T
    return {"overlap": higher(*shares), "words": higher(*words)}


def texts_of(pairs: Sequence[NliPair]) -> list[str]:
    """Return premise and hypothesis of each pair."""
    return [text for pair in pairs for text in (pair.premise, pair.hypothesis)]


def score_pairs(
    model: DualEncoder, texts: TextEmbeddings, pairs: Sequence[NliPair]
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return the scores of pairs, and whether they are in the right direction.

    Returns:
        Scores (N,) by the model, as `accuracy`, and by each baseline; and 1 where the model's is
        higher than with premise and hypothesis exchanged, (N,).
    """
    premise = texts.of([pair.premise for pair in pairs])
    hypothesis = texts.of([pair.hypothesis for pair in pairs])
    fit = model.score.directed
    forward = fit.pairs(hypothesis, premise)
    scores = {
        ACCURACY: forward.numpy(),
        "baselines.majority": np.zeros(len(pairs)),
        "baselines.cosine": similarity(premise, hypothesis, model.score).numpy(),
        "baselines.overlap": np.array([overlap(pair) for pair in pairs]),
    }
    return scores, higher(forward, fit.pairs(premise, hypothesis))


def measure(
    model: DualEncoder, dev: Sequence[NliPair], pairs: Sequence[NliPair]
) -> tuple[PairAccuracy, int]:
    """Return the accuracy on pairs, and the number of their sentences with no known word.

    Args:
        model: The model.
        dev: The pairs that thresholds are chosen on.
        pairs: The pairs to answer.
    """
    (result,) = measure_sets(model, dev, [pairs])
    return result


def measure_sets(
    model: DualEncoder, dev: Sequence[NliPair], sets: Sequence[Sequence[NliPair]]
) -> list[tuple[PairAccuracy, int]]:
    """Return what `measure` returns, for several sets of pairs; each text is embedded once."""
    texts = TextEmbeddings(model, [text for pairs in (dev, *sets) for text in texts_of(pairs)])
    on_dev, _ = score_pairs(model, texts, dev)
    thresholds = {
        name: best_threshold(scores, entailed(dev), balanced=False)
        for name, scores in on_dev.items()
    }
    return [
        (_accuracy(model, texts, thresholds, pairs), texts.count_unknown(texts_of(pairs)))
        for pairs in sets
    ]


def _accuracy(
    model: DualEncoder,
    texts: TextEmbeddings,
    thresholds: Mapping[str, float],
    pairs: Sequence[NliPair],
) -> PairAccuracy:
    """Return the accuracy on pairs where a score says yes from its threshold on."""
    scores, direction = score_pairs(model, texts, pairs)
    numbers, yes = np.arange(len(pairs)), entailed(pairs)
    answers = {
        name: (numbers, (values >= thresholds[name]) == yes) for name, values in scores.items()
    }
    right = answers[ACCURACY][1]
    answers["yes"] = (numbers[yes], right[yes])
    answers["no"] = (numbers[~yes], right[~yes])
    answers["direction"] = (numbers[yes], direction[yes])
    for name, right in directions(pairs).items():
        answers[f"directions.{name}"] = (numbers[yes], right[yes])
    return PairAccuracy(Accuracy.of(len(pairs), answers))


def _description(spec: Spec) -> str:
    return (
        f"Preset `{spec.preset}` of vsdemo ({spec.model}) without an image encoder: it says "
        f"whether a sentence\nfollows from another. Trained on {nli.TRAINING_DATA[spec.dataset]}."
    )


@dataclass(frozen=True)
class Inference(PairedTask):
    """Accuracy on SNLI and SICK in two classes."""

    name: ClassVar[str] = "nli"
    needs: ClassVar[frozenset[str]] = frozenset({"sentences", "seen"})
    primary: ClassVar[str] = "SNLI"
    card: ClassVar[CardText | None] = CardText(
        tags=("textual-entailment",),
        description=_description,
        legend="Percent of right answers with 95% bootstrap intervals over pairs; thresholds are "
        "chosen on dev.",
        contents="The checkpoint holds weights and a list of words, no sentence.",
    )

    def evaluate(self, model: DualEncoder, data: SentenceData) -> Result:
        """Return for SNLI and SICK the metrics of `PairAccuracy`, counts, and ci95 over pairs.

        n: pairs; n_entailed; n_unknown: sentences in which the model knows no word.

        Raises:
            UserError: The split is neither dev nor test, or data are missing or damaged.
        """
        result: Result = {}
        for name, (accuracy, pairs, unknown) in self._by_set(model, data).items():
            sizes = {
                "n": len(pairs),
                "n_entailed": int(entailed(pairs).sum()),
                "n_unknown": unknown,
            }
            result[name] = {**with_intervals(accuracy), **sizes}
        return result

    def measure(self, model: DualEncoder, data: SentenceData) -> Parts:
        """Return the accuracy on SNLI and SICK, with the errors of `evaluate`."""
        by_set = self._by_set(model, data)
        return Parts({name: accuracy for name, (accuracy, *_) in by_set.items()})

    @staticmethod
    def _by_set(
        model: DualEncoder, data: SentenceData
    ) -> dict[str, tuple[PairAccuracy, Sequence[NliPair], int]]:
        """Return by set the accuracy, the pairs and what `measure` returns beside it."""
        split = data.split
        if split not in SPLITS:
            raise UserError(f"Entailment is measured on dev or test, not on {split}.")
        result: dict[str, tuple[PairAccuracy, Sequence[NliPair], int]] = {}
        for name in nli.DATASETS:
            pairs = nli.held_out(name) if split == "dev" else nli.load(name, split)
            sets: dict[str, Sequence[NliPair]] = {name: pairs}
            if clean := clean_places([(p.premise, p.hypothesis) for p in pairs], data.seen):
                sets[name + CLEAN] = [pairs[place] for place in clean]
            measured = measure_sets(model, nli.held_out(name), list(sets.values()))
            for (label, members), (accuracy, unknown) in zip(sets.items(), measured, strict=True):
                result[label] = accuracy, members, unknown
        return result

    def table(self, results: Mapping[str, Result], *, label: str = "split") -> str:
        """Return accuracies next to their baselines, a row for each split and set."""
        rows = []
        for split, sets in results.items():
            for name, metrics in sets.items():
                if not isinstance(metrics, Mapping):  # such as the name of the task
                    continue
                low, high = metrics["ci95"]["accuracy"]
                accuracy = f"**{metrics['accuracy']:.1f}** ({low:.1f}-{high:.1f})"
                baselines = [f"{value:.1f}" for value in metrics["baselines"].values()]
                rows.append([f"{split}, {name}", f"{metrics['n']:,}", accuracy, *baselines])
        header = [label, "pairs", "accuracy", "majority", "cosine", "overlap"]
        return markdown.table(header, rows)
