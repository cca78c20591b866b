"""DT-LSTM: an LSTM over dependency trees, between the twin networks of its paper."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from vsdemo.core.config import (
    LARGE,
    Dim,
    Dropout,
    Epochs,
    LearningRate,
    SymmetricConfig,
    WordVectors,
)
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.heads import Head, Twin
from vsdemo.encoders.image import LinearImage
from vsdemo.encoders.tree.lstm import TreeLSTM
from vsdemo.encoders.tree.shapes import Positions
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.models.frome2013 import InnerOrCosine
from vsdemo.models.model import Model
from vsdemo.models.scores import SCORES

Units = Annotated[int, Field(ge=1, le=LARGE, description="Units of the LSTM (Table 1: 300 to 600)")]
Children = Annotated[
    int,
    Field(
        ge=1,
        le=9,
        description="Positions p on each side with their own matrices (Table 1: 2 or 3)",
    ),
]
Signed = Annotated[
    bool, Field(description="Omit the leaky ReLU after the last layer of a twin network")
]


class DtLstmConfig(SymmetricConfig):
    """A dependency-tree LSTM and its training."""

    needs: ClassVar[frozenset[str]] = Positions.needs

    epochs: Epochs = 12
    vectors: WordVectors = "tuned"
    learning_rate: LearningRate = 0.002
    dim: Dim = 300
    units: Units = 300
    children: Children = 2
    signed: Signed = True
    dropout: Dropout = 0.4
    score: InnerOrCosine = "cosine"


def build(config: DtLstmConfig, vocab: Vocab, features: int) -> DualEncoder:
    """DT-LSTM: an LSTM over dependency trees, between the twin networks of its paper.

    Dufour, Thatte & Veerina, "Simultaneous visual and linguistic embeddings with CNNs and T-LSTMs",
    Stanford 2015; after Tai, Socher & Manning, "Improved semantic representations from
    tree-structured long short-term memory networks", ACL 2015.

        c = i * u + sum_k l_k * c_lk + sum_k r_k * c_rk         Eq. 4, left and right children
        h = o * tanh(c)                                         Eq. 3
        l_j = s(W_f x + sum_k U_jk h_lk + sum_k V_jk h_rk + b_f)    Eq. 5, likewise r_j, Eq. 6
        i, o, u likewise, Eq. 7 to 9, u with tanh
        twin: two affine layers a side, each with a leaky ReLU of 0.01, over the root's h and over z
        loss: pairwise ranking over the batch, Eq. 1

    The first p - 1 children on each side have matrices and gates of their own; the states of all
    further ones are summed and share the p-th (Eq. 2).

    Departures: (1) children are counted from their head (the paper does not say); (2) the first
    layer of a twin has the leaky ReLU too, as in the authors' code; (3) gradients are exact, where
    the released back-propagation has an error; (4) word vectors are pretrained on captions (PPMI),
    not GloVe; (5) DenseNet features, standardized, instead of VGG; (6) a forget bias of 1, Xavier
    initialization, dropout; (7) `dt_lstm`, unlike `dt_lstm/paper`, uses the cosine and mostly the
    hardest negative (VSE++) instead of inner products with margin 1 and all hinges, and no leaky
    ReLU after a twin's last layer, with which nearly all cosines are positive; (8) Adam instead of
    gradient descent with momentum, and all five captions of a photo in an epoch.
    """
    score = SCORES[config.score]
    text_twin = Twin(config.units, config.dim, signed=config.signed)
    image_twin = Twin(features, config.dim, signed=config.signed)
    text = TreeLSTM(
        vocab,
        Positions(config.children, config.children),
        word_dim=config.word_dim,
        units=config.units,
        dim=config.dim,
        layer=text_twin,
        dropout=config.dropout,
        head=Head(unit=score.normalized),
    )
    image = LinearImage(
        features,
        config.dim,
        head=Head(unit=score.normalized),
        dropout=config.dropout,
        standardize=config.standardize,
        layer=image_twin,
    )
    return DualEncoder(text, image, score)


DT_LSTM = Model(
    config=DtLstmConfig,
    presets={
        "dt_lstm": DtLstmConfig(),
        "dt_lstm/paper": DtLstmConfig(
            score="inner", margin=1.0, hardest=0.0, dropout=0.0, signed=False
        ),
    },
    build=build,
    kind="LSTM over the dependency tree",
    paper="Dufour et al.",
    year=2015,
)
