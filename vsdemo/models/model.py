"""The description of a model in the registry."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from vsdemo.core.config import Config
from vsdemo.data.text.vocab import Vocab
from vsdemo.models.dual_encoder import DualEncoder


@dataclass(frozen=True)
class Model:
    """A model: its configuration, its presets and the function that builds it.

    Attributes:
        config: Class of its configurations.
        presets: Preset name -> configuration; a name is that of the model, or it and a variant,
            such as "bow/paper".
        build: Builds a new, untrained model from a configuration, a vocabulary and the length of
            a photo's (or region's) feature vector, 0 without photos. Its docstring describes the
            model: citation, equations and numbered departures.
        kind: What it does, in a few plain words for visitors; may be empty.
        kinds: Preset name -> what this preset does, where that is something else.
        paper: Its authors, such as "Vendrov et al."; may be empty.
        year: When the paper appeared; None if unknown.
        aligns: Whether it aligns parts of sentences with regions of photos.
        is_trained_here: Whether `train` trains it; others come with the weights of their backbone.
        recipe: The command that makes the shipped weights of such a model.
    """

    config: type[Config]
    presets: Mapping[str, Config]
    build: Callable[[Any, Vocab, int], DualEncoder]
    kind: str = ""
    kinds: Mapping[str, str] = field(default_factory=dict)
    paper: str = ""
    year: int | None = None
    aligns: bool = False
    is_trained_here: bool = True
    recipe: str = "train"

    def kind_of(self, preset: str) -> str:
        """Return what a preset does, in a few plain words for visitors."""
        return self.kinds.get(preset, self.kind)

    @property
    def description(self) -> str:
        """The docstring of `build`."""
        return inspect.getdoc(self.build) or ""

    @property
    def summary(self) -> str:
        """The first line of the description."""
        return self.description.partition("\n")[0]
