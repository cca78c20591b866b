"""Configurations: frozen pydantic models whose field types carry bounds and descriptions.

The command line (`--set key=value`), the training form and the reader of config.json all read the
same field types, so a bound or a description is written once. A subclass that changes a default
repeats only the name, the type and the default: `epochs: Epochs = 60`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self, TypeVar, cast

from annotated_types import Ge, Le
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    ValidationError,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, ErrorDetails, core_schema

from vsdemo.core.errors import UserError

LARGE = 1_000_000_000  # upper bound of a setting that has no other


@dataclass(frozen=True)
class OneOf:
    """The choices of a text setting, for use in `Annotated`."""

    choices: tuple[str, ...]

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Return a schema that accepts the choices only."""
        return core_schema.literal_schema(list(self.choices))


# Data
Material = Annotated[str, Field(description="Data to learn from")]
PhotoMaterial = Annotated[Material, OneOf(("photos",))]
Backbone = Annotated[str, Field(description="Frozen image network; see `vsdemo models`")]
Crops = Annotated[
    str,
    OneOf(("center", "mirror", "ten", "whole", "own")),
    Field(description="Views of a photo whose features are averaged"),
]
Photos = Annotated[
    int, Field(ge=0, le=LARGE, description="Training photos to use, the first ones; 0 uses all")
]
ExtraPhotos = Annotated[
    str,
    OneOf(("none", "everyday")),
    Field(
        description="More photos to train on; `everyday`: Pascal1K's training photos, and photos "
        "of ImageNet with the names of what they show"
    ),
]
NoExtraPhotos = Annotated[str, OneOf(("none",)), Field(description="More photos to train on")]
MinCount = Annotated[
    int, Field(ge=1, le=LARGE, description="Words seen less often in training become `<unk>`")
]
WordVectors = Annotated[
    str,
    OneOf(("learned", "fixed", "tuned")),
    Field(description="Word vectors: learned, or pretrained on captions and fixed or tuned"),
]

# Batches
Seed = Annotated[
    int,
    Field(ge=0, le=2**32 - 1, description="Seed of the weights, the order of photos and dropout"),
]
BatchSize = Annotated[
    int,
    Field(
        ge=2,
        le=LARGE,
        description="Caption-photo pairs per step; all other pairs of the batch are negatives",
    ),
]
Chunk = Annotated[
    int,
    Field(
        ge=0,
        le=LARGE,
        description="Captions or photos to embed at a time (twice each), for batches that do not "
        "fit in memory; 0 embeds all at once",
    ),
]
Sampling = Annotated[
    str, OneOf(("one", "all")), Field(description="Captions of each photo used in an epoch")
]
Bucket = Annotated[
    int,
    Field(
        ge=1,
        le=LARGE,
        description="Batches sorted by caption length together; 1 draws all captions at random",
    ),
]

# Duration
Epochs = Annotated[int, Field(ge=1, le=LARGE, description="Epochs at most; see `patience`")]
Patience = Annotated[
    int,
    Field(ge=1, le=LARGE, description="Evaluations on dev without improvement before stopping"),
]
EvaluateEvery = Annotated[
    int, Field(ge=1, le=LARGE, description="Epochs between two evaluations on dev")
]
EvaluateSTS = Annotated[
    bool, Field(description="Evaluate on the dev sets of STS-B and SICK where they are available")
]

