"""CT-RNN: a recursive network over binary constituency trees.

Socher, Lin, Ng & Manning, "Parsing natural scenes and natural language with recursive neural
networks", ICML 2011; Socher, Karpathy, Le, Manning & Ng, "Grounded compositional semantics for
finding and describing images with sentences", TACL 2014, section 3.4.

    h = f(W_l c_1 + W_r c_2)        of the two parts c_1, c_2 of a phrase
    y = h of the sentence           v = W_I z        S(y, v) = y . v
    loss: pairwise ranking over the batch, Eq. 5

Departures: (1) leaves are f(W_v x), Eq. 1, instead of the word vectors themselves, so that both
kinds of tree share one recursion and words may be shorter than states; (2) the parser that ships
has no constituency model, so trees are binarised from dependencies, head first; (3) negatives are
those of the batch; (4) the image layer has a bias; (5) in the preset `ct_rnn`, not in
`ct_rnn/paper`: word vectors are tuned, they and the states have 300 numbers, the score is the
cosine, the hinges mostly those of the hardest negative (VSE++), the optimiser Adam, features are
standardised, words seen once become <unk>; (6) in `ct_rnn/paper`: vectors of our own (PPMI of
captions) for those of Huang 2012, DenseNet features, a learning rate of 0.01, as dev prefers it to
0.0001.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.tree.shapes import Constituents
from vsdemo.models import socher
from vsdemo.models.dual_encoder import DualEncoder


@dataclass(frozen=True)
class Config(socher.Config):
    """A constituency-tree network and its training."""

    needs: ClassVar[frozenset[str]] = Constituents.needs


PRESETS = {
    "ct_rnn": Config(),
    "ct_rnn/paper": Config(**socher.PAPER),
    "ct_rnn/squared": Config(**socher.SQUARED),
}


def build(cfg: Config, vocab: Vocab, features: int) -> DualEncoder:
    """A new, untrained model; features: length of the photo vectors."""
    return socher.towers(cfg, vocab, features, Constituents())
