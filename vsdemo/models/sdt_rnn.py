"""SDT-RNN: a recursive network over dependency trees, a matrix for each relation.

Socher, Karpathy, Le, Manning & Ng, "Grounded compositional semantics for finding and describing
images with sentences", TACL 2014, section 3.3.

    h_i = f(1 / l(i) (W_v x_i + sum_j l(j) W_rel(i,j) h_j))     Eq. 4 with matrices by relation
    l(i) = 1 + sum_j l(j)                                       words at and below i
    y = h of the root        v = W_I z        S(y, v) = y . v
    loss: pairwise ranking over the batch, Eq. 5

Departures: (1) Universal Dependencies of our own parser in place of collapsed Stanford ones, so
prepositions are nodes, not part of the relation; further sentences of a caption hang on the first
one's root; (2) relations below 1% of the training trees, and any seen for the first time, share a
matrix `other`; the paper has one for each of 141; (3) negatives are those of the batch; (4) the
image layer has a bias; (5) in the preset `sdt_rnn`, not in `sdt_rnn/paper`: word vectors are tuned,
they and the states have 300 numbers, the score is the cosine, the hinges mostly those of the
hardest negative (VSE++), the optimiser Adam, features are standardised, words seen once become
<unk>; (6) in `sdt_rnn/paper`: vectors of our own (PPMI of captions) for those of Huang 2012,
DenseNet features, noise of deviation 0.01 (unstated), a learning rate of 0.01, as dev prefers it to
0.0001.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vsdemo.core.config import option
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.tree.shapes import Relations
from vsdemo.models import socher
from vsdemo.models.dual_encoder import DualEncoder


@dataclass(frozen=True)
class Config(socher.Config):
    """A semantic dependency-tree network and its training."""

    needs: ClassVar[frozenset[str]] = Relations.needs

    weighted: bool = option(True, "a child counts as many times as it has words (Eq. 4)")


PRESETS = {
    "sdt_rnn": Config(),
    "sdt_rnn/paper": Config(**socher.PAPER),
    "sdt_rnn/squared": Config(**socher.SQUARED),
}


def build(cfg: Config, vocab: Vocab, features: int) -> DualEncoder:
    """A new, untrained model; features: length of the photo vectors."""
    return socher.towers(cfg, vocab, features, Relations(vocab.relations), cfg.weighted)
