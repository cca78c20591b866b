"""Bag of words: the simplest text encoder, a baseline of every paper since Socher 2014."""

from __future__ import annotations

from vsdemo.core.config import Similarity, SymmetricConfig
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.bow import BagOfWords
from vsdemo.encoders.heads import Head
from vsdemo.encoders.image import LinearImage
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.models.model import Model
from vsdemo.models.scores import SCORES
from vsdemo.models.socher2014 import PAPER, SQUARED


class BowConfig(SymmetricConfig):
    """A bag of words and its training."""

    score: Similarity = "cosine"


def build(config: BowConfig, vocab: Vocab, features: int) -> DualEncoder:
    """Bag of words: the mean word vector and one linear layer.

    Socher, Karpathy, Le, Manning & Ng, "Grounded compositional semantics for finding and describing
    images with sentences", TACL 2014, section 6.2.

        f(s) = W mean_t(x_t) + b        g(v) = U v + c        S(s, v) = f(s) . g(v)

    `bow/lesson` learns Storybook within a minute, for a demonstration in class.

    Departures: (1) the sentence has a linear layer as well; (2) negatives come from the batch;
    (3) `bow`, unlike `bow/paper`, learns word vectors with the rest instead of fixing them, scores
    by the cosine, weighs mostly the hardest negative (VSE++), uses Adam, standardizes features and
    maps words seen once to <unk>; (4) `bow/paper` uses word vectors pretrained on captions (PPMI)
    instead of those of Huang 2012, and DenseNet features.
    """
    score = SCORES[config.score]
    text = BagOfWords(
        vocab,
        word_dim=config.word_dim,
        dim=config.dim,
        head=Head(unit=score.normalized),
        dropout=config.dropout,
    )
    image = LinearImage(
        features,
        config.dim,
        head=Head(unit=score.normalized),
        dropout=config.dropout,
        standardize=config.standardize,
    )
    return DualEncoder(text, image, score)


BOW = Model(
    config=BowConfig,
    presets={
        "bow": BowConfig(),
        "bow/paper": BowConfig(**PAPER),
        "bow/squared": BowConfig(**SQUARED),
        "bow/lesson": BowConfig(
            backbone="pocket",
            crops="whole",
            photos=1500,
            dim=200,
            sampling="one",
            epochs=60,
            patience=60,  # with 12 steps an epoch
        ),
    },
    build=build,
    kind="bag of words: a sentence is the mean of its words",
    paper="Socher et al.",
    year=2014,
)
