"""Configurations: frozen dataclasses whose fields carry their own help."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from vsdemo.core.errors import UserError


def option(
    default: Any,
    help: str,
    choices: Sequence[Any] | None = None,
    least: float | None = None,
    most: float = 1_000_000_000,
) -> Any:
    """A dataclass field with a default, one line of help and, where they are few, its choices.

    least, most: the range of a number; from 1 for whole ones and from 0 for others, unless given.
    """
    least = int(isinstance(default, int)) if least is None else least
    metadata = {"help": help, "choices": choices, "least": least, "most": most}
    return dataclasses.field(default=default, metadata=metadata)


VECTORS = (
    "of words: learned, or our own of caption text, fixed or tuned",
    ("learned", "fixed", "tuned"),
)


@dataclass(frozen=True)
class Config:
    """What every model's training needs; a model's own `Config` adds its fields.

    Defaults are those of Vendrov 2016, section 4.4, where the paper states one. `needs` is that of
    the text tower: sentences are parsed before there are a vocabulary and a tower.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"words"})

    material: str = option("photos", "data to learn from", ("photos",))
    backbone: str = option("torchvision/densenet169", "frozen image network; `vsdemo models`")
    crops: str = option("ten", "views of a photo, averaged", ("center", "mirror", "ten", "whole"))
    photos: int = option(0, "of train to learn from, the first ones; 0: all", least=0)
    min_count: int = option(2, "words seen less often in train become <unk>")
    seed: int = option(
        0, "of the weights, the order of photos and dropout", least=0, most=2**32 - 1
    )
    batch_size: int = option(
        128, "caption-photo pairs a step; all others are its negatives", least=2
    )
    sampling: str = option("one", "captions of a photo an epoch", ("one", "all"))
    bucket: int = option(1, "batches that share captions of like length; 1: drawn by lot alone")
    epochs: int = option(30, "at most; see patience")
    snapshots: int = option(
        0, "epochs between two checkpoints kept for ensembles; 0: none", least=0
    )
    evaluate_every: int = option(1, "epochs between two evaluations on dev")
    semantics: bool = option(False, "measure STS-B and SICK on dev where they are here; `curve`")
    patience: int = option(8, "evaluations without a better dev rsum before stopping")
    optimizer: str = option(
        "adam", "adam, or adagrad (Socher 2014, section 5)", ("adam", "adagrad")
    )
    learning_rate: float = option(0.001, "of the optimiser, at its highest")
    schedule: str = option(
        "constant", "of the learning rate", ("constant", "cosine", "cyclic", "step")
    )
    warmup: int = option(0, "steps in which the learning rate rises from 0", least=0)
    cycle_epochs: int = option(4, "length of a cycle (cyclic) or of a step (step), in epochs")
    clip: float = option(2.0, "largest norm of the gradient; 0 clips nothing")
    decay: float = option(0.0, "lambda of the penalty lambda / 2 |weights|^2")
    average: float = option(
        0.0, "decay a step of the average of weights that is kept; 0: none", most=0.9999
    )
    gentle: int = option(0, "epochs before weights are averaged", least=0)
    reset: int = option(5, "epochs after which adagrad forgets the gradients so far")
    alternate: int = option(0, "epochs a tower learns alone, the photos' first; 0: both", least=0)
    vectors: str = option("learned", *VECTORS)
    loss: str = option(
        "ranking", "hinges over pairs, or squared distances of right pairs", ("ranking", "squared")
    )
    margin: float = option(0.05, "of the hinge, in units of the score")
    hardest: float = option(
        0.0, "weight of the hardest negative beside the sum (VSE++), 0 to 1", most=1
    )

    @property
    def text_only(self) -> bool:
        """Whether it learns from labelled pairs of sentences or concepts, without photos."""
        return self.loss == "entailment"

    @property
    def task(self) -> str:
        """What a model is measured on unless somebody says otherwise."""
        return "nli" if self.text_only else "retrieval"


