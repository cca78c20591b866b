"""A word GRU with the cosine, the standard symmetric model."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from vsdemo.core.config import Epochs, OneOf, SmallFeatures, SymmetricConfig
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.gru import POOLINGS, WordGRU
from vsdemo.encoders.image import LinearImage
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.models.model import Model
from vsdemo.models.scores import SCORES

Pooling = Annotated[str, OneOf(POOLINGS), Field(description="Pooling of the GRU's states")]
Bidirectional = Annotated[
    bool, Field(description="Run in both directions, with dim / 2 units each")
]


class GruConfig(SymmetricConfig):
    """A symmetric word GRU and its training."""

    epochs: Epochs = 12
    pooling: Pooling = "max"
    bidirectional: Bidirectional = True
    small_features: SmallFeatures = False


def build(config: GruConfig, vocab: Vocab, features: int) -> DualEncoder:
    """A word GRU with the cosine, after Kiros 2014.

    Kiros, Salakhutdinov & Zemel, "Unifying visual-semantic embeddings with multimodal neural
    language models", 2014; Faghri, Fleet, Kiros & Fidler, "VSE++", BMVC 2018, for the hardest
    negatives.

        f(s) = pool_t GRU(x_1 ... x_T)_t        g(v) = U v + c        S(s, v) = cos(f(s), g(v))

    Departures: (1) the GRU runs in both directions and its states are max-pooled (pooling=last and
    bidirectional=false give the papers' encoder); (2) features are frozen and standardized;
    (3) dropout on words, pooled states and features; (4) words seen once in training become <unk>;
    (5) the sum of all hinges keeps a weight of 0.05 beside the hardest negative.
    """
    text = WordGRU(
        vocab,
        word_dim=config.word_dim,
        dim=config.dim,
        pooling=config.pooling,
        bidirectional=config.bidirectional,
        dropout=config.dropout,
    )
    image = LinearImage(
        features,
        config.dim,
        dropout=config.dropout,
        standardize=config.standardize,
        small_features=config.small_features,
    )
    return DualEncoder(text, image, SCORES["cosine"])


GRU = Model(
    config=GruConfig,
    presets={"gru": GruConfig()},
    build=build,
    kind="recurrent network over words, in both directions",
    paper="Kiros et al.",
    year=2014,
)
