"""Folders and tar files of drawn photos."""

import io
import tarfile
from itertools import product
from pathlib import Path

from tests.conftest import COLOURS, SHAPES, draw


def photo_bytes(count: int) -> list[bytes]:
    """Return JPEG files of drawn photos, all different."""
    scenes = [scene for scene in product(SHAPES, COLOURS, COLOURS) if scene[1] != scene[2]]
    result = []
    for scene in scenes[:count]:
        file = io.BytesIO()
        draw(*scene).save(file, "JPEG")
        result.append(file.getvalue())
    return result


def write_tar(path: Path, members: list[tuple[str, bytes]]) -> Path:
    """Write a tar file of members by name, in order."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w") as archive:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path
