"""Our own recipe: words of a sentence and regions of a photo, in one space."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from vsdemo.core.config import (
    LARGE,
    Backbone,
    BatchSize,
    Clip,
    Dim,
    Dropout,
    Epochs,
    EvaluateEvery,
    LearningRate,
    Material,
    NoExtraPhotos,
    OneOf,
    Optimizer,
    Patience,
    SymmetricConfig,
    Warmup,
    WeightDecay,
    WordDim,
)
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.region_transformer import RegionTransformer
from vsdemo.encoders.subwords import SubwordGRU
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.models.karpathy2014 import RegionCrops
from vsdemo.models.merckx2019 import LearnedVectors
from vsdemo.models.model import Model
from vsdemo.models.objectives import Captions
from vsdemo.models.scores import fragment_alignment
from vsdemo.models.truth_loss import TruthLoss

SceneMaterial = Annotated[Material, OneOf(("scenes",))]
Scenes = Annotated[
    int, Field(ge=0, le=LARGE, description="Number of drawn scenes in addition to those of train")
]
LetterRows = Annotated[
    int, Field(ge=1, le=LARGE, description="Vectors that all groups of letters share")
]
Width = Annotated[
    int, Field(ge=4, le=LARGE, multiple_of=4, description="Length of a region's vector")
]
Layers = Annotated[int, Field(ge=1, le=100, description="Layers of the transformer")]


class VseConfig(SymmetricConfig):
    """Our own recipe and its training.

    A batch has `batch_size` pictures and `captions` sentences of each.
    """

    needs: ClassVar[frozenset[str]] = SubwordGRU.needs
    four_bits: ClassVar[bool] = True

    material: SceneMaterial = "scenes"
    extra: NoExtraPhotos = "none"
    backbone: Backbone = "easel"
    crops: RegionCrops = "things"
    scenes: Scenes = 30_000
    vectors: LearnedVectors = "learned"
    batch_size: BatchSize = 128
    captions: Captions = 4
    epochs: Epochs = 30
    evaluate_every: EvaluateEvery = 5
    patience: Patience = 30
    optimizer: Optimizer = "adamw"
    learning_rate: LearningRate = 0.0015
    warmup: Warmup = 300
    weight_decay: WeightDecay = 0.02
    clip: Clip = 1.0
    dim: Dim = 128
    word_dim: WordDim = 256
    letter_rows: LetterRows = 10_000
    width: Width = 256
    layers: Layers = 3
    dropout: Dropout = 0.1

    @property
    def also_learns_from(self) -> str:
        """How many scenes are drawn in addition to those of train."""
        return (
            f"It also learned from {self.scenes:,} more drawn scenes, none of which shows what a "
            "scene of dev,\ntest or `compositional` shows."
        )


def build(config: VseConfig, vocab: Vocab, features: int) -> DualEncoder:
    """A transformer over regions and a GRU over words made of letters; each word has its region.

    Our own recipe; after Yao et al., "FILIP: Fine-grained interactive language-image pre-training",
    ICLR 2022; Bojanowski et al., "Enriching word vectors with subword information", TACL 2017; and
    Zhai et al., "Sigmoid loss for language image pre-training", ICCV 2023.

        s_1 ... s_T, w = GRU(x_1 ... x_T)        v_1 ... v_K = Transformer(r_1 ... r_K)
        S(s, v) = sum_t w_t max(0, max_k cos(s_t, v_k)),    sum_t max(0, w_t) = 1
        loss: cross-entropy of what is true, and a ranking

    It learns from any number of drawn scenes of Storybook: of each sentence of a batch it is known
    whether it is true of each picture. Four in ten sentences are false in one respect, one in ten
    says what is absent, and most also come as people type them.

    Departures: (1) the groups have 2 to 4 letters, not 3 to 6; (2) words are weighted by learned
    weights w, which are negative for what is denied, and only words choose regions, not regions
    words; (3) the loss takes sentences that are true of several pictures, leaves out what is
    undecided, and has a ranking beside it.
    """
    text = SubwordGRU(
        rows=config.letter_rows, word_dim=config.word_dim, dim=config.dim, dropout=config.dropout
    )
    image = RegionTransformer(
        features,
        config.dim,
        width=config.width,
        layers=config.layers,
        dropout=config.dropout,
        standardize=config.standardize,
    )
    score = fragment_alignment(smoothing=0.0, best_region=True, signed=True)
    return DualEncoder(text, image, score, TruthLoss())


VSE = Model(
    config=VseConfig,
    presets={"vse": VseConfig()},
    build=build,
    aligns=True,
    kind="words of a sentence matched with regions of a photo; learned what is true of drawings",
)
