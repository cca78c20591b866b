"""Frozen image networks: photos in, one vector and one spatial map a photo out.

A backbone is named `pocket` (our own, which ships), `torchvision/<name>` or
`open_clip/<architecture>/<pretrained>`. The networks themselves are in `network`: importing
torchvision takes seconds, which a search over stored features need not wait for.
"""

from vsdemo.vision.backbones.weights import NETWORKS, Weights, find_weights, is_here

__all__ = ["CROPS", "NETWORKS", "Weights", "find_weights", "is_here"]

CROPS = {"center": 1, "mirror": 2, "ten": 10, "whole": 1}  # views a photo
