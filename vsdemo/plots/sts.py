"""Sentence similarity as bars, a set of pairs after the other (Merckx & Frank 2019, Figure 3)."""

from __future__ import annotations

from vsdemo.evaluation.sts_report import Results
from vsdemo.plots.bar_chart import bars_svg


def sts_svg(found: Results) -> str:
    """Bars of Pearson's r x 100 with 95% intervals as SVG, a model beside the other in each set."""
    sets = next(iter(found.values()))
    names = [label.split("/")[-1] for label in found]
    short = dict(zip(found, names if len(set(names)) == len(names) else found, strict=True))
    rows, spans = [], []
    for name in sets:
        for label, of in found.items():
            rows.append((f"{name} {short[label]}" if len(found) > 1 else name, of[name]["pearson"]))
            spans.append(tuple(of[name]["ci95"]["pearson"]))
    title = f"Pearson's r x 100: {', '.join(short.values())}"
    return bars_svg(title, rows, spans=spans)
