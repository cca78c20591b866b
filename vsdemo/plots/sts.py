"""Sentence similarity as bars for each set of pairs (Merckx & Frank 2019, Figure 3)."""

from __future__ import annotations

from vsdemo.evaluation.sts_report import Results
from vsdemo.plots.bar_chart import bars_svg


def sts_svg(results: Results) -> str:
    """Return bars of Pearson's r x 100 with 95% intervals as SVG, grouped by set."""
    labels = list(results)
    last_names = [label.split("/")[-1] for label in labels]
    if len(set(last_names)) < len(labels):
        last_names = labels
    rows, spans = [], []
    for name in results[labels[0]]:
        for label, short in zip(labels, last_names, strict=True):
            metrics = results[label][name]
            low, high = metrics["ci95"]["pearson"]
            rows.append((f"{name} {short}" if len(labels) > 1 else name, metrics["pearson"]))
            spans.append((low, high))
    return bars_svg(f"Pearson's r x 100: {', '.join(last_names)}", rows, spans=spans)
