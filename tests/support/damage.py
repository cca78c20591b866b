"""Ways in which a file can be damaged."""

import random
from pathlib import Path


def _flipped(data: bytes) -> bytes:
    """Flip a bit of a byte in the last third."""
    place = len(data) * 2 // 3
    return data[:place] + bytes([data[place] ^ 0x10]) + data[place + 1 :]


DAMAGES = {
    "empty": lambda data: b"",
    "cut": lambda data: data[: len(data) // 2],
    "a bit": _flipped,
    "garbage": lambda data: random.Random(0).randbytes(5000),
    "nested": lambda data: b"[" * 100_000,
    "nested dicts": lambda data: b'{"a":' * 100_000,
    "a number": lambda data: b"5",
    "null": lambda data: b"null",
    "text": lambda data: b'"text"',
}


def damage(path: Path, kind: str) -> None:
    """Damage a file in one of the ways."""
    path.write_bytes(DAMAGES[kind](path.read_bytes()))
