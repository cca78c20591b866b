"""The registry of models.

A model is a `Model` in a file of its paper and a line in `MODELS`. Another package adds one with
`register("name", "package.module:ATTRIBUTE")`. Modules are imported when they are first needed.
"""

from __future__ import annotations

from importlib import import_module

from vsdemo.core.config import Config
from vsdemo.core.errors import UserError
from vsdemo.data.text.vocab import Vocab
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.models.model import Model

MODELS: dict[str, str] = {  # name -> "module:attribute"
    "bow": "vsdemo.models.bow:BOW",
    "gru": "vsdemo.models.gru:GRU",
    "order": "vsdemo.models.vendrov2016:ORDER",
    "hierarchy": "vsdemo.models.hierarchy:HIERARCHY",
    "meru": "vsdemo.models.desai2023:MERU",
    "cones": "vsdemo.models.ganea2018:CONES",
    "rnn": "vsdemo.models.socher2014:RNN",
    "ct_rnn": "vsdemo.models.socher2014:CT_RNN",
    "dt_rnn": "vsdemo.models.socher2014:DT_RNN",
    "sdt_rnn": "vsdemo.models.socher2014:SDT_RNN",
    "dt_lstm": "vsdemo.models.dufour2015:DT_LSTM",
    "kcca": "vsdemo.models.kcca:KCCA",
    "fragments": "vsdemo.models.karpathy2014:FRAGMENTS",
    "fragments_photos": "vsdemo.models.fragments_photos:FRAGMENTS_PHOTOS",
    "devise": "vsdemo.models.frome2013:DEVISE",
    "char_gru": "vsdemo.models.merckx2019:CHAR_GRU",
    "vse": "vsdemo.models.vse:VSE",
    "vse_photos": "vsdemo.models.vse_photos:VSE_PHOTOS",
    "clip": "vsdemo.models.clip:CLIP",
    "hypernyms": "vsdemo.models.vendrov2016:HYPERNYMS",
}


def register(name: str, target: str) -> None:
    """Add a model of another package.

    Args:
        name: Name of the model.
        target: Where its `Model` is, as "module:attribute".

    Raises:
        ValueError: The name is taken by another model.
    """
    if MODELS.setdefault(name, target) != target:
        raise ValueError(f"the model {name!r} is registered already, as {MODELS[name]}")


def get(name: str) -> Model:
    """Return a model.

    Raises:
        UserError: The name is unknown; the message lists the valid ones.
    """
    if name not in MODELS:
        raise UserError(f"There is no model {name!r}; valid models are {', '.join(MODELS)}.")
    module, _, attribute = MODELS[name].partition(":")
    model: Model = getattr(import_module(module), attribute)
    return model


def presets() -> dict[str, tuple[str, Config]]:
    """Return preset name -> (model name, configuration), of models that are trained here."""
    return {name: preset for name, preset in _all().items() if get(preset[0]).is_trained_here}


def _all() -> dict[str, tuple[str, Config]]:
    return {
        preset: (name, config) for name in MODELS for preset, config in get(name).presets.items()
    }


def preset(name: str) -> tuple[str, Config]:
    """Return (model name, configuration) of a preset.

    Raises:
        UserError: The name is unknown; the message lists the valid ones.
    """
    known = _all()
    if name not in known:
        raise UserError(f"There is no preset {name!r}; valid presets are {', '.join(presets())}.")
    return known[name]


def build(name: str, config: Config, vocab: Vocab, features: int) -> DualEncoder:
    """Return a new model; `features` is the length of the backbone's vectors."""
    return get(name).build(config, vocab, features)
