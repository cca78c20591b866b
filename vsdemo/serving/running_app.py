"""A client of the API of an app that runs already, so that no model need be loaded."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from typing import Any, TypeVar
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, Request, build_opener

from pydantic import BaseModel

from vsdemo.core.errors import UserError
from vsdemo.serving.api_records import DescribeAnswer, PhotoHit, SearchAnswer
from vsdemo.serving.records import GalleryRecord, ModelRecord, SentenceHit

EXAMPLE = "http://127.0.0.1:7860"
HERE = ("localhost", "127.0.0.1", "::1")  # reached without a proxy
PATIENCE = 600  # seconds; the app may have to prepare a gallery first
BACKEND = "VSDEMO_BACKEND"
NUMBER = "number"  # of a hit; the number of the photo in its gallery is not sent
Answer = TypeVar("Answer", bound=BaseModel)


class NoAnswer(UserError):
    """An app does not answer, or not as this version of vsdemo does."""


class RunningApp:
    """An app that runs already.

    Args:
        address: Address of the app, such as EXAMPLE.
        patience: Seconds that an answer may take.

    Raises:
        UserError: This is not an address.
    """

    def __init__(self, address: str, patience: float = PATIENCE) -> None:
        self.address, self._patience = address, patience
        try:
            parts = urlsplit(address)
        except ValueError:  # such as http://[
            parts = urlsplit("")
        if parts.scheme not in ("http", "https"):
            raise UserError(f"{address!r} is not the address of an app; write it like {EXAMPLE}.")
        handlers = [ProxyHandler({})] if parts.hostname in HERE else []
        self._opener = build_opener(*handlers)

    def models(self) -> list[ModelRecord]:
        """Return the models of the app. Raises UserError as `search`."""
        return self._many(ModelRecord, self._ask("api/models"))

    def galleries(self) -> list[GalleryRecord]:
        """Return the galleries of the app. Raises UserError as `search`."""
        return self._many(GalleryRecord, self._ask("api/galleries"))

    def search(self, parameters: dict[str, Any]) -> SearchAnswer:
        """Return the answer to a search.

        Args:
            parameters: Those of /api/search.

        Raises:
            NoAnswer: The app does not answer.
            UserError: It refuses the request.
        """
        answer = self._ask("api/search", parameters)
        with self._other_version():
            hits = [{**hit, NUMBER: number} for number, hit in enumerate(answer["hits"])]
            return _read(SearchAnswer, {**answer, "hits": [_read(PhotoHit, hit) for hit in hits]})

    def describe(self, parameters: dict[str, Any]) -> DescribeAnswer:
        """Return the sentences that describe a photo; `parameters` are those of /api/describe.

        Raises:
            UserError: As `search`.
        """
        answer = self._ask("api/describe", parameters)
        with self._other_version():
            hits = [_read(SentenceHit, hit) for hit in answer["hits"]]
            return _read(DescribeAnswer, {**answer, "hits": hits})

    def photo(self, url: str) -> tuple[bytes, str]:
        """Return a photo by the `url` of a hit: the bytes of the file, and its media type.

        Raises:
            UserError: As `search`.
        """
        with self._open(url) as response:
            return response.read(), response.headers.get_content_type()

    @property
    def is_ready(self) -> bool:
        """Whether the app answers searches."""
        try:
            with self._open("ready"):
                return True
        except UserError:
            return False

    def _many(self, kind: type[Answer], answer: Any) -> list[Answer]:
        with self._other_version():
            return [_read(kind, record) for record in answer]

    def _ask(self, path: str, parameters: dict[str, Any] | None = None) -> Any:
        with self._open(path, parameters) as response:
            return json.load(response)

    @contextmanager
    def _open(self, path: str, parameters: dict[str, Any] | None = None) -> Iterator[Any]:
        data = None if parameters is None else json.dumps(parameters).encode()
        request = Request(
            f"{self.address.rstrip('/')}/{path}",
            data=data,
            headers={"Content-Type": "application/json"},
        )
        try:
            with self._opener.open(request, timeout=self._patience) as response:
                yield response
        except HTTPError as error:
            raise _refusal(error, self.address) from None
        except TimeoutError:
            raise NoAnswer(
                f"The app at {self.address} has not answered within {self._patience:g} s; try "
                "again later."
            ) from None
        except (OSError, ValueError, HTTPException) as error:
            reason = getattr(error, "reason", error)
            raise NoAnswer(
                f"No app answers at {self.address} ({reason}); start one with `python -m vsdemo "
                "app`."
            ) from None

    @contextmanager
    def _other_version(self) -> Iterator[None]:
        """Raise NoAnswer if an answer lacks what it should have."""
        try:
            yield
        except (LookupError, TypeError, ValueError):
            raise NoAnswer(
                f"The app at {self.address} has another version; update one of the two."
            ) from None


def _read(kind: type[Answer], values: dict[str, Any]) -> Answer:
    """Return the known fields of an answer, which may have others, as a record."""
    return kind(**{name: values[name] for name in kind.model_fields if name in values})


def chosen() -> str | None:
    """Return the address of the app that the owner wants to answer for this one, if any."""
    return os.environ.get(BACKEND) or None


def encoded(photo: Path) -> str:
    """Return a photo as it is sent.

    Raises:
        UserError: The file cannot be read.
    """
    try:
        return base64.b64encode(photo.read_bytes()).decode()
    except OSError as error:
        raise UserError(f"The photo {photo} cannot be read ({error.strerror}).") from None


def gallery_key(gallery: str, split: str) -> str:
    """Return the key of a split of a data set, a file or a folder in the app, such as mine-all."""
    is_path = "/" in gallery or Path(gallery).exists()
    return f"{Path(gallery).stem if is_path else gallery}-{split}".lower()


def _refusal(error: HTTPError, address: str) -> UserError:
    try:
        return UserError(json.load(error)["error"]["message"])
    except (OSError, ValueError, LookupError, TypeError):
        return NoAnswer(f"What runs at {address} is not vsdemo's app ({error.reason}).")
