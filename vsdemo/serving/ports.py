"""The port of the web server, checked before anything is loaded."""

from __future__ import annotations

import os
import re
import socket

from vsdemo.core.errors import UserError

DEFAULT = 7860
LARGEST = 65_535
NUMBER = re.compile("[0-9]{1,5}")
VARIABLE = "GRADIO_SERVER_PORT"


def choose(port: int | None) -> int:
    """Return a port, by default GRADIO_SERVER_PORT or 7860.

    Raises:
        UserError: It is not a port, or it cannot be used.
    """
    text = str(port or os.environ.get(VARIABLE) or DEFAULT)
    number = int(text) if NUMBER.fullmatch(text) else 0
    if not 1 <= number <= LARGEST:
        raise UserError(f"A port is a number from 1 to {LARGEST:,}, not {text[:20]!r}.")
    _check(number)
    return number


def _check(port: int) -> None:
    host = os.environ.get("GRADIO_SERVER_NAME") or "127.0.0.1"
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, protocol) as probe:
            if os.name == "posix":  # elsewhere it would allow taking the port of another program
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise UserError(
            f"Port {port} of {host} cannot be used ({error.strerror or error}); choose another one "
            f"with `python -m vsdemo app --port NUMBER`, or with {VARIABLE} for `python app.py`."
        ) from None
