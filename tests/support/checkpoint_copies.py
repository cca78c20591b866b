"""Copies of checkpoints to edit."""

import shutil
from pathlib import Path

from vsdemo.core import checksums


def editable_copy(checkpoint: Path, target: Path) -> Path:
    """Copy a checkpoint without its checksums, so that it can be edited."""
    return shutil.copytree(checkpoint, target, ignore=shutil.ignore_patterns(checksums.LIST))
