"""Deep fragment embeddings: dependency triplets and regions of photos in one space.

Karpathy, Joulin & Fei-Fei, "Deep fragment embeddings for bidirectional image sentence mapping",
NIPS 2014.

    s = f(W_R [W_e w_1; W_e w_2] + b_R)          Eq. 1, of each edge (R, w_1, w_2) of the tree
    v = W_m x + b_m                              Eq. 2, of the features x of each region
    S_kl = 1 / (|g_k| (|g_l| + n)) sum_i sum_j max(0, v_i . s_j)                      Eq. 6
    loss = C_F + beta C_G                        Eq. 3: fragment alignment and global ranking

Departures: (1) Universal Dependencies of our own parser, without punctuation; the root is a
fragment too, (root, w, w), so that a sentence of one word has one; (2) regions of a classifier's
last map, `windows` or `detector`, in place of an R-CNN; (3) negatives are those of the batch, both
objectives means over its sentences, C_F the mean hinge of right regions and that of wrong ones, as
in the authors' code; there is no penalty, and the image network stays as it is; (4) words that are
not known are one word, <unk>; (5) the optimiser is Adam; (6) in the preset `fragments`, not in
`fragments/paper`: one W and b for all relations, as in the authors' code; word vectors are tuned,
features are standardised, a fragment counts by its best region only (Karpathy & Fei-Fei, "Deep
visual-semantic alignments for generating image descriptions", CVPR 2015, Eq. 8), the hinges of the
ranking are mostly those of the hardest negative (VSE++), the fragment alignment weighs little; (7)
in `fragments/paper`: word vectors of our own (PPMI of captions) for those of Huang 2012.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from vsdemo.core import config
from vsdemo.core.config import VECTORS, option
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.fragments import PARTS, Fragments
from vsdemo.encoders.regions import RegionImage
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.models.scores import fragment_alignment
from vsdemo.vision.crops import REGIONS, VIEWS

LOOKS = (*REGIONS, *VIEWS)


@dataclass(frozen=True)
class Config(config.Symmetric):
    """A fragment model and its training."""

    needs: ClassVar[frozenset[str]] = Fragments.needs

    crops: str = option("windows", "regions of a photo, or one frame in views", LOOKS)
    vectors: str = option("tuned", *VECTORS)
    epochs: int = option(10, "at most; see patience")
    evaluate_every: int = option(2, "epochs between two evaluations on dev")
    dim: int = option(512, "of the joint space")
    dropout: float = option(0.5, "share of words, states and features set to 0", most=0.9)
    parts: str = option("triplets", "of a sentence (3.1, 4.2)", PARTS)
    shared: bool = option(True, "one matrix for all relations, as in the paper's code")
    loss: str = option("fragments", "fragment alignment and ranking", ("fragments",))
    fragment: float = option(0.05, "weight of the fragment alignment, C_0 or C_F")
    ranking: float = option(1.0, "beta, the weight of the global ranking")
    mil: float = option(0.5, "share of training after which alignments are inferred; 1: never")
    smoothing: float = option(5.0, "n of Eq. 6")
    best: bool = option(True, "a fragment counts by its best region, not by the mean of all")


PAPER: dict[str, Any] = {  # sections 3 and 4
    "vectors": "fixed",
    "word_dim": 200,
    "dim": 1000,
    "min_count": 1,
    "standardize": False,
    "hardest": 0.0,
    "dropout": 0.0,
    "sampling": "one",
    "batch_size": 100,
    "epochs": 20,
    "patience": 20,
    "schedule": "step",
    "cycle_epochs": 18,
}
PRESETS = {
    "fragments": Config(),
    "fragments/paper": Config(shared=False, fragment=1.0, best=False, **PAPER),
}


def build(cfg: Config, vocab: Vocab, features: int) -> DualEncoder:
    """A new, untrained model; features: length of a region's vector."""
    text = Fragments(
        vocab,
        word_dim=cfg.word_dim,
        dim=cfg.dim,
        parts=cfg.parts,
        shared=cfg.shared,
        dropout=cfg.dropout,
    )
    image = RegionImage(features, cfg.dim, dropout=cfg.dropout, standardize=cfg.standardize)
    return DualEncoder(text, image, fragment_alignment(cfg.smoothing, cfg.best))
