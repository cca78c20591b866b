"""Batches that are embedded in parts: each rank embeds its share, some items at a time.

For a batch with all of its negatives, the backward pass needs much memory. With `chunk`, it needs
memory for that many items at a time only: they are embedded without storing what it reads, and
embedded again, with the same dropout, in the backward pass (GradCache: Gao et al., "Scaling deep
contrastive learning batch size under memory limited setup", RepL4NLP 2021). Loss and gradients are
those of the whole batch.

Evaluation data is also embedded by all ranks, without gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from torch import Tensor
from torch.utils.checkpoint import checkpoint

from vsdemo.core.device import device
from vsdemo.core.embeddings import Embeddings
from vsdemo.encoders import Encoder
from vsdemo.encoders.tuned_image import Views
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.training import distributed


def embed_texts(encoder: Encoder, prepared: Sequence[Any], chunk: int) -> Embeddings:
    """Embed the N prepared texts of a batch, on all ranks together.

    Args:
        encoder: The text encoder.
        prepared: What it has prepared.
        chunk: Texts at a time; 0 for all at once.

    Returns:
        (N, D), or sets (N, M, D).
    """

    def batch_of(rows: slice) -> Any:
        return encoder.collate(prepared[rows]).to(device())

    return _embed(encoder, batch_of, len(prepared), chunk)


def embed_photos(encoder: Encoder, features: Tensor | Views, chunk: int) -> Embeddings:
    """Embed the photos of a batch, on all ranks together.

    Args:
        encoder: The image encoder.
        features: (N, F), of regions (N, K, F), or stems.
        chunk: Photos at a time; 0 for all at once.

    Returns:
        (N, D), or sets (N, K, D).
    """
    if _is_in_parts(chunk):
        encoder.observe(features)
    return _embed(encoder, features.__getitem__, len(features), chunk)


def _is_in_parts(chunk: int) -> bool:
    return chunk > 0 or distributed.count() > 1


def _embed(
    encoder: Encoder, batch_of: Callable[[slice], Any], items: int, chunk: int
) -> Embeddings:
    """Embed items; `batch_of` returns those of a slice as a batch of the encoder."""
    if not _is_in_parts(chunk):
        return encoder(batch_of(slice(0, items)))

    def embed(rows: slice) -> Embeddings:
        size = chunk or items
        starts = range(rows.start, rows.stop, size)
        batches = (batch_of(slice(start, min(start + size, rows.stop))) for start in starts)
        return Embeddings.cat([_embed_twice(encoder, b) if chunk else encoder(b) for b in batches])

    return _embed_shares(items, embed)


def _embed_shares(items: int, embed: Callable[[slice], Embeddings]) -> Embeddings:
    """Embed the share of this rank, and return the embeddings of all ranks."""
    own = distributed.share(items)
    if own.start == own.stop:  # more ranks than items; one without a share embeds an item in vain
        return distributed.gather(embed(slice(0, 1))[:0], items)
    return distributed.gather(embed(own), items)


@contextmanager
def shared(model: DualEncoder) -> Iterator[None]:
    """Let all ranks share the work of embedding within the block, which all of them run."""
    before = model.division
    model.division = _embed_shares
    try:
        yield
    finally:
        model.division = before


def _embed_twice(encoder: Encoder, batch: Any) -> Embeddings:
    """Embed a batch, and again in the backward pass."""
    weight = next(encoder.parameters())  # tells `checkpoint` whose random state it has to restore
    embeddings: Embeddings = checkpoint(
        lambda batch, _: encoder(batch), batch, weight, use_reentrant=False
    )
    return embeddings
