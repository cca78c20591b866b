"""DeViSE: the mean of a sentence's words and of a photo's regions, ranked."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from vsdemo.core.config import OneOf, SymmetricConfig, WordVectors
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.bow import BagOfWords
from vsdemo.encoders.heads import Head
from vsdemo.encoders.regions import RegionMean
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.models.karpathy2014 import PAPER, RegionCrops
from vsdemo.models.model import Model
from vsdemo.models.scores import SCORES

InnerOrCosine = Annotated[
    str, OneOf(("inner", "cosine")), Field(description="Score of a sentence and a photo")
]


class DeviseConfig(SymmetricConfig):
    """DeViSE and its training."""

    crops: RegionCrops = "windows"
    vectors: WordVectors = "tuned"
    score: InnerOrCosine = "cosine"


def build(config: DeviseConfig, vocab: Vocab, features: int) -> DualEncoder:
    """DeViSE: the mean of a sentence's words and of a photo's regions, ranked.

    Frome, Corrado, Shlens, Bengio, Dean, Ranzato & Mikolov, "DeViSE: A deep visual-semantic
    embedding model", NIPS 2013, for sentences as in Karpathy 2014, section 4.1.

        f(s) = W mean_t(x_t) + b        g(v) = U mean_i(v_i) + c        S(s, v) = f(s) . g(v)

    Departures: (1) the sentence has a linear layer as well; (2) negatives come from the batch;
    (3) all regions are averaged, not detections above a threshold; (4) `devise`, unlike
    `devise/paper`, tunes word vectors, scores by the cosine, weighs mostly the hardest negative
    (VSE++) and standardizes features.

    `features` is the length of a region's vector.
    """
    score = SCORES[config.score]
    text = BagOfWords(
        vocab,
        word_dim=config.word_dim,
        dim=config.dim,
        head=Head(unit=score.normalized),
        dropout=config.dropout,
    )
    image = RegionMean(
        features,
        config.dim,
        head=Head(unit=score.normalized),
        dropout=config.dropout,
        standardize=config.standardize,
    )
    return DualEncoder(text, image, score)


DEVISE = Model(
    config=DeviseConfig,
    presets={"devise": DeviseConfig(), "devise/paper": DeviseConfig(score="inner", **PAPER)},
    build=build,
    kind="mean of the words against mean of the photo's parts",
    paper="Frome et al.",
    year=2013,
)
