"""What a training learns from: the registry of materials.

A material is a class in a file of its own and one line here. `Config.material` names it.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from vsdemo import models
from vsdemo.core.config import Config
from vsdemo.core.errors import UserError

if TYPE_CHECKING:
    from vsdemo.training.materials.pairs import Pairs

MATERIALS = {
    "photos": "vsdemo.training.materials.photos:Photos",
    "scenes": "vsdemo.training.materials.scenes:Scenes",
    "tuned_photos": "vsdemo.training.materials.tuned_photos:TunedPhotos",
    "phrases": "vsdemo.training.materials.phrases:PhrasePhotos",
    "relations": "vsdemo.training.materials.relations:Relations",
    "sentence_pairs": "vsdemo.training.materials.sentence_pairs:SentencePairs",
    "concept_pairs": "vsdemo.training.materials.concept_pairs:ConceptPairs",
}


def material_class(name: str) -> type[Pairs]:
    """Return the class of a material.

    Raises:
        UserError: If there is no material of this name.
    """
    if name not in MATERIALS:
        raise UserError(f"There is no material {name!r}; choose one of {', '.join(MATERIALS)}.")
    module, _, attribute = MATERIALS[name].partition(":")
    kind: type[Pairs] = getattr(import_module(module), attribute)
    return kind


def create(
    preset: str, config: Config, dataset: str | None = None, watched: Sequence[str] = ()
) -> Pairs:
    """Return the material that a configuration learns from.

    Args:
        preset: Name of the preset that the configuration is based on.
        config: The configuration.
        dataset: Name of a data set; None for the usual one.
        watched: Sentences whose best photos are recorded at each evaluation.

    Raises:
        UserError: If data are missing, or the configuration does not suit the material.
    """
    model, _ = models.preset(preset)
    if not models.get(model).is_trained_here:
        raise UserError(
            f"{preset} comes with its weights and is not trained here; train another preset on its "
            f"features: --set backbone={config.backbone} --set crops={config.crops}."
        )
    kind = material_class(config.material)
    return kind(preset, config, dataset=dataset, watched=watched)
