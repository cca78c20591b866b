"""Boxes of a photo from other tools: COCO's JSON, and Pascal VOC's XML."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, ParseError

import torch
from defusedxml import DefusedXmlException, ElementTree
from torch import Tensor

from vsdemo.core.errors import UserError

MOST = 200  # boxes of a photo
SLACK = 1.0  # pixels that a box may reach out of the photo
EDGES = ("xmin", "ymin", "xmax", "ymax")

Box = tuple[float, ...]  # left, top, right and bottom edge in pixels


def read(path: Path, photo: str, size: tuple[int, int]) -> Tensor:
    """Return the boxes of a photo as fractions of its width and height, (K, 4).

    Args:
        path: A .json file of COCO, which may have other photos too, or an .xml file of Pascal VOC.
        photo: Name of the file of the photo.
        size: Width and height of the photo in pixels.

    Raises:
        UserError: The file cannot be read, does not have this photo, has another size for it, or
            has a box that is empty or outside of the photo.
    """
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} cannot be read ({error}).") from None
    reader = _read_voc if path.suffix.lower() == ".xml" else _read_coco
    try:
        known, boxes = reader(text, path, photo)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise UserError(
            f"{path} is not a file of boxes in the format of COCO (.json) or Pascal VOC (.xml): "
            f"{type(error).__name__}: {error}"
        ) from None
    if known != size:
        raise UserError(
            f"{path} says that {photo} has {known[0]} x {known[1]} pixels, but it has "
            f"{size[0]} x {size[1]}; use the photo that the boxes were drawn in."
        )
    if not boxes:
        raise UserError(f"{path} has no box for {photo}.")
    if len(boxes) > MOST:
        raise UserError(f"{path} has {len(boxes)} boxes for {photo}; the limit is {MOST}.")
    for box in boxes:
        _check(box, size, path)
    edges = torch.tensor(boxes) / torch.tensor([*size, *size])
    return edges.clamp(0, 1)


def _check(box: Box, size: tuple[int, int], path: Path) -> None:
    x0, y0, x1, y1 = box
    shown = ", ".join(f"{edge:g}" for edge in box)
    if not all(map(math.isfinite, box)) or x1 - x0 < 1 or y1 - y0 < 1:
        raise UserError(f"A box of {path} is empty: {shown} (left, top, right, bottom).")
    if min(x0, y0) < -SLACK or x1 > size[0] + SLACK or y1 > size[1] + SLACK:
        raise UserError(
            f"A box of {path} reaches out of the photo, which has {size[0]} x {size[1]} pixels: "
            f"{shown} (left, top, right, bottom)."
        )


def _read_coco(text: str, path: Path, photo: str) -> tuple[tuple[int, int], Sequence[Box]]:
    content: Any = json.loads(text)
    images = [image for image in content["images"] if Path(image["file_name"]).name == photo]
    if not images:
        raise UserError(f"{path} does not mention {photo}.")
    number = images[0]["id"]
    size = int(images[0]["width"]), int(images[0]["height"])
    drawn = [a["bbox"] for a in content["annotations"] if a["image_id"] == number]
    return size, [(float(x), float(y), float(x + w), float(y + h)) for x, y, w, h in drawn]


def _read_voc(text: str, path: Path, photo: str) -> tuple[tuple[int, int], Sequence[Box]]:
    try:
        root: Element = ElementTree.fromstring(text)
    except (ParseError, DefusedXmlException) as error:
        raise ValueError(str(error)) from None
    named = root.findtext("filename")
    if named and Path(named).stem != Path(photo).stem:
        raise UserError(f"{path} is about {named}, not about {photo}.")
    size = int(_text(root, "size/width")), int(_text(root, "size/height"))
    boxes = [
        tuple(float(_text(drawn, f"bndbox/{edge}")) for edge in EDGES)
        for drawn in root.iter("object")
    ]
    return size, [(x0 - 1, y0 - 1, x1, y1) for x0, y0, x1, y1 in boxes]  # VOC counts pixels from 1


def _text(element: Element, path: str) -> str:
    text = element.findtext(path)
    if text is None:
        raise LookupError(f"<{path.replace('/', '><')}> is missing")
    return text
