"""The model card of checkpoints/storybook/clip."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vsdemo.core.config import Config
from vsdemo.evaluation import cards
from vsdemo.models import licences

BODY = """\
A CLIP (Radford et al. 2021) of a few megabytes, trained from scratch on drawings by

    python -m vsdemo train-clip --out checkpoints/storybook/clip --epochs {epochs}

open_clip loads it without vsdemo:

    folder = "local-dir:checkpoints/storybook/clip"
    model, preprocess = open_clip.create_model_from_pretrained(folder)
    tokenizer = open_clip.get_tokenizer(folder)
    model.eval()  # it is in training mode at first

Seed {seed}; {hours:.2f} hours. It learned from {scenes:,} scenes of Storybook with captions, none
of which shows what a scene of dev, test or `compositional` shows. It knows this world only, and no
photograph.

On Storybook test (500 pictures, 2,500 captions): caption to picture R@1 {t2i[r1]:.1f},
R@5 {t2i[r5]:.1f}, R@10 {t2i[r10]:.1f}; picture to caption R@1 {i2t[r1]:.1f}, R@5 {i2t[r5]:.1f},
R@10 {i2t[r10]:.1f}; rsum {rsum:.1f}.

Matrices are in half precision, the vectors of tokens in 8 bits (float8_e4m3fn); open_clip converts
both. Tokens of no caption have a vector of zeros.

Licence of the weights: {licence.label}. They learned from {licence.terms}."""


def card(config: Config, *, scenes: int, hours: float, metrics: Mapping[str, Any]) -> str:
    """Return the model card.

    Args:
        config: The settings of the training.
        scenes: Number of scenes.
        hours: Duration of the training.
        metrics: Retrieval metrics on test.
    """
    licence = licences.DATA["retrieval", "storybook"]
    body = BODY.format(
        epochs=config.epochs,
        seed=config.seed,
        scenes=scenes,
        hours=hours,
        licence=licence,
        **metrics,
    )
    tags = ["zero-shot-image-classification", "clip"]
    return cards.document(
        "clip", tags=tags, licence=licence, paragraphs=[body], library="open_clip"
    )
