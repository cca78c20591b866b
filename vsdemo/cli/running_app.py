"""Asks an app that runs already, so that no model need be loaded."""

from __future__ import annotations

import base64
import json
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, Request, build_opener

from vsdemo.core.errors import UserError
from vsdemo.serving.records import PhotoHit, SearchAnswer

EXAMPLE = "http://127.0.0.1:7860"
HERE = ("localhost", "127.0.0.1", "::1")  # are reached without a proxy
PATIENCE = 600  # seconds; the app may have to prepare a gallery first
HIT = ("rank", "photo", "score", "unit_score")  # what is shown of a photo


def search(address: str, parameters: dict[str, Any]) -> SearchAnswer:
    """Return the answer of an app to a search.

    Args:
        address: Of the app, such as EXAMPLE.
        parameters: Those of /api/search.

    Raises:
        UserError: No app answers there, or it refuses the request.
    """
    answer = _ask(address, "search", parameters)
    try:
        hits = [
            PhotoHit(number=number, **{name: hit[name] for name in HIT})
            for number, hit in enumerate(answer["hits"])
        ]
        values = {name: answer[name] for name in SearchAnswer.model_fields}
        return SearchAnswer(**{**values, "hits": hits})
    except (LookupError, TypeError, ValueError):
        raise UserError(
            f"The app at {address} has another version; update one of the two."
        ) from None


def _ask(address: str, endpoint: str, parameters: dict[str, Any]) -> Any:
    if not address.startswith(("http://", "https://")):
        raise UserError(f"{address!r} is not the address of an app; write it like {EXAMPLE}.")
    url = f"{address.rstrip('/')}/api/{endpoint}"
    try:
        is_here = urlsplit(address).hostname in HERE
        opener = build_opener(ProxyHandler({})) if is_here else build_opener()
        request = Request(
            url,
            data=json.dumps(parameters).encode(),
            headers={"Content-Type": "application/json"},
        )
        with opener.open(request, timeout=PATIENCE) as response:
            return json.load(response)
    except HTTPError as error:
        raise UserError(_refusal(error, address)) from None
    except (OSError, ValueError, HTTPException) as error:
        reason = getattr(error, "reason", error)
        raise UserError(
            f"No app answers at {address} ({reason}); start one by `python -m vsdemo app`."
        ) from None


def encoded(photo: Path) -> str:
    """Return a photo as it is sent.

    Raises:
        UserError: The file cannot be read.
    """
    try:
        return base64.b64encode(photo.read_bytes()).decode()
    except OSError as error:
        raise UserError(f"The photo {photo} cannot be read ({error.strerror}).") from None


def model_name(checkpoint: Path) -> str:
    """Return the name of a checkpoint in the app, such as storybook/gru."""
    return "/".join(checkpoint.resolve().parts[-2:])


def gallery_key(gallery: str, split: str) -> str:
    """Return the key of a split of a data set, a file or a folder in the app, such as mine-all."""
    is_path = "/" in gallery or Path(gallery).exists()
    return f"{Path(gallery).stem if is_path else gallery}-{split}".lower()


def _refusal(error: HTTPError, address: str) -> str:
    try:
        return str(json.load(error)["error"]["message"])
    except (OSError, ValueError, LookupError, TypeError):
        return f"What runs at {address} is not vsdemo's app ({error.reason})."
