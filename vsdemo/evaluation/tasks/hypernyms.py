"""Does one concept lie above another? (Vendrov 2016, section 3 and Table 1.)

Yes where score(general, specific) reaches the threshold that does best on dev; accuracy in percent
of as many right as wrong pairs, by each protocol of `data.hypernyms`. Beside it `transitive`, which
says yes to what follows from the edges of train and dev without learning anything, and `oracle`,
who knows the whole hierarchy: by the protocol `paper` some pairs that are called wrong are right.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence
from vsdemo.data.pairs import hypernyms, wordnet
from vsdemo.data.pairs.hypernyms import EdgeSet, LabelledPairs, Split
from vsdemo.evaluation.metrics.accuracy import OWN, Judged, Shares, best_threshold, higher
from vsdemo.evaluation.metrics.ranks import with_intervals
from vsdemo.models.dual_encoder import DualEncoder

PRIMARY = "clean"
TEXT_ONLY = True
OF_CONCEPTS = True
SPLITS = ("dev", "test")


def check(model: DualEncoder) -> None:
    """Raises UserError for a model of sentences."""
    if "concepts" not in model.text.needs:
        raise UserError(
            "The task hypernyms is for a model of concepts; `train hypernyms` makes one."
        )


def embedded(model: DualEncoder, split: Split) -> Embeddings:
    """All concepts, (C, D)."""
    found = model.encode_text([Sentence(name) for name in split.taxonomy.names])
    if found.x.isnan().any():
        raise UserError("Some embeddings are not numbers; the model's weights are damaged.")
    return found


@torch.inference_mode()
def scored(model: DualEncoder, concepts: Embeddings, pairs: np.ndarray) -> torch.Tensor:
    """The scores of pairs (N, 2) of numbers, general and specific, (N,)."""
    general, specific = torch.from_numpy(pairs.T.astype(np.int64))
    on = model.device
    return model.score.pairs(concepts[general].to(on), concepts[specific].to(on)).cpu()


def measure(
    model: DualEncoder, split: Split, asked: LabelledPairs, baselines: bool = True
) -> Judged:
    """The answers for the pairs `asked`, with the threshold that is best on dev."""
    concepts = embedded(model, split)
    on_dev = scored(model, concepts, split.dev.pairs).numpy()
    threshold = best_threshold(on_dev, split.dev.true, balanced=False)
    forward = scored(model, concepts, asked.pairs)
    right = (forward.numpy() >= threshold) == asked.true
    numbers, yes = np.arange(len(asked.true)), asked.true
    directed = higher(forward, scored(model, concepts, asked.pairs[:, ::-1].copy()))
    answers = {OWN: (numbers, right), "yes": (numbers[yes], right[yes])}
    answers |= {"no": (numbers[~yes], right[~yes]), "direction": (numbers[yes], directed[yes])}
    if baselines:
        guessed = hypernyms.infer_from_closure(split, asked) == yes
        answers["baselines.transitive"] = (numbers, guessed)
    return Judged(Shares.of(len(asked.true), answers))


def evaluate(
    model: DualEncoder, split: str = "test", dataset: str = wordnet.NAME, learnt: str = ""
) -> dict[str, Any]:
    """By protocol what `Judged.metrics` tells, ci95 over pairs, n pairs, oracle, and `seen`: the
    percent of the right pairs that stood in train by the protocol that was `learnt`.

    Raises UserError for a model of sentences or of other concepts, for other splits than dev and
    test, and when data are missing or damaged.
    """
    check(model)
    if split not in SPLITS:
        raise UserError(f"Hypernyms are measured on dev or test, not on {split}.")
    found: dict[str, Any] = {}
    for protocol in hypernyms.protocols(dataset):
        parts = hypernyms.split(protocol, dataset)
        asked, names = getattr(parts, split), parts.taxonomy.names
        if names != model.text.names:
            raise UserError(f"The model has learnt other concepts than those of {dataset}.")
        truth = EdgeSet.of(parts.taxonomy.closure(), len(names))
        stood = EdgeSet.of(hypernyms.split(learnt or protocol, dataset).train, len(names))
        found[protocol] = {
            **with_intervals(measure(model, parts, asked)),
            "n": len(asked.true),
            "oracle": 100 * float((truth.contains(asked.pairs) == asked.true).mean()),
            "seen": 100 * float(stood.contains(asked.pairs[asked.true]).mean()),
        }
    return found
