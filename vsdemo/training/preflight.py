"""Checks before a training starts: data, backbone, cached features, memory and disk space."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

from vsdemo import models
from vsdemo.core.config import Config, override
from vsdemo.core.errors import UserError
from vsdemo.core.language import message, number, translate
from vsdemo.core.paths import home
from vsdemo.training.jobs.spec import JobSpec
from vsdemo.training.materials import material_class
from vsdemo.training.requirements import Check
from vsdemo.training.size import Size, estimate, memory_of_machine

RUN_SIZE = 300_000_000  # bytes that a run saves, at least
LARGE = 10**15  # bytes; larger estimates are not stated
SMALLER = message("choose a smaller dim or batch_size")
FEWER_SNAPSHOTS = message("choose a smaller dim or batch_size, or a larger snapshot_every")


def uses_photos(config: Config) -> bool:
    """Return whether a training looks at photos."""
    return material_class(config.material).uses_photos


def available_datasets(config: Config, own: Sequence[str] = ()) -> list[str]:
    """Return the available data sets for a configuration, the usual one first.

    Args:
        config: What to train.
        own: The user's own data sets, photos with captions.

    Returns:
        An empty list for a configuration that brings its own data.
    """
    return material_class(config.material).datasets(config, own)


def default_settings(config: Config, dataset: str | None) -> tuple[str, ...]:
    """Return the settings, as "key=value", that adapt a preset to a data set."""
    return material_class(config.material).default_settings(config, dataset)


def size(preset: str, config: Config, dataset: str | None) -> Size:
    """Estimate what a training takes.

    Raises:
        UserError: If data are missing, or the model refuses the configuration.
    """
    amounts = material_class(config.material).amounts(config, dataset)
    return estimate(models.preset(preset)[0], config, amounts)


def require_dataset(config: Config, dataset: str | None) -> list[str]:
    """Check that a training can learn from a data set.

    Returns:
        Sentences about what is left out of the training, or makes its figures rough.

    Raises:
        UserError: If it cannot, or the data set does not exist.
    """
    checks = material_class(config.material).check_dataset(dataset)
    if obstacles := [check.message for check in checks if not check.ok]:
        raise UserError(obstacles[0])
    return [check.message for check in checks]


def require_memory(preset: str, config: Config, dataset: str | None, processes: int = 1) -> None:
    """Check that the machine has the memory that a training takes.

    Args:
        preset: Name of a preset.
        config: Its configuration.
        dataset: Name of a data set; None for the usual one.
        processes: How many train together on this machine, each with all data.

    Raises:
        UserError: If it does not have enough, and as `size` does.
    """
    result = _check_memory(processes * size(preset, config, dataset).memory)
    if not result.ok:
        raise UserError(result.message)


def check(spec: JobSpec, limit: Size | None = None) -> list[Check]:
    """Return what a job needs, in the order of the work.

    Args:
        spec: The job.
        limit: What a server allows; None for no limit.

    Raises:
        UserError: If the preset does not exist or a setting is invalid.
    """
    config = override(models.preset(spec.preset)[1], spec.settings)
    try:
        requirements = material_class(config.material).requirements(config, spec.dataset)
        checks = list(requirements.checks)
        if not all(check.ok for check in checks):
            return checks
        needed = size(spec.preset, config, spec.dataset)
    except (UserError, OSError) as error:
        return [Check(False, str(error))]
    checks.append(_check_memory(needed.memory))
    if limit:
        checks += _check_limit(needed, limit)
    checks.append(_check_disk(max(RUN_SIZE, needed.disk) + requirements.disk))
    return checks


def require(spec: JobSpec) -> None:
    """Check what a job needs.

    Raises:
        UserError: For the first thing that is missing, and as `check` does.
    """
    for result in check(spec):
        if not result.ok:
            raise UserError(result.message)


def _check_memory(needed: int) -> Check:
    memory = memory_of_machine()
    sizes = {"size": _size(memory), "needed": _about(needed)}
    if needed <= memory:
        text = message("This machine has {size} of memory; {needed} are needed.")
        return Check(True, translate(text, **sizes))
    text = message("This machine has {size} of memory; {needed} are needed: {advice}.")
    return Check(False, translate(text, **sizes, advice=translate(SMALLER)))


def _check_limit(needed: Size, limit: Size) -> list[Check]:
    """Return what exceeds the limit of a server."""
    memory = message("This server allows {size} of memory; {needed} are needed: {advice}.")
    disk = message("This server allows {size} on the disk; {needed} are needed: {advice}.")
    return [
        Check(
            False,
            translate(text, size=_size(most), needed=_about(size), advice=translate(advice)),
        )
        for text, size, most, advice in (
            (memory, needed.memory, limit.memory, SMALLER),
            (disk, needed.disk, limit.disk, FEWER_SNAPSHOTS),
        )
        if size > most
    ]


def _about(size: int) -> str:
    if size < LARGE:
        return translate("about {size}", size=_size(size))
    return translate("more than {size}", size=_size(LARGE))


def _check_disk(needed: int) -> Check:
    folder = next(folder for folder in (home(), *home().parents) if folder.exists())
    free = shutil.disk_usage(folder).free
    sizes = {"size": _size(free), "needed": _about(needed)}
    if free >= needed:
        text = message("The disk has {size} free; {needed} are needed.")
        return Check(True, translate(text, **sizes))
    text = message("The disk has {size} free; {needed} are needed: free some space in {folder}.")
    return Check(False, translate(text, **sizes, folder=folder))


def _size(count: int) -> str:
    return f"{number(count / 1e9, 1)} GB" if count >= 1e9 else f"{number(count / 1e6)} MB"
