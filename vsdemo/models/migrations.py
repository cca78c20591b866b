"""Updates of config.json files that older versions of vsdemo wrote.

config.json has a `version`; files without one are version 0. Each step turns the settings of one
version into those of the next. Tests read an example of every old file: tests/models/configs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Settings = dict[str, Any]


def migrate(values: dict[str, Any]) -> dict[str, Any]:
    """Return the content of config.json in the current version.

    Raises:
        ValueError: The file is of a newer version.
    """
    version = values.get("version", 0)
    if not isinstance(version, int) or not 0 <= version <= VERSION:
        raise ValueError(f"version {version}, but this vsdemo reads versions up to {VERSION}")
    steps = STEPS[version:]
    return {**_migrate_model(values, steps), "version": VERSION}


def _migrate_model(
    values: dict[str, Any], steps: list[Callable[[str, Settings], Settings]]
) -> dict[str, Any]:
    settings = dict(values["config"])
    for step in steps:
        settings = step(values["model"], settings)
    migrated = {**values, "config": settings}
    if members := values.get("members"):
        migrated["members"] = [_migrate_model(member, steps) for member in members]
    if teacher := values.get("teacher"):
        migrated["teacher"] = _migrate_model(teacher, steps)
    return migrated


def add_material(model: str, settings: Settings) -> Settings:
    """Version 1 names the data to learn from, which the model and the loss implied."""
    if "material" in settings:
        return settings
    if model == "hypernyms":
        material = "concept_pairs"
    elif settings.get("loss") == "entailment":
        material = "sentence_pairs"
    else:
        material = "photos"
    return {**settings, "material": material}


RENAMED = {
    "gentle": "average_start",
    "average": "average_decay",
    "decay": "weight_decay",
    "reset": "adagrad_reset",
    "alternate": "alternate_epochs",
    "snapshots": "snapshot_every",
    "semantics": "evaluate_sts",
    "wrong": "negatives",
    "f": "nonlinearity",
    "noise": "init_noise",
    "mil": "mil_start",
    "fragment": "fragment_weight",
    "ranking": "ranking_weight",
    "best": "best_region",
    "shared": "shared_matrix",
}


def rename_settings(model: str, settings: Settings) -> Settings:
    """Version 2 has plainer names."""
    return {RENAMED.get(name, name): value for name, value in settings.items()}


def migrate_overrides(settings: Sequence[str]) -> tuple[str, ...]:
    """Return `key=value` settings, as an older version stored them, with current names."""
    migrated = []
    for setting in settings:
        name, equals, value = setting.partition("=")
        migrated.append(f"{RENAMED.get(name, name)}{equals}{value}")
    return tuple(migrated)


def name_clip(model: str, settings: Settings) -> Settings:
    """Version 3 writes clip:NAME for open_clip/NAME, and has no `others_weight`, which was 0."""
    settings = {name: value for name, value in settings.items() if name != "others_weight"}
    backbone = str(settings.get("backbone", ""))
    if backbone.startswith("open_clip/"):
        settings["backbone"] = f"clip:{backbone.removeprefix('open_clip/')}"
    return settings


STEPS: list[Callable[[str, Settings], Settings]] = [add_material, rename_settings, name_clip]
VERSION = len(STEPS)
