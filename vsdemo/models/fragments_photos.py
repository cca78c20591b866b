"""Our own recipe for parts: phrases of a sentence and regions that a network of ours proposes."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from vsdemo.core.config import (
    LARGE,
    BatchSize,
    Dim,
    Dropout,
    Epochs,
    EvaluateEvery,
    Material,
    MinCount,
    NoExtraPhotos,
    OneOf,
    Optimizer,
    Patience,
    SymmetricConfig,
    Warmup,
    WeightDecay,
    WordDim,
)
from vsdemo.core.errors import UserError
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.phrases import PhraseGRU
from vsdemo.encoders.regions import PlacedRegions
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.models.grounding import Grounding
from vsdemo.models.model import Model
from vsdemo.models.objectives import Captions, Weight
from vsdemo.models.scores import fragment_alignment
from vsdemo.vision.regions import PLACE

PhraseMaterial = Annotated[Material, OneOf(("phrases",))]
FinderBackbone = Annotated[
    str, OneOf(("finder",)), Field(description="Image network that proposes and describes regions")
]
FoundCrops = Annotated[str, OneOf(("found",)), Field(description="Regions of a photo")]
Units = Annotated[
    int, Field(ge=1, le=LARGE, description="Units of the GRU, in each of its two directions")
]
Certainty = Annotated[
    float,
    Field(ge=0, le=1, description="How much the certainty of a region counts beside what it shows"),
]


class FragmentsPhotosConfig(SymmetricConfig):
    """Phrases and regions, and their training.

    A batch has `batch_size` photos and `captions` sentences of each.
    """

    needs: ClassVar[frozenset[str]] = PhraseGRU.needs
    four_bits: ClassVar[bool] = True

    material: PhraseMaterial = "phrases"
    backbone: FinderBackbone = "finder"
    crops: FoundCrops = "found"
    extra: NoExtraPhotos = "none"
    batch_size: BatchSize = 64
    captions: Captions = 5
    min_count: MinCount = 3
    epochs: Epochs = 10
    evaluate_every: EvaluateEvery = 5
    patience: Patience = 20
    optimizer: Optimizer = "adamw"
    warmup: Warmup = 100
    weight_decay: WeightDecay = 0.001
    dim: Dim = 512
    word_dim: WordDim = 300
    units: Units = 256
    dropout: Dropout = 0.2
    certainty: Certainty = 0.1
    phrase_weight: Weight = 1.0
    place_weight: Weight = 0.0

    @property
    def takes_teacher(self) -> bool:
        """Whether a teacher can be set: yes."""
        return True

    @property
    def reads_boxes(self) -> bool:
        """Whether the model also learns which regions phrases name."""
        return self.place_weight > 0

    @property
    def also_learns_from(self) -> str:
        """The boxes of phrases, as a sentence."""
        return (
            "It also learned from the boxes of the captions' phrases." if self.reads_boxes else ""
        )


def build(config: FragmentsPhotosConfig, vocab: Vocab, features: int) -> DualEncoder:
    """Phrases of a sentence and regions of a photo in one space, after deep fragment embeddings.

    Karpathy & Fei-Fei, "Deep visual-semantic alignments for generating image descriptions", CVPR
    2015, with the contrast of Radford et al., "Learning transferable visual models from natural
    language supervision", ICML 2021.

        s_m = phrase m of the sentence, in the states of a GRU       `vsdemo.encoders.phrases`
        v_k = region k of the photo, proposed by the image network   `vsdemo.encoders.regions`
        S_kl = 1 / |g_l| sum_m max(0, max_k v_k . s_m)               Eq. 8 of the paper, per phrase

    Departures: (1) the parts of a sentence are the whole sentence, its noun phrases and its other
    content words, not single words; the whole sentence counts as much as all others; (2) a network
    of our own proposes regions, which has learned from boxes of people which parts of photos they
    mention, but from no words, over a network that was tuned with captions; the logarithm of how
    certain it is of a region is part of v . s;
    (3) the loss is a contrast of captions and photos, of whole sentences alone and photos, and of
    each phrase and photos, without a margin; (4) `fragments_photos/boxes` also learns which regions
    phrases name, from boxes of people; `fragments_photos` does not; (5) with a teacher, it also
    learns the scores of that model.

    `features` is the length of a region's vector.
    """
    if features <= PLACE:
        raise UserError("These features do not say where regions are; set backbone=finder.")
    text = PhraseGRU(
        vocab,
        word_dim=config.word_dim,
        units=config.units,
        dim=config.dim,
        certainty=config.certainty,
        dropout=config.dropout,
    )
    image = PlacedRegions(features, config.dim, dropout=config.dropout)
    score = fragment_alignment(smoothing=0.0, best_region=True)
    objective = Grounding(
        config.phrase_weight,
        config.place_weight,
        teacher_weight=config.teacher_weight,
        teacher_temperature=config.teacher_temperature,
    )
    return DualEncoder(text, image, score, objective)


FRAGMENTS_PHOTOS = Model(
    config=FragmentsPhotosConfig,
    presets={
        "fragments_photos": FragmentsPhotosConfig(),
        "fragments_photos/boxes": FragmentsPhotosConfig(place_weight=1.0),
    },
    build=build,
    aligns=True,
    kind="phrases of a sentence matched with parts of a photo",
    paper="Karpathy & Fei-Fei",
    year=2015,
)
