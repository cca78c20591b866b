"""Networks that find things in photos, for the region choice `detector` (Karpathy 2014, 3.2).

YOLOX-nano where VSDEMO_DATA/models has its file, run by onnxruntime; otherwise torchvision's
SSDlite, the smallest of its detectors (13 MB).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

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
    local_file,
    misfit,
    read,
)
from vsdemo.vision.regions import LEAST, REGIONS, check, padded

YOLOX, SSDLITE = "yolox_nano", "ssdlite320_mobilenet_v3_large"
SAME = 0.5  # intersection over union from which on two boxes are of one thing
STRIDES = (8, 16, 32)  # pixels between the places of YOLOX's three maps

Found = tuple[Tensor, Tensor]  # of one photo: boxes (N, 4) in shares, scores (N,)


def find() -> Weights:
    """The file of YOLOX-nano below VSDEMO_DATA/models, or that of SSDlite, which is downloaded
    where it is not there.

    Raises UserError when neither is here or to be had.
    """
    root = data_root()
    if root and (file := root / "models" / f"{YOLOX}.onnx").is_file():
        return Weights(YOLOX, file, content_hash(file))
    try:
        file = local_file(SSDLITE) or _download()
    except BROKEN as error:
        raise UserError(
            f"The network that finds things in photos is not here and could not be downloaded "
            f"({type(error).__name__}); go online once, put {YOLOX}.onnx into the models/ folder "
            "below VSDEMO_DATA, or choose other regions."
        ) from None
    return Weights(f"torchvision/{SSDLITE}", file, content_hash(file))


def _download() -> Path:
    import torchvision  # takes seconds

    return hub_file(torchvision.models.get_model_weights(SSDLITE)["COCO_V1"].url)


class Detector:
    """A frozen network that finds things; `hash` is of its weights.

    Raises UserError for weights that are damaged or of another network, and for YOLOX where
    onnxruntime is not installed.
    """

    def __init__(self, weights: Weights) -> None:
        self.name, self.hash = weights.backbone, weights.hash
        assert weights.path is not None
        try:
            self.net = (Yolox if self.name == YOLOX else Ssdlite)(weights.path)
        except BROKEN as error:
            raise misfit(weights, error) from None

    def boxes(self, photos: Sequence[Image.Image]) -> Tensor:
        """Of each photo (RGB) the surest boxes, best first, then the frame: (B, 20, 4) as
        (x0, y0, x1, y1) in shares of its width and height. Where fewer are found, zeros."""
        count = REGIONS["detector"]
        found = torch.zeros(len(photos), count, 4)
        for row, (boxes, scores) in zip(found, self.net(photos), strict=True):
            row[:] = padded(surest(boxes, scores, count - 1).tolist(), count)
        check(found, f"the detector {self.name}")
        return found


def surest(boxes: Tensor, scores: Tensor, count: int) -> Tensor:
    """The `count` best by score of boxes (N, 4), without repetitions, clipped to the photo.

    Classes do not matter: two boxes of one place are one region to an alignment, whatever they are
    boxes of. Nor is any score above zero too low: a box that shows nothing known shows a part of
    the photo. What is no number, and boxes all but outside of the photo, are left out.
    """
    from torchvision.ops import nms  # takes seconds to import

    valid = boxes.isfinite().all(1) & scores.isfinite() & (scores > 0)
    boxes, scores = boxes[valid].clamp(0, 1), scores[valid]
    inside = (boxes[:, 2:] - boxes[:, :2] > LEAST).all(1)
    boxes, scores = boxes[inside], scores[inside]
    return boxes[nms(boxes, scores, SAME)[:count]]


class Yolox:
    """YOLOX (Ge et al. 2021, arXiv 2107.08430), 416 pixels wide and high."""

    side = 416

    def __init__(self, path: Path) -> None:
        self.session = _session(path)
        (self.input,), (output,) = self.session.get_inputs(), self.session.get_outputs()
        places = sum((self.side // stride) ** 2 for stride in STRIDES)
        if self.input.shape != [1, 3, self.side, self.side] or output.shape[:2] != [1, places]:
            raise RuntimeError(f"it makes {output.shape} of {self.input.shape}")

    def __call__(self, photos: Sequence[Image.Image]) -> Iterator[Found]:
        for photo in photos:  # the file is of a network for one photo at a time
            pixels, size = letterbox(photo, self.side)
            (raw,) = self.session.run(None, {self.input.name: pixels})
            boxes, scores = decode(torch.from_numpy(raw[0]), self.side)
            yield boxes / torch.tensor(size * 2), scores


def _session(path: Path) -> Any:
    """An onnxruntime.InferenceSession on as many threads as torch has."""
    try:
        import onnxruntime
    except ImportError:
        raise UserError(
            f"Finding things in photos with {path.name} needs onnxruntime; install it by "
            "`pip install onnxruntime`, or choose other regions."
        ) from None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    try:
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # its errors have no closer class in common
        raise RuntimeError(error) from None


def letterbox(photo: Image.Image, side: int) -> tuple[np.ndarray, tuple[int, int]]:
    """What YOLOX reads: (1, 3, side, side), blue first, 0 to 255, the photo at the top left and
    grey below or beside it. With the photo's width and height in there."""
    scale = side / max(photo.size)
    width, height = (max(1, round(length * scale)) for length in photo.size)
    square = Image.new("RGB", (side, side), (114, 114, 114))
    square.paste(photo.resize((width, height), Image.Resampling.BILINEAR))
    pixels = np.asarray(square, dtype=np.float32)[:, :, ::-1].transpose(2, 0, 1)
    return np.ascontiguousarray(pixels[None]), (width, height)


