"""The model card of checkpoints/easel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vsdemo.evaluation import cards
from vsdemo.models.licences import EASEL
from vsdemo.vision.backbones.easel import Easel

BODY = """\
The image network of vsdemo for the drawings of Storybook: a pyramid of maps of {parameters:.2f}
million parameters (`vsdemo/vision/backbones/easel.py`) that finds things by their centres and
describes each, trained from scratch by

    python -m vsdemo train-easel --out checkpoints/easel --steps {steps}

Seed {seed}; {hours} hours. It learned where the things in {scenes:,} scenes of Storybook are and
what they are, by linear layers that are not part of this checkpoint. None of the scenes shows what
a scene of dev, test or `compositional` shows. It knows this world only, and no photograph.

On Storybook dev (whole pictures of {side} x {side} pixels) it finds {recall:.1f}% of the things;
{precision:.1f}% of what it finds are things (intersection over union of 0.5 at least). At the true
centres of things the layers name right, in percent:

{accuracies}.

Matrices are in half precision, and the figures are measured with these.

Licence of the weights: {licence.label}. They learned from {licence.terms}."""


def card(settings: Any, *, scenes: int, metrics: Mapping[str, Any]) -> str:
    """Return the model card.

    Args:
        settings: The settings of the training.
        scenes: Number of scenes.
        metrics: The content of metrics.json.
    """
    dev = metrics["dev"]
    body = BODY.format(
        parameters=sum(weights.numel() for weights in Easel().parameters()) / 1e6,
        steps=settings.steps,
        seed=settings.seed,
        hours=metrics["hours"],
        scenes=scenes,
        side=Easel.spec.size,
        accuracies=", ".join(f"{label} {value:.1f}" for label, value in dev["accuracy"].items()),
        licence=EASEL,
        recall=dev["recall"],
        precision=dev["precision"],
    )
    return cards.document(
        "easel",
        tags=["image-feature-extraction", "object-detection"],
        licence=EASEL,
        paragraphs=[body],
    )
