"""Deep fragment embeddings: dependency triplets and regions of photos in one space."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import Field

from vsdemo.core.config import (
    LARGE,
    Dim,
    Dropout,
    Epochs,
    EvaluateEvery,
    OneOf,
    SymmetricConfig,
    WordVectors,
)
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.fragments import PARTS, Fragments
from vsdemo.encoders.regions import RegionImage
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.models.model import Model
from vsdemo.models.scores import fragment_alignment
from vsdemo.vision.crops import REGIONS, VIEWS

RegionCrops = Annotated[
    str,
    OneOf((*REGIONS, *VIEWS)),
    Field(description="Regions of a photo, or views of the whole photo"),
]
Parts = Annotated[
    str, OneOf(PARTS), Field(description="Fragments of a sentence (sections 3.1 and 4.2)")
]
SharedMatrix = Annotated[
    bool, Field(description="Use one matrix for all relations, as in the paper's code")
]
FragmentLoss = Annotated[
    str, OneOf(("fragments",)), Field(description="Fragment alignment and ranking")
]
FragmentWeight = Annotated[
    float, Field(ge=0, le=LARGE, description="Weight of the fragment alignment, C_0 or C_F")
]
RankingWeight = Annotated[
    float, Field(ge=0, le=LARGE, description="Beta, the weight of the global ranking")
]
MilStart = Annotated[
    float,
    Field(
        ge=0,
        le=LARGE,
        description="Share of the training after which alignments are inferred; 1: never",
    ),
]
Smoothing = Annotated[float, Field(ge=0, le=LARGE, description="Smoothing n of Eq. 6")]
BestRegion = Annotated[
    bool, Field(description="Score a fragment by its best region, not by the mean of all")
]


class FragmentsConfig(SymmetricConfig):
    """A fragment model and its training."""

    needs: ClassVar[frozenset[str]] = Fragments.needs

    crops: RegionCrops = "windows"
    vectors: WordVectors = "tuned"
    epochs: Epochs = 10
    evaluate_every: EvaluateEvery = 2
    dim: Dim = 512
    dropout: Dropout = 0.5
    parts: Parts = "triplets"
    shared_matrix: SharedMatrix = True
    loss: FragmentLoss = "fragments"
    fragment_weight: FragmentWeight = 0.05
    ranking_weight: RankingWeight = 1.0
    mil_start: MilStart = 0.5
    smoothing: Smoothing = 5.0
    best_region: BestRegion = True


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


def build(config: FragmentsConfig, vocab: Vocab, features: int) -> DualEncoder:
    """Deep fragment embeddings: dependency triplets and regions of photos in one space.

    Karpathy, Joulin & Fei-Fei, "Deep fragment embeddings for bidirectional image sentence mapping",
    NIPS 2014.

        s = f(W_R [W_e w_1; W_e w_2] + b_R)          Eq. 1, of each edge (R, w_1, w_2) of the tree
        v = W_m x + b_m                              Eq. 2, of the features x of each region
        S_kl = 1 / (|g_k| (|g_l| + n)) sum_i sum_j max(0, v_i . s_j)                      Eq. 6
        loss = C_F + beta C_G                        Eq. 3: fragment alignment and global ranking

    Departures: (1) Universal Dependencies of the project's own parser, without punctuation; the
    root is a fragment too, (root, w, w), so that a sentence of one word has a fragment; (2) regions
    of a classifier's last feature map, `windows` or `detector`, instead of an R-CNN; (3) negatives
    come from the batch, both objectives are means over its sentences, and C_F is the mean hinge of
    positive regions plus that of negative ones, as in the authors' code; there is no penalty, and
    the image network is frozen; (4) all unknown words are one word, <unk>; (5) the optimizer is
    Adam; (6) `fragments`, unlike `fragments/paper`, has one W and b for all relations, as in the
    authors' code; word vectors are tuned, features are standardized, a fragment counts by its best
    region only (Karpathy & Fei-Fei, "Deep visual-semantic alignments for generating image
    descriptions", CVPR 2015, Eq. 8), the ranking weighs mostly the hardest negative (VSE++), and
    the fragment alignment has a small weight; (7) `fragments/paper` uses word vectors pretrained on
    captions (PPMI) instead of those of Huang 2012.

    `features` is the length of a region's vector.
    """
    text = Fragments(
        vocab,
        word_dim=config.word_dim,
        dim=config.dim,
        parts=config.parts,
        shared=config.shared_matrix,
        dropout=config.dropout,
    )
    image = RegionImage(
        features, config.dim, dropout=config.dropout, standardize=config.standardize
    )
    score = fragment_alignment(smoothing=config.smoothing, best_region=config.best_region)
    return DualEncoder(text, image, score)


FRAGMENTS = Model(
    config=FragmentsConfig,
    presets={
        "fragments": FragmentsConfig(),
        "fragments/paper": FragmentsConfig(
            shared_matrix=False, fragment_weight=1.0, best_region=False, **PAPER
        ),
    },
    build=build,
    aligns=True,
    kind="parts of a sentence matched with parts of a photo",
    paper="Karpathy et al.",
    year=2014,
)
