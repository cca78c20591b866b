"""A transformer over the regions of a photo."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from vsdemo.core.embeddings import Embeddings
from vsdemo.encoders.heads import Head
from vsdemo.encoders.pooling import maximum
from vsdemo.encoders.regions import RegionImage

HEADS = 4
QUERIES = 4  # vectors that read the regions


class RegionTransformer(RegionImage):
    """A transformer over the regions, in any order: (N, K, F) -> (N, D).

        [q_1 ... q_4; v_1 ... v_K] = Transformer([q; W x_1 + b ... W x_K + b])
        g(x) = head(W_2 gelu(W_1 norm([q_1 ... q_4; mean_k v_k; max_k v_k]) + b_1) + b_2)

    The queries q are learned (Lee et al. 2019, Set Transformer). A row of zeros is a missing region
    and is not read. The features should say where a region is.

    Args:
        features: Length F of a region's feature vector.
        dim: Length D of the embeddings.
        width: Length of a vector within the transformer.
        layers: Of the transformer.
        dropout: Share of numbers set to 0 within the transformer.
        standardize: First bring each feature to mean 0 and variance 1 over the training regions.
    """

    def __init__(
        self,
        features: int,
        dim: int,
        *,
        width: int,
        layers: int,
        dropout: float = 0.0,
        standardize: bool = False,
    ) -> None:
        super().__init__(features, width, standardize=standardize)
        self.dim = dim
        self.queries = nn.Parameter(torch.randn(QUERIES, width) * 0.02)
        layer = nn.TransformerEncoderLayer(
            width,
            HEADS,
            3 * width,
            dropout=dropout,
            activation="gelu",
            batch_first=True,
            norm_first=True,
        )
        self.transformer = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        size = (QUERIES + 2) * width
        self.out = nn.Sequential(
            nn.LayerNorm(size), nn.Linear(size, 2 * width), nn.GELU(), nn.Linear(2 * width, dim)
        )
        self.head = Head()

    def forward(self, batch: Tensor) -> Embeddings:
        """Embed a batch (B, K, F): (B, D)."""
        regions = super().forward(batch)  # W x + b
        assert regions.mask is not None
        queries = self.queries.to(regions.x.dtype).expand(len(batch), -1, -1)
        read = F.pad(regions.mask, (QUERIES, 0), value=True)  # (B, 4 + K)
        states = self.transformer(torch.cat([queries, regions.x], 1), src_key_padding_mask=~read)
        queries, vectors = states[:, :QUERIES], states[:, QUERIES:]
        mean = Embeddings(vectors, regions.mask).mean()
        best = maximum(vectors, regions.mask[..., None])
        return Embeddings(self.head(self.out(torch.cat([queries.flatten(1), mean, best], -1))))
