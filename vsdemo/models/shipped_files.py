"""The files that come with vsdemo, and their checksums: compared or rewritten."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from vsdemo.core import checksums
from vsdemo.core.errors import UserError
from vsdemo.core.paths import checkpoints_root
from vsdemo.data import packaged
from vsdemo.data.text import parser
from vsdemo.models import checkpoint

UNLISTED = ("README.md", "events.jsonl", checksums.LIST)  # have no checksum


def lists() -> dict[Path, list[Path]]:
    """Return the files by the folder of their list.

    The models of the parser are not among them: `resources.json` has their checksums.
    """
    root = checkpoints_root()
    stanza = root / parser.FOLDER
    folders = [*checkpoint.shipped(), root / "pocket", root / "easel", root / "finder"]
    of_folders = {folder: files(folder) for folder in folders}
    return {packaged.FOLDER: packaged.files(), stanza: [stanza / "resources.json"]} | of_folders


def files(folder: Path) -> list[Path]:
    """Return the files of a checkpoint that have a checksum."""
    return [file for file in checkpoint.files(folder) if file.name not in UNLISTED]


def problems() -> Iterator[str]:
    """Yield a sentence for each file that is missing or has changed."""
    for folder, files in lists().items():
        try:
            known = checksums.read_list(folder)
        except UserError as error:
            yield str(error)
            continue
        listed = {folder / name for name in known}
        for file in sorted(listed | {*files}):
            if file not in listed:
                yield f"{file} has no checksum in {folder / checksums.LIST}."
                continue
            try:
                checksums.check(file, folder)
            except UserError as error:
                yield str(error)
    try:
        parser.check_models(checkpoints_root() / parser.FOLDER)
    except UserError as error:
        yield str(error)


def write() -> list[Path]:
    """Write the lists of the files as they are now, and return their folders."""
    for folder, files in lists().items():
        checksums.write_list(folder, files)
    return list(lists())
