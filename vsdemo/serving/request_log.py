"""One line a request in JSON, without a visitor's text, photo, cookie or address."""

from __future__ import annotations

import json
import logging
import os
import re
import sys
from time import time

from vsdemo.serving.access import is_public

VARIABLE = "VSDEMO_REQUEST_LOG"
# Parts of paths that name a page, an upload or a photo.
PRIVATE = re.compile(r"(file=|heartbeat/|photo/|call/[^/]+/|stream/|assets/|proxy=).*")
log = logging.getLogger("vsdemo.requests")


def is_enabled() -> bool:
    """Whether requests are logged: on a public server, or with VSDEMO_REQUEST_LOG=1."""
    setting = os.environ.get(VARIABLE)
    return setting != "0" if setting else is_public()


def start() -> None:
    """Let the log write to standard error."""
    if not log.handlers:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter("%(message)s"))
        log.addHandler(handler)
        log.setLevel(logging.INFO)
        log.propagate = False


def write(method: str, path: str, status: int, *, seconds: float, sent: int) -> None:
    """Write the line of a request.

    Args:
        method: The HTTP method, such as "GET".
        path: The path; names in it are left out.
        status: HTTP status of the answer; 0 if there was none.
        seconds: How long the request took.
        sent: Bytes of the answer.
    """
    line = {
        "time": round(time(), 3),
        "method": method,
        "path": PRIVATE.sub(r"\1...", path)[:100],
        "status": status,
        "ms": round(1000 * seconds, 1),
        "bytes": sent,
    }
    log.info(json.dumps(line))
