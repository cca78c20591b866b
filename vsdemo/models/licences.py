"""The terms of use of weights: the code is MIT, weights follow the terms of their training data.

`of` answers for a checkpoint, `of_backbone` for the image network that it also needs, and `label`
sums both up in a few words.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, replace

from vsdemo.core.errors import UserError
from vsdemo.data import datasets
from vsdemo.models import checkpoint, checkpoint_names
from vsdemo.models.checkpoint import Spec
from vsdemo.vision.backbones import TUNED

RESEARCH_ONLY = "research only"
STRICTNESS = {"MIT": 0, RESEARCH_ONLY: 2}  # by label; others are between


@dataclass(frozen=True)
class Licence:
    """The terms of weights.

    Attributes:
        label: In two or three words, such as "MIT" or "research only".
        terms: In a clause: what the weights learned from, and its terms.
        hub: The field `license` of a model card on the Hugging Face Hub; empty if unknown.
        hub_name: The field `license_name`, for the licence `other`.
        link: The field `license_link`, for the licence `other`.
    """

    label: str
    terms: str
    hub: str = ""
    hub_name: str = ""
    link: str = ""

    def metadata(self) -> dict[str, str]:
        """Return the fields of a model card's metadata; none for an unknown licence."""
        fields = {
            "license": self.hub,
            "license_name": self.hub_name,
            "license_link": self.link,
        }
        return {key: value for key, value in fields.items() if value}


UNKNOWN = Licence("see its data", "the data set's own terms")
DATA = {  # (task, data set) -> licence of weights that learned from it
    ("retrieval", "storybook"): Licence("MIT", "Storybook, MIT as part of vsdemo", "mit"),
    ("retrieval", "flickr8k"): Licence(
        RESEARCH_ONLY,
        "Flickr8k, for non-commercial research and education; cite Hodosh et al. 2013",
        "other",
        "flickr8k-research-only",
        "https://hockenmaier.cs.illinois.edu/8k-pictures.html",
    ),
    ("retrieval", "pascal1k"): Licence(
        RESEARCH_ONLY,
        "Pascal1K, whose photos are under Flickr's terms of use; cite Rashtchian et al. 2010",
        "other",
        "pascal1k-research-only",
        "https://vision.cs.uiuc.edu/pascal-sentences/",
    ),
    ("nli", "snli"): Licence("CC BY-SA 4.0", "SNLI, CC BY-SA 4.0", "cc-by-sa-4.0"),
    ("nli", "sick+snli-dev"): Licence(
        "CC BY-NC-SA 3.0", "SICK, CC BY-NC-SA 3.0, and SNLI, CC BY-SA 4.0", "cc-by-nc-sa-3.0"
    ),
    ("hypernyms", "toy"): Licence("MIT", "a hierarchy of vsdemo, MIT", "mit"),
    ("hypernyms", "wordnet"): Licence(
        "WordNet licence",
        "WordNet 3.0, copyright Princeton University, free to use with this notice",
        "other",
        "wordnet-3.0",
        "https://wordnet.princeton.edu/license-and-commercial-use",
    ),
}
EVERYDAY = Licence(  # of extra photos, see `vsdemo.data.everyday_photos.training`
    RESEARCH_ONLY,
    "photos of Pascal1K, under Flickr's terms of use; photos of ImageNet, for non-commercial "
    "research; names of WordNet 3.0, Princeton's licence",
    "other",
    "pascal1k-research-only",
    "https://vision.cs.uiuc.edu/pascal-sentences/",
)
OTHER_CAPTIONS = Licence(  # of text encoders that learned from pairs of captions first
    RESEARCH_ONLY,
    "captions of Flickr30k, for non-commercial research and education",
    "other",
    "flickr30k-research-only",
    "https://shannon.cs.illinois.edu/DenotationGraph/",
)
BOXES = {  # data set -> licence of the boxes of its phrases, where that is another one
    "flickr8k": replace(
        OTHER_CAPTIONS,
        terms="boxes of Flickr30k Entities, for non-commercial research and education; cite "
        "Plummer et al. 2015",
    ),
}
VECTORS = replace(  # of pretrained word vectors, see `vsdemo.data.text.vectors`
    OTHER_CAPTIONS, terms=f"word vectors from {OTHER_CAPTIONS.terms}"
)
POCKET = Licence(
    RESEARCH_ONLY,
    "photos of Flickr8k, Pascal1K and VOC2008, under Flickr's terms, for research; of ImageNet, "
    "for non-commercial research; Storybook, MIT as part of vsdemo; the weights of torchvision's "
    "DenseNet-169, BSD-3-Clause",
    "other",
    "flickr8k-research-only",
    "https://hockenmaier.cs.illinois.edu/8k-pictures.html",
)
EASEL = DATA["retrieval", "storybook"]
FINDER = Licence(
    RESEARCH_ONLY,
    "photos and captions of Flickr8k, boxes and captions of Flickr30k, all for non-commercial "
    "research and education; Storybook, MIT as part of vsdemo; the weights of torchvision's "
    "DenseNet-169, BSD-3-Clause",
    "other",
    "flickr8k-research-only",
    "https://hockenmaier.cs.illinois.edu/8k-pictures.html",
)
PARSER = Licence(
    RESEARCH_ONLY,
    'UD English EWT (Silveira et al., "A gold standard dependency corpus for English", LREC 2014), '
    "CC BY-SA 4.0; captions of Flickr8k and Flickr30k, for non-commercial research and education; "
    "WordNet 3.0, Princeton's licence",
    "other",
    "flickr8k-research-only",
    "https://hockenmaier.cs.illinois.edu/8k-pictures.html",
)
BACKBONES = {  # family -> licence
    "pocket": POCKET,
    "easel": EASEL,
    "finder": FINDER,
    "torchvision": Licence(
        "BSD-3-Clause",
        "torchvision, BSD-3-Clause; its networks learned from ImageNet, whose photos are for "
        "non-commercial research",
        "bsd-3-clause",
    ),
}


