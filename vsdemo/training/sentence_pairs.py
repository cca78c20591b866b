"""Training on labelled pairs of sentences, without photos (Vendrov 2016, section 5).

The same loop as for photos: a pair stands for a photo with one caption, the text tower for both
towers, and the epoch is chosen by accuracy on pairs of its own, at the threshold that is best there
(`data.nli.training_pairs` says which pairs these are).
"""

from __future__ import annotations

import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from vsdemo import models
from vsdemo.core import events
from vsdemo.core import markdown as md
from vsdemo.core.config import Config
from vsdemo.core.device import device
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.events import EventLog
from vsdemo.data.pairs import nli
from vsdemo.data.pairs.nli import NliPair
from vsdemo.evaluation import evaluate
from vsdemo.evaluation.tasks.nli import measure
from vsdemo.models.checkpoint import Spec
from vsdemo.training.trainer import Trainer


class PairTrainer(Trainer):
    """Trains one model without an image tower in one folder.

    Raises UserError when the data are missing, or the folder holds a run of another configuration.
    """

    chosen_by = "accuracy"

    def __init__(self, out: Path, preset: str, config: Config) -> None:
        self.out, self.config = out, config
        dataset, pairs, self.dev_pairs = nli.training_pairs()
        self.events = EventLog(out / "events.jsonl")
        self.spec = Spec(models.preset(preset)[0], preset, dataset, config, "", 0)
        texts = _texts(pairs)
        self.captions = self._build(texts)
        self.row = {text: row for row, text in enumerate(texts)}
        self.pairs = torch.tensor([[self.row[p.hypothesis], self.row[p.premise]] for p in pairs])
        self.entailed = torch.tensor([pair.entailed for pair in pairs])
        sizes = [len(caption) for caption in self.captions]
        self.lengths = [sizes[a] + sizes[b] for a, b in self.pairs.tolist()]
        self._begin([[number] for number in range(len(pairs))])

    def _embed(self, batch: Tensor) -> tuple[Embeddings, Embeddings, Tensor]:
        """(hypotheses, premises, whether they are entailed) of the pairs of these numbers."""
        rows = self.pairs[batch].T.flatten().tolist()
        words = self.model.text.collate([self.captions[row] for row in rows]).to(device())
        both = self.model.text(words)
        return both[: len(batch)], both[len(batch) :], self.entailed[batch].to(device())

    def _measure(self) -> dict[str, Any]:
        found, _ = measure(self.judged, self.dev_pairs, self.dev_pairs)
        return found.metrics()


def trainer(out: Path, preset: str, config: Config, dataset: str | None) -> PairTrainer:
    """The trainer of a configuration. Raises UserError where it is for photos only."""
    if dataset:
        raise UserError(f"{preset} learns from sentence pairs of its own; leave --data out.")
    if config.semantics:
        raise UserError(f"{preset} is measured on entailment alone; set semantics=false.")
    if config.alternate:
        raise UserError(f"{preset} has one tower, so none to alternate with; set alternate=0.")
    return PairTrainer(out, preset, config)


def _texts(pairs: Sequence[NliPair]) -> list[str]:
    """Every sentence once."""
    return list(dict.fromkeys(text for p in pairs for text in (p.premise, p.hypothesis)))


def finish(folder: Path) -> dict[str, Any]:
    """Measures a trained checkpoint on dev and test; writes metrics.json and the model card."""
    return evaluate.report(folder, ("dev", "test"), card)


def card(name: str, spec: Spec, metrics: dict[str, Any], log: Path) -> str:
    """The model card: data, command, seed, figures, licence."""
    settings = "".join(f" --set {k}={v}" for k, v in spec.changed.items())
    done = [e for e in events.read(log) if e["kind"] == "done"]
    minutes = f"{done[-1]['seconds'] / 60:.1f} minutes" if done else "unknown"
    return f"""---
library_name: vsdemo
tags: [textual-entailment]
---
# {name}

Preset `{spec.preset}` of vsdemo ({spec.model}) without an image tower: it says whether a sentence
follows from another. Trained on {nli.TRAINING_DATA[spec.dataset]}.

    python -m vsdemo train {spec.preset} --out {name}{settings}

Seed {spec.config.seed}; training and dev evaluations took {minutes} on {platform.machine()},
threads: {torch.get_num_threads()}. Matrices are stored in half precision; the figures are of these.

{table(metrics)}

Percent of right answers with 95% bootstrap intervals over pairs; thresholds are chosen on dev.

Licences of the training data: SNLI CC BY-SA 4.0, SICK CC BY-NC-SA 3.0.
The checkpoint holds weights and a list of words, no sentence.
"""


def table(metrics: dict[str, Any]) -> str:
    """Accuracies beside their baselines as a Markdown table, a row a split and set."""
    rows = []
    for split, figures in metrics.items():
        for name in nli.DATASETS:
            found = figures[name]
            low, high = found["ci95"]["accuracy"]
            cells = [f"{split}, {name}", f"{found['n']:,}"]
            cells += [f"**{found['accuracy']:.1f}** ({low:.1f}-{high:.1f})"]
            cells += [f"{value:.1f}" for value in found["baselines"].values()]
            rows.append(cells)
    return md.table(["split", "pairs", "accuracy", "majority", "cosine", "overlap"], rows)
