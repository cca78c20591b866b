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

from vsdemo import config
from vsdemo.config import option
from vsdemo.data.vocab import Vocab
from vsdemo.dual import DualEncoder
from vsdemo.encoders.gru import POOLINGS, WordGRU
from vsdemo.encoders.image import LinearImage
from vsdemo.scores import SCORES


@dataclass(frozen=True)
class Config(config.Config):
    """A symmetric word GRU and its training."""

    sampling: str = option("all", "captions of a photo an epoch", ("one", "all"))
    epochs: int = option(12, "at most; see patience")
    patience: int = option(4, "evaluations without a better dev rsum before stopping")
    schedule: str = option(
        "cosine", "of the learning rate", ("constant", "cosine", "cyclic", "step")
    )
    hardest: float = option(
        0.95, "weight of the hardest negative beside the sum (VSE++), 0 to 1", most=1
    )
    margin: float = option(0.2, "of the hinge, in units of the cosine")
    dim: int = option(1024, "of the joint space")
    word_dim: int = option(300, "of the word vectors")
    pooling: str = option("max", "of the GRU's states", POOLINGS)
    bidirectional: bool = option(True, "dim / 2 units in each direction")
    dropout: float = option(0.2, "share of words, states and features set to 0", most=0.9)
    standardize: bool = option(True, "photo features to mean 0 and variance 1")


PRESETS = {"gru": Config()}


def build(cfg: Config, vocab: Vocab, features: int) -> DualEncoder:
    """A new, untrained model; features: length of the photo vectors."""
    shape = (cfg.word_dim, cfg.dim, cfg.pooling, cfg.bidirectional)
    text = WordGRU(vocab, *shape, nonnegative=False, dropout=cfg.dropout)
    image = LinearImage(
        features, cfg.dim, nonnegative=False, dropout=cfg.dropout, standardize=cfg.standardize
    )
    return DualEncoder(text, image, SCORES["cosine"])
