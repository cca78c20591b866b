"""MERU: images and text in hyperbolic space, with entailment cones.

Desai, Nickel, Rajpurohit, Johnson & Vedantam, "Hyperbolic image-text representations", ICML 2023.
"""

from __future__ import annotations

import math
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from vsdemo.core.config import (
    BatchSize,
    Dim,
    Epochs,
    EvaluateEvery,
    MinCount,
    NoExtraPhotos,
    Patience,
    SymmetricConfig,
    WordDim,
)
from vsdemo.core.embeddings import Embeddings
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.gru import WordGRU
from vsdemo.encoders.image import LinearImage
from vsdemo.models import lorentz
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.models.entailment_cones import Cones
from vsdemo.models.model import Model
from vsdemo.models.objectives import (
    Labels,
    Objective,
    RelationConfig,
    RelationMaterial,
    Weight,
    violations,
)
from vsdemo.models.scores import Order, Score

MIN_CURVATURE, MAX_CURVATURE = 0.1, 10.0
MAX_SCALE = 1.0  # of embeddings before the exponential map
TEMPERATURE, MIN_TEMPERATURE = 0.07, 0.01


class MeruConfig(SymmetricConfig, RelationConfig):
    """The model and its training."""

    material: RelationMaterial = "relations"
    extra: NoExtraPhotos = "none"
    min_count: MinCount = 1
    batch_size: BatchSize = 96
    epochs: Epochs = 40
    evaluate_every: EvaluateEvery = 2
    patience: Patience = 8
    dim: Dim = 512
    word_dim: WordDim = 200
    entailment_weight: Weight = 0.2


class Positive(nn.Module):
    """A positive number that is learned as its logarithm, and kept within bounds.

    Args:
        start: The initial value.
        minimum: The lower bound.
        maximum: The upper bound.
    """

    def __init__(self, start: float, minimum: float = 0.0, maximum: float = math.inf) -> None:
        super().__init__()
        self.bounds = math.log(minimum) if minimum else -math.inf, math.log(maximum)
        self.log = nn.Parameter(torch.tensor(math.log(start)))

    def forward(self) -> Tensor:
        """Return the number, ()."""
        with torch.no_grad():
            self.log.clamp_(*self.bounds)  # clamped in the graph, its gradient would be 0 beyond
        return self.log.exp()


class LorentzHead(nn.Module):
    """Vectors to points of a hyperbolic space: (..., D) -> (..., D), float32.

        x = sqrt(c) exp_0(scale f),  exp_0 the exponential map at the root for the curvature -c

    Points are measured in units of the radius of the curvature, so that the score needs no c.

    Args:
        dim: D. The scale, one per modality, begins at 1 / sqrt(D) and stays below 1.
        curvature: c, shared by everything in the space.
    """

    def __init__(self, dim: int, curvature: Positive) -> None:
        super().__init__()
        self.scale = Positive(dim**-0.5, maximum=MAX_SCALE)
        self.curvature = curvature

    def forward(self, f: Tensor) -> Tensor:
        """Map vectors (..., D)."""
        c = self.curvature()
        x: Tensor = c**0.5 * lorentz.exp_map0(self.scale() * f.float(), c)
        return x


class LorentzDistance(Score):
    """Minus the distance in the Lorentz model of curvature -1; the order has entailment cones.

    score(x, y) = -acosh(-<x, y>_L)
    """

    unit = "closeness"
    meaning = (
        "Minus the hyperbolic distance of the sentence's and the photo's points; 0 is the same "
        "point."
    )
    normalized = False

    @property
    def directed(self) -> Score:
        """The fit of the cones, as a distance has no direction."""
        return CONES

    @property
    def order(self) -> Order:
        """The order of the entailment cones."""
        return CONES

    def order_part(self, x: Tensor) -> Tensor:
        """Return all coordinates, (N, D)."""
        return x

    def __call__(self, general: Embeddings, specific: Embeddings) -> Tensor:
        """Return all scores, (G, S)."""
        return -lorentz.distance(general.x[:, None], specific.x, 1.0)

    def pairs(self, general: Embeddings, specific: Embeddings) -> Tensor:
        """Return the scores of matching rows, (N,)."""
        return -lorentz.distance(general.x, specific.x, 1.0)

    def to_unit(self, scores: Tensor) -> Tensor:
        """Map scores to 0..1: 1 / (1 + distance)."""
        return 1 / (1 - scores.clamp(max=0))


CONES = Cones(partial(lorentz.half_aperture, c=1.0), partial(lorentz.exterior_angle, c=1.0))
LORENTZ_DISTANCE = LorentzDistance()


