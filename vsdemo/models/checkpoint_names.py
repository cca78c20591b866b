"""Names of checkpoints: shipped ones, folders, and checkpoints stored elsewhere.

A new kind of name is a function that returns a folder, and a line in `SCHEMES`.
"""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path

from vsdemo.core.errors import UserError
from vsdemo.core.paths import AnyPath, checkpoints_root, to_path
from vsdemo.models import checkpoint

SCHEMES = {  # start of a name -> "module:function", which returns the folder for the rest of it
    "clip:": "vsdemo.models.pretrained:folder_of",
    "hf://": "vsdemo.models.hub:download",
}


def shipped() -> dict[str, Path]:
    """Return the folders of the shipped checkpoints by name, such as `flickr8k/gru`."""
    root = checkpoints_root()
    return {folder.relative_to(root).as_posix(): folder for folder in checkpoint.shipped()}


def find(name: AnyPath) -> Path:
    """Return the folder of a checkpoint, which is downloaded if it is stored elsewhere.

    Args:
        name: The name of a shipped checkpoint, such as `flickr8k/gru`; a folder; or a name that
            begins with one of `SCHEMES`: `clip:NAME` of open_clip, or `hf://user/repo`.

    Raises:
        UserError: There is no such checkpoint, or it cannot be downloaded.
    """
    text = str(name)
    for start, target in SCHEMES.items():
        if text.startswith(start):
            module, _, attribute = target.partition(":")
            download = getattr(import_module(module), attribute)
            return Path(download(text.removeprefix(start)))
    known = shipped()
    folder = known.get(text) or to_path(name)
    if not os.path.isdir(folder):  # false also for text that cannot be a path
        raise UserError(
            f"There is no checkpoint {text[:200]!r}; give a folder, clip:NAME, hf://user/repo, or "
            f"one of {', '.join(known)}."
        )
    return folder
