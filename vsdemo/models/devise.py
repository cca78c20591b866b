"""DeViSE: the mean of a sentence's words and of a photo's regions, ranked.

Frome, Corrado, Shlens, Bengio, Dean, Ranzato & Mikolov, "DeViSE: A deep visual-semantic embedding
model", NIPS 2013, for sentences as Karpathy 2014, section 4.1, has it.

    f(s) = W mean_t(x_t) + b        g(v) = U mean_i(v_i) + c        S(s, v) = f(s) . g(v)

Departures: (1) the sentence has a layer, too; (2) negatives are those of the batch; (3) all regions
are averaged, not detections above a threshold; (4) in the preset `devise`, not in
`devise/paper`: word vectors are tuned, the score is the cosine, the hinges mostly those of the
hardest negative (VSE++), features are standardised.
"""

from __future__ import annotations

from dataclasses import dataclass

from vsdemo.core import config
from vsdemo.core.config import VECTORS, option
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.bow import BagOfWords
from vsdemo.encoders.heads import Head
from vsdemo.encoders.regions import RegionMean
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.models.fragments import LOOKS, PAPER
from vsdemo.models.scores import SCORES


@dataclass(frozen=True)
class Config(config.Symmetric):
    """DeViSE and its training."""

    crops: str = option("windows", "regions of a photo, or one frame in views", LOOKS)
    vectors: str = option("tuned", *VECTORS)
    score: str = option("cosine", "of sentence and photo", ("inner", "cosine"))


PRESETS = {
    "devise": Config(),
    "devise/paper": Config(score="inner", **PAPER),
}


def build(cfg: Config, vocab: Vocab, features: int) -> DualEncoder:
    """A new, untrained model; features: length of a region's vector."""
    unit = cfg.score == "cosine"
    text = BagOfWords(
        vocab,
        word_dim=cfg.word_dim,
        dim=cfg.dim,
        head=Head(unit=unit),
        dropout=cfg.dropout,
    )
    image = RegionMean(
        features,
        cfg.dim,
        head=Head(unit=unit),
        dropout=cfg.dropout,
        standardize=cfg.standardize,
    )
    return DualEncoder(text, image, SCORES[cfg.score])
