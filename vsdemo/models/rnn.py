"""A plain recurrent network, the chain that Socher 2014 holds its trees against.

Elman, "Finding structure in time", Cognitive Science 1990; Socher, Karpathy, Le, Manning & Ng,
"Grounded compositional semantics for finding and describing images with sentences", TACL 2014,
section 6.

    h_t = f(W_h h_(t-1) + W_x x_t)        y = h_T        v = W_I z        S(y, v) = y . v
    loss: pairwise ranking over the batch, Eq. 5

Departures: (1) W_h and W_x start as the identity plus noise, as the trees' matrices do; (2) an end
mark is the last word; (3) negatives are those of the batch, not all of the data set; (4) the image
layer has a bias; (5) in the preset `rnn`, not in `rnn/paper`: word vectors are tuned, they and the
states have 300 numbers, the score is the cosine, the hinges mostly those of the hardest negative
(VSE++), the optimiser Adam, features are standardised, words seen once become <unk>; (6) in
`rnn/paper`: vectors of our own (PPMI of captions) for those of Huang 2012, DenseNet features, a
learning rate of 0.01, as dev prefers it to 0.0001.
"""

from __future__ import annotations

from dataclasses import dataclass

from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.tree.shapes import Chain
from vsdemo.models import socher
from vsdemo.models.dual_encoder import DualEncoder


@dataclass(frozen=True)
class Config(socher.Config):
    """A recurrent network and its training."""


PRESETS = {
    "rnn": Config(),
    "rnn/paper": Config(**socher.PAPER),
    "rnn/squared": Config(**socher.SQUARED),
}


def build(cfg: Config, vocab: Vocab, features: int) -> DualEncoder:
    """A new, untrained model; features: length of the photo vectors."""
    return socher.towers(cfg, vocab, features, Chain())
