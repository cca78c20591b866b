"""DT-RNN: a recursive network over dependency trees, a matrix for each position of a child.

Socher, Karpathy, Le, Manning & Ng, "Grounded compositional semantics for finding and describing
images with sentences", TACL 2014, section 3.

    h_i = f(1 / l(i) (W_v x_i + sum_j l(j) W_pos(i,j) h_j))     Eq. 4, over the children j of i
    l(i) = 1 + sum_j l(j)                                       words at and below i
    y = h of the root        v = W_I z        S(y, v) = y . v
    loss: pairwise ranking over the batch, Eq. 5

pos(i, j) is l1, l2, ... or r1, r2, ..., the nearest first; there are as many matrices as any word
of the training trees has children on that side. A child further away has the identity.

Departures: (1) Universal Dependencies of our own parser in place of collapsed Stanford ones, so
prepositions and punctuation are nodes; further sentences of a caption hang on the first one's root;
(2) the paper does not say from which end children are counted: here from the head; (3) negatives
are those of the batch; (4) the image layer has a bias; (5) in the preset `dt_rnn`, not in
`dt_rnn/paper`: word vectors are tuned, they and the states have 300 numbers, the score is the
cosine, the hinges mostly those of the hardest negative (VSE++), the optimiser Adam, features are
standardised, words seen once become <unk>; (6) in `dt_rnn/paper`: vectors of our own (PPMI of
captions) for those of Huang 2012, DenseNet features, noise of deviation 0.01 (unstated), a learning
rate of 0.01, as dev prefers it to 0.0001, margin 3 where section 5 says "usually around 1".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vsdemo.core.config import option
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.tree.shapes import Positions
from vsdemo.models import socher
from vsdemo.models.dual_encoder import DualEncoder


@dataclass(frozen=True)
class Config(socher.Config):
    """A dependency-tree network and its training."""

    needs: ClassVar[frozenset[str]] = Positions.needs

    weighted: bool = option(True, "a child counts as many times as it has words (Eq. 4)")


PRESETS = {
    "dt_rnn": Config(),
    "dt_rnn/paper": Config(**socher.PAPER),
    "dt_rnn/squared": Config(**socher.SQUARED),
}


def build(cfg: Config, vocab: Vocab, features: int) -> DualEncoder:
    """A new, untrained model; features: length of the photo vectors."""
    shape = Positions(*vocab.children, beyond=True)
    return socher.towers(cfg, vocab, features, shape, cfg.weighted)
