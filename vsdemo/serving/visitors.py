"""Who sends a request: a visitor with a cookie, or else an address."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from http.cookies import CookieError, SimpleCookie
from pathlib import Path

from starlette.types import Scope

from vsdemo.core import locks
from vsdemo.core.paths import atomic, home

COOKIE = "vsdemo_visitor"
MONTH = 30 * 24 * 3600  # seconds
KEY_FILE = "visitors.key"
KEY_BYTES = 32


def new_token() -> str:
    """Return a token of a new visitor, which nobody can guess or make up."""
    name = secrets.token_urlsafe(32)
    return f"{name}.{sign(name)}"


def is_token(token: str) -> bool:
    """Return whether this server has given a token to a visitor, now or before a restart."""
    name, _, signature = token.rpartition(".")
    return hmac.compare_digest(signature.encode(), sign(name).encode())


def token_of(headers: Mapping[str, str]) -> str | None:
    """Return the token in the cookie of a request; None if there is no valid one."""
    try:
        cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return None
    return cookie.value if cookie and is_token(cookie.value) else None


def cookie(token: str, path: str) -> str:
    """Return the header that gives a visitor their token.

    On Hugging Face Spaces the page is a frame in a page of another site.
    """
    place = "SameSite=None; Secure; Partitioned" if os.environ.get("SPACE_ID") else "SameSite=Lax"
    return f"{COOKIE}={token}; Path={path or '/'}; Max-Age={MONTH}; HttpOnly; {place}"


def address_of(scope: Scope, headers: Mapping[str, str], proxies: int) -> str:
    """Return the address that a request comes from.

    Args:
        scope: Scope of the request.
        headers: Headers of the request.
        proxies: How many proxies of the owner stand in front of the app. Each of them adds the
            address that it sees to X-Forwarded-For; what stands before could be made up.
    """
    forwarded = [part.strip() for part in headers.get("x-forwarded-for", "").split(",")]
    if proxies and len(forwarded) >= proxies and forwarded[-proxies]:
        return forwarded[-proxies][:64]
    client = scope.get("client")
    return str(client[0]) if client else ""


def fingerprint(token: str) -> str:
    """Return a fingerprint of a token that can be stored; it does not reveal the token."""
    return hashlib.sha256(token.encode()).hexdigest()


@cache
def key() -> bytes:
    """Return the key of this server, which only it knows; it is made at the first start.

    All processes that share a VSDEMO_HOME have the same one.
    """
    path = home() / KEY_FILE
    if stored := _read_key(path):
        return stored
    with locks.turn(path):
        if stored := _read_key(path):  # another process has made it meanwhile
            return stored
        made = secrets.token_bytes(KEY_BYTES)
        with atomic(path) as temporary:
            temporary.touch(mode=0o600)
            temporary.write_bytes(made)
        return made


def _read_key(path: Path) -> bytes | None:
    """Return the key in a file; None if it is missing or damaged."""
    with suppress(OSError):
        if len(stored := path.read_bytes()) == KEY_BYTES:
            return stored
    return None


def sign(text: str) -> str:
    """Return a signature of a text that only this server can compute: 32 hexadecimal digits."""
    return hmac.new(key(), text.encode(), hashlib.sha256).hexdigest()[:32]
