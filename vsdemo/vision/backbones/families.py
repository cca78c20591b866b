"""Where the weights of each family of backbones come from."""

from __future__ import annotations

import re
from difflib import get_close_matches
from pathlib import Path
from typing import Protocol

from safetensors import SafetensorError, safe_open

from vsdemo.core import checksums, json_files
from vsdemo.core.errors import UserError
from vsdemo.core.paths import ROOT, checkpoints_root
from vsdemo.data.downloads import hub
from vsdemo.data.downloads.fetch import DOWNLOADS
from vsdemo.vision.backbones.weights import hub_file, hub_folder, local_file

HUB, LOCAL = "hf-hub:", "local-dir:"
CONFIG = hub.CONFIG
WEIGHTS = (hub.WEIGHTS, "open_clip_pytorch_model.bin")  # as open_clip looks for them
DIFFERENCE = "backbone.safetensors"  # in a checkpoint, how its image network was tuned
# In the metadata of a file that belongs to another network: its name, and that of its weights.
BASE, BASE_HASH = "base", "base_hash"
FEATURES = 2048  # numbers of a photo or a region, at most


class UnknownBackbone(Exception):
    """The family has no network of this name."""


class Family(Protocol):
    """A family of backbones; their names start with its key in `backbones.FAMILIES`.

    Attributes:
        network: Dotted name of the class of its networks, "module:Class", imported when needed.
        features: Numbers of a photo or a region, at most.
    """

    network: str
    features: int

    def find(self, name: str) -> Path | None:
        """Return the file of a network's weights, downloading it if it is missing.

        Args:
            name: What follows the key of the family.

        Returns:
            The file; None for random weights.

        Raises:
            UnknownBackbone: If there is no such network.
            UserError: If its weights are not available.
        """

    def is_available(self, name: str) -> bool:
        """Return whether a network's weights are known to be available without a download."""

    def base(self, name: str) -> str:
        """Return the name of the network that a network was trained over; "" for none."""

    def dataset(self, name: str) -> str:
        """Return the data set that the end of a network was tuned on with a model; "" for none."""

    def how_to_get(self, name: str) -> str:
        """Return a sentence that says that a network is missing and what to do."""


class OwnFamily:
    """A family with one network, which is our own and comes with the project.

    Args:
        title: What its name starts with, and the folder of its weights in checkpoints/.
        network: As in `Family`.
        features: As in `Family`.
    """

    def __init__(self, title: str, network: str, features: int) -> None:
        self.title, self.network, self.features = title, network, features
        self.file = ROOT / "checkpoints" / title / "model.safetensors"

    def find(self, name: str) -> Path:
        """Return the file in checkpoints/. Raises UserError if it was deleted or is damaged."""
        if name:
            raise UnknownBackbone
        if not self.file.is_file():
            raise UserError(self.how_to_get(name))
        checksums.check(self.file)
        return self.file

    def is_available(self, name: str) -> bool:
        """Return whether the file exists."""
        return not name and self.file.is_file()

    def base(self, name: str) -> str:
        """Return "", as it was not trained over another one."""
        return ""

    def dataset(self, name: str) -> str:
        """Return "", as it was not tuned with a model."""
        return ""

    def how_to_get(self, name: str) -> str:
        """Return where the file should be, and how to get it again."""
        return (
            f"The image network {self.title} is missing: {self.file}; get that file again "
            f"(`git restore checkpoints/{self.title}`), or train the network "
            f"(`python -m vsdemo train-{self.title} --out checkpoints/{self.title}`)."
        )


class HeadFamily(OwnFamily):
    """A family with one network of our own over another one, whose name is in its file."""

    def base(self, name: str) -> str:
        """Return that name; "" if the file cannot be read."""
        return _base_in(self.file)


class TorchvisionFamily:
    """torchvision's classifiers: torchvision/<name>."""

    network = "vsdemo.vision.backbones.classifier:Classifier"
    features = FEATURES

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

    def base(self, name: str) -> str:
        """Return "", as it was not trained over another one."""
        return ""

    def dataset(self, name: str) -> str:
        """Return "", as it was not tuned with a model."""
        return ""

    def how_to_get(self, name: str) -> str:
        """Return that the network can be downloaded."""
        return _downloadable(f"torchvision/{name}")

    def _download(self, name: str) -> Path:
        from torchvision import models  # takes seconds to import

        if name not in models.list_models(module=models):
            raise UnknownBackbone
        if name in DOWNLOADS:  # checkpoints hash the file that `fetch` converts it to
            raise UserError(
                f"The image network torchvision/{name} is missing; download it under More in the "
                f"app or by `python -m vsdemo fetch {name}`, or put its weights as .safetensors "
                "into the models/ folder below VSDEMO_DATA."
            )
        tags = models.get_model_weights(name).__members__
        if "IMAGENET1K_V1" not in tags:
            raise UserError(f"torchvision has no ImageNet weights for {name}; use another network.")
        return hub_file(tags["IMAGENET1K_V1"])