@dataclass(frozen=True)
class Symmetric(Config):
    """The recipe of the models with a symmetric score: VSE++ (Faghri 2018) on standardised
    features, all captions in an epoch, the learning rate falling to 0."""

    sampling: str = option("all", "captions of a photo an epoch", ("one", "all"))
    epochs: int = option(15, "at most; see patience")
    patience: int = option(4, "evaluations without a better dev rsum before stopping")
    schedule: str = option(
        "cosine", "of the learning rate", ("constant", "cosine", "cyclic", "step")
    )
    margin: float = option(0.2, "of the hinge, in units of the score")
    hardest: float = option(
        0.95, "weight of the hardest negative beside the sum (VSE++), 0 to 1", most=1
    )
    dim: int = option(1024, "of the joint space")
    word_dim: int = option(300, "of the word vectors")
    dropout: float = option(0.2, "share of words, states and features set to 0", most=0.9)
    standardize: bool = option(True, "photo features to mean 0 and variance 1")


OWN = "The model"  # the title of the fields that a model adds
GROUPS = {  # the shared fields, each once, by what they are about
    "Photos and words": ("material", "backbone", "crops", "photos", "min_count", "vectors"),
    "Batches": ("batch_size", "sampling", "bucket", "seed"),
    "How long": ("epochs", "patience", "evaluate_every", "semantics"),
    "Learning rate": (
        *("learning_rate", "schedule", "warmup", "cycle_epochs"),
        *("optimizer", "reset", "clip", "alternate"),
    ),
    "Loss": ("loss", "margin", "hardest", "decay"),
    "Weights kept": ("average", "gentle", "snapshots"),
}


def groups(config: Config) -> dict[str, list[dataclasses.Field[Any]]]:
    """Every field of a configuration once, by what it is about; the model's own come first."""
    fields = {f.name: f for f in dataclasses.fields(config)}
    shared = {name for names in GROUPS.values() for name in names}
    titled = {OWN: tuple(n for n in fields if n not in shared), **GROUPS}
    return {title: [fields[n] for n in names] for title, names in titled.items() if names}


C = TypeVar("C", bound=Config)


def _parse(field: dataclasses.Field[Any], text: str) -> Any:
    kind = type(field.default)
    try:
        if kind is bool:
            return {"true": True, "1": True, "false": False, "0": False}[text.lower()]
        value = kind(text)
    except (ValueError, KeyError):
        raise UserError(f"{field.name} takes {kind.__name__}, not {text!r}.") from None
    least, most = field.metadata["least"], field.metadata["most"]
    if isinstance(value, int | float) and not least <= value <= most:  # nor is nan
        raise UserError(f"{field.name} takes a number from {least:,} to {most:,}, not {text}.")
    choices = field.metadata["choices"]
    if choices and value not in choices:
        raise UserError(f"{field.name} is one of {', '.join(map(str, choices))}, not {text!r}.")
    return value


def override(config: C, settings: Sequence[str]) -> C:
    """The configuration with `key=value` settings applied.

    Raises UserError for an unknown key (it lists the valid ones) and for a value that does not fit.
    """
    fields = {f.name: f for f in dataclasses.fields(config)}
    changes: dict[str, Any] = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals:
            raise UserError(f"--set takes key=value, not {setting!r}.")
        if key not in fields:
            raise UserError(f"There is no setting {key!r}; valid are {', '.join(sorted(fields))}.")
        changes[key] = _parse(fields[key], text)
    return dataclasses.replace(config, **changes)


def describe(config: Config) -> str:
    """Every setting with its default."""
    return " ".join(f"{f.name}={getattr(config, f.name)}" for f in dataclasses.fields(config))


def from_dict(kind: type[C], values: dict[str, Any]) -> C:
    """A configuration read back from JSON. Raises UserError as `override` does."""
    return override(kind(), [f"{key}={value}" for key, value in values.items()])
