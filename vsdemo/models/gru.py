"""A word GRU with cosine: the symmetric standard after Kiros 2014.

Kiros, Salakhutdinov & Zemel, "Unifying visual-semantic embeddings with multimodal neural language
models", 2014; Faghri, Fleet, Kiros & Fidler, "VSE++", BMVC 2018, for the hardest negatives.

    f(s) = pool_t GRU(x_1 ... x_T)_t        g(v) = U v + c        score(s, v) = cos(f(s), g(v))

Departures: (1) the GRU runs in both directions and its states are max-pooled (pooling=last and
bidirectional=false give the papers' tower); (2) features are frozen, and brought to mean 0 and
variance 1; (3) dropout on words, pooled states and features; (4) words seen once in train become
<unk>; (5) a twentieth of the sum of all hinges stays beside the hardest negative.
"""

from __future__ import annotations

from dataclasses import dataclass

from vsdemo.core import config
from vsdemo.core.config import option
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.gru import POOLINGS, WordGRU
from vsdemo.encoders.image import LinearImage
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.models.scores import SCORES


@dataclass(frozen=True)
class Config(config.Symmetric):
    """A symmetric word GRU and its training."""

    epochs: int = option(12, "at most; see patience")
    pooling: str = option("max", "of the GRU's states", POOLINGS)
    bidirectional: bool = option(True, "dim / 2 units in each direction")


PRESETS = {"gru": Config()}


def build(cfg: Config, vocab: Vocab, features: int) -> DualEncoder:
    """A new, untrained model; features: length of the photo vectors."""
    text = WordGRU(
        vocab,
        word_dim=cfg.word_dim,
        dim=cfg.dim,
        pooling=cfg.pooling,
        bidirectional=cfg.bidirectional,
        dropout=cfg.dropout,
    )
    image = LinearImage(features, cfg.dim, dropout=cfg.dropout, standardize=cfg.standardize)
    return DualEncoder(text, image, SCORES["cosine"])
