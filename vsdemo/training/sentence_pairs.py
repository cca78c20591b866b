"""The model card of models trained on sentence pairs."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Any

import torch

from vsdemo.core import events
from vsdemo.core import markdown as md
from vsdemo.data.pairs import nli
from vsdemo.evaluation import evaluate
from vsdemo.models.checkpoint import Spec


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
