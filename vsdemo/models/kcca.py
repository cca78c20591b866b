"""Kernel canonical correlation analysis (kCCA), a baseline without gradient steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar, cast

import torch
from pydantic import Field
from torch import Tensor

from vsdemo.core.config import (
    LARGE,
    Config,
    Dim,
    Dropout,
    OneOf,
    Sampling,
    Similarity,
    WordDim,
)
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.bow import BagOfWords
from vsdemo.encoders.heads import Head
from vsdemo.encoders.image import LinearImage
from vsdemo.encoders.kernel import KernelMap, fit_cca
from vsdemo.models.dual_encoder import BATCH, DualEncoder
from vsdemo.models.model import Model
from vsdemo.models.scores import SCORES

AllPairs = Annotated[
    int, Field(ge=2, le=LARGE, description="Pairs to use; all of them are used at once")
]
OneEpoch = Annotated[int, Field(ge=1, le=1, description="One: the model is solved at once")]
FixedVectors = Annotated[
    str, OneOf(("fixed",)), Field(description="Word vectors: pretrained on captions")
]
Landmarks = Annotated[
    int,
    Field(ge=0, le=LARGE, description="Landmarks of the RBF kernel; 0 uses the linear kernel"),
]
Ridge = Annotated[
    float,
    Field(
        ge=0, le=LARGE, description="Ridge of the covariances, as a share of their mean variance"
    ),
]
Power = Annotated[
    float,
    Field(ge=0, le=LARGE, description="Power of the correlation by which coordinates are scaled"),
]
NoDropout = Annotated[Dropout, Field(description="Has no effect on this model")]


class KccaConfig(Config):
    """A kernel CCA and its solution."""

    sampling: Sampling = "all"
    batch_size: AllPairs = 10_000_000
    epochs: OneEpoch = 1
    vectors: FixedVectors = "fixed"
    dim: Dim = 128
    word_dim: WordDim = 300
    landmarks: Landmarks = 0
    ridge: Ridge = 1.0
    power: Power = 1.0
    dropout: NoDropout = 0.0
    score: Similarity = "cosine"

    @property
    def takes_teacher(self) -> bool:
        """Whether a teacher can be set: no, as there are no gradient steps."""
        return False


class KernelCCA(DualEncoder):
    """Two kernel maps that are solved together."""

    solved: ClassVar[bool] = True

    def __init__(self, text: BagOfWords, image: LinearImage, config: KccaConfig) -> None:
        super().__init__(text, image, SCORES[config.score])
        self.ridge, self.power = config.ridge, config.power

    @torch.no_grad()
    def fit(self, captions: Sequence[Tensor], photos: Tensor) -> dict[str, Tensor]:
        """Solve both encoders for N prepared captions and their photos (N, F).

        Returns:
            The mean and the minimum of the canonical correlations.
        """
        text, image = cast(BagOfWords, self.text), cast(LinearImage, self.image)
        means = []
        for start in range(0, len(captions), BATCH):
            batch = text.collate(captions[start : start + BATCH])
            means.append(text.mean(batch.to(self.device)))
        correlations = fit_cca(
            cast(KernelMap, text.linear),
            cast(KernelMap, image.linear),
            torch.cat(means),
            photos,
            ridge=self.ridge,
            power=self.power,
        )
        return {"correlation": correlations.mean(), "least_correlation": correlations.min()}


def build(config: KccaConfig, vocab: Vocab, features: int) -> KernelCCA:
    """kCCA: kernel canonical correlation analysis of mean word vectors and photo features.

    Hodosh, Young & Hockenmaier, "Framing image description as a ranking task: data, models and
    evaluation metrics", JAIR 2013; the strongest baseline of Socher, Karpathy, Le, Manning & Ng,
    "Grounded compositional semantics for finding and describing images with sentences", TACL 2014.

        a, b = argmax a C_xy b / sqrt(a (C_xx + r I) a  b (C_yy + s I) b)    over centred k(x), k(z)
        x = mean_t(x_t)        k(x) = x, or exp(-gamma |x - l|^2) for landmarks l
        S(x, z) = cosine or inner product of the coordinates in all directions a and b

    The model is solved at once, without gradients, so `epochs`, `learning_rate` and the like have
    no effect. Word vectors are pretrained on captions and fixed.

    Departures: (1) with the RBF kernel, `landmarks` random training items stand for all of them
    (Nystroem); (2) coordinates are scaled by their correlation (Gong et al. 2014); power=0 turns
    that off; (3) the mean of word vectors includes an end mark; (4) the presets use the cosine,
    except for `kcca/paper`; (5) both sides have the same kernel, whose width is the median
    distance.
    """
    score = SCORES[config.score]
    text = BagOfWords(
        vocab,
        word_dim=config.word_dim,
        dim=config.dim,
        head=Head(unit=score.normalized),
        layer=KernelMap(config.word_dim, config.dim, landmarks=config.landmarks),
    )
    image = LinearImage(
        features,
        config.dim,
        head=Head(unit=score.normalized),
        layer=KernelMap(features, config.dim, landmarks=config.landmarks),
    )
    return KernelCCA(text, image, config)


KCCA = Model(
    config=KccaConfig,
    presets={
        "kcca": KccaConfig(),
        "kcca/rbf": KccaConfig(landmarks=500),
        "kcca/paper": KccaConfig(word_dim=50, dim=50, power=0.0, score="inner", min_count=1),
    },
    build=build,
    kind="correlation analysis of words and photos, solved instead of trained",
    paper="Hodosh et al.",
    year=2013,
)