# Optimization
Optimizer = Annotated[
    str,
    OneOf(("adam", "adamw", "adagrad")),
    Field(
        description="Optimizer: Adam, AdamW (with decoupled weight decay) or AdaGrad (Socher 2014, "
        "section 5)"
    ),
]
LearningRate = Annotated[float, Field(ge=0, le=LARGE, description="Highest learning rate")]
Schedule = Annotated[
    str,
    OneOf(("constant", "cosine", "cyclic", "step")),
    Field(description="Learning rate schedule"),
]
Warmup = Annotated[
    int, Field(ge=0, le=LARGE, description="Steps in which the learning rate rises from 0")
]
CycleEpochs = Annotated[
    int,
    Field(ge=1, le=LARGE, description="Epochs of a cycle (`cyclic`) or between drops (`step`)"),
]
Clip = Annotated[
    float, Field(ge=0, le=LARGE, description="Largest norm of the gradient; 0 does not clip")
]
WeightDecay = Annotated[
    float, Field(ge=0, le=LARGE, description="Lambda of the penalty lambda / 2 |weights|^2")
]
AdagradReset = Annotated[
    int, Field(ge=1, le=LARGE, description="Epochs after which AdaGrad forgets past gradients")
]
AlternateEpochs = Annotated[
    int,
    Field(
        ge=0,
        le=LARGE,
        description="Epochs in which one encoder trains alone, the image encoder first; "
        "0 trains both",
    ),
]

# Loss
Loss = Annotated[
    str,
    OneOf(("ranking", "softmax", "squared")),
    Field(
        description="Hinges over pairs, a softmax over each row and column of their scores, or "
        "squared distances of matching pairs"
    ),
]
Margin = Annotated[
    float, Field(ge=0, le=LARGE, description="Margin of the hinge, in units of the score")
]
Hardest = Annotated[
    float,
    Field(
        ge=0,
        le=1,
        description="Weight of the hardest negative relative to the sum of all (VSE++): 0 is only "
        "the sum, 1 only the hardest negative",
    ),
]
Temperature = Annotated[
    float,
    Field(ge=0.001, le=LARGE, description="Temperature of the softmax loss, in units of the score"),
]
Teacher = Annotated[
    str,
    Field(
        description="Checkpoint whose scores are learned too, such as `storybook/clip`; empty: none"
    ),
]
TeacherWeight = Annotated[
    float, Field(ge=0, le=LARGE, description="Weight of the loss of the teacher's scores")
]
TeacherTemperature = Annotated[
    float,
    Field(
        ge=0.001,
        le=LARGE,
        description="Temperature of the softmax over the scores of teacher and model",
    ),
]

# Weights to keep
AverageDecay = Annotated[
    float,
    Field(ge=0, le=0.9999, description="Decay per step of the moving average of weights; 0: none"),
]
AverageStart = Annotated[
    int,
    Field(
        ge=0,
        le=LARGE,
        description="Epochs before the weights are averaged and late dropout begins",
    ),
]
SnapshotEvery = Annotated[
    int,
    Field(ge=0, le=LARGE, description="Epochs between two checkpoints kept for ensembles; 0: none"),
]

# Fields that several models share
Dim = Annotated[int, Field(ge=1, le=LARGE, description="Dimensions of the joint space")]
WordDim = Annotated[int, Field(ge=1, le=LARGE, description="Dimensions of the word vectors")]
Dropout = Annotated[
    float, Field(ge=0, le=0.9, description="Share of words, states and features set to 0")
]
Standardize = Annotated[bool, Field(description="Scale photo features to mean 0 and variance 1")]
SmallFeatures = Annotated[
    bool,
    Field(description="Scale small features like the others, as a DenseNet has many of them"),
]
HubBank = Annotated[
    int,
    Field(
        ge=0,
        le=100_000,
        description="Captions of the training by which scores are corrected for photos that are "
        "similar to all of them, and likewise for sentences; 0 for no correction",
    ),
]
Similarity = Annotated[
    str,
    OneOf(("inner", "cosine", "euclidean")),
    Field(description="Score of a sentence and a photo"),
]


