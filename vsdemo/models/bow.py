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

from vsdemo import config
from vsdemo.config import option
from vsdemo.data.vocab import Vocab
from vsdemo.dual import DualEncoder
from vsdemo.encoders.bow import BagOfWords
from vsdemo.encoders.image import LinearImage
from vsdemo.models import socher
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
    score: str = option("cosine", "of sentence and photo", ("inner", "cosine", "euclidean"))


PRESETS = {
    "bow": Config(),
    "bow/paper": Config(**socher.PAPER),
    "bow/squared": Config(**socher.SQUARED),
}


def build(cfg: Config, vocab: Vocab, features: int) -> DualEncoder:
    """A new, untrained model; features: length of the photo vectors."""
    unit = cfg.score == "cosine"
    text = BagOfWords(vocab, cfg.word_dim, cfg.dim, False, cfg.dropout, unit)
    image = LinearImage(features, cfg.dim, False, cfg.dropout, cfg.standardize, unit)
    return DualEncoder(text, image, SCORES[cfg.score])
