"""Bag of words: the simplest text tower, a baseline of every paper since Socher 2014.

Socher, Karpathy, Le, Manning & Ng, "Grounded compositional semantics for finding and describing
images with sentences", TACL 2014, section 6.2.

    f(s) = W mean_t(x_t) + b        g(v) = U v + c        score(s, v) = cos(f(s), g(v))

Departures: (1) word vectors are learned with the rest instead of fixed; (2) cosine and VSE++'s
hardest negative of the batch instead of the inner product over sampled negatives; (3) photo
features are brought to mean 0 and variance 1; (4) words seen once in train become <unk>.
"""

from __future__ import annotations

from dataclasses import dataclass

from vsdemo import config
from vsdemo.config import option
from vsdemo.data.vocab import Vocab
from vsdemo.dual import DualEncoder
from vsdemo.encoders.bow import BagOfWords
from vsdemo.encoders.image import LinearImage
from vsdemo.scores import SCORES


@dataclass(frozen=True)
class Config(config.Config):
    """A bag of words and its training."""

    sampling: str = option("all", "captions of a photo an epoch", ("one", "all"))
    epochs: int = option(15, "at most; see patience")
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
    dropout: float = option(0.2, "share of inputs of the linear layers set to 0", most=0.9)
    standardize: bool = option(True, "photo features to mean 0 and variance 1")


PRESETS = {"bow": Config()}


def build(cfg: Config, vocab: Vocab, features: int) -> DualEncoder:
    """A new, untrained model; features: length of the photo vectors."""
    text = BagOfWords(vocab, cfg.word_dim, cfg.dim, nonnegative=False, dropout=cfg.dropout)
    image = LinearImage(
        features, cfg.dim, nonnegative=False, dropout=cfg.dropout, standardize=cfg.standardize
    )
    return DualEncoder(text, image, SCORES["cosine"])
