"""The model card of checkpoints/finder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vsdemo.evaluation import cards
from vsdemo.models.licences import FINDER
from vsdemo.vision.backbones.finder import SIDE, BoxHead
from vsdemo.vision.crops import MOST_FOUND

BODY = """\
A head of {parameters:.2f} million parameters over the image network of flickr8k/vse, a
DenseNet-169 whose last block was tuned with captions (`vsdemo/vision/backbones/finder.py`). It
finds the parts of a photo that people mention, whatever they are. It was trained by

    python -m vsdemo train-finder --out checkpoints/finder --epochs {epochs}

Seed {seed}; {hours} hours. It learned from the boxes that people drew in the photos of Flickr8k
train (Flickr30k Entities), and from those of {drawings:,} drawings of Storybook train, but from no
word: which box is called what is not among the labels. The network below it is frozen, and not
part of this checkpoint.

On Flickr8k dev (whole photos of {side} x {side} pixels), {recall:.1f}% of what captions mention is
among the {count} boxes of a photo (intersection over union of 0.5 at least), and {first:.1f}% among
the first 10.

Matrices are in half precision, and the figures are measured with these.

Licence of the weights: {licence.label}. They learned from {licence.terms}."""


def card(settings: Any, *, metrics: Mapping[str, Any]) -> str:
    """Return the model card.

    Args:
        settings: The settings of the training.
        metrics: The content of metrics.json.
    """
    dev = metrics["dev"]
    body = BODY.format(
        parameters=sum(weights.numel() for weights in BoxHead().parameters()) / 1e6,
        epochs=settings.epochs,
        seed=settings.seed,
        hours=metrics["hours"],
        drawings=settings.drawings,
        side=SIDE,
        count=MOST_FOUND - 1,
        recall=dev[f"recall{MOST_FOUND - 1}"],
        first=dev["recall10"],
        licence=FINDER,
    )
    return cards.document("finder", tags=["object-detection"], licence=FINDER, paragraphs=[body])
