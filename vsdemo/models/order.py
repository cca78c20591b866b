"""Order-embeddings of images and language.

Vendrov, Kiros, Fidler & Urtasun, "Order-embeddings of images and language", ICLR 2016.

    f_c(c) = |GRU(c)|                       last state, unit L2 norm before the absolute value
    f_i(i) = |W_i CNN(i) + b|               Eq. 6, likewise
    S(c, i) = -|max(0, f_c(c) - f_i(i))|^2  Eq. 2: captions lie above their photos
    loss: pairwise ranking over the batch   Eq. 5

Presets: `order` (ten crops), and of Table 2 `order/reversed` (photos above captions),
`order/symmetric` (cosine, signed coordinates, margin 0.2) and `order/one_crop`. Of section 5,
without photos: `order/entailment`, hypotheses above their premises, the loss that of Eq. 7, and
its baseline `order/entailment_symmetric`, the same with the cosine.

Departures: (1) DenseNet-169 in place of VGG-19's fc7; (2) dev rsum of both directions, not of one,
chooses the epoch; (3) words seen once in train become <unk>, and punctuation is dropped; (4) for
Flickr8k, 19 times smaller than COCO: dropout, and a learning rate that falls by a cosine over up
to 60 epochs of one caption a photo; (5) where SNLI's train file is not here, `order/entailment`
learns from SICK's train split and a part of SNLI's dev split (`data.nli.training_pairs`); its
margin, which the paper does not state, is 0.5, ten times that of section 4.4, with
which it learns little.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from vsdemo.core import config
from vsdemo.core.config import option
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.gru import POOLINGS, WordGRU
from vsdemo.encoders.heads import Head
from vsdemo.encoders.image import LinearImage
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.models.scores import SCORES


@dataclass(frozen=True)
class Config(config.Config):
    """An order-embedding and its training; what section 4.4 states is the default."""

    material: str = option("photos", "data to learn from", ("photos", "sentence_pairs"))
    epochs: int = option(60, "at most; see patience")
    evaluate_every: int = option(4, "epochs between two evaluations on dev", least=1)
    patience: int = option(5, "evaluations without a better dev rsum before stopping", least=1)
    schedule: str = option(
        "cosine", "of the learning rate", ("constant", "cosine", "cyclic", "step")
    )
    dim: int = option(1024, "of the joint space and of the GRU (4.4)")
    word_dim: int = option(300, "of the word vectors (4.4)")
    pooling: str = option("last", "of the GRU's states (4.2)", POOLINGS)
    bidirectional: bool = option(False, "dim / 2 units in each direction")
    dropout: float = option(0.2, "share of words, states and features set to 0", most=0.9)
    loss: str = option(
        "ranking",
        "hinges over pairs, squared distances of right pairs, or labelled pairs (Eq. 7)",
        ("ranking", "squared", "entailment"),
    )
    score: str = option("order", "S(c, i) (Table 2)", ("order", "order_reversed", "cosine"))


PAIRS: dict[str, Any] = {
    "material": "sentence_pairs",
    "loss": "entailment",
    "epochs": 10,
    "evaluate_every": 1,
    "schedule": "constant",
}
PRESETS = {
    "order": Config(),
    "order/reversed": Config(score="order_reversed"),
    "order/symmetric": Config(score="cosine", margin=0.2),
    "order/one_crop": Config(crops="center"),
    "order/entailment": Config(margin=0.5, **PAIRS),
    "order/entailment_symmetric": Config(score="cosine", **PAIRS),
}


def build(cfg: Config, vocab: Vocab, features: int) -> DualEncoder:
    """A new, untrained model; features: length of the photo vectors, 0 where there are none."""
    nonnegative = cfg.score != "cosine"
    text = WordGRU(
        vocab,
        word_dim=cfg.word_dim,
        dim=cfg.dim,
        pooling=cfg.pooling,
        bidirectional=cfg.bidirectional,
        head=Head(nonnegative=nonnegative),
        dropout=cfg.dropout,
    )
    image = None
    if features:
        head = Head(nonnegative=nonnegative)
        image = LinearImage(features, cfg.dim, head=head, dropout=cfg.dropout)
    return DualEncoder(text, image, SCORES[cfg.score])
