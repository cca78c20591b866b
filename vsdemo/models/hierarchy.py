"""One order over concepts, sentences and photos, with retrieval by the angle."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from pydantic import Field
from torch import Tensor, cat, nn

from vsdemo.core.config import (
    LARGE,
    BatchSize,
    Dim,
    Epochs,
    EvaluateEvery,
    Hardest,
    MinCount,
    NoExtraPhotos,
    OneOf,
    Patience,
    SymmetricConfig,
    WordDim,
)
from vsdemo.core.errors import UserError
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders import Encoder
from vsdemo.encoders.gru import WordGRU
from vsdemo.encoders.heads import AngleAndOrderHead, CubeHead
from vsdemo.encoders.image import LinearImage
from vsdemo.encoders.several import SideBySide
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.models.losses import PairwiseRanking
from vsdemo.models.model import Model
from vsdemo.models.objectives import (
    Negatives,
    OrderMargin,
    RankedRelations,
    RelationConfig,
    RelationMaterial,
    Weight,
    Weights,
)
from vsdemo.models.relation_loss import RelationLoss
from vsdemo.models.scores import angle_and_order

HIDDEN_DROPOUT = 0.3  # of the units between a photo's features and its order

OrderDim = Annotated[
    int, Field(ge=1, le=LARGE, description="Dimensions of the order; the others are the angle's")
]
TextDim = Annotated[
    int, Field(ge=0, le=LARGE, description="Dimensions of the order in which photos lie lowest")
]
OrderWordDim = Annotated[
    int,
    Field(
        ge=0,
        le=LARGE,
        description="Dimensions of the word vectors of the order, which then has its own GRU; "
        "0 shares the word vectors and the GRU of the angle",
    ),
]
LexicalDim = Annotated[
    int,
    Field(
        ge=0,
        le=LARGE,
        description="Dimensions of the order that ignore the context of a word",
    ),
]
PhotoActivation = Annotated[
    str,
    OneOf(("relu", "softplus")),
    Field(description="Activation of a photo's order; with softplus no unit is dead"),
]
Hidden = Annotated[
    int, Field(ge=1, le=LARGE, description="Units between a photo's features and its order")
]
Boundary = Annotated[
    float,
    Field(
        ge=0, le=LARGE, description="Violation at which a text is as likely above a photo as not"
    ),
]
TrueWeight = Annotated[
    float,
    Field(ge=0, le=LARGE, description="Weight of texts that are above a photo, as most are not"),
]
OrderWeight = Annotated[
    float, Field(ge=0, le=LARGE, description="Weight of the violation in the score")
]
RankingOrderWeight = Annotated[
    float,
    Field(ge=0, le=LARGE, description="The same in the score that the ranking is trained by"),
]


class HierarchyConfig(SymmetricConfig, RelationConfig):
    """The model and its training."""

    material: RelationMaterial = "relations"
    extra: NoExtraPhotos = "none"
    min_count: MinCount = 1
    batch_size: BatchSize = 96
    epochs: Epochs = 40
    evaluate_every: EvaluateEvery = 2
    patience: Patience = 8
    hardest: Hardest = 1.0
    dim: Dim = 640
    word_dim: WordDim = 200
    order_dim: OrderDim = 384
    text_dim: TextDim = 192
    lexical_dim: LexicalDim = 0
    order_word_dim: OrderWordDim = 0
    hidden: Hidden = 512
    photo_activation: PhotoActivation = "relu"
    order_weight: OrderWeight = 1.0
    ranking_order_weight: RankingOrderWeight = 1.0
    order_margin: OrderMargin = 0.3
    negatives: Negatives = 16
    ranking_weight: Weight = 5.0
    separation: Weight = 0.0
    text_weight: Weight = 3.0
    photo_weight: Weight = 3.0
    boundary: Boundary = 0.25
    true_weight: TrueWeight = 10.0


class AngleAndOrderLayer(nn.Module):
    """Photo features (N, F) -> (N, angle + order): a linear layer, and one with hidden units.

    Args:
        features: Length F of a feature vector.
        angle: Outputs of the linear layer.
        order: Outputs of the network.
        hidden: Its hidden units.
        activation: Applied to what the network returns.
    """

    def __init__(
        self, features: int, angle: int, order: int, *, hidden: int, activation: nn.Module
    ) -> None:
        super().__init__()
        self.angle = nn.Linear(features, angle)
        self.order = nn.Sequential(
            nn.Linear(features, hidden),
            nn.ReLU(),
            nn.Dropout(HIDDEN_DROPOUT),
            nn.Linear(hidden, order),
            activation,
        )

    def forward(self, x: Tensor) -> Tensor:
        """Return both outputs, one after the other."""
        return cat([self.angle(x), self.order(x)], dim=-1)


def build(config: HierarchyConfig, vocab: Vocab, features: int) -> DualEncoder:
    """One order over concepts, sentences and photos, with retrieval by the angle.

    After Vendrov, Kiros, Fidler & Urtasun, "Order-embeddings of images and language", ICLR 2016,
    whose section 6 asks for it. An embedding has two parts, x = (a, o), so that retrieval, which
    pushes unrelated things apart, does not spoil the order:

        a(s) = pool_t GRU(s)_t / ||...||             what it is about, signed, of length 1
        o(s) = 1 - exp(-max(0, pool_t GRU(s)_t))     how much it says, in 0..1
        E(x, y) = |max(0, o(x) - o(y))|^2            x lies above y where this is small    Eq. 2
        S(x, y) = cos(a(x), a(y)) - order_weight E(x, y)

    The pooling is a maximum, and so is the conjunction of an order-embedding (section 4.3): a
    sentence that says more has larger coordinates. In the last `lexical_dim` coordinates of o a
    linear layer of the word vectors takes the place of the GRU. For a photo with features v, a(v)
    is linear and o(v) a network with one hidden layer. In `text_dim` coordinates, half of them
    lexical, o(v) is 1, the lowest place: texts differ there by what no photo shows.

        loss = ranking_weight * VSE++ ranking of captions and their photos by S
             + text_weight * (mean E of true pairs of texts, hinges over the worst false ones)
             + photo_weight * logistic loss of E for texts and photos

    What is true comes from the material `relations`; on Storybook these are the known facts.

    With `order_word_dim`, as in `hierarchy/photos`, the order has word vectors and a GRU of its
    own, so that nothing but the score joins the two parts; there the ranking is that of the angle
    alone, and so is S. Texts are drawn for the photos of a batch, which would make them look more
    likely than they are; with `photo_shares` the logistic loss takes that out
    (`vsdemo.models.relation_loss`).

    Departures: (1) the order has coordinates of its own, in 0..1 and not of length 1; (2) relations
    of texts are learned too, with the worst false ones of a batch as negatives; (3) a text is above
    a photo with a probability; (4) the GRU runs in both directions.
    """
    if not max(config.text_dim, config.lexical_dim) < config.order_dim < config.dim:
        raise UserError(
            f"dim={config.dim} must be more than order_dim={config.order_dim}, and that more than "
            f"text_dim={config.text_dim} and lexical_dim={config.lexical_dim}."
        )
    angle = config.dim - config.order_dim
    last = min(config.text_dim // 2, config.lexical_dim)
    layer = AngleAndOrderLayer(
        features,
        angle,
        config.order_dim - config.text_dim,
        hidden=config.hidden,
        activation=nn.Softplus() if config.photo_activation == "softplus" else nn.ReLU(),
    )
    image = LinearImage(
        features,
        config.dim,
        head=AngleAndOrderHead(angle, lowest=(config.text_dim - last, last)),
        dropout=config.dropout,
        standardize=config.standardize,
        layer=layer,
    )
    objective = RankedRelations(
        PairwiseRanking(margin=config.margin, hardest=config.hardest),
        RelationLoss(
            margin=config.order_margin,
            negatives=config.negatives,
            boundary=config.boundary,
            true_weight=config.true_weight,
        ),
        Weights(
            config.ranking_weight,
            texts=config.text_weight,
            photos=config.photo_weight,
            separation=config.separation,
        ),
        ranked_by=angle_and_order(angle, weight=config.ranking_order_weight),
    )
    score = angle_and_order(angle, weight=config.order_weight)
    return DualEncoder(_text_encoder(config, vocab, angle), image, score, objective)


def _text_encoder(config: HierarchyConfig, vocab: Vocab, angle: int) -> Encoder:
    gru = partial(WordGRU, vocab, pooling="max", bidirectional=True, dropout=config.dropout)
    if not config.order_word_dim:
        return gru(
            word_dim=config.word_dim,
            dim=config.dim,
            lexical_dim=config.lexical_dim,
            head=AngleAndOrderHead(angle),
        )
    return SideBySide(
        [
            gru(word_dim=config.word_dim, dim=angle),
            gru(
                word_dim=config.order_word_dim,
                dim=config.order_dim,
                lexical_dim=config.lexical_dim,
                head=CubeHead(),
            ),
        ]
    )


HIERARCHY = Model(
    config=HierarchyConfig,
    presets={
        "hierarchy": HierarchyConfig(),
        "hierarchy/photos": HierarchyConfig(
            min_count=2,
            hardest=0.95,
            epochs=26,
            captions=2,
            others=384,
            other_photos=160,
            photo_shares=True,
            dim=768,
            word_dim=128,
            order_word_dim=64,
            lexical_dim=192,
            hidden=256,
            photo_activation="softplus",
            order_weight=0.0,
            ranking_order_weight=0.0,
            ranking_weight=10.0,
            text_weight=5.0,
            photo_weight=30.0,
            separation=5.0,
            boundary=0.05,
            true_weight=1.0,
        ),
    },
    build=build,
    kind="one order over concepts, sentences and photos, with the angle for search",
    paper="Vendrov et al.",
    year=2016,
)
