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
    EvaluateEvery,
    HubBank,
    LearningRate,
    Material,
    MinCount,
    NoExtraPhotos,
    OneOf,
    Optimizer,
    Patience,
    PhotoDropout,
    SymmetricConfig,
    Warmup,
    WeightDecay,
    WordDim,
)
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.gru import WordGRU
from vsdemo.encoders.hubs import with_hubs
from vsdemo.encoders.image import LinearImage
from vsdemo.models.contrast import Contrast
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.models.model import Model
from vsdemo.models.objectives import Captions, Weight
from vsdemo.models.scores import SCORES

TunedMaterial = Annotated[Material, OneOf(("tuned_photos",))]
WholeViews = Annotated[
    str,
    OneOf(("whole", "both")),
    Field(description="Views of a photo: the whole frame, or that and its mirror image"),
]
TextEpochs = Annotated[
    int,
    Field(
        ge=0,
        le=LARGE,
        description="Epochs in which the text encoder learns from pairs of captions, before those "
        "with photos",
    ),
]
EndRate = Annotated[
    float,
    Field(ge=0, le=LARGE, description="Highest learning rate of the end of the image network"),
]
EndStart = Annotated[
    int,
    Field(ge=0, le=LARGE, description="Epochs with photos before the image network is trained too"),
]
Corners = Annotated[
    bool, Field(description="Train on the four corners of each photo, not only on the whole frame")
]
WindowRate = Annotated[
    float,
    Field(ge=0, le=1, description="Share of batches with a random part of the map of each photo"),
]
ChannelDropout = Annotated[
    float,
    Field(ge=0, le=0.9, description="Share of the channels set to 0 that the network's end reads"),
]
Phrases = Annotated[
    int, Field(ge=1, le=LARGE, description="Phrases of each photo in a batch, at most")
]
UnknownRate = Annotated[
    float, Field(ge=0, le=0.9, description="Share of words read as unknown ones in training")
]


class VsePhotosConfig(SymmetricConfig):
    """Our own recipe for photos and its training.

    A batch has `batch_size` photos and `captions` sentences of each. The first `text_epochs` of
    `epochs` are without photos.
    """

    material: TunedMaterial = "tuned_photos"
    crops: WholeViews = "both"
    extra: NoExtraPhotos = "none"
    batch_size: BatchSize = 64
    captions: Captions = 5
    min_count: MinCount = 3
    text_epochs: TextEpochs = 4
    epochs: Epochs = 30
    evaluate_every: EvaluateEvery = 2
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
    phrases: Phrases = 6
    phrase_weight: Weight = 0.3
    corners: Corners = True
    window_rate: WindowRate = 0.5
    channel_dropout: ChannelDropout = 0.1
    photo_dropout: PhotoDropout = 0.3
    unknown_rate: UnknownRate = 0.1
    hub_bank: HubBank = 1000

    @property
    def also_learns_from(self) -> str:
        """The captions of other photos, as a sentence."""
        if not self.text_epochs:
            return ""
        return (
            "Its text encoder learned first from captions of Flickr30k's photos that are not in "
            "Flickr8k."
        )


def build(config: VsePhotosConfig, vocab: Vocab, features: int) -> DualEncoder:
    """A word GRU and the tuned end of an image network, with the cosine.

    Our own recipe; after Kiros et al. 2014, Faghri et al., "VSE++", BMVC 2018, and Radford et al.,
    "Learning transferable visual models from natural language supervision", ICML 2021.

        f(s) = max_t GRU(x_1 ... x_T)_t        v = [mean, max] of the last map of the whole photo
        S(s, v) = cos(f(s), U v + c) - hub(f(s)) - hub(U v + c)
        loss: softmax over photos, and over captions

    All but the last block of the image network is frozen, so that what that block reads is computed
    once.

    Departures: (1) first, the text encoder learns to recognise two captions of one photo, S(s, s'),
    also those of photos that are not at hand; (2) the last block of the image network is trained
    too, in small steps, with the statistics of its batch norms kept; (3) it sees the whole photo,
    its corners, or a random part of them, also mirrored; (4) some channels that the block reads and
    some words are hidden; (5) phrases of the captions are compared with the regions that they name,
    too, with v = [mean, max] of the map over the region; (6) the captions of a photo are not each
    other's negatives; (7) the checkpoint has an average of the weights; (8) scores are corrected by
    hubs, how similar a photo is to captions of the training in general, and a sentence to its
    photos (`vsdemo.encoders.hubs`); in the loss they are 0. Search averages the vectors of the
    whole photo and of its mirror image.
    """
    text = WordGRU(
        vocab,
        word_dim=config.word_dim,
        dim=config.dim,
        pooling="max",
        bidirectional=True,
        dropout=config.dropout,
        unknown_rate=config.unknown_rate,
    )
    image = LinearImage(
        features, config.dim, dropout=config.photo_dropout, standardize=config.standardize
    )
    score = SCORES["hub_corrected" if config.hub_bank else "cosine"]
    return DualEncoder(
        with_hubs(text, config.hub_bank),
        with_hubs(image, config.hub_bank),
        score,
        Contrast(config.phrase_weight),
    )


VSE_PHOTOS = Model(
    config=VsePhotosConfig,
    presets={"vse_photos": VsePhotosConfig()},
    build=build,
    kind="recurrent network over words; the end of the image network is trained with it",
)
