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
    Dropout,
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
    SymmetricConfig,
    Warmup,
    WeightDecay,
    WordDim,
)
from vsdemo.core.errors import UserError
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.bow import DeepSet
from vsdemo.encoders.gru import WordGRU
from vsdemo.encoders.heads import Head
from vsdemo.encoders.image import LinearImage
from vsdemo.encoders.several import SideBySide
from vsdemo.models.contrast import Contrast
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.models.hubness import correct_hubs
from vsdemo.models.model import Model
from vsdemo.models.objectives import Captions, Weight
from vsdemo.models.scores import SCORES

TunedMaterial = Annotated[Material, OneOf(("tuned_photos",))]
WholeView = Annotated[str, OneOf(("whole",)), Field(description="View of a photo for search")]
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
EndDropout = Annotated[
    Dropout, Field(description="`dropout` while the end of the image network is trained")
]
FrozenEpochs = Annotated[
    int,
    Field(
        ge=0,
        le=LARGE,
        description="Epochs after those without photos, in which the image network is not trained "
        "yet",
    ),
]
FrozenBatch = Annotated[
    int,
    Field(ge=2, le=LARGE, description="Photos of a batch in these epochs, with one caption each"),
]
Corners = Annotated[
    bool, Field(description="Train on the four corners of each photo, not only on the whole frame")
]
Windows = Annotated[
    bool, Field(description="Train on a random part of each photo's map, not on the whole map")
]
BagOfWords = Annotated[
    bool,
    Field(description="Read each caption as a bag of words, too, with half of the dimensions"),
]
Phrases = Annotated[
    int, Field(ge=1, le=LARGE, description="Phrases of each photo in a batch, at most")
]
Pairs = Annotated[
    int,
    Field(ge=2, le=LARGE, description="Pairs of captions, each of one photo, that join a batch"),
]


class VsePhotosConfig(SymmetricConfig):
    """Our own recipe for photos and its training.

    The first `text_epochs` of `epochs` are without photos, and the image network is not trained in
    the `frozen_epochs` after them. Then, a batch has `batch_size` photos and `captions` sentences
    of each. `pairs` pairs of captions join every batch with photos.
    """

    material: TunedMaterial = "tuned_photos"
    crops: WholeView = "whole"
    extra: NoExtraPhotos = "none"
    batch_size: BatchSize = 64
    captions: Captions = 5
    min_count: MinCount = 3
    text_epochs: TextEpochs = 4
    frozen_epochs: FrozenEpochs = 8
    frozen_batch: FrozenBatch = 256
    epochs: Epochs = 24
    evaluate_every: EvaluateEvery = 4
    patience: Patience = 20
    optimizer: Optimizer = "adamw"
    learning_rate: LearningRate = 0.001
    end_rate: EndRate = 0.001
    end_dropout: EndDropout = 0.5
    warmup: Warmup = 50
    weight_decay: WeightDecay = 0.0001
    average_decay: AverageDecay = 0.99
    clip: Clip = 2.0
    dim: Dim = 2048
    word_dim: WordDim = 300
    bag_of_words: BagOfWords = True
    phrases: Phrases = 6
    phrase_weight: Weight = 0.3
    pairs: Pairs = 128
    pair_weight: Weight = 0.5
    corners: Corners = True
    windows: Windows = True
    hub_bank: HubBank = 4000

    @property
    def reads_other_captions(self) -> bool:
        """Whether the text encoder also learns from captions of Flickr30k's other photos."""
        return self.text_epochs > 0 or self.pair_weight > 0

    @property
    def also_learns_from(self) -> str:
        """The captions of other photos, as a sentence."""
        if not self.reads_other_captions:
            return ""
        return (
            "Its text encoder also learned from captions of Flickr30k's photos that are not in "
            "Flickr8k."
        )


def build(config: VsePhotosConfig, vocab: Vocab, features: int) -> DualEncoder:
    """A word GRU, a bag of words and the tuned end of an image network, with the cosine.

    Our own recipe; after Kiros et al. 2014, Faghri et al., "VSE++", BMVC 2018, and Radford et al.,
    "Learning transferable visual models from natural language supervision", ICML 2021.

        f(s) = [max_t GRU(x_1 ... x_T)_t, W (mean_t h_t + max_t h_t)]      h_t = max(0, A x'_t + a)
        g(v) = U v + c        v = [mean x, (mean x^3)^(1/3)] of the last map x of the whole photo
        S(s, v) = cos(f(s), g(v)) - hub(f(s)) - hub(g(v))
        loss: softmax over photos, and over captions

    Both parts of f and g have length 1, so that the cosine is the mean of theirs. All but the last
    block of the image network is frozen, so that what that block reads is computed once.

    Departures: (1) first, the text encoder learns to recognise two captions of one photo, S(s, s'),
    also those of photos that are not at hand, and such pairs stay part of all later batches; then f
    and g learn while the image network is frozen; (2) only then, its last block is trained too, in
    small steps and with more dropout; its batch norms, and the scale of its features, are kept; (3)
    it sees a random part of the whole photo, or of one of its corners, also mirrored; (4) phrases
    of the captions are compared with the regions that they name, too, with the means of the map
    over the region as v; (5) the captions of a photo are not each other's negatives; (6) the loss
    is the mean of that of S and those of both parts; (7) the checkpoint has an average of the
    weights, in which all steps that train the last block count the same; (8) scores are corrected
    by hubs, which say how similar a photo is to captions in general, and a sentence to photos
    (`vsdemo.encoders.hubness`); in the loss they are 0. Search averages the vectors of the map that
    the last block reads and of its mirror image.
    """
    parts = 2 if config.bag_of_words else 1
    if config.dim % (2 * parts):
        raise UserError(
            f"The dimensions cannot be divided evenly; set dim to a multiple of {2 * parts}, "
            f"not {config.dim}."
        )
    image = LinearImage(
        features,
        config.dim,
        head=Head(parts=parts),
        dropout=config.dropout,
        standardize=config.standardize,
        small_features=True,
    )
    text = _text_encoder(config, vocab, config.dim // parts)
    objective = Contrast(config.phrase_weight, config.pair_weight, parts)
    return correct_hubs(DualEncoder(text, image, SCORES["cosine"], objective), config.hub_bank)


def _text_encoder(config: VsePhotosConfig, vocab: Vocab, dim: int) -> WordGRU | SideBySide:
    gru = WordGRU(
        vocab,
        word_dim=config.word_dim,
        dim=dim,
        pooling="max",
        bidirectional=True,
        dropout=config.dropout,
    )
    if not config.bag_of_words:
        return gru
    words = DeepSet(vocab, word_dim=config.word_dim, dim=dim, dropout=config.dropout)
    return SideBySide([gru, words], head=Head())


VSE_PHOTOS = Model(
    config=VsePhotosConfig,
    presets={"vse_photos": VsePhotosConfig()},
    build=build,
    kind="recurrent network over words; the end of the image network is trained with it",
)
