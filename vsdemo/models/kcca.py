"""kCCA: kernel canonical correlation analysis of mean word vectors and photo features.

Hodosh, Young & Hockenmaier, "Framing image description as a ranking task: data, models and
evaluation metrics", JAIR 2013; the strongest baseline of Socher, Karpathy, Le, Manning & Ng,
"Grounded compositional semantics for finding and describing images with sentences", TACL 2014.

    a, b = argmax a C_xy b / sqrt(a (C_xx + r I) a  b (C_yy + s I) b)    over centred k(x), k(z)
    x = mean_t(x_t)        k(x) = x, or exp(-gamma |x - l|^2) for landmarks l
    S(x, z) = cosine or inner product of the coordinates in all directions a and b

It is solved at once, without gradients: `epochs`, `learning_rate` and the like have no use.
Word vectors are our own and fixed.

Departures: (1) with the RBF kernel, `landmarks` random training items stand for all (Nystroem);
(2) coordinates are scaled by their correlation (Gong et al. 2014), which power=0 undoes; (3) the
mean of word vectors counts an end mark; (4) the cosine in the presets, not in `kcca/paper`; (5)
one kernel for both sides, whose width is the median distance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from vsdemo.core import config
from vsdemo.core.config import option
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.bow import BagOfWords
from vsdemo.encoders.heads import Head
from vsdemo.encoders.image import LinearImage
from vsdemo.encoders.kernel import KernelMap, fit_cca
from vsdemo.models.dual_encoder import BATCH, DualEncoder
from vsdemo.models.scores import SCORES


@dataclass(frozen=True)
class Config(config.Config):
    """A kernel CCA and its fitting."""

    sampling: str = option("all", "captions of a photo that are used", ("one", "all"))
    batch_size: int = option(10_000_000, "all pairs are used at once", least=2)
    epochs: int = option(1, "one, as it is solved at once", most=1)
    vectors: str = option("fixed", "of words: our own of caption text", ("fixed",))
    dim: int = option(128, "of the joint space: directions kept")
    word_dim: int = option(300, "of the word vectors")
    landmarks: int = option(0, "of the RBF kernel; 0: the linear kernel", least=0)
    ridge: float = option(1.0, "of the covariances, as a share of their mean variance")
    power: float = option(1.0, "to which coordinates are scaled by their correlation")
    dropout: float = option(0.0, "has no use here", most=0.9)
    score: str = option("cosine", "of sentence and photo", ("inner", "cosine", "euclidean"))


PRESETS = {
    "kcca": Config(),
    "kcca/rbf": Config(landmarks=500),
    "kcca/paper": Config(word_dim=50, dim=50, power=0.0, score="inner", min_count=1),
}


class KernelCCA(DualEncoder):
    """Two kernel maps that are fitted together."""

    solved = True

    def __init__(self, text: BagOfWords, image: LinearImage, cfg: Config) -> None:
        super().__init__(text, image, SCORES[cfg.score])
        self.text: BagOfWords = text
        self.image: LinearImage = image
        self.ridge, self.power = cfg.ridge, cfg.power

    @torch.no_grad()
    def fit(self, captions: Sequence[Tensor], photos: Tensor) -> dict[str, Tensor]:
        """Fits both towers to N prepared captions and their photos (N, F).

        Returns the canonical correlations' mean and least, to be logged.
        """
        parts = [captions[i : i + BATCH] for i in range(0, len(captions), BATCH)]
        words = [self.text.mean(self.text.collate(p).to(self.device)) for p in parts]
        found = fit_cca(
            self.text.linear,
            self.image.linear,
            torch.cat(words),
            photos,
            ridge=self.ridge,
            power=self.power,
        )
        return {"correlation": found.mean(), "least_correlation": found.min()}


def build(cfg: Config, vocab: Vocab, features: int) -> DualEncoder:
    """A new model, not fitted; features: length of the photo vectors."""
    unit = cfg.score == "cosine"
    words = KernelMap(cfg.word_dim, cfg.dim, landmarks=cfg.landmarks)
    text = BagOfWords(vocab, word_dim=cfg.word_dim, dim=cfg.dim, head=Head(unit=unit), layer=words)
    photos = KernelMap(features, cfg.dim, landmarks=cfg.landmarks)
    image = LinearImage(features, cfg.dim, head=Head(unit=unit), layer=photos)
    return KernelCCA(text, image, cfg)
