"""The model card of checkpoints/pocket."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vsdemo.evaluation import cards

BODY = """\
The image network of vsdemo that needs no download: a residual network of 4.7 million parameters
(`vsdemo/vision/backbones/pocket.py`), 512 features, trained from scratch by

    python -m vsdemo train-pocket --out checkpoints/pocket --epochs {epochs}

Seed {seed}; {hours} hours. It imitates the last spatial map of DenseNet-169 (ImageNet weights, not
part of this checkpoint) over photos in random crops, and ranks captions against photos beside. It
has seen {photos}, and no photo of a dev or test split of these.

With the text tower of its own training: rsum {flickr8k} on Flickr8k dev, {storybook} on Storybook
dev, each photo seen whole at 224 x 224 pixels. What models over it reach stands in their own cards.

Licence of the training data: photos of Flickr8k, Pascal1K and VOC2008 are under Flickr's terms, for
research; ImageNet's for non-commercial research; Storybook is part of vsdemo (MIT). The checkpoint
holds weights and no photo."""


def card(settings: Any, sets: Mapping[str, int], figures: Mapping[str, Any]) -> str:
    """The text, of a run's settings, the photos that it saw by set, and `metrics.json`."""
    photos = ", ".join(f"{count:,} photos of {name}" for name, count in sets.items())
    body = BODY.format(
        epochs=settings.epochs,
        seed=settings.seed,
        hours=figures["hours"],
        photos=photos,
        **figures["dev_rsum"],
    )
    return cards.document(
        "pocket", tags=["image-feature-extraction", "distillation"], paragraphs=[body]
    )
