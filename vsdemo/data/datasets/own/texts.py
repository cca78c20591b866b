"""Text files next to photos: `photo.jpg.txt` or `photo.txt`, one caption per line."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath

from vsdemo.core.errors import UserError
from vsdemo.data.datasets.own.caption_list import CaptionList, Captions, Kind, read_text

SUFFIX = ".txt"
MAX_TEXT = 1_000_000  # bytes of a text file


def text_files(folder: Path, paths: Sequence[str]) -> dict[str, str]:
    """Return the text file of each photo that has one, both as paths below the folder."""
    photos: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        below, _, name = path.rpartition("/")
        photos[below].append(name)
    result = {}
    for below, names in photos.items():
        texts = _text_files_in(folder / below)
        for name in names if texts else ():
            for wanted in (f"{name}{SUFFIX}", f"{PurePosixPath(name).stem}{SUFFIX}"):
                if text := texts.get(wanted.lower()):
                    start = f"{below}/" if below else ""
                    result[f"{start}{name}"] = f"{start}{text}"
                    break
    return result


def read(folder: Path, paths: Sequence[str]) -> Captions:
    """Return the captions in text files next to photos."""
    captions = CaptionList()
    for photo, text in text_files(folder, paths).items():
        try:
            lines = read_text(folder / text, captions.problems, MAX_TEXT).splitlines()
        except UserError as error:
            captions.problem(Kind.INCOMPLETE, str(error))
            continue
        if not any(map(str.strip, lines)):
            captions.problem(Kind.EMPTY, f"{text} is empty; write one caption per line.")
        for number, line in enumerate(lines, start=1):
            if line.strip():
                captions.add(photo, line, f"{text}, line {number}")
    return captions.result()


def _text_files_in(folder: Path) -> dict[str, str]:
    """Return the names of the text files in a folder, by the name in lower case."""
    names: dict[str, str] = {}
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.lower().endswith(SUFFIX) and entry.is_file():
                names[entry.name.lower()] = entry.name
    return names
