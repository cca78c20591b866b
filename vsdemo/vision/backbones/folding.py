"""Folding the batch norms of frozen networks into their convolutions."""

from __future__ import annotations

from itertools import pairwise

from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval


def fold_norms(net: nn.Module) -> None:
    """Fold each batch norm that follows a convolution into it.

    In evaluation mode a norm only scales and shifts each channel, so a convolution with other
    weights and a bias computes both. An identity takes the norm's place, so that all layers keep
    their names and numbers. Norms before convolutions, as in DenseNet, stay.

    torch.fx, which could trace the order of the layers, is not used, because tracing breaks
    networks that other threads are running.

    Args:
        net: A network in evaluation mode, each of whose modules declares its layers in the order in
            which they run. It is changed.
    """
    for module in list(net.modules()):
        for (name, layer), (norm_name, norm) in pairwise(list(module.named_children())):
            # Not subclasses, which may compute more, such as an activation.
            if type(layer) is nn.Conv2d and type(norm) is nn.BatchNorm2d:
                module.set_submodule(name, fuse_conv_bn_eval(layer, norm))
                module.set_submodule(norm_name, nn.Identity())
