"""What a model has seen before it is measured: photo features, photos and text.

Two models can be compared only as far as these agree.
"""

from __future__ import annotations

from vsdemo import models
from vsdemo.core.config import override
from vsdemo.data import datasets
from vsdemo.evaluation.experiments.experiment import Experiment
from vsdemo.models import checkpoint_names
from vsdemo.models.checkpoint import Spec, read_spec
from vsdemo.vision.backbones import TUNED

NETWORKS = {
    "torchvision/densenet169": "DenseNet-169",
    "pocket": "Pocket",
    "easel": "Easel (boxes of Storybook)",
    "finder": "Finder (boxes of Flickr30k Entities)",
}
VIEWS = {
    "center": "one crop",
    "mirror": "one crop and its mirror image",
    "ten": "ten crops",
    "whole": "whole photo",
    "frame": "whole photo at the size for windows",
    "windows": "20 windows",
    "things": "the things in it",
    "found": "regions",
    "own": "whole photo",
}
BEGINNINGS = {"finder": "flickr8k/vse"}  # image network -> checkpoint whose network it begins with
MIRRORED = "whole photo and its mirror image"  # as networks with a tuned end read it
TEXTS = {  # material of a training -> texts besides captions
    "relations": "concepts, what follows from captions",
    "scenes": "sentences as people type them, labels of truth",
}

NOTHING = "-"  # no text besides the captions of the photos
WITHOUT_PHOTOS = ("concept_pairs", "sentence_pairs")  # materials


def spec_of_row(experiment: Experiment, row: str) -> Spec:
    """Return the spec of an experiment's row, whose checkpoints do not ship."""
    preset = experiment.rows[row].preset
    model, config = models.preset(preset)
    config = override(config, (*experiment.settings, *experiment.rows[row].settings))
    return Spec(
        model=model,
        preset=preset,
        dataset=experiment.data[0],
        config=config,
        backbone_hash="",
        features=int(config.material not in WITHOUT_PHOTOS),
    )


def features(spec: Spec) -> str:
    """Return the network that describes photos and what it sees of them."""
    if not spec.features:
        return ""
    if not spec.is_trained_here:
        return "a tower of its own"
    network = spec.config.backbone
    if network.startswith(TUNED):
        name = f"that of `{network.removeprefix(TUNED)}`"
    else:
        name = NETWORKS.get(network, f"`{network}`")
    if spec.has_changed_network:
        name += ", end tuned"
    view = MIRRORED if spec.has_tuned_network else VIEWS.get(spec.config.crops, spec.config.crops)
    return f"{name}, {view}"


def photos(spec: Spec) -> str:
    """Return the photos that it has learned from."""
    name = datasets.base_name(spec.dataset)
    if not spec.is_trained_here:
        return f"other scenes of {name}"
    seen = [name]
    if spec.config.material == "scenes":
        seen.append(f"{spec.config.scenes:,} other scenes")
    if spec.config.extra == "everyday":
        seen.append("Pascal1K, ImageNet")
    return ", ".join(seen)


def _network_has_read(backbone: str) -> bool:
    """Whether the end of an image network was tuned with captions of Flickr30k."""
    tuned_with = (
        backbone.removeprefix(TUNED) if backbone.startswith(TUNED) else BEGINNINGS.get(backbone)
    )
    if tuned_with is None:
        return False
    return bool(read_spec(checkpoint_names.find(tuned_with)).config.reads_other_captions)


def text(spec: Spec) -> str:
    """Return the text that it has learned from, besides the captions of these photos."""
    seen = []
    if spec.config.vectors != "learned":
        seen.append(f"word vectors of Flickr30k, {spec.config.vectors}")
    if spec.config.reads_other_captions:
        seen.append("captions of Flickr30k")
    elif _network_has_read(spec.config.backbone):
        seen.append("captions of Flickr30k, through the features")
    if spec.config.reads_boxes:
        seen.append("boxes of phrases")
    if spec.config.extra == "everyday":
        seen.append("names of classes")
    if spec.config.material in TEXTS:
        seen.append(TEXTS[spec.config.material])
    if spec.teacher is not None:
        seen.append(f"scores of `{spec.teacher.of}`")
    return ", ".join(seen) or NOTHING
