"""The model card of models trained on pairs of concepts."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Any

import torch

from vsdemo.core import events
from vsdemo.core import markdown as md
from vsdemo.data.pairs import hypernyms
from vsdemo.evaluation import evaluate
from vsdemo.models.checkpoint import Spec

LICENCES = {
    "wordnet": "WordNet 3.0, copyright Princeton University, free to use with this notice",
    "toy": "MIT, as it is part of vsdemo",
}


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
