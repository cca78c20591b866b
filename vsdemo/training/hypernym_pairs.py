"""Training on pairs of concepts, right ones and corrupted ones (Vendrov 2016, section 3).

The same loop as for photos. Wrong pairs are drawn anew each epoch from the seed, so a run that was
stopped goes on exactly; only rows of the table that are in a batch move.
"""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.optim import SparseAdam

from vsdemo import models
from vsdemo.core import events
from vsdemo.core import markdown as md
from vsdemo.core.device import device
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.events import EventLog
from vsdemo.data.pairs import hypernyms
from vsdemo.data.text.vocab import Vocab
from vsdemo.evaluation import evaluate
from vsdemo.evaluation.tasks.hypernyms import measure
from vsdemo.models import losses
from vsdemo.models.checkpoint import Spec
from vsdemo.models.hypernyms import Config
from vsdemo.models.losses import check_finite
from vsdemo.training import optim
from vsdemo.training.trainer import Trainer

LICENCES = {
    "wordnet": "WordNet 3.0, copyright Princeton University, free to use with this notice",
    "toy": "MIT, as it is part of vsdemo",
}


class HypernymTrainer(Trainer):
    """Trains a table of concepts in one folder.

    Raises UserError when the data are missing, or the folder holds a run of another configuration.
    """

    chosen_by = "accuracy"
    log_every = 1000

    def __init__(self, out: Path, preset: str, config: Config, dataset: str) -> None:
        self.out, self.config = out, config
        self.split = hypernyms.split(config.protocol, dataset)
        self.events = EventLog(out / "events.jsonl")
        self.spec = Spec(models.preset(preset)[0], preset, dataset, config, "", 0)
        self.vocab = Vocab(self.split.taxonomy.names)
        torch.manual_seed(config.seed)
        self.model = models.build(self.spec.model, config, self.vocab, 0).to(device())
        self.optimizer = SparseAdam(self.model.parameters(), lr=config.learning_rate)
        self.loss = losses.build(config)
        self._begin([])

    def _batches(self, epoch: int) -> list[Tensor]:
        """(B, 2) general and specific, the right pairs first, of each batch of an epoch."""
        draw = np.random.default_rng((self.config.seed, epoch))
        right = draw.permutation(self.split.train)
        parts = 1 + self.config.wrong
        size = min(max(1, self.config.batch_size // parts), len(right))
        right = right[: len(right) - len(right) % size]
        wrong = (self.split.negatives(right, draw) for _ in range(self.config.wrong))
        pairs = np.stack([right, *wrong]).astype(np.int64)
        batches = pairs.reshape(parts, -1, size, 2).swapaxes(0, 1).reshape(-1, parts * size, 2)
        return list(torch.from_numpy(batches))

    def _embed(self, batch: Tensor) -> tuple[Embeddings, Embeddings, Tensor]:
        """(the general ones, the specific ones, whether the pair is right)."""
        general, specific = batch.to(device()).T
        right = len(batch) // (1 + self.config.wrong)
        label = torch.arange(len(batch), device=device()) < right
        return self.model.text.rows(general), self.model.text.rows(specific), label

    def _train_step(self, batch: Tensor) -> dict[str, Any]:
        rate = optim.begin_step(self.optimizer, self.config, self.step, self.steps_per_epoch)
        self.model.train()
        parts = self.loss(self.model.score, *self._embed(batch), 0.0)
        check_finite(parts)
        self.optimizer.zero_grad()
        parts["loss"].backward()
        self.model.text.clamp(batch.flatten().to(device()))  # before the step, as released
        self.optimizer.step()
        self.step += 1
        return {**parts, "learning_rate": rate}

    def _measure(self) -> dict[str, Any]:
        return measure(self.model, self.split, self.split.dev, baselines=False).metrics()


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
tags: [order-embeddings, hypernymy, wordnet]
---
# {name}

Preset `{spec.preset}` of vsdemo ({spec.model}): a vector for each concept of {spec.dataset}, placed
so that what is more general lies above. The epoch was chosen on dev, by the protocol
`{spec.config.protocol}`.

    python -m vsdemo train {spec.preset} --data {spec.dataset} --out {name}{settings}

Seed {spec.config.seed}; training and dev evaluations took {minutes} on {platform.machine()},
threads: {torch.get_num_threads()}. The table is stored in half precision; the figures are of that.

{table(metrics)}

Percent of right answers with 95% bootstrap intervals over pairs; thresholds are chosen on dev.
`seen`: of the right pairs, those that stood in train. `oracle`: who knows the whole hierarchy.

Licence of the training data: {LICENCES.get(spec.dataset, "the hierarchy's own terms")}.
The checkpoint holds weights and the names of concepts.
"""


def table(metrics: dict[str, Any]) -> str:
    """Accuracies by protocol beside their baseline as a Markdown table."""
    rows = []
    for split, figures in metrics.items():
        for protocol in (p for p in (*hypernyms.PROTOCOLS, hypernyms.WHOLE) if p in figures):
            found = figures[protocol]
            low, high = found["ci95"]["accuracy"]
            told = (found["direction"], found["baselines"]["transitive"], found["oracle"])
            cells = [split, protocol, f"**{found['accuracy']:.1f}** ({low:.1f}-{high:.1f})"]
            cells += [f"{value:.1f}" for value in (*told, found["seen"])]
            rows.append(cells)
    header = ["split", "protocol", "accuracy", "direction", "transitive", "oracle", "seen"]
    return md.table(header, rows)
