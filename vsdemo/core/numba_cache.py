"""Where numba keeps what it has compiled."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

from vsdemo.core.paths import home


def let_numba_cache() -> None:
    """Let numba keep what it compiles below VSDEMO_HOME if it can write nowhere else.

    To be called before numba is imported. Otherwise umap could not be imported, for instance by the
    user of a container. By default numba writes beside the code, or to the user's own folder.
    """
    umap = find_spec("umap")
    assert umap is not None
    assert umap.origin is not None
    packages = (Path(umap.origin).parent, Path(__file__).parents[1])
    is_writable = [os.access(place, os.W_OK) for place in (Path.home(), *packages)]
    if not is_writable[0] and not all(is_writable):
        os.environ.setdefault("NUMBA_CACHE_DIR", str(home() / "numba"))