def of(spec: Spec) -> Licence:
    """Return the terms of a checkpoint's own weights, with those of its teachers."""
    dataset = datasets.base_name(spec.dataset)
    licence = DATA.get((spec.config.task, dataset), UNKNOWN)
    if spec.config.extra != "none":
        licence = _join(licence, EVERYDAY)
    if spec.config.vectors != "learned":
        licence = _join(licence, VECTORS)
    if spec.config.reads_other_captions:
        licence = _join(licence, OTHER_CAPTIONS)
    if spec.config.reads_boxes and dataset in BOXES:
        licence = _join(licence, BOXES[dataset])
    for teacher in dict.fromkeys(part.teacher for part in (spec, *spec.members)):
        if teacher:
            taught = of(teacher)
            terms = f"a teacher that learned from {taught.terms}"
            licence = _join(licence, replace(taught, terms=terms))
    return licence


def _join(one: Licence, other: Licence) -> Licence:
    """Return the stricter licence, with the terms of both."""
    stricter = max(one, other, key=lambda licence: STRICTNESS.get(licence.label, 1))
    return replace(stricter, terms=f"{one.terms}; {other.terms}")


def of_backbone(spec: Spec) -> Licence | None:
    """Return the terms of the image network that a checkpoint needs; None if it needs none."""
    is_its_own = bool(spec.dataset) and not spec.is_trained_here
    return of_network(spec.config.backbone) if spec.features and not is_its_own else None


def of_network(backbone: str) -> Licence:
    """Return the terms of an image network; if it was tuned with a model, those of the model."""
    if backbone.startswith(TUNED):
        with suppress(UserError):  # the checkpoint is missing
            folder = checkpoint_names.find(backbone.removeprefix(TUNED))
            return of(checkpoint.read_spec(folder))
    family = re.split("[:/]", backbone)[0]
    return BACKBONES.get(family, Licence("see its source", "the network's own terms"))


def label(spec: Spec) -> str:
    """Return the licence of a checkpoint in a few words.

    For example "research only", or "MIT; its image network: research only" if the weights are free
    and the network that they need is not.
    """
    own, backbone = of(spec), of_backbone(spec)
    if backbone is None or own.label in (RESEARCH_ONLY, backbone.label):
        return own.label
    return f"{own.label}; its image network: {backbone.label}"
