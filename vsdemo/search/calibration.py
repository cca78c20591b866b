"""Calibrate checkpoints: store the match score from which a search reports a match."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch

from vsdemo.core import checksums, json_files
from vsdemo.core.errors import UserError
from vsdemo.core.paths import AnyPath, to_path
from vsdemo.core.sentences import Sentence
from vsdemo.data import datasets
from vsdemo.evaluation import matching, presence
from vsdemo.evaluation.evaluate import load_photos
from vsdemo.evaluation.likely import fit_temperature
from vsdemo.evaluation.matching import MatchThreshold
from vsdemo.models import checkpoint

FILE = "matching.json"  # in the folder of a checkpoint
DIGITS = 4  # of the limit of presence
VERSION = 1  # of the file; to be raised when match scores are computed differently


def calibrate(folder: AnyPath, split: str = "dev") -> MatchThreshold:
    """Calibrate a checkpoint on captions of the data set of its training, and store the result.

    The file is for galleries without captions, and for the same data set. For a model that reads
    characters, the words of the training captions are stored, too, because unknown words count,
    unless its training has stored those that it learned. The temperature of its scores, and the
    score from which a region shows a phrase, are stored in files of their own.

    Raises:
        UserError: The checkpoint is damaged or without photos, or the data set is missing or has no
            captions.
    """
    folder = to_path(folder)
    spec = checkpoint.read_spec(folder)
    checkpoint.check_photos(spec)
    model, _, _ = checkpoint.load(folder)
    text: Any = model.text
    if text.reads_characters and text.training_words is None:
        checkpoint.save_training_words(folder, datasets.find(spec.dataset).words())
        model, _, _ = checkpoint.load(folder)
    data = load_photos(spec, split)
    if not data.split.captions:
        raise UserError(f"{data.split.name} has no captions, which a calibration needs.")
    photos = model.encode_image(data.features)
    captions = model.encode_text([Sentence(text) for text in data.split.captions])
    temperature = fit_temperature(model.score(captions, photos), torch.tensor(data.split.photo_of))
    checkpoint.save_temperature(folder, temperature)
    if model.score.can_align:
        limit = presence.measure(model, data.split, captions, photos).limit()
        checkpoint.save_presence(folder, round(limit, DIGITS))
    result = matching.calibrate(
        model,
        data.split,
        photos,
        captions=matching.spread(range(len(data.split.captions))),
        sizes=matching.SIZES,
    )
    values = {"version": VERSION, "checkpoint": checkpoint.content_hash(folder)}
    content = json.dumps(values | result.to_json(), indent=1)
    checksums.write_files(folder, {FILE: f"{content}\n".encode()})
    return result


def stored(folder: Path, content_hash: str) -> MatchThreshold | None:
    """Return what `calibrate` wrote; None if it is missing, damaged or out of date.

    Args:
        folder: The checkpoint.
        content_hash: Its `checkpoint.content_hash`.
    """
    try:
        checksums.check(folder / FILE)
        values = json_files.load(folder / FILE)
        if values["version"] != VERSION or values["checkpoint"] != content_hash:
            return None
        return MatchThreshold.from_json(values)
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None
