"""Where the weights of each family of backbones come from."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Protocol

from vsdemo.core import checksums
from vsdemo.core.errors import UserError
from vsdemo.core.paths import ROOT
from vsdemo.data.downloads.fetch import DOWNLOADS
from vsdemo.vision.backbones.weights import hub_file, hub_folder, local_file

POCKET = ROOT / "checkpoints" / "pocket" / "model.safetensors"


class UnknownBackbone(Exception):
    """The family has no network of this name."""


class Family(Protocol):
    """A family of backbones; their names start with its key in `backbones.FAMILIES`.

    Attributes:
        network: Dotted name of the class of its networks, "module:Class", imported when needed.
    """

    network: str

    def find(self, name: str) -> Path | None:
        """Return the file of a network's weights, downloading it if it is missing.

        Args:
            name: What follows the family's name and a slash.

        Returns:
            The file; None for random weights.

        Raises:
            UnknownBackbone: If there is no such network.
            UserError: If its weights are not available.
        """

    def is_available(self, name: str) -> bool:
        """Return whether a network's weights are known to be available without a download."""


class PocketFamily:
    """Our own small network, which comes with the project."""

    network = "vsdemo.vision.backbones.pocket:Pocket"

    def find(self, name: str) -> Path:
        """Return the file in checkpoints/. Raises UserError if it was deleted or is damaged."""
        if name:
            raise UnknownBackbone
        if not POCKET.is_file():
            raise UserError(
                f"The image network pocket is missing: {POCKET}; it comes with vsdemo, so get that "
                "file again (`git restore checkpoints/pocket`)."
            )
        checksums.check(POCKET)
        return POCKET

    def is_available(self, name: str) -> bool:
        """Return whether the file exists."""
        return not name and POCKET.is_file()


class TorchvisionFamily:
    """torchvision's classifiers: torchvision/<name>."""

    network = "vsdemo.vision.backbones.classifier:Classifier"

    def find(self, name: str) -> Path:
        """Return a file in VSDEMO_DATA, or torchvision's own, downloading it if it is missing."""
        if not name:
            raise UnknownBackbone
        return local_file(name) or self._download(name)

    def is_available(self, name: str) -> bool:
        """Return whether a file is in VSDEMO_DATA or in torch's cache."""
        if local_file(name):
            return True
        return name not in DOWNLOADS and any(hub_folder().glob(f"{name}-*.pth"))

    def _download(self, name: str) -> Path:
        from torchvision import models  # takes seconds to import

        if name not in models.list_models(module=models):
            raise UnknownBackbone
        if name in DOWNLOADS:  # checkpoints hash the file that `fetch` makes of the download
            raise UserError(
                f"The image network torchvision/{name} is missing; download it under More in the "
                f"app or by `python -m vsdemo fetch {name}`, or put its weights as .safetensors "
                "into the models/ folder below VSDEMO_DATA."
            )
        tags = models.get_model_weights(name).__members__
        if "IMAGENET1K_V1" not in tags:
            raise UserError(f"torchvision has no ImageNet weights for {name}; use another network.")
        return hub_file(tags["IMAGENET1K_V1"])


class OpenClipFamily:
    """open_clip's image encoders: open_clip/<architecture>/<pretrained>.

    `pretrained` is a tag of open_clip, the tag of a file in VSDEMO_DATA, or "random".
    """

    network = "vsdemo.vision.backbones.clip:Clip"

    def find(self, name: str) -> Path | None:
        """Return a file in VSDEMO_DATA, or open_clip's own, downloading it if it is missing."""
        architecture, tag = self._split(name)
        self._check(architecture)
        if tag == "random":
            return None
        return self._local_file(architecture, tag) or self._download(architecture, tag)

    def is_available(self, name: str) -> bool:
        """Return whether the weights are random or a file is in VSDEMO_DATA."""
        try:
            architecture, tag = self._split(name)
        except UnknownBackbone:
            return False
        return tag == "random" or self._local_file(architecture, tag) is not None

    @staticmethod
    def _split(name: str) -> tuple[str, str]:
        if name.count("/") != 1:
            raise UnknownBackbone
        architecture, tag = name.split("/")
        return architecture, tag

    @staticmethod
    def _local_file(architecture: str, tag: str) -> Path | None:
        return local_file(architecture, re.escape(tag) + r"(\..*)?")

    @staticmethod
    def _check(architecture: str) -> None:
        import open_clip  # takes seconds to import

        if architecture not in open_clip.list_models():
            raise UserError(
                f"open_clip has no architecture {architecture!r}; use ViT-B-32, RN50 or another "
                "that open_clip.list_models() lists."
            )

    @staticmethod
    def _download(architecture: str, tag: str) -> Path:
        import open_clip

        config = open_clip.get_pretrained_cfg(architecture, tag)
        if not config:
            tags = open_clip.list_pretrained_tags_by_model(architecture)
            raise UserError(
                f"open_clip has no weights {tag!r} for {architecture!r}; "
                f"use one of: {', '.join(tags) or 'none'}."
            )
        return Path(open_clip.download_pretrained(config))
