"""The recursive networks of Socher 2014: one recursion over four shapes of trees.

Socher, Karpathy, Le, Manning & Ng, "Grounded compositional semantics for finding and describing
images with sentences", TACL 2014.

All four models share a loss, pairwise ranking over the batch (Eq. 5), and two sets of departures:

- In `rnn`, `ct_rnn`, `dt_rnn` and `sdt_rnn`: word vectors are tuned, they and the states have 300
  dimensions, the score is the cosine, the loss weighs mostly the hardest negative (VSE++), the
  optimizer is Adam, features are standardized and words seen once become <unk>.
- In the presets with `/paper`: word vectors pretrained on captions (PPMI) instead of those of Huang
  2012, DenseNet features, noise of standard deviation 0.01 (unstated), and a learning rate of 0.01,
  which is better on dev than 0.0001.

The presets with `/squared` replace the ranking by squared distances (section 5).
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import Field

from vsdemo.core.config import (
    LARGE,
    Dim,
    Dropout,
    OneOf,
    Similarity,
    SymmetricConfig,
    WordVectors,
)
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.heads import Head
from vsdemo.encoders.image import LinearImage
from vsdemo.encoders.tree.rnn import NONLINEARITIES, TreeRNN
from vsdemo.encoders.tree.shapes import Chain, Constituents, Positions, Relations, Shape
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.models.model import Model
from vsdemo.models.scores import SCORES

Nonlinearity = Annotated[
    str,
    OneOf(tuple(NONLINEARITIES)),
    Field(description="Nonlinearity f of the states (section 3.2)"),
]
InitNoise = Annotated[
    float,
    Field(
        ge=0,
        le=LARGE,
        description="Standard deviation of the noise on the identity matrices at the start",
    ),
]
Weighted = Annotated[bool, Field(description="Weigh a child by the words at and below it (Eq. 4)")]


class RecursiveConfig(SymmetricConfig):
    """A recursive network and its training."""

    vectors: WordVectors = "tuned"
    dim: Dim = 300
    dropout: Dropout = 0.4
    nonlinearity: Nonlinearity = "tanh"
    init_noise: InitNoise = 0.01
    score: Similarity = "cosine"


class ChainConfig(RecursiveConfig):
    """A recurrent network and its training."""


class ConstituentsConfig(RecursiveConfig):
    """A constituency-tree network and its training."""

    needs: ClassVar[frozenset[str]] = Constituents.needs


class PositionsConfig(RecursiveConfig):
    """A dependency-tree network and its training."""

    needs: ClassVar[frozenset[str]] = Positions.needs

    weighted: Weighted = True


class RelationsConfig(RecursiveConfig):
    """A semantic dependency-tree network and its training."""

    needs: ClassVar[frozenset[str]] = Relations.needs

    weighted: Weighted = True


PAPER: dict[str, Any] = {  # sections 5 and 6
    "vectors": "fixed",
    "word_dim": 50,
    "dim": 50,
    "min_count": 1,
    "standardize": False,
    "score": "inner",
    "margin": 3.0,
    "hardest": 0.0,
    "weight_decay": 0.08,
    "dropout": 0.0,
    "clip": 0.0,
    "optimizer": "adagrad",
    "learning_rate": 0.01,
    "schedule": "constant",
    "epochs": 200,
    "evaluate_every": 5,
    "patience": 8,
}
SQUARED: dict[str, Any] = {
    **PAPER,
    "loss": "squared",
    "score": "euclidean",
    "alternate_epochs": 5,
}


def build_rnn(config: ChainConfig, vocab: Vocab, features: int) -> DualEncoder:
    """A plain recurrent network, the chain that Socher 2014 compares its trees with.

    Elman, "Finding structure in time", Cognitive Science 1990; Socher 2014, section 6.

        h_t = f(W_h h_(t-1) + W_x x_t)        y = h_T        v = W_I z        S(y, v) = y . v

    Departures: (1) W_h and W_x start as the identity plus noise, as the matrices of the trees do;
    (2) an end mark is the last word; (3) negatives come from the batch, not from the whole data
    set; (4) the image layer has a bias; and those at the top of this file.
    """
    return _dual_encoder(config, vocab, features, Chain(), weighted=False)


def build_ct_rnn(config: ConstituentsConfig, vocab: Vocab, features: int) -> DualEncoder:
    """CT-RNN: a recursive network over binary constituency trees.

    Socher, Lin, Ng & Manning, "Parsing natural scenes and natural language with recursive neural
    networks", ICML 2011; Socher 2014, section 3.4.

        h = f(W_l c_1 + W_r c_2)        of the two parts c_1, c_2 of a phrase
        y = h of the sentence           v = W_I z        S(y, v) = y . v

    Departures: (1) leaves are f(W_v x), Eq. 1, instead of the word vectors themselves, so that both
    kinds of trees share one recursion and word vectors may be smaller than states; (2) the parser
    that ships has no constituency model, so trees are binarized from dependencies, head first;
    (3) negatives come from the batch; (4) the image layer has a bias; and those at the top of this
    file.
    """
    return _dual_encoder(config, vocab, features, Constituents(), weighted=False)


def build_dt_rnn(config: PositionsConfig, vocab: Vocab, features: int) -> DualEncoder:
    """DT-RNN: a recursive network over dependency trees, a matrix for each position of a child.

    Socher 2014, "Grounded compositional semantics for finding and describing images with
    sentences", TACL 2014, section 3.

        h_i = f(1 / l(i) (W_v x_i + sum_j l(j) W_pos(i,j) h_j))     Eq. 4, over the children j of i
        l(i) = 1 + sum_j l(j)                                       words at and below i
        y = h of the root        v = W_I z        S(y, v) = y . v

    pos(i, j) is l1, l2, ... or r1, r2, ..., the nearest first; there are as many matrices as any
    word of the training trees has children on that side. A child further away has the identity.

    Departures: (1) Universal Dependencies of the project's own parser instead of collapsed Stanford
    ones, so prepositions and punctuation are nodes; further sentences of a caption become children
    of the first one's root; (2) children are counted from the head, which the paper does not say;
    (3) negatives come from the batch; (4) the image layer has a bias; (5) `dt_rnn/paper` has margin
    3, where section 5 says "usually around 1"; and those at the top of this file.
    """
    shape = Positions(*vocab.children, beyond=True)
    return _dual_encoder(config, vocab, features, shape, weighted=config.weighted)


def build_sdt_rnn(config: RelationsConfig, vocab: Vocab, features: int) -> DualEncoder:
    """SDT-RNN: a recursive network over dependency trees, a matrix for each relation.

    Socher 2014, "Grounded compositional semantics for finding and describing images with
    sentences", TACL 2014, section 3.3.

        h_i = f(1 / l(i) (W_v x_i + sum_j l(j) W_rel(i,j) h_j))     Eq. 4 with matrices by relation
        l(i) = 1 + sum_j l(j)                                       words at and below i
        y = h of the root        v = W_I z        S(y, v) = y . v

    Departures: (1) Universal Dependencies of the project's own parser instead of collapsed Stanford
    ones, so prepositions are nodes, not part of the relation; further sentences of a caption become
    children of the first one's root; (2) relations below 1% of the training trees, and relations
    not seen in training, share a matrix `other`; the paper has one for each of 141; (3) negatives
    come from the batch; (4) the image layer has a bias; and those at the top of this file.
    """
    shape = Relations(vocab.relations)
    return _dual_encoder(config, vocab, features, shape, weighted=config.weighted)


def _dual_encoder(
    config: RecursiveConfig, vocab: Vocab, features: int, shape: Shape, *, weighted: bool
) -> DualEncoder:
    """Return a new model over trees of one shape."""
    score = SCORES[config.score]
    text = TreeRNN(
        vocab,
        shape,
        word_dim=config.word_dim,
        dim=config.dim,
        nonlinearity=config.nonlinearity,
        weighted=weighted,
        noise=config.init_noise,
        dropout=config.dropout,
        head=Head(unit=score.normalized),
    )
    image = LinearImage(
        features,
        config.dim,
        head=Head(unit=score.normalized),
        dropout=config.dropout,
        standardize=config.standardize,
    )
    return DualEncoder(text, image, score)


RNN = Model(
    config=ChainConfig,
    presets={
        "rnn": ChainConfig(),
        "rnn/paper": ChainConfig(**PAPER),
        "rnn/squared": ChainConfig(**SQUARED),
    },
    build=build_rnn,
    kind="plain recurrent network over words",
    paper="Socher et al.",
    year=2014,
)
CT_RNN = Model(
    config=ConstituentsConfig,
    presets={
        "ct_rnn": ConstituentsConfig(),
        "ct_rnn/paper": ConstituentsConfig(**PAPER),
        "ct_rnn/squared": ConstituentsConfig(**SQUARED),
    },
    build=build_ct_rnn,
    kind="recursive network over phrases within phrases",
    paper="Socher et al.",
    year=2014,
)
DT_RNN = Model(
    config=PositionsConfig,
    presets={
        "dt_rnn": PositionsConfig(),
        "dt_rnn/paper": PositionsConfig(**PAPER),
        "dt_rnn/squared": PositionsConfig(**SQUARED),
    },
    build=build_dt_rnn,
    kind="recursive network over the dependency tree, by the place of a word",
    paper="Socher et al.",
    year=2014,
)
SDT_RNN = Model(
    config=RelationsConfig,
    presets={
        "sdt_rnn": RelationsConfig(),
        "sdt_rnn/paper": RelationsConfig(**PAPER),
        "sdt_rnn/squared": RelationsConfig(**SQUARED),
    },
    build=build_sdt_rnn,
    kind="recursive network over the dependency tree, by grammatical relation",
    paper="Socher et al.",
    year=2014,
)
