"""Addresses of stores."""

from __future__ import annotations

from pathlib import Path

USEARCH, MILVUS = "usearch:", "milvus:"
ABOUT = "embeddings.json"  # in a folder of merged embeddings


def is_store(address: str) -> bool:
    """Return whether a text is the address of a store, and not of a gallery."""
    return address.startswith((USEARCH, MILVUS)) or (Path(address) / ABOUT).is_file()
