"""The registry: a model is one file with `Config`, `PRESETS` and `build`, and one line here."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

from vsdemo.core.config import Config
from vsdemo.core.errors import UserError
from vsdemo.data.text.vocab import Vocab
from vsdemo.models.dual_encoder import DualEncoder

MODELS = {
    "bow": "vsdemo.models.bow",
    "gru": "vsdemo.models.gru",
    "order": "vsdemo.models.order",
    "rnn": "vsdemo.models.rnn",
    "ct_rnn": "vsdemo.models.ct_rnn",
    "dt_rnn": "vsdemo.models.dt_rnn",
    "sdt_rnn": "vsdemo.models.sdt_rnn",
    "dt_lstm": "vsdemo.models.dt_lstm",
    "kcca": "vsdemo.models.kcca",
    "fragments": "vsdemo.models.fragments",
    "devise": "vsdemo.models.devise",
    "char_gru": "vsdemo.models.char_gru",
    "hypernyms": "vsdemo.models.hypernyms",
}


def module(name: str) -> ModuleType:
    """A model's module. Raises UserError for an unknown name, listing the valid ones."""
    if name not in MODELS:
        raise UserError(f"There is no model {name!r}; valid are {', '.join(MODELS)}.")
    return import_module(MODELS[name])


def presets() -> dict[str, tuple[str, Any]]:
    """Preset name -> (model name, configuration)."""
    return {p: (m, c) for m in MODELS for p, c in module(m).PRESETS.items()}


def preset(name: str) -> tuple[str, Any]:
    """(model name, configuration) of a preset. Raises UserError for an unknown name."""
    known = presets()
    if name not in known:
        raise UserError(f"There is no preset {name!r}; valid are {', '.join(known)}.")
    return known[name]


def build(name: str, config: Config, vocab: Vocab, features: int) -> DualEncoder:
    """A new model; `features` is the length of the backbone's vector."""
    return module(name).build(config, vocab, features)
