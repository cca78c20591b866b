"""What the tab Train shows besides its runs, as values of its templates."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from vsdemo.core.language import translate
from vsdemo.core.zero_gpu import is_zero_gpu
from vsdemo.training.requirements import Check
from vsdemo.ui.components import html
from vsdemo.ui.components.templates import render


def command(text: str) -> Markup:
    """Return a command line to copy."""
    return render("training/command.html", command=text)


def checks(results: Sequence[Check]) -> Markup:
    """Return what a training needs, and whether it is available."""
    shown = [Check(check.ok, translate(check.message)) for check in results]
    return render("training/checks.html", checks=shown)


def closed(command: str) -> Markup:
    """Return what the tab shows where training is off."""
    if is_zero_gpu():
        text = translate(
            "Training is disabled on this Space: its GPU calls are too short for it. To train on "
            "your own machine, run `pip install -r requirements.txt && python app.py`, or in a "
            "terminal `{command}`.",
            command=command,
        )
    else:
        text = translate(
            "Training is disabled on this public server. To train on your own machine, run "
            "`pip install -r requirements.txt && python app.py`, or in a terminal `{command}`. The "
            "owner of this server can allow it with `VSDEMO_ALLOW_TRAINING=1`.",
            command=command,
        )
    return html.message(text)
