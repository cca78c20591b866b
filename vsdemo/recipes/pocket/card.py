"""The model card of checkpoints/pocket."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from vsdemo.evaluation import cards
from vsdemo.models.licences import POCKET
from vsdemo.vision.backbones.pocket import Pocket

BODY = """\
The image network of vsdemo that needs no download: a narrow DenseNet of {millions:.1f} million
parameters (`vsdemo/vision/backbones/pocket.py`) with 512 features, by

    python -m vsdemo train-pocket --out checkpoints/pocket --epochs {epochs} --reuse {reuse} \\
        --side {side} --batch-size {batch_size} --learning-rate {learning_rate}

Seed {seed}; {hours} hours. It started as DenseNet-169 (torchvision's ImageNet weights,
BSD-3-Clause) without the layers and channels that matter least. It was then trained to imitate the
last spatial map of the whole DenseNet-169 over photos in random crops, which it sees at {side}
pixels and its teacher at {teacher_side}, and to rank captions against photos. It was trained on
{photos}, and on no photo of a dev or test split of these.

With the text encoder of its own training: rsum {flickr8k} on Flickr8k dev, {storybook} on Storybook
dev, on whole photos at {size} x {size} pixels. The results of models over it are in their own
cards.

Licence of the weights: {licence.label}. They learned from {licence.terms}.
The checkpoint holds weights and no photo."""


def card(
    settings: Any, parameters: int, counts: Mapping[str, int], metrics: Mapping[str, Any]
) -> str:
    """Return the model card.

    Args:
        settings: The settings of the training.
        parameters: The number of parameters.
        counts: The number of photos of each source.
        metrics: The content of metrics.json.
    """
    photos = ", ".join(f"{count:,} photos of {name}" for name, count in counts.items())
    body = BODY.format(
        millions=parameters / 1e6,
        **asdict(settings),
        size=Pocket.spec.size,
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
