"""Retrieval with the first caption of each photo."""

import json
from pathlib import Path

import torch

from vsdemo.core.caption_set import CaptionSet
from vsdemo.evaluation.tasks.first_captions import first_captions


def test_the_first_caption_of_each_photo_is_left():
    split = CaptionSet(
        "toy",
        "test",
        photos=(Path("a"), Path("b"), Path("c")),
        captions=("b 1", "a 1", "a 2", "b 2"),
        photo_of=(1, 0, 0, 1),
    )
    left = first_captions(split)
    assert left.captions == ("a 1", "b 1")
    assert left.photo_of == (0, 1)
    assert left.photos == split.photos


def test_it_is_measured_by_command(run, toy_checkpoint):
    code, printed, _ = run("evaluate", toy_checkpoint, "--task", "first_captions")
    assert code == 0
    result = json.loads(printed)
    assert result["n_images"] == 8
    assert result["i2t"]["r50"] == 100  # of 8 captions
    assert torch.tensor(result["ci95"]["rsum"]).diff() > 0
