"""A GRU over characters with attention and the cosine."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import Field

from vsdemo.core.config import (
    LARGE,
    AverageDecay,
    AverageStart,
    Bucket,
    Dim,
    Dropout,
    Epochs,
    EvaluateSTS,
    HubBank,
    LearningRate,
    OneOf,
    Patience,
    Schedule,
    SmallFeatures,
    SnapshotEvery,
    SymmetricConfig,
)
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.chars import CELLS, POOLINGS, CharRNN
from vsdemo.encoders.dropout import LateDropout
from vsdemo.encoders.image import LinearImage
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.models.hubness import correct_hubs
from vsdemo.models.model import Model
from vsdemo.models.scores import SCORES

LearnedVectors = Annotated[
    str, OneOf(("learned",)), Field(description="Vectors of characters: learned")
]
CharDim = Annotated[
    int, Field(ge=1, le=LARGE, description="Dimensions of the vectors of characters")
]
Cell = Annotated[str, OneOf(tuple(CELLS)), Field(description="Recurrent network (section 3.1.2)")]
CharPooling = Annotated[
    str, OneOf(POOLINGS), Field(description="Pooling of its states (section 3.1.2)")
]
Attention = Annotated[int, Field(ge=1, le=LARGE, description="Hidden units of the attention")]
WordDropout = Annotated[
    float, Field(ge=0, le=0.9, description="Share of words left out of captions")
]
PhotoDropout = Annotated[float, Field(ge=0, le=0.9, description="Share of photo features set to 0")]


class CharGruConfig(SymmetricConfig):
    """A network over characters and its training.

    `average_start` is also the epoch at which `word_dropout` and `photo_dropout` begin; until then
    `dropout` is that of photo features too.
    """

    needs: ClassVar[frozenset[str]] = CharRNN.needs

    bucket: Bucket = 20
    epochs: Epochs = 28
    snapshot_every: SnapshotEvery = 4
    evaluate_sts: EvaluateSTS = True
    patience: Patience = 32
    schedule: Schedule = "cyclic"
    learning_rate: LearningRate = 0.008
    vectors: LearnedVectors = "learned"
    dim: Dim = 1024
    word_dim: CharDim = 20
    cell: Cell = "gru"
    pooling: CharPooling = "attention"
    attention: Attention = 128
    dropout: Dropout = 0.1
    average_start: AverageStart = 10
    word_dropout: WordDropout = 0.2
    photo_dropout: PhotoDropout = 0.3
    average_decay: AverageDecay = 0.998
    small_features: SmallFeatures = False
    hub_bank: HubBank = 0


PAPER: dict[str, Any] = {
    "epochs": 32,
    "batch_size": 32,
    "bucket": 1,
    "learning_rate": 0.001,
    "hardest": 0.0,
    "clip": 0.0,
    "dropout": 0.0,
    "word_dropout": 0.0,
    "photo_dropout": 0.0,
    "average_start": 0,
    "average_decay": 0.0,
    "standardize": False,
}


def build(config: CharGruConfig, vocab: Vocab, features: int) -> DualEncoder:
    """A GRU over characters with attention and the cosine: it needs no list of words.

    Merckx & Frank, "Learning semantic sentence representations from visually grounded language
    without lexical knowledge", Natural Language Engineering, 2019.

        h_1 ... h_T = RNN(e_1 ... e_T)               characters, both directions, n units each
        a_t = softmax_t(V tanh(W h_t + b_w) + b_v)   a weight for each of the 2n numbers of h_t
        f(s) = sum_t a_t * h_t   unit length         g(v) = A v + b   unit length
        score(s, v) = cos(f(s), g(v))                loss: all hinges of the batch, margin 0.2
        rate = (high - low) (1 + cos(pi (1 + 2 step / cycle))) / 2 + low       a cycle is 4 epochs

    Presets: `char_gru/1024`, `char_gru/2048` and `char_gru/4096` are the paper's, by the size 2n of
    the embedding; cell=lstm and pooling=max are its other networks; `char_gru` is the first with
    (6), (7) and (8), `char_gru/small` one for Storybook with (6). Snapshots of every fourth epoch
    are kept for ensembles.

    Departures: (1) DenseNet-169 instead of ResNet-152; (2) the softmax leaves out padding, which
    the released code includes, so that an embedding does not depend on its batch; (3) the loss is
    the sum of the hinges, not their mean over B x B, which makes no difference to Adam without
    clipping, and two captions of one photo are not each other's negatives; (4) recurrent weights
    start orthogonal; (5) dev rsum of both directions chooses the epoch, or the two snapshots of an
    ensemble, instead of R@10; (6) in `char_gru` and `char_gru/small`: the hardest negative of VSE++
    (Faghri 2018), batches of 128 and a higher rate, standardized features, dropout on characters,
    pooled states and features, clipped gradients, and every 20 batches sorted by length, so that
    negatives are captions of similar length; (7) after ten epochs, in which the network learns to
    read, 20% of the words of a caption and 30% of a photo's features are dropped; (8) from then on
    a moving average of the weights over some 500 steps is evaluated and kept; (9) the cosine has a
    cycle's length in steps as 2 step / cycle: the printed 0.5 step x mb has no period of four
    epochs; (10) with `hub_bank`, scores are corrected for hubs (`vsdemo.encoders.hubness`).
    """
    text = CharRNN(
        vocab,
        char_dim=config.word_dim,
        dim=config.dim,
        cell=config.cell,
        pooling=config.pooling,
        attention=config.attention,
        dropout=config.dropout,
        word_dropout=config.word_dropout,
    )
    image = LinearImage(
        features,
        config.dim,
        dropout=LateDropout(early=config.dropout, late=config.photo_dropout),
        standardize=config.standardize,
        small_features=config.small_features,
    )
    return correct_hubs(DualEncoder(text, image, SCORES["cosine"]), config.hub_bank)


CHAR_GRU = Model(
    config=CharGruConfig,
    presets={
        "char_gru": CharGruConfig(),
        "char_gru/small": CharGruConfig(
            dim=256,
            epochs=16,
            crops="center",
            average_start=0,
            word_dropout=0.0,
            photo_dropout=0.1,
            average_decay=0.0,
        ),
        "char_gru/1024": CharGruConfig(dim=1024, **PAPER),
        "char_gru/2048": CharGruConfig(dim=2048, **PAPER),
        "char_gru/4096": CharGruConfig(dim=4096, **PAPER),
    },
    build=build,
    kind="recurrent network over characters, so it can read any word",
    paper="Merckx & Frank",
    year=2019,
)
