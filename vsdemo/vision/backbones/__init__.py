"""The registry of backbones: frozen image networks, photos in, a vector and a spatial map out.

A backbone is named `pocket` (our own, which comes with the project), `torchvision/<name>` or
`open_clip/<architecture>/<pretrained>`. The networks are in `network` and imported when needed, as
importing torchvision takes seconds and a search over cached features does not need it.
"""

from __future__ import annotations

from vsdemo.core.errors import UserError
from vsdemo.vision.backbones.families import (
    Family,
    OpenClipFamily,
    PocketFamily,
    TorchvisionFamily,
    UnknownBackbone,
)
from vsdemo.vision.backbones.weights import BROKEN, Weights, content_hash, reason_of

FAMILIES: dict[str, Family] = {
    "pocket": PocketFamily(),
    "torchvision": TorchvisionFamily(),
    "open_clip": OpenClipFamily(),
}
BACKBONES = (  # offered in forms; any other of torchvision or open_clip can be named
    "pocket",
    "torchvision/densenet169",
    "torchvision/resnet152",
    "torchvision/vgg19",
)


def find_weights(backbone: str) -> Weights:
    """Find a backbone's weights below VSDEMO_DATA/models, or download them.

    Raises:
        UserError: If the name is unknown or the weights are not available.
    """
    family, _, name = backbone.partition("/")
    try:
        if family not in FAMILIES:
            raise UnknownBackbone
        path = FAMILIES[family].find(name)
    except UnknownBackbone:
        raise UserError(
            f"There is no backbone {backbone!r}; write pocket, torchvision/<name> (densenet169, "
            "resnet152, vgg19, ...) or open_clip/<architecture>/<pretrained>."
        ) from None
    except BROKEN as error:
        raise UserError(
            f"The image network {backbone} is missing and could not be downloaded "
            f"({reason_of(error)}); go online once, or put its weights as .safetensors into "
            "the models/ folder below VSDEMO_DATA."
        ) from None
    return Weights(backbone, path, content_hash(path) if path else "random")


def is_backbone(name: str) -> bool:
    """Return whether a name is that of a backbone, by the family that it starts with."""
    return name.partition("/")[0] in FAMILIES


def is_available(backbone: str) -> bool:
    """Return whether a backbone's weights are known to be available without a download."""
    family, _, name = backbone.partition("/")
    return family in FAMILIES and FAMILIES[family].is_available(name)
