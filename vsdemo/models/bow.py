"""Bag of words: the simplest text tower, a baseline of every paper since Socher 2014.

Socher, Karpathy, Le, Manning & Ng, "Grounded compositional semantics for finding and describing
images with sentences", TACL 2014, section 6.2.

    f(s) = W mean_t(x_t) + b        g(v) = U v + c        S(s, v) = f(s) . g(v)

Departures: (1) the sentence has a layer, too; (2) negatives are those of the batch; (3) in the
preset `bow`, not in `bow/paper`: word vectors are learned with the rest instead of fixed, the score
is the cosine, the hinges mostly those of the hardest negative (VSE++), the optimiser Adam, features
are standardised, words seen once become <unk>; (4) in `bow/paper`: vectors of our own (PPMI of
captions) for those of Huang 2012, DenseNet features.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from vsdemo.core import config
from vsdemo.core.config import option
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.bow import BagOfWords
from vsdemo.encoders.heads import Head
from vsdemo.encoders.image import LinearImage
from vsdemo.models import socher
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.models.scores import SCORES


@dataclass(frozen=True)
class Config(config.Symmetric):
    """A bag of words and its training."""

    score: str = option("cosine", "of sentence and photo", ("inner", "cosine", "euclidean"))


LESSON: dict[str, Any] = {  # learns Storybook before a class's eyes, in a minute
    "backbone": "pocket",
    "crops": "whole",
    "photos": 1500,
    "dim": 200,
    "sampling": "one",
    "epochs": 60,
    "patience": 60,  # looked at after each 12 steps
}
PRESETS = {
    "bow": Config(),
    "bow/paper": Config(**socher.PAPER),
    "bow/squared": Config(**socher.SQUARED),
    "bow/lesson": Config(**LESSON),
}


def build(cfg: Config, vocab: Vocab, features: int) -> DualEncoder:
    """A new, untrained model; features: length of the photo vectors."""
    unit = cfg.score == "cosine"
    text = BagOfWords(
        vocab,
        word_dim=cfg.word_dim,
        dim=cfg.dim,
        head=Head(unit=unit),
        dropout=cfg.dropout,
    )
    image = LinearImage(
        features,
        cfg.dim,
        head=Head(unit=unit),
        dropout=cfg.dropout,
        standardize=cfg.standardize,
    )
    return DualEncoder(text, image, SCORES[cfg.score])
