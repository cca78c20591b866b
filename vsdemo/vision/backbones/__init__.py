"""The registry of backbones: frozen image networks, photos in, a vector and a spatial map out.

A backbone is named `pocket` or `easel` (our own for photos, and for the drawings of Storybook; they
come with the project), `finder` (a tuned DenseNet-169 with a head of ours that finds regions),
`torchvision/NAME` or `clip:NAME`, the image tower of an open_clip model (`families.ClipFamily` has
its names). `tuned:CHECKPOINT` is one whose end was trained further with the model of a checkpoint.
The networks are in `network` and imported when needed, as importing torchvision takes seconds and a
search over cached features does not need it.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from vsdemo.core.errors import UserError
from vsdemo.vision.backbones.families import (
    FEATURES,
    ClipFamily,
    Family,
    HeadFamily,
    OwnFamily,
    TorchvisionFamily,
    TunedFamily,
    UnknownBackbone,
)
from vsdemo.vision.backbones.weights import BROKEN, Weights, content_hash, reason_of

if TYPE_CHECKING:
    from vsdemo.vision.backbones.network import Backbone

CLIP, TUNED = "clip:", "tuned:"
FAMILIES: dict[str, Family] = {  # what the names of backbones start with -> family
    "pocket": OwnFamily("pocket", "vsdemo.vision.backbones.pocket:Pocket", features=1024),
    "easel": OwnFamily("easel", "vsdemo.vision.backbones.easel:Easel", features=256),
    "finder": HeadFamily("finder", "vsdemo.vision.backbones.finder:Finder", features=3333),
    "torchvision/": TorchvisionFamily(),
    CLIP: ClipFamily(),
    TUNED: TunedFamily(),
}
BACKBONES = (  # offered in forms; any other of torchvision or open_clip can be named
    "pocket",
    "easel",
    "torchvision/densenet169",
    "torchvision/resnet152",
    "torchvision/vgg19",
)


def find_weights(backbone: str) -> Weights:
    """Find a backbone's weights below VSDEMO_DATA/models, or download them.

    Raises:
        UserError: If the name is unknown or the weights are not available.
    """
    try:
        family, name = family_of(backbone)
        path = family.find(name)
    except UnknownBackbone:
        raise _unknown(backbone) from None
    except BROKEN as error:
        raise UserError(
            f"The image network {backbone} is missing and could not be downloaded "
            f"({reason_of(error)}); go online once, or put its weights as .safetensors into "
            "the models/ folder below VSDEMO_DATA."
        ) from None
    return Weights(backbone, path, content_hash(path) if path else "random")


@cache
def load_backbone(weights: Weights) -> Backbone:
    """Load a backbone once per process.

    Raises:
        UserError: As `Backbone`.
    """
    from vsdemo.vision.backbones.network import Backbone  # torchvision takes seconds to import

    return Backbone(weights)


def _unknown(backbone: str) -> UserError:
    return UserError(
        f"There is no backbone {backbone!r}; write pocket, easel, torchvision/NAME (densenet169, "
        "resnet152, vgg19, ...) or clip:ARCHITECTURE/TAG, such as clip:ViT-B-32/laion2b_s34b_b79k."
    )


def repository_of(backbone: str) -> str:
    """Return the OWNER/NAME on the Hugging Face Hub of `clip:NAME`.

    Raises:
        UserError: There is no such model.
    """
    try:
        return ClipFamily().repository(backbone.removeprefix(CLIP))
    except UnknownBackbone:
        raise _unknown(backbone) from None


def is_backbone(name: str) -> bool:
    """Return whether a name is that of a backbone, by the family that it starts with."""
    return name.startswith(tuple(FAMILIES))


def base_of(backbone: str) -> str:
    """Return the first of the backbones that one was trained over; most are their own base."""
    return chain_of(backbone)[-1]


def chain_of(backbone: str) -> list[str]:
    """Return a backbone, the one that it was trained over, the one below that, and so on."""
    chain = [backbone]
    while below := _trained_over(chain[-1]):
        chain.append(below)
    return chain


def _trained_over(backbone: str) -> str:
    try:
        family, name = family_of(backbone)
    except UnknownBackbone:
        return ""
    return family.base(name)


def dataset_of(backbone: str) -> str:
    """Return the data set that the end of a backbone was tuned on; "" for others."""
    try:
        family, name = family_of(backbone)
    except UnknownBackbone:
        return ""
    return family.dataset(name)


def is_available(backbone: str) -> bool:
    """Return whether a backbone's weights are known to be available without a download."""
    return all(map(_has_weights, chain_of(backbone)))


def _has_weights(backbone: str) -> bool:
    try:
        family, name = family_of(backbone)
    except UnknownBackbone:
        return False
    return family.is_available(name)


def how_to_get(backbone: str) -> str:
    """Return a sentence that says that a backbone is missing or unknown, and what to do."""
    try:
        chain = chain_of(backbone)
        missing = next((name for name in chain if not _has_weights(name)), chain[-1])
        family, name = family_of(missing)
    except UnknownBackbone:
        return str(_unknown(backbone))
    return family.how_to_get(name)


def most_features(backbone: str) -> int:
    """Return how many numbers a photo or a region has at most, by the family of the backbone."""
    try:
        return family_of(backbone)[0].features
    except UnknownBackbone:
        return FEATURES


def family_of(backbone: str) -> tuple[Family, str]:
    """Return the family of a backbone, and its name there.

    Raises:
        UnknownBackbone: There is no such family.
    """
    for start, family in FAMILIES.items():
        if backbone.startswith(start):
            return family, backbone.removeprefix(start)
    raise UnknownBackbone