def decode(raw: Tensor, side: int) -> Found:
    """YOLOX's output for each place (N, 5 + classes) as boxes (N, 4) in pixels and scores (N,).

    x, y = (its own + the place's column, row) * stride; width, height = exp(its own) * stride;
    score = that there is a thing * that of the likeliest class. Row by row, map by map.
    """
    cells, strides = [], []
    for stride in STRIDES:
        row, column = torch.meshgrid(*[torch.arange(side // stride)] * 2, indexing="ij")
        cells.append(torch.stack([column, row], -1).view(-1, 2))
        strides.append(torch.full((row.numel(), 1), stride))
    stride = torch.cat(strides)
    centre, half = (raw[:, :2] + torch.cat(cells)) * stride, raw[:, 2:4].exp() * stride / 2
    return torch.cat([centre - half, centre + half], 1), raw[:, 4] * raw[:, 5:].amax(1)


class Ssdlite:
    """torchvision's SSDlite over MobileNetV3 (arXiv 1905.02244, 6.3), 320 pixels wide and high."""

    side = 320

    def __init__(self, path: Path) -> None:
        import torchvision  # takes seconds

        net = torchvision.models.get_model(SSDLITE, weights=None, weights_backbone=None)
        net.load_state_dict(read(path))
        self.net = net.requires_grad_(False).eval().to(device())

    @torch.no_grad()
    def __call__(self, photos: Sequence[Image.Image]) -> Iterator[Found]:
        """The network's own last step is left out: it looks for repetitions class by class."""
        if not photos:
            return
        size = (self.side, self.side)
        small = [np.asarray(p.resize(size, Image.Resampling.BILINEAR)) for p in photos]
        pixels = torch.from_numpy(np.stack(small)).permute(0, 3, 1, 2).to(device()) / 255
        images, _ = self.net.transform(list(pixels))
        maps = list(self.net.backbone(images.tensors).values())
        out = self.net.head(maps)
        scores = out["cls_logits"].softmax(-1)[..., 1:].amax(-1).cpu()  # class 0 is no thing
        shifts = out["bbox_regression"]
        for i, priors in enumerate(self.net.anchor_generator(images, maps)):
            boxes = self.net.box_coder.decode_single(shifts[i], priors)
            yield boxes.cpu() / self.side, scores[i]
