"""The model card of checkpoints/pocket."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vsdemo.evaluation import cards
from vsdemo.models.licences import POCKET

BODY = """\
The image network of vsdemo that needs no download: a residual network of 4.7 million parameters
(`vsdemo/vision/backbones/pocket.py`), 512 features, trained from scratch by

    python -m vsdemo train-pocket --out checkpoints/pocket --epochs {epochs}

Seed {seed}; {hours} hours. It imitates the last spatial map of DenseNet-169 (ImageNet weights, not
part of this checkpoint) over photos in random crops, and it ranks captions against photos. It was
trained on {photos}, and on no photo of a dev or test split of these.

With the text encoder of its own training: rsum {flickr8k} on Flickr8k dev, {storybook} on Storybook
dev, on whole photos at 224 x 224 pixels. The results of models over it are in their own cards.

Licence of the weights: {licence.label}. They learned from {licence.terms}.
The checkpoint holds weights and no photo."""


def card(settings: Any, counts: Mapping[str, int], metrics: Mapping[str, Any]) -> str:
    """Return the model card.

    Args:
        settings: The settings of the training.
        counts: The number of photos of each source.
        metrics: The content of metrics.json.
    """
    photos = ", ".join(f"{count:,} photos of {name}" for name, count in counts.items())
    body = BODY.format(
        epochs=settings.epochs,
        seed=settings.seed,
        hours=metrics["hours"],
        licence=POCKET,
        photos=photos,
        **metrics["dev_rsum"],
    )
    return cards.document(
        "pocket",
        tags=["image-feature-extraction", "distillation"],
        licence=POCKET,
        paragraphs=[body],
    )
