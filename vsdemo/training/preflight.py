"""Checks before a training starts: data, backbone, cached features and disk space."""

from __future__ import annotations

import shutil

from vsdemo import models
from vsdemo.core.config import Config, override
from vsdemo.core.errors import UserError
from vsdemo.core.paths import home
from vsdemo.training.jobs.spec import JobSpec
from vsdemo.training.materials import material_class
from vsdemo.training.requirements import Check

RUN_SIZE = 300_000_000  # bytes that a run saves, twice, as files are replaced only when complete


def available_datasets(config: Config) -> list[str]:
    """Return the available data sets for a configuration, the usual one first.

    The list is empty for a configuration that learns from data of its own.
    """
    return material_class(config.material).datasets(config)


def default_settings(config: Config, dataset: str | None) -> tuple[str, ...]:
    """Return the settings, as "key=value", that adapt a preset to a data set."""
    return material_class(config.material).default_settings(config, dataset)


def check(spec: JobSpec) -> list[Check]:
    """Return what a job needs, in the order of the work.

    Raises:
        UserError: If the preset does not exist or a setting is invalid.
    """
    config = override(models.preset(spec.preset)[1], spec.settings)
    try:
        requirements = material_class(config.material).requirements(config, spec.dataset)
    except (UserError, OSError) as error:
        return [Check(False, str(error))]
    checks = list(requirements.checks)
    if all(check.ok for check in checks):
        checks.append(_check_disk(RUN_SIZE + requirements.disk))
    return checks


def require(spec: JobSpec) -> None:
    """Check what a job needs.

    Raises:
        UserError: For the first thing that is missing, and as `check` does.
    """
    for result in check(spec):
        if not result.ok:
            raise UserError(result.message)


def _check_disk(needed: int) -> Check:
    folder = next(folder for folder in (home(), *home().parents) if folder.exists())
    free = shutil.disk_usage(folder).free
    message = f"The disk has {_size(free)} free; about {_size(needed)} are needed"
    if free >= needed:
        return Check(True, f"{message}.")
    return Check(False, f"{message}: free some space in {folder}.")


def _size(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"
