"""What the four networks of Socher 2014 share: configuration, settings of the paper, towers.

The models themselves are rnn, ct_rnn, dt_rnn and sdt_rnn: one recursion over four shapes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from vsdemo.core import config
from vsdemo.core.config import VECTORS, option
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.heads import Head
from vsdemo.encoders.image import LinearImage
from vsdemo.encoders.tree.rnn import NONLINEARITIES, TreeRNN
from vsdemo.encoders.tree.shapes import Shape
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.models.scores import SCORES


@dataclass(frozen=True)
class Config(config.Symmetric):
    """A recursive network and its training; what differs from the paper is in each model's file."""

    vectors: str = option("tuned", *VECTORS)
    dim: int = option(300, "of the states and of the joint space")
    dropout: float = option(0.4, "share of words, states and features set to 0", most=0.9)
    f: str = option("tanh", "nonlinearity of the states (3.2)", tuple(NONLINEARITIES))
    noise: float = option(0.01, "deviation of the noise on the identity matrices at first")
    score: str = option("cosine", "of sentence and photo", ("inner", "cosine", "euclidean"))


PAPER: dict[str, Any] = {  # sections 5 and 6
    "vectors": "fixed",
    "word_dim": 50,
    "dim": 50,
    "min_count": 1,
    "standardize": False,
    "score": "inner",
    "margin": 3.0,
    "hardest": 0.0,
    "decay": 0.08,
    "dropout": 0.0,
    "clip": 0.0,
    "optimizer": "adagrad",
    "learning_rate": 0.01,
    "schedule": "constant",
    "epochs": 200,
    "evaluate_every": 5,
    "patience": 8,
}
SQUARED: dict[str, Any] = {**PAPER, "loss": "squared", "score": "euclidean", "alternate": 5}


def towers(
    cfg: Config, vocab: Vocab, features: int, shape: Shape, weighted: bool = False
) -> DualEncoder:
    """A new, untrained model over trees of one shape; features: length of the photo vectors."""
    unit = cfg.score == "cosine"
    text = TreeRNN(
        vocab,
        shape,
        word_dim=cfg.word_dim,
        dim=cfg.dim,
        nonlinearity=cfg.f,
        weighted=weighted,
        noise=cfg.noise,
        dropout=cfg.dropout,
        head=Head(unit=unit),
    )
    image = LinearImage(
        features,
        cfg.dim,
        head=Head(unit=unit),
        dropout=cfg.dropout,
        standardize=cfg.standardize,
    )
    return DualEncoder(text, image, SCORES[cfg.score])
