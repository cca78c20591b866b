"""A transformer over the regions of a photo."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn

from vsdemo.core.embeddings import Embeddings
from vsdemo.encoders.heads import Head
from vsdemo.encoders.regions import RegionImage

HEADS = 4


class RegionTransformer(RegionImage):
    """A transformer over the regions, in any order: (N, K, F) -> (N, K, D).

        [h_1 ... h_K] = Transformer([W x_1 + b ... W x_K + b])
        v_k = [head(W_2 gelu(W_1 norm(h_k) + b_1) + b_2), 0]

    The last number is 0 because a word has its weight there, see `SubwordGRU`. A region's embedding
    also depends on what is around it. A row of zeros is a missing region, which is not read. The
    features should include the place of a region.

    Args:
        features: Length F of a region's feature vector.
        dim: Length D of an embedding.
        width: Length of a vector within the transformer.
        layers: Number of layers of the transformer.
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
        self.out = nn.Sequential(
            nn.LayerNorm(width),
            nn.Linear(width, 2 * width),
            nn.GELU(),
            nn.Linear(2 * width, dim - 1),
        )
        self.head = Head()

    def forward(self, batch: Tensor) -> Embeddings:
        """Embed a batch (B, K, F): (B, K, D) with a mask (B, K)."""
        regions = super().forward(batch)  # W x + b
        assert regions.mask is not None
        states = self.transformer(regions.x, src_key_padding_mask=~regions.mask)
        directions = self.head(self.out(states)) * regions.mask[..., None]  # (B, K, D - 1)
        return Embeddings(F.pad(directions, (0, 1)), regions.mask)
