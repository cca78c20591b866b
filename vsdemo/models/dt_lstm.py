"""DT-LSTM: an LSTM over dependency trees, between the twin networks of its paper.

Dufour, Thatte & Veerina, "Simultaneous visual and linguistic embeddings with CNNs and T-LSTMs",
Stanford 2015; after Tai, Socher & Manning, "Improved semantic representations from tree-structured
long short-term memory networks", ACL 2015.

    c = i * u + sum_k l_k * c_lk + sum_k r_k * c_rk         Eq. 4, left and right children
    h = o * tanh(c)                                         Eq. 3
    l_j = s(W_f x + sum_k U_jk h_lk + sum_k V_jk h_rk + b_f)    Eq. 5, likewise r_j, Eq. 6
    i, o, u likewise, Eq. 7 to 9, u with tanh
    twin: two affine layers a side, each with a leaky ReLU of 0.01, over h of the root and over z
    loss: pairwise ranking over the batch, Eq. 1

The first p - 1 children on each side have matrices and gates of their own; the states of all
further ones are summed and share the p-th (Eq. 2).

Departures: (1) children are counted from their head (the paper does not say); (2) the first layer
of a twin has the leaky ReLU too, as in the authors' code; (3) exact gradients, where the released
back-propagation is wrong; (4) word vectors are our own (PPMI of captions), not GloVe's; (5)
DenseNet features, standardised, for VGG's; (6) a forget bias of 1, matrices of Xavier, dropout; (7)
in the preset `dt_lstm`, not in `dt_lstm/paper`: cosine and mostly the hardest negative (VSE++) in
place of inner products with margin 1 and all hinges, and no leaky ReLU behind a twin's last layer,
with which nearly all cosines are positive; (8) Adam in place of gradient descent with momentum, and
all five captions of a photo in an epoch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vsdemo.core import config
from vsdemo.core.config import VECTORS, option
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.heads import Head, Twin
from vsdemo.encoders.image import LinearImage
from vsdemo.encoders.tree.lstm import TreeLSTM
from vsdemo.encoders.tree.shapes import Positions
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.models.scores import SCORES


@dataclass(frozen=True)
class Config(config.Symmetric):
    """A dependency-tree LSTM and its training."""

    needs: ClassVar[frozenset[str]] = Positions.needs

    epochs: int = option(12, "at most; see patience")
    vectors: str = option("tuned", *VECTORS)
    learning_rate: float = option(0.002, "of Adam, at its highest")
    dim: int = option(300, "of the joint space, the twins' layers")
    units: int = option(300, "of the LSTM's states (Table 1: 300 to 600)")
    children: int = option(
        2, "p, places a side with matrices of their own (Table 1: 2 or 3)", most=9
    )
    signed: bool = option(True, "no leaky ReLU after a twin's last layer")
    dropout: float = option(0.4, "share of words, states and features set to 0", most=0.9)
    score: str = option("cosine", "of sentence and photo", ("inner", "cosine"))


PRESETS = {
    "dt_lstm": Config(),
    "dt_lstm/paper": Config(score="inner", margin=1.0, hardest=0.0, dropout=0.0, signed=False),
}


def build(cfg: Config, vocab: Vocab, features: int) -> DualEncoder:
    """A new, untrained model; features: length of the photo vectors."""
    unit = cfg.score == "cosine"
    text_layer = Twin(cfg.units, cfg.dim, signed=cfg.signed)
    image_layer = Twin(features, cfg.dim, signed=cfg.signed)
    text = TreeLSTM(
        vocab,
        Positions(cfg.children, cfg.children),
        word_dim=cfg.word_dim,
        units=cfg.units,
        dim=cfg.dim,
        layer=text_layer,
        dropout=cfg.dropout,
        head=Head(unit=unit),
    )
    image = LinearImage(
        features,
        cfg.dim,
        head=Head(unit=unit),
        dropout=cfg.dropout,
        standardize=cfg.standardize,
        layer=image_layer,
    )
    return DualEncoder(text, image, SCORES[cfg.score])
