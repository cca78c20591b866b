"""Object detectors, for the regions `detector` (Karpathy 2014, section 3.2).

YOLOX-nano if VSDEMO_DATA/models has its file, run by onnxruntime; otherwise torchvision's SSDlite,
the smallest of its detectors (13 MB).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from vsdemo.core.device import device
from vsdemo.core.errors import UserError
from vsdemo.core.paths import data_root
from vsdemo.vision.backbones.weights import (
    BROKEN,
    Weights,
    content_hash,
    hub_file,
    hub_folder,
    local_file,
    misfit,
    read,
    reason_of,
)
from vsdemo.vision.crops import MOST_REGIONS
from vsdemo.vision.regions import LEAST, check, pad

YOLOX = "yolox_nano"
SSDLITE = "ssdlite320_mobilenet_v3_large"
SAME = 0.5  # intersection over union above which two boxes show the same thing
STRIDES = (8, 16, 32)  # pixels between the places of YOLOX's three maps
GREY = (114, 114, 114)  # colour with which YOLOX pads photos

Detections = tuple[Tensor, Tensor]  # of one photo: boxes (N, 4) as fractions, scores (N,)


class DetectorNetwork(Protocol):
    """Detects objects in photos."""

    def __call__(self, photos: Sequence[Image.Image]) -> Iterator[Detections]:
        """Yield boxes and scores for each photo, unordered."""


def find_weights() -> Weights:
    """Find the file of YOLOX-nano below VSDEMO_DATA/models, or that of SSDlite.

    SSDlite is downloaded if it is missing.

    Raises:
        UserError: If neither is available.
    """
    root = data_root()
    if root and (file := root / "models" / f"{YOLOX}.onnx").is_file():
        return Weights(YOLOX, file, content_hash(file))
    try:
        file = local_file(SSDLITE) or _download()
    except BROKEN as error:
        raise UserError(
            f"The object detector is missing and could not be downloaded ({reason_of(error)}); "
            f"go online once, put {YOLOX}.onnx into the models/ folder below VSDEMO_DATA, or "
            "choose other regions."
        ) from None
    return Weights(f"torchvision/{SSDLITE}", file, content_hash(file))


def is_available() -> bool:
    """Return whether `find_weights` finds a file without a download."""
    root = data_root()
    if root and (root / "models" / f"{YOLOX}.onnx").is_file():
        return True
    return bool(local_file(SSDLITE)) or any(hub_folder().glob(f"{SSDLITE}*.pth"))


def _download() -> Path:
    from torchvision import models  # takes seconds to import

    return hub_file(models.get_model_weights(SSDLITE)["COCO_V1"])


class Detector:
    """A frozen object detector.

    Attributes:
        name: Name of the network.
        hash: Hash of its weights.

    Raises:
        UserError: If the weights are damaged or belong to another network, or if onnxruntime is
            needed but not installed.
    """

    def __init__(self, weights: Weights) -> None:
        self.name = weights.name
        self.hash = weights.hash
        if weights.path is None:
            raise UserError(f"The object detector {weights.name} needs a file of weights.")
        try:
            self.net = NETWORKS[self.name](weights.path)
        except BROKEN as error:
            raise misfit(weights, error) from None

    def boxes(self, photos: Sequence[Image.Image]) -> Tensor:
        """Detect the 19 most certain boxes of RGB photos, best first, then the frame.

        Returns:
            (B, 20, 4), as fractions; zeros for missing boxes.
        """
        boxes = torch.zeros(len(photos), MOST_REGIONS, 4)
        for row, (candidates, scores) in enumerate(self.net(photos)):
            kept = select(candidates, scores, MOST_REGIONS - 1)
            boxes[row] = pad(kept.tolist(), MOST_REGIONS)
        check(boxes, f"the detector {self.name}")
        return boxes


def select(boxes: Tensor, scores: Tensor, count: int) -> Tensor:
    """Select the `count` best boxes by score, without repetitions, clipped to the photo.

    Classes do not matter: two boxes of one place are one region to an alignment, whatever they
    show. No score above zero is too low, because a box without a known object still shows part of
    the photo. Boxes that are not finite or almost entirely outside the photo are left out.

    Args:
        boxes: (N, 4), as fractions.
        scores: (N,).
        count: How many to select at most.

    Returns:
        (at most count, 4).
    """
    from torchvision.ops import nms  # takes seconds to import

    valid = boxes.isfinite().all(1) & scores.isfinite() & (scores > 0)
    boxes, scores = boxes[valid].clamp(0, 1), scores[valid]
    inside = (boxes[:, 2:] - boxes[:, :2] > LEAST).all(1)
    boxes, scores = boxes[inside], scores[inside]
    return boxes[nms(boxes, scores, SAME)[:count]]


class Yolox:
    """YOLOX (Ge et al. 2021, arXiv 2107.08430) on squares of 416 pixels."""

    side = 416

    def __init__(self, path: Path) -> None:
        self.session = _session(path)
        (self.input,), (output,) = self.session.get_inputs(), self.session.get_outputs()
        places = sum((self.side // stride) ** 2 for stride in STRIDES)
        if self.input.shape != [1, 3, self.side, self.side] or output.shape[:2] != [1, places]:
            raise RuntimeError(f"it maps {self.input.shape} to {output.shape}")

    def __call__(self, photos: Sequence[Image.Image]) -> Iterator[Detections]:
        """Yield boxes and scores for each photo; the exported network takes one at a time."""
        for photo in photos:
            pixels, (width, height) = letterbox(photo, self.side)
            (raw,) = self.session.run(None, {self.input.name: pixels})  # (1, places, 85)
            boxes, scores = decode(torch.from_numpy(raw[0]), self.side)
            yield boxes / torch.tensor([width, height, width, height]), scores


def _session(path: Path) -> Any:
    """Open an onnxruntime.InferenceSession with as many threads as torch has."""
    try:
        import onnxruntime
    except ImportError:
        raise UserError(
            f"The object detector {path.name} needs onnxruntime; install it by "
            "`pip install onnxruntime`, or choose other regions."
        ) from None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    try:
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's errors have no closer base class
        raise RuntimeError(error) from None


def letterbox(photo: Image.Image, side: int) -> tuple[np.ndarray, tuple[int, int]]:
    """Fit a photo into a square as YOLOX expects it: at the top left, grey on the right or below.

    Returns:
        Pixels (1, 3, side, side) from 0 to 255, blue first; the photo's width and height in them.
    """
    scale = side / max(photo.size)
    width, height = (max(1, round(length * scale)) for length in photo.size)
    square = Image.new("RGB", (side, side), GREY)
    square.paste(photo.resize((width, height), Image.Resampling.BILINEAR))
    pixels = np.asarray(square, dtype=np.float32)[:, :, ::-1].transpose(2, 0, 1)
    return np.ascontiguousarray(pixels[None]), (width, height)


def decode(raw: Tensor, side: int) -> Detections:
    """Decode YOLOX's output (Ge et al. 2021, section 2.1), map by map and row by row.

    x, y = (output + the place's column, row) * stride; width, height = exp(output) * stride;
    score = objectness * probability of the likeliest class.

    Args:
        raw: (N, 5 + classes), one row per place.
        side: Side of the input in pixels.

    Returns:
        Boxes (N, 4) in pixels and scores (N,).
    """
    all_cells, all_strides = [], []
    for stride in STRIDES:
        places = torch.arange(side // stride)
        row, column = torch.meshgrid(places, places, indexing="ij")
        all_cells.append(torch.stack([column, row], -1).view(-1, 2))
        all_strides.append(torch.full((row.numel(), 1), stride))
    cells, strides = torch.cat(all_cells), torch.cat(all_strides)  # (N, 2), (N, 1)
    centre = (raw[:, :2] + cells) * strides
    half = raw[:, 2:4].exp() * strides / 2
    return torch.cat([centre - half, centre + half], 1), raw[:, 4] * raw[:, 5:].amax(1)


class Ssdlite:
    """torchvision's SSDlite over MobileNetV3 (Howard et al. 2019, section 6.3), 320 pixels."""

    side = 320

    def __init__(self, path: Path) -> None:
        from torchvision import models  # takes seconds to import

        net = models.get_model(SSDLITE, weights=None, weights_backbone=None)
        net.load_state_dict(read(path))
        self.net: Any = net.requires_grad_(False).eval().to(device())

    @torch.no_grad()
    def __call__(self, photos: Sequence[Image.Image]) -> Iterator[Detections]:
        """Yield boxes and scores for each photo.

        The network's own last step, which drops duplicates within each class, is left out.
        """
        if not photos:
            return
        size = (self.side, self.side)
        small = [np.asarray(photo.resize(size, Image.Resampling.BILINEAR)) for photo in photos]
        pixels = torch.from_numpy(np.stack(small)).permute(0, 3, 1, 2).to(device()) / 255
        images, _ = self.net.transform(list(pixels))
        maps = list(self.net.backbone(images.tensors).values())
        output = self.net.head(maps)
        scores = output["cls_logits"].softmax(-1)[..., 1:].amax(-1).cpu()  # class 0: background
        shifts = output["bbox_regression"]
        for i, priors in enumerate(self.net.anchor_generator(images, maps)):
            boxes = self.net.box_coder.decode_single(shifts[i], priors)
            yield boxes.cpu() / self.side, scores[i]


NETWORKS: dict[str, Callable[[Path], DetectorNetwork]] = {
    YOLOX: Yolox,
    f"torchvision/{SSDLITE}": Ssdlite,
}