class Config(BaseModel):
    """The settings that every model has; a model's own configuration adds its fields.

    Defaults are those of Vendrov 2016, section 4.4, where the paper states one. `needs` repeats
    that of the text encoder, because sentences are parsed before the encoder is built. With
    `four_bits`, checkpoints have matrices with 4 bits a number instead of 16.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, validate_default=True
    )

    needs: ClassVar[frozenset[str]] = frozenset({"words"})
    four_bits: ClassVar[bool] = False

    material: PhotoMaterial = "photos"
    backbone: Backbone = "torchvision/densenet169"
    crops: Crops = "ten"
    photos: Photos = 0
    extra: ExtraPhotos = "none"
    min_count: MinCount = 2
    seed: Seed = 0
    batch_size: BatchSize = 128
    chunk: Chunk = 0
    sampling: Sampling = "one"
    bucket: Bucket = 1
    epochs: Epochs = 30
    snapshot_every: SnapshotEvery = 0
    evaluate_every: EvaluateEvery = 1
    evaluate_sts: EvaluateSTS = False
    patience: Patience = 8
    optimizer: Optimizer = "adam"
    learning_rate: LearningRate = 0.001
    schedule: Schedule = "constant"
    warmup: Warmup = 0
    cycle_epochs: CycleEpochs = 4
    clip: Clip = 2.0
    weight_decay: WeightDecay = 0.0
    average_decay: AverageDecay = 0.0
    average_start: AverageStart = 0
    adagrad_reset: AdagradReset = 5
    alternate_epochs: AlternateEpochs = 0
    vectors: WordVectors = "learned"
    loss: Loss = "ranking"
    margin: Margin = 0.05
    hardest: Hardest = 0.0
    temperature: Temperature = 0.07
    teacher: Teacher = ""
    teacher_weight: TeacherWeight = 1.0
    teacher_temperature: TeacherTemperature = 0.05

    @property
    def takes_teacher(self) -> bool:
        """Whether a teacher can be set: the model learns from photos, in gradient steps."""
        return self.material == "photos"

    @property
    def reads_other_captions(self) -> bool:
        """Whether the text encoder also learns from captions of Flickr30k's other photos."""
        return False

    @property
    def reads_boxes(self) -> bool:
        """Whether the model also learns from the places of phrases that people marked."""
        return False

    @property
    def also_learns_from(self) -> str:
        """What the model learns from besides the train split, as a sentence; empty for most."""
        if self.extra == "none":
            return ""
        return (
            "It also learned from Pascal1K's training photos, and from photos of ImageNet, at most "
            "one for each class, with the names of the class and of its hypernyms in WordNet."
        )

    @model_validator(mode="after")
    def _teacher_fits(self) -> Self:
        if self.teacher and not self.takes_teacher:
            raise ValueError(
                "Only models that learn from photos, in gradient steps, take a teacher; leave "
                "teacher empty."
            )
        return self

    @model_validator(mode="after")
    def _extra_fits(self) -> Self:
        if self.extra != "none" and self.material != "photos":
            raise ValueError(f"material={self.material} takes no extra photos; set extra=none.")
        return self

    @property
    def task(self) -> str:
        """The name of the task that the model is evaluated on by default."""
        return "retrieval"


class SymmetricConfig(Config):
    """The defaults of models with a symmetric score.

    Follows VSE++ (Faghri 2018) on standardized features, with all captions in an epoch and a
    learning rate that falls to 0.
    """

    sampling: Sampling = "all"
    epochs: Epochs = 15
    patience: Patience = 4
    schedule: Schedule = "cosine"
    margin: Margin = 0.2
    hardest: Hardest = 0.95
    dim: Dim = 1024
    word_dim: WordDim = 300
    dropout: Dropout = 0.2
    standardize: Standardize = True


MODEL_GROUP = "The model"  # title of the fields that a model adds
GROUPS = {  # title -> the shared fields under it, each once
    "Photos and words": (
        "material",
        "backbone",
        "crops",
        "photos",
        "extra",
        "min_count",
        "vectors",
    ),
    "Batches": ("batch_size", "chunk", "sampling", "bucket", "seed"),
    "How long": ("epochs", "patience", "evaluate_every", "evaluate_sts"),
    "Learning rate": (
        "learning_rate",
        "schedule",
        "warmup",
        "cycle_epochs",
        "optimizer",
        "adagrad_reset",
        "clip",
        "alternate_epochs",
    ),
    "Loss": ("loss", "margin", "hardest", "temperature", "weight_decay"),
    "Teacher": ("teacher", "teacher_weight", "teacher_temperature"),
    "Weights kept": ("average_decay", "average_start", "snapshot_every"),
}


