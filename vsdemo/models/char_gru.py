"""A GRU over characters with attention and cosine: no word is known beforehand.

Merckx & Frank, "Learning semantic sentence representations from visually grounded language without
lexical knowledge", Natural Language Engineering, 2019.

    h_1 ... h_T = RNN(e_1 ... e_T)               characters, both directions, n units each
    a_t = softmax_t(V tanh(W h_t + b_w) + b_v)   a weight for each of the 2n numbers of h_t
    f(s) = sum_t a_t * h_t   unit length         g(v) = A v + b   unit length
    score(s, v) = cos(f(s), g(v))                loss: all hinges of the batch, margin 0.2
    rate = (high - low) (1 + cos(pi (1 + 2 step / cycle))) / 2 + low       a cycle is 4 epochs

Presets: `char_gru/1024`, `char_gru/2048` and `char_gru/4096` are the paper's, by the size 2n of the
embedding; cell=lstm and pooling=max its other networks; `char_gru` is the first with (6), (7) and
(8), `char_gru/small` one for Storybook with (6). Snapshots of every fourth epoch are kept for
ensembles.

Departures: (1) DenseNet-169 in place of ResNet-152; (2) the softmax leaves out padding, which that
of the released code takes in, so that an embedding does not depend on its batch; (3) the loss is
the sum of the hinges, not their mean over B x B, which Adam does not notice where nothing is
clipped, and two captions of one photo are not each other's negatives; (4) recurrent weights start
orthogonal; (5) dev rsum of both directions chooses the epoch, or the two snapshots of an ensemble,
in place of R@10; (6) in `char_gru` and `char_gru/small`: the hardest negative of VSE++ (Faghri
2018), batches of 128 and a higher rate, features brought to mean 0 and variance 1, dropout on
characters, pooled states and features, gradients clipped, and each 20 batches sorted by length, so
that negatives are captions of like length; (7) after ten epochs, in which the network learns to
read, a fifth of the words is left out of a caption and three tenths of a photo's features; (8) from
then on what is judged and kept is a moving average of the weights over some 500 steps; (9) a
cycle's length in steps is in the cosine as 2 step / cycle: the printed 0.5 step x mb has no period
of four epochs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from vsdemo.core import config
from vsdemo.core.config import VECTORS, option
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.chars import CELLS, POOLINGS, CharRNN
from vsdemo.encoders.dropout import LateDropout
from vsdemo.encoders.image import LinearImage
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.models.scores import SCORES


@dataclass(frozen=True)
class Config(config.Symmetric):
    """A network over characters and its training; what the paper states is in PAPER."""

    needs: ClassVar[frozenset[str]] = CharRNN.needs

    bucket: int = option(20, "batches that share captions of like length; 1: drawn by lot alone")
    epochs: int = option(28, "at most; see patience")
    snapshots: int = option(
        4, "epochs between two checkpoints kept for ensembles; 0: none", least=0
    )
    semantics: bool = option(True, "measure STS-B and SICK on dev where they are here; `curve`")
    patience: int = option(32, "evaluations without a better dev rsum before stopping")
    schedule: str = option(
        "cyclic", "of the learning rate", ("constant", "cosine", "cyclic", "step")
    )
    learning_rate: float = option(0.008, "of the optimiser, at its highest")
    vectors: str = option("learned", VECTORS[0], ("learned",))
    dim: int = option(1024, "of the joint space, 2n: half of it are a direction's units")
    word_dim: int = option(20, "of the vectors of characters")
    cell: str = option("gru", "of the network (3.1.2)", tuple(CELLS))
    pooling: str = option("attention", "of its states (3.1.2)", POOLINGS)
    attention: int = option(128, "hidden units of the attention")
    dropout: float = option(0.1, "share of characters and states set to 0", most=0.9)
    gentle: int = option(
        10, "epochs of `dropout` alone, on photo features too; then the next three begin", least=0
    )
    word_dropout: float = option(0.2, "share of words left out of captions", most=0.9)
    photo_dropout: float = option(0.3, "share of photo features set to 0", most=0.9)
    average: float = option(
        0.998, "decay a step of the average of weights that is kept; 0: none", most=0.9999
    )


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
    "gentle": 0,
    "average": 0.0,
    "standardize": False,
}
PRESETS = {
    "char_gru": Config(),
    "char_gru/small": Config(
        dim=256,
        epochs=16,
        crops="center",
        gentle=0,
        word_dropout=0.0,
        photo_dropout=0.1,
        average=0.0,
    ),
    **{f"char_gru/{dim}": Config(dim=dim, **PAPER) for dim in (1024, 2048, 4096)},
}


def build(cfg: Config, vocab: Vocab, features: int) -> DualEncoder:
    """A new, untrained model; features: length of the photo vectors."""
    text = CharRNN(
        vocab,
        char_dim=cfg.word_dim,
        dim=cfg.dim,
        cell=cfg.cell,
        pooling=cfg.pooling,
        attention=cfg.attention,
        dropout=cfg.dropout,
        word_dropout=cfg.word_dropout,
    )
    image = LinearImage(
        features,
        cfg.dim,
        dropout=LateDropout(early=cfg.dropout, late=cfg.photo_dropout),
        standardize=cfg.standardize,
    )
    return DualEncoder(text, image, SCORES["cosine"])
