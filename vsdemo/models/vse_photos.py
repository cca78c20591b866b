"""Our own recipe for photos: the end of the image network is trained with the encoders."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from vsdemo.core.config import (
    LARGE,
    AverageDecay,
    BatchSize,
    Clip,
    Dim,
    Epochs,
    LearningRate,
    Material,
    OneOf,
    Optimizer,
    Patience,
    SymmetricConfig,
    Warmup,
    WeightDecay,
    WordDim,
)
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.gru import WordGRU
from vsdemo.encoders.image import LinearImage
from vsdemo.models.contrast import Contrast
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.models.model import Model
from vsdemo.models.objectives import Captions
from vsdemo.models.scores import SCORES

TunedMaterial = Annotated[Material, OneOf(("tuned_photos",))]
WholeViews = Annotated[
    str,
    OneOf(("whole", "both")),
    Field(description="Views of a photo: the whole frame, or that and its mirror image"),
]
EndRate = Annotated[
    float,
    Field(ge=0, le=LARGE, description="Highest learning rate of the end of the image network"),
]
EndStart = Annotated[
    int, Field(ge=0, le=LARGE, description="Epochs before the image network is trained too")
]


class VsePhotosConfig(SymmetricConfig):
    """Our own recipe for photos and its training.

    A batch has `batch_size` photos and `captions` sentences of each.
    """

    material: TunedMaterial = "tuned_photos"
    crops: WholeViews = "both"
    batch_size: BatchSize = 64
    captions: Captions = 5
    epochs: Epochs = 30
    patience: Patience = 30
    optimizer: Optimizer = "adamw"
    learning_rate: LearningRate = 0.001
    end_rate: EndRate = 0.0003
    end_start: EndStart = 2
    warmup: Warmup = 200
    weight_decay: WeightDecay = 0.0001
    average_decay: AverageDecay = 0.998
    clip: Clip = 2.0
    dim: Dim = 1024
    word_dim: WordDim = 300


def build(config: VsePhotosConfig, vocab: Vocab, features: int) -> DualEncoder:
    """A word GRU and the tuned end of an image network, with the cosine.

    Our own recipe; after Kiros et al. 2014, Faghri et al., "VSE++", BMVC 2018, and Radford et al.,
    "Learning transferable visual models from natural language supervision", ICML 2021.

        f(s) = max_t GRU(x_1 ... x_T)_t        v = [mean, max] of the last map of the whole photo
        S(s, v) = cos(f(s), U v + c)           loss: softmax over photos, and over captions

    All but the last block of the image network is frozen, so that what that block reads is computed
    once; the block is trained in small steps, with the statistics of its batch norms kept.
    """
    text = WordGRU(
        vocab,
        word_dim=config.word_dim,
        dim=config.dim,
        pooling="max",
        bidirectional=True,
        dropout=config.dropout,
    )
    image = LinearImage(
        features, config.dim, dropout=config.dropout, standardize=config.standardize
    )
    return DualEncoder(text, image, SCORES["cosine"], Contrast())


VSE_PHOTOS = Model(
    config=VsePhotosConfig,
    presets={"vse-photos": VsePhotosConfig()},
    build=build,
    kind="recurrent network over words; the end of the image network is trained with it",
)
