"""Pocket and Easel: errors for a missing or damaged file of weights."""

import pytest
import torch
from safetensors.torch import load_file, save_file

from vsdemo.core.errors import UserError
from vsdemo.vision.backbones import (
    FAMILIES,
    find_weights,
    how_to_get,
    is_available,
    most_features,
)
from vsdemo.vision.backbones.easel import Easel
from vsdemo.vision.backbones.network import Backbone
from vsdemo.vision.backbones.pocket import Pocket

NETWORKS = {"pocket": (Pocket, "stem.0.weight"), "easel": (Easel, "boxes.weight")}


@pytest.fixture(params=NETWORKS)
def name(request):
    return request.param


@pytest.fixture
def file(name, tmp_path, monkeypatch):
    """A file of random weights in place of the one in checkpoints/."""
    network, _ = NETWORKS[name]
    file = tmp_path / "model.safetensors"
    half = {k: t.half() if t.dim() > 1 else t for k, t in network().state_dict().items()}
    save_file(half, file)
    monkeypatch.setattr(FAMILIES[name], "file", file)
    return file


@pytest.mark.parametrize("damage", ["cut", "empty", "another network", "a tensor less"])
def test_damaged_file_is_reported(damage, name, file):
    state = load_file(file)
    if damage == "another network":
        save_file({"weight": torch.zeros(3)}, file)
    elif damage == "a tensor less":
        _, tensor = NETWORKS[name]
        save_file({k: t for k, t in state.items() if k != tensor}, file)
    else:
        whole = file.read_bytes()
        file.write_bytes(whole[: {"cut": 100_000, "empty": 0}[damage]])
    with pytest.raises(UserError, match=rf"{name}.*get that file again\.$") as caught:
        Backbone(find_weights(name))
    assert "\n" not in str(caught.value)


def test_missing_file_is_reported(name, file):
    file.unlink()
    assert not is_available(name)
    assert f"train-{name}" in how_to_get(name)
    with pytest.raises(UserError, match=f"git restore checkpoints/{name}") as caught:
        find_weights(name)
    assert "\n" not in str(caught.value)


def test_no_photo_or_region_has_more_numbers_than_estimated(name):
    network, _ = NETWORKS[name]
    size = network.spec.size
    pixels, boxes = torch.zeros(1, 3, size, size), torch.tensor([[[0.2, 0.2, 0.5, 0.5]]])
    with torch.inference_mode():
        vector, grid = network().eval()(pixels)
        region = network().eval().describe(pixels, boxes)
    assert max(vector.shape[1], grid.shape[1], region.shape[2]) == most_features(name)
    assert most_features("of no family") > most_features("pocket")