@dataclass(frozen=True)
class Setting:
    """A field of a configuration as the command line and the training form present it.

    `kind` is bool, int, float or str. `choices` is empty where any value of the kind within
    `minimum` and `maximum` is valid; those are None for text and booleans.
    """

    name: str
    value: Any
    kind: type
    description: str
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None

    @property
    def is_number(self) -> bool:
        """Whether the value is a number."""
        return self.kind in (int, float)

    @property
    def valid(self) -> str:
        """What is valid, such as "a whole number from 1 to 9"."""
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        if self.kind is bool:
            return "true or false"
        if self.is_number:
            kind = "a whole number" if self.kind is int else "a number"
            return f"{kind} from {self.minimum:,} to {self.maximum:,}"
        return "text"


def settings_of(config: Config) -> dict[str, Setting]:
    """Return the settings of a configuration by name."""
    fields = type(config).model_fields
    return {name: _setting(name, field, config) for name, field in fields.items()}


def _setting(name: str, field: FieldInfo, config: Config) -> Setting:
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    for constraint in field.metadata:
        match constraint:
            case OneOf():
                choices = constraint.choices
            case Ge():
                minimum = cast(float, constraint.ge)
            case Le():
                maximum = cast(float, constraint.le)
    return Setting(
        name=name,
        value=getattr(config, name),
        kind=cast(type, field.annotation),
        description=field.description or "",
        choices=choices,
        minimum=minimum,
        maximum=maximum,
    )


def grouped_settings(config: Config) -> dict[str, list[Setting]]:
    """Return every setting once, by the title of its group; the model's own come first."""
    settings = settings_of(config)
    shared = {name for names in GROUPS.values() for name in names}
    own = tuple(name for name in settings if name not in shared)
    titles = {MODEL_GROUP: own, **GROUPS} if own else GROUPS
    return {title: [settings[name] for name in names] for title, names in titles.items()}


C = TypeVar("C", bound=Config)


def override(config: C, settings: Sequence[str]) -> C:
    """Return the configuration with `key=value` settings applied.

    Raises:
        UserError: A key is unknown (the valid ones are listed) or a value is not valid.
    """
    changes: dict[str, str] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise UserError(f"--set takes key=value, not {setting!r}.")
        changes[key] = value
    try:
        return type(config).model_validate({**dict(config), **changes})
    except ValidationError as error:
        raise _user_error(config, error) from None


def from_json(kind: type[C], values: Mapping[str, Any]) -> C:
    """Return the configuration that `config.model_dump()` turned into JSON values.

    Raises:
        UserError: A key is unknown or a value is not valid.
    """
    try:
        return kind.model_validate(values, strict=True)
    except ValidationError as error:
        raise _user_error(kind(), error) from None


def describe(config: Config) -> str:
    """Return every setting as `key=value`, as `override` accepts them."""
    return " ".join(f"{name}={text_of(value)}" for name, value in config)


def text_of(value: object) -> str:
    """Return a setting's value as `--set` accepts it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _user_error(config: Config, error: ValidationError) -> UserError:
    """Return the first mistake as one sentence."""
    details: ErrorDetails = error.errors(include_url=False)[0]
    if not details["loc"]:  # a rule about several fields
        return UserError(str(details.get("ctx", {}).get("error", details["msg"])))
    key, settings = str(details["loc"][0]), settings_of(config)
    if key not in settings:
        valid = ", ".join(sorted(settings))
        return UserError(f"There is no setting {key!r}; valid settings are {valid}.")
    value = repr(details["input"])
    value = value if len(value) <= 80 else f"{value[:77]}..."
    return UserError(f"{key} must be {settings[key].valid}, not {value}.")
