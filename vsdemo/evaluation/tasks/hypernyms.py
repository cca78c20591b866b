"""Hypernym prediction (Vendrov 2016, section 3 and Table 1).

The answer is yes where score(general, specific) reaches the threshold that does best on dev;
accuracy is in percent of equally many true and false pairs, by each protocol of
`data.pairs.hypernyms`. It is reported with `transitive`, a baseline without training that says yes
to what follows from the edges of train and dev, and `oracle`, which knows the whole hierarchy: by
the protocol `paper` some pairs labelled false are true.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch

from vsdemo.core import markdown
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence
from vsdemo.data.pairs import hypernyms
from vsdemo.data.pairs.hypernyms import EdgeSet, LabelledPairs, Split
from vsdemo.evaluation.metrics.accuracy import (
    ACCURACY,
    Accuracy,
    PairAccuracy,
    best_threshold,
    higher,
)
from vsdemo.evaluation.metrics.bootstrap import Parts, with_intervals
from vsdemo.evaluation.task import CardText, ConceptData, PairedTask, Result
from vsdemo.models.checkpoint import Spec
from vsdemo.models.dual_encoder import DualEncoder

SPLITS = ("dev", "test")


def embed_concepts(model: DualEncoder, split: Split) -> Embeddings:
    """Return the embeddings of all concepts, (C, D)."""
    embeddings = model.encode_text([Sentence(name) for name in split.taxonomy.names])
    if embeddings.x.isnan().any():
        raise UserError("Some embeddings are NaN; the model's weights are damaged.")
    return embeddings


@torch.inference_mode()
def score_pairs(model: DualEncoder, concepts: Embeddings, pairs: np.ndarray) -> torch.Tensor:
    """Return the scores of pairs (N, 2) of concept numbers, general and specific, (N,)."""
    general, specific = torch.from_numpy(pairs.T.astype(np.int64))
    device = model.device
    return model.score.pairs(concepts[general].to(device), concepts[specific].to(device)).cpu()


def measure(
    model: DualEncoder, split: Split, pairs: LabelledPairs, *, baselines: bool = True
) -> PairAccuracy:
    """Return the accuracy on pairs, with the threshold that is best on dev.

    Args:
        model: A model of these concepts.
        split: Its hierarchy and its dev pairs are used.
        pairs: The pairs to answer.
        baselines: Whether to measure the baselines, too.
    """
    concepts = embed_concepts(model, split)
    on_dev = score_pairs(model, concepts, split.dev.pairs).numpy()
    threshold = best_threshold(on_dev, split.dev.true, balanced=False)
    forward = score_pairs(model, concepts, pairs.pairs)
    backward = score_pairs(model, concepts, pairs.pairs[:, ::-1].copy())
    direction = higher(forward, backward)
    numbers, yes = np.arange(len(pairs.true)), pairs.true
    right = (forward.numpy() >= threshold) == yes
    answers = {
        ACCURACY: (numbers, right),
        "yes": (numbers[yes], right[yes]),
        "no": (numbers[~yes], right[~yes]),
        "direction": (numbers[yes], direction[yes]),
    }
    if baselines:
        answers["baselines.transitive"] = (
            numbers,
            hypernyms.infer_from_closure(split, pairs) == yes,
        )
    return PairAccuracy(Accuracy.of(len(pairs.true), answers))


def _description(spec: Spec) -> str:
    return (
        f"Preset `{spec.preset}` of vsdemo ({spec.model}): a vector for each concept of "
        f"{spec.dataset}, such that\nmore general concepts lie above. The epoch was chosen on dev, "
        f"by the protocol `{spec.config.protocol}`."
    )


@dataclass(frozen=True)
class Hypernyms(PairedTask):
    """Accuracy on pairs of concepts, by protocol."""

    name: ClassVar[str] = "hypernyms"
    needs: ClassVar[frozenset[str]] = frozenset({"concepts"})
    primary: ClassVar[str] = "clean"
    card: ClassVar[CardText | None] = CardText(
        tags=("order-embeddings", "hypernymy", "wordnet"),
        description=_description,
        legend="Percent of right answers with 95% bootstrap intervals over pairs; thresholds are "
        "chosen on dev.\n`seen`: share of the true pairs that are in train. `oracle`: knows the "
        "whole hierarchy.",
        contents="The checkpoint holds weights and the names of concepts.",
    )

    def check(self, model: DualEncoder) -> None:
        """Raise UserError for a model of sentences."""
        if "concepts" not in model.text.needs:
            raise UserError(
                "The task hypernyms is for a model of concepts; `train hypernyms` makes one."
            )

    def evaluate(self, model: DualEncoder, data: ConceptData) -> Result:
        """Return by protocol the metrics of `PairAccuracy`, counts, and ci95 over pairs.

        n: pairs; oracle: its accuracy; seen: percent of the true pairs that are in train by the
        protocol that the model was trained by.

        Raises:
            UserError: The model is one of sentences or of other concepts, the split is neither dev
                nor test, or data are missing or damaged.
        """
        result: Result = {}
        for protocol, (parts, pairs) in self._by_protocol(model, data).items():
            trained = hypernyms.split(data.protocol or protocol, data.dataset).train
            count = len(parts.taxonomy.names)
            truth = EdgeSet.of(parts.taxonomy.closure(), count)
            seen = EdgeSet.of(trained, count)
            result[protocol] = {
                **with_intervals(measure(model, parts, pairs)),
                "n": len(pairs.true),
                "oracle": 100 * float((truth.contains(pairs.pairs) == pairs.true).mean()),
                "seen": 100 * float(seen.contains(pairs.pairs[pairs.true]).mean()),
            }
        return result

    def measure(self, model: DualEncoder, data: ConceptData) -> Parts:
        """Return the accuracy by protocol, with the errors of `evaluate`."""
        by_protocol = self._by_protocol(model, data)
        return Parts({name: measure(model, *of_name) for name, of_name in by_protocol.items()})

    def _by_protocol(
        self, model: DualEncoder, data: ConceptData
    ) -> dict[str, tuple[Split, LabelledPairs]]:
        """Return by protocol the hierarchy's split, and the pairs to answer."""
        self.check(model)
        if data.split not in SPLITS:
            raise UserError(f"Hypernyms are measured on dev or test, not on {data.split}.")
        result = {}
        for protocol in hypernyms.protocols(data.dataset):
            parts = hypernyms.split(protocol, data.dataset)
            if parts.taxonomy.names != model.text.names:
                raise UserError(f"The model was trained on other concepts than {data.dataset}'s.")
            result[protocol] = parts, getattr(parts, data.split)
        return result

    def table(self, results: Mapping[str, Result], *, label: str = "split") -> str:
        """Return accuracies next to their baseline, a row for each split and protocol."""
        rows = []
        for split, protocols in results.items():
            for protocol in (*hypernyms.PROTOCOLS, hypernyms.WHOLE):
                if protocol in protocols:
                    rows.append([split, protocol, *_cells(protocols[protocol])])
        header = [label, "protocol", "accuracy", "direction", "transitive", "oracle", "seen"]
        return markdown.table(header, rows)


def _cells(metrics: Result) -> list[str]:
    low, high = metrics["ci95"]["accuracy"]
    values = [
        metrics["direction"],
        metrics["baselines"]["transitive"],
        metrics["oracle"],
        metrics["seen"],
    ]
    accuracy = f"**{metrics['accuracy']:.1f}** ({low:.1f}-{high:.1f})"
    return [accuracy, *(f"{value:.1f}" for value in values)]
