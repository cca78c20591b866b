"""Models as encoders of the benchmarks of `mteb`, which this package does not need otherwise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import torch.nn.functional as F

from vsdemo.core.errors import UserError
from vsdemo.search.embedding_model import EmbeddingModel

if TYPE_CHECKING:
    from mteb.models import ModelMeta


class MtebEncoder:
    """A model that follows the `EncoderProtocol` of mteb 2: `mteb.evaluate(encoder, tasks)`.

    Sentences and images are compared by the cosine, which mteb takes in both directions. The ranks
    of a model that is trained with an order therefore differ from those of its own score, which
    `python -m vsdemo evaluate` measures.

    Args:
        model: The model; sentences only, if it has a set of vectors for each image.
    """

    def __init__(self, model: EmbeddingModel) -> None:
        self.model = model

    @property
    def mteb_model_meta(self) -> ModelMeta:
        """What mteb files the results under: the preset, and as its revision the content hash."""
        from mteb.models import ModelMeta

        reader = self.model.reader
        has_images = reader.spec.features and not reader.can_align
        return ModelMeta.create_empty(
            overwrites={
                "name": f"vsdemo/{reader.spec.preset.replace('/', '-')}",
                "revision": reader.content_hash,
                "languages": ["eng-Latn"],
                "framework": ["PyTorch"],
                "similarity_fn_name": "cosine",
                "modalities": ["text", "image"] if has_images else ["text"],
            }
        )

    def encode(
        self,
        inputs: Iterable[Mapping[str, Any]],
        *,
        task_metadata: Any = None,
        hf_split: str = "",
        hf_subset: str = "",
        prompt_type: Any = None,
        **kwargs: Any,
    ) -> np.ndarray:
        """Return the vectors of N items, (N, D), of length 1; float32.

        Args:
            inputs: Batches, such as of a `DataLoader`: `text`, `image` or both -> their B items.
                The vector of an item with both has the direction of their sum, as in mteb's own
                models.
            task_metadata: Not used, nor are the others: the models take no prompts.
            hf_split: Not used.
            hf_subset: Not used.
            prompt_type: Not used.
            **kwargs: Not used.

        Raises:
            UserError: As `EmbeddingModel.encode` and `encode_image`, or there are no items or they
                are neither text nor images.
        """
        parts = [self._encode_batch(batch) for batch in inputs]
        if not parts:
            raise UserError("There is nothing to encode; give at least one batch.")
        return np.concatenate(parts)

    def _encode_batch(self, batch: Mapping[str, Any]) -> np.ndarray:
        vectors = []
        if "text" in batch:
            vectors.append(torch.as_tensor(self.model.encode(batch["text"])))
        if "image" in batch:
            images = torch.from_numpy(self.model.encode_image(batch["image"]))
            vectors.append(self.model.reader.score.angle_part(images))
        if not vectors:
            raise UserError(f"These models read text and images, not {', '.join(batch)}.")
        total = torch.stack([F.normalize(x, dim=-1) for x in vectors]).sum(0)
        return F.normalize(total, dim=-1).numpy()

    def similarity(self, embeddings1: Any, embeddings2: Any) -> torch.Tensor:
        """Return the cosines of M vectors with N vectors, (M, N)."""
        return _unit(embeddings1) @ _unit(embeddings2).T

    def similarity_pairwise(self, embeddings1: Any, embeddings2: Any) -> torch.Tensor:
        """Return the cosines of N vectors with N others, row by row, (N,)."""
        return (_unit(embeddings1) * _unit(embeddings2)).sum(-1)


def _unit(embeddings: Any) -> torch.Tensor:
    """Return vectors (N, D), or one (D,), as a tensor (N, D) of length 1."""
    return F.normalize(torch.atleast_2d(torch.as_tensor(embeddings)), dim=-1)