class ClipFamily:
    """open_clip's models: clip:NAME. As a backbone, such a model is its image tower.

    NAME is one of

    - ARCHITECTURE/TAG, where TAG is one of open_clip's, that of a file in VSDEMO_DATA, or "random";
    - hf-hub:OWNER/REPOSITORY, a model in open_clip's layout on the Hugging Face Hub;
    - local-dir:FOLDER, such a model on disk;
    - the name of a checkpoint of vsdemo that has this layout, such as storybook/clip.
    """

    network = "vsdemo.vision.backbones.clip:Clip"
    features = FEATURES

    def find(self, name: str) -> Path | None:
        """Return the file of weights; None for random ones. Nothing is downloaded.

        A model in open_clip's layout has its configuration next to it.
        """
        if (folder := self._folder(name)) is not None:
            return weights_in(folder)
        if not name.startswith(HUB):
            architecture, tag = self._split(name)
            self._check(architecture)
            if tag == "random":
                return None
            if (file := self._local_file(architecture, tag)) is not None:
                return file
        for folder in _copies(self.repository(name)):
            if (folder / CONFIG).is_file():
                return weights_in(folder)
        raise UserError(
            f"The CLIP model {name} is missing; `python -m vsdemo fetch clip:{name}` downloads it."
        )

    def is_available(self, name: str) -> bool:
        """Return whether the weights are random or on disk."""
        try:
            self.find(name)
        except (UnknownBackbone, UserError):
            return False
        return True

    def base(self, name: str) -> str:
        """Return "", as it was not trained over another one."""
        return ""

    def dataset(self, name: str) -> str:
        """Return "", as it was not tuned with a model."""
        return ""

    def how_to_get(self, name: str) -> str:
        """Return that the network can be downloaded."""
        return _downloadable(f"clip:{name}")

    def repository(self, name: str) -> str:
        """Return the OWNER/NAME of a model on the Hugging Face Hub.

        Raises:
            UnknownBackbone: The name is not one of a model on the Hub.
            UserError: open_clip has no such architecture or tag.
        """
        if name.startswith(LOCAL):
            raise UserError(f"{name} is on disk; only models of the Hugging Face Hub are fetched.")
        if name.startswith(HUB):
            repository = name.removeprefix(HUB)
            hub.check_repository(repository)
            return repository
        architecture, tag = self._split(name)
        self._check(architecture)
        import open_clip

        config = open_clip.get_pretrained_cfg(architecture, tag)
        if not config:
            tags = open_clip.list_pretrained_tags_by_model(architecture)
            raise UserError(
                f"open_clip has no weights {tag!r} for {architecture!r}; "
                f"use one of: {', '.join(tags) or 'none'}."
            )
        return str(config["hf_hub"]).rstrip("/")

    @staticmethod
    def _folder(name: str) -> Path | None:
        """Return the folder that a name means; None if it means none."""
        if name.startswith(LOCAL):
            return Path(name.removeprefix(LOCAL)).expanduser()
        own = checkpoints_root() / name
        return own if name and ".." not in own.parts and (own / CONFIG).is_file() else None

    @staticmethod
    def _split(name: str) -> tuple[str, str]:
        architecture, slash, tag = name.partition("/")
        if not (architecture and slash and tag) or "/" in tag:
            raise UnknownBackbone
        return architecture, tag

    @staticmethod
    def _local_file(architecture: str, tag: str) -> Path | None:
        return local_file(architecture, re.escape(tag) + r"(\..*)?")

    @staticmethod
    def _check(architecture: str) -> None:
        import open_clip  # takes seconds to import

        known = open_clip.list_models()
        if architecture not in known:
            near = ", ".join(get_close_matches(architecture, known, cutoff=0.4)) or "ViT-B-32"
            raise UserError(
                f"open_clip has no architecture {architecture!r}; similar names are {near}; "
                "open_clip.list_models() lists all."
            )


class TunedFamily:
    """Networks whose end was tuned with a model: tuned:CHECKPOINT, its name or whole path."""

    network = "vsdemo.vision.backbones.tuned:Tuned"
    features = 2 * FEATURES

    def find(self, name: str) -> Path:
        """Return the file in the folder of the checkpoint. Raises UserError if it is missing."""
        file = self._file(name)
        if not file.is_file():
            raise UserError(self.how_to_get(name))
        return file

    def is_available(self, name: str) -> bool:
        """Return whether the file exists."""
        return self._file(name).is_file()

    def base(self, name: str) -> str:
        """Return the name of the network before it was tuned; "" if the file cannot be read."""
        return _base_in(self._file(name))

    def dataset(self, name: str) -> str:
        """Return the data set that it was tuned on; "" if the checkpoint cannot be read."""
        config = json_files.read(self._file(name).with_name("config.json"))
        return str(config.get("dataset", "")) if isinstance(config, dict) else ""

    def how_to_get(self, name: str) -> str:
        """Return that the file belongs to the checkpoint."""
        return f"{self._file(name)} is missing; get the whole checkpoint again."

    @staticmethod
    def _file(name: str) -> Path:
        return checkpoints_root() / name / DIFFERENCE


def _base_in(file: Path) -> str:
    """Return the name of the network that another one was trained over; "" for none."""
    try:
        with safe_open(file, "pt") as weights:
            return str((weights.metadata() or {}).get(BASE, ""))
    except (OSError, SafetensorError):
        return ""


def _copies(repository: str) -> list[Path]:
    """Return where a model of the Hub may be: what `fetch` keeps, and the Hub's own cache."""
    from huggingface_hub import try_to_load_from_cache

    cached = try_to_load_from_cache(repository, CONFIG)
    folders = [hub.folder_of(repository)]
    return [*folders, Path(cached).parent] if isinstance(cached, str) else folders


def weights_in(folder: Path) -> Path:
    """Return the weights of a folder in open_clip's layout.

    Raises:
        UserError: The folder has no configuration or no weights.
    """
    if not (folder / CONFIG).is_file():
        raise UserError(
            f"{folder} has no {CONFIG}, so it is not a model in open_clip's layout; save one by "
            "open_clip.push_to_hf_hub.save_for_hf."
        )
    for name in WEIGHTS:
        if (folder / name).is_file():
            return folder / name
    raise UserError(f"{folder} has a {CONFIG}, but no weights; put {WEIGHTS[0]} next to it.")


def _downloadable(backbone: str) -> str:
    return f"The backbone {backbone} is missing; download it (`vsdemo fetch`) or choose pocket."
