"""Towers: items of one kind in, `Embeddings` out.

prepare(items) turns sentences or photo features into what is kept in memory, collate(prepared)
stacks some of them into a batch, forward(batch) embeds it. `needs` says what an item must have. A
tower of sentences also says which words it passes over: unknown(sentence) -> (known, unknown).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from vsdemo.core.embeddings import Embeddings


class Encoder(Protocol):
    """What every tower offers; towers are `nn.Module`s."""

    needs: frozenset[str]  # of words, chars, dep_tree, const_tree, vector, regions
    dim: int

    def prepare(self, items: Sequence[Any]) -> list[Any]: ...

    def collate(self, prepared: Sequence[Any]) -> Any: ...

    def __call__(self, batch: Any) -> Embeddings: ...