class ContrastiveEntailment(Objective):
    """Contrastive learning of captions and photos, and cones that contain what lies below.

        loss = mean of the cross-entropies of softmax(-d(caption, photo) / temperature)
             + weight * (mean E of true texts above texts + mean E of true texts above photos)

    The cross-entropies are those of each caption's photo among the photos, and of each photo's
    caption among it and the captions of the other photos. E is the angle to a cone. Texts that
    follow from each other are left out, as no cone contains all neighbours of its apex.

    Args:
        curvature: c of the space, -c its curvature.
        weight: Weight of the entailment.
    """

    def __init__(self, curvature: Positive, weight: float) -> None:
        super().__init__()
        self.curvature = curvature
        self.temperature = Positive(TEMPERATURE, minimum=MIN_TEMPERATURE)
        self.weight = weight

    def forward(
        self, score: Score, texts: Embeddings, photos: Embeddings, labels: Labels
    ) -> dict[str, Tensor]:
        """Return `loss`, its parts, the curvature and the temperature."""
        c, temperature = self.curvature(), self.temperature()
        captions = len(labels.owner)
        scores = score(texts[:captions], photos[: labels.described])  # in units of 1 / sqrt(c)
        contrast = contrastive(scores / (c.sqrt() * temperature), labels.owner)
        among_texts, above_photos = violations(score, texts, photos)
        strict = (labels.among_texts == 1) & (labels.among_texts.T != 1)
        of_texts = among_texts[strict].sum() / strict.sum().clamp(min=1)
        of_photos = above_photos[labels.above_photos == 1].mean()
        return {
            "loss": contrast + self.weight * (of_texts + of_photos),
            "contrast": contrast.detach(),
            "texts": of_texts.detach(),
            "photos": of_photos.detach(),
            "curvature": c.detach(),
            "temperature": temperature.detach(),
        }


def contrastive(logits: Tensor, owner: Tensor) -> Tensor:
    """Return the mean cross-entropy of captions and photos, in both directions.

    Args:
        logits: Logits of C captions and P photos, (C, P).
        owner: The photo of each caption, (C,).
    """
    for_captions = F.cross_entropy(logits, owner)
    own = logits[:, owner].T  # (C, C): the photo of caption i, and caption j
    number = torch.arange(len(owner), device=owner.device)
    twin = (owner[:, None] == owner) & (number[:, None] != number)
    for_photos = F.cross_entropy(own.masked_fill(twin, -torch.inf), number)
    return (for_captions + for_photos) / 2


def build(config: MeruConfig, vocab: Vocab, features: int) -> DualEncoder:
    """Images and text in hyperbolic space: MERU, with all known relations.

    Desai, Nickel, Rajpurohit, Johnson & Vedantam, "Hyperbolic image-text representations", ICML
    2023.

        x = exp_0(scale f)          f a linear projection of an encoder, exp_0 for curvature -c
        S(x, y) = -d(x, y)          distance in the Lorentz model; S / temperature are logits
        E(x, y) = max(0, ext(x, y) - aper(x))     y lies below x where it is in x's cone
        loss = contrastive + 0.2 * mean E of true relations

    c, the temperature and the scales of texts and photos are learned. Only they set the unit of
    length: with sqrt(c) x for x, scores and angles depend on sqrt(c) scale and sqrt(c) temperature
    alone, so that c adds nothing to what the model can be.

    Departures: (1) a bidirectional GRU over words and frozen photo features, as in the other models
    here, for a transformer and a ViT of 12 million pairs; (2) what is true comes from the material
    `relations`: texts above texts too, as in HyCoCLIP (Pal et al. 2025), and every text that is
    above a photo, not its captions alone; (3) a photo has several captions in a batch, which are
    not each other's negatives; (4) points are in units of 1 / sqrt(c).
    """
    curvature = Positive(1.0, MIN_CURVATURE, MAX_CURVATURE)
    text = WordGRU(
        vocab,
        word_dim=config.word_dim,
        dim=config.dim,
        pooling="max",
        bidirectional=True,
        head=nn.Sequential(nn.Linear(config.dim, config.dim), LorentzHead(config.dim, curvature)),
        dropout=config.dropout,
    )
    image = LinearImage(
        features,
        config.dim,
        head=LorentzHead(config.dim, curvature),
        dropout=config.dropout,
        standardize=config.standardize,
    )
    objective = ContrastiveEntailment(curvature, config.entailment_weight)
    return DualEncoder(text, image, LORENTZ_DISTANCE, objective)


MERU = Model(
    config=MeruConfig,
    presets={"meru": MeruConfig()},
    build=build,
    kind="hyperbolic space: a photo lies inside the cones of its captions",
    paper="Desai et al.",
    year=2023,
)
