"""Uploaded photos, with names by which a page that is loaded again can show them again.

The sentence that describes a photo best is remembered with it, as its alternative text.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from pathlib import Path
from threading import Lock

from gradio.data_classes import FileData
from gradio.exceptions import Error
from gradio.processing_utils import check_all_files_in_cache

from vsdemo.core.errors import UserError
from vsdemo.core.language import message

MAX_UPLOADS = 10_000  # remembered
GONE = message("Your photo is no longer on the server; choose it again.")


def is_uploaded(path: str | None) -> bool:
    """Return whether a path that a request names is that of an uploaded file.

    Gradio checks only what a request marks as a file.
    """
    if not path:
        return False
    try:
        check_all_files_in_cache(FileData(path=path).model_dump())  # type: ignore[arg-type]
    except (Error, OSError, ValueError):  # ValueError: a path with a null byte
        return False
    return True


class Uploads:
    """Tokens of uploaded photos, which nobody can guess, for the history of a browser."""

    def __init__(self) -> None:
        self._paths: OrderedDict[str, str] = OrderedDict()
        self._tokens: dict[str, str] = {}
        self._sentences: dict[str, str] = {}
        self._lock = Lock()

    def token(self, path: str) -> str:
        """Return the token of an uploaded photo."""
        with self._lock:
            token = self._tokens.get(path)
            if token is None:
                token = self._tokens[path] = secrets.token_urlsafe(16)
                self._paths[token] = path
            self._paths.move_to_end(token)
            if len(self._paths) > MAX_UPLOADS:
                _, oldest = self._paths.popitem(last=False)
                del self._tokens[oldest]
                self._sentences.pop(oldest, None)
            return token

    def describe(self, path: str, sentence: str) -> None:
        """Remember the sentence that describes an uploaded photo best."""
        self.token(path)
        self._sentences[path] = sentence

    def sentence(self, path: str) -> str:
        """Return the sentence that describes an uploaded photo best; empty before it is known."""
        return self._sentences.get(path, "")

    def path(self, token: str) -> str:
        """Return the path of an uploaded photo.

        Raises:
            UserError: If the token is unknown or the file was deleted.
        """
        path = self._paths.get(token)
        if path is None or not Path(path).exists():
            raise UserError(GONE)
        return path
