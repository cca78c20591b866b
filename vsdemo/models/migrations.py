"""Updates of the config.json of older checkpoints."""

from __future__ import annotations

from typing import Any


def migrate(model: str, config: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a checkpoint of `model` in their current form."""
    if "material" in config:
        return config
    if model == "hypernyms":
        material = "concept_pairs"
    elif config.get("loss") == "entailment":
        material = "sentence_pairs"
    else:
        material = "photos"
    return {**config, "material": material}
