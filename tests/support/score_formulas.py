"""What compiled code computes of one query x and stored items y, in operations of torch."""

import torch

FORMULAS = {
    "products": lambda x, y: y @ x,
    "cosines": lambda x, y: torch.cosine_similarity(x[None], y),
    "squared_distances": lambda x, y: (x - y).square().sum(1),
    "violations_below": lambda x, y: (x - y).clamp(min=0).square().sum(1),
    "violations_above": lambda x, y: (y - x).clamp(min=0).square().sum(1),
}
