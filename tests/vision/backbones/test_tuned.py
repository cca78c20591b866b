"""Networks with a tuned end: splitting, pooling, and differences in 4 bits."""

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn
from torchvision.transforms.v2.functional import to_pil_image

from vsdemo.core.errors import UserError
from vsdemo.encoders.image import LinearImage
from vsdemo.encoders.tuned_image import TunedImage
from vsdemo.vision.backbones import (
    TUNED,
    base_of,
    find_weights,
    how_to_get,
    is_available,
    load_backbone,
    tuned,
)
from vsdemo.vision.backbones.classifier import Classifier
from vsdemo.vision.backbones.families import DIFFERENCE
from vsdemo.vision.backbones.network import Backbone, load_network
from vsdemo.vision.features import STEM, FeatureCache

SIDE = 256


@pytest.fixture
def photo():
    draw = torch.Generator().manual_seed(0)
    return to_pil_image(torch.rand(3, 40, 60, generator=draw))


@pytest.fixture
def end():
    """The end of Pocket, changed a little."""
    torch.manual_seed(0)
    _, end = load_network(find_weights("pocket")).split()
    for weights in end.parameters():
        weights.data += 0.01 * weights.std(correction=0) * torch.randn_like(weights)
    return end.requires_grad_(False)


@pytest.fixture
def folder(end, tmp_path):
    """The folder of a checkpoint with Pocket's changed end."""
    weights = find_weights("pocket")
    _, frozen = load_network(weights).split()
    content = tuned.to_bytes(weights, frozen, end.state_dict())
    (tmp_path / DIFFERENCE).write_bytes(content)
    return tmp_path


@pytest.mark.parametrize("name", ["densenet121", "resnet18"])
def test_stem_and_end_are_the_whole_network(name, random_network):
    network = Classifier(name, random_network(name)[1]).eval()
    stem, end = network.split()
    pixels = torch.randn(2, 3, 64, 64)
    with torch.no_grad():
        torch.testing.assert_close(end(stem(pixels)), network(pixels)[1])
    assert sum(p.numel() for p in end.parameters()) > 0


def test_stem_and_end_of_pocket_are_the_whole_network():
    network = load_network(find_weights("pocket"))
    stem, end = network.split()
    pixels = torch.randn(2, 3, 64, 96)
    with torch.no_grad():
        torch.testing.assert_close(end(stem(pixels)), network(pixels)[1])


def test_other_networks_cannot_be_tuned(random_network):
    with pytest.raises(UserError, match="cannot be tuned; choose"):
        Classifier("vgg11", random_network("vgg11")[1]).split()


def test_vector_has_two_generalized_means():
    spatial = torch.tensor([[[[1.0, 2.0], [3.0, 6.0]], [[-9.0, 0.0], [0.0, 4.0]]]])
    expected = torch.tensor([[3.0, 1.0, 63 ** (1 / 3), 16 ** (1 / 3)]])  # (1 + 8 + 27 + 216) / 4
    torch.testing.assert_close(tuned.pool(spatial), expected)


def test_vector_of_a_region_is_that_of_its_part_of_the_map():
    torch.manual_seed(0)
    spatial = torch.randn(2, 5, 4, 6)
    boxes = torch.tensor([[[0.5, 0.25, 1, 0.75], [0, 0, 1, 1], [0, 0, 0, 0]]]).repeat(2, 1, 1)
    regions = tuned.pool_regions(spatial, boxes)
    torch.testing.assert_close(regions[:, 0], tuned.pool(spatial[:, :, 1:3, 3:]))
    torch.testing.assert_close(regions[:, 1], tuned.pool(spatial))
    assert (regions[:, 2] < 1e-9).all()


def test_features_of_any_size_have_gradients():
    """Half of a DenseNet's features are below 1e-4, and many are 0 everywhere."""
    spatial = torch.tensor([0.0, 1e-7, 1e-4, 1.0])[None, :, None, None].repeat(1, 1, 2, 2)
    spatial.requires_grad_()
    tuned.pool(spatial).sum().backward()
    expected = torch.tensor([0.0, 0.5, 0.5, 0.5])  # a quarter of each of both means
    torch.testing.assert_close(spatial.grad[0, :, 0, 0], expected)


def test_differences_have_four_bits():
    torch.manual_seed(0)
    frozen = {"matrix": torch.randn(5, 4, 3, 3), "vector": torch.randn(5), "count": torch.tensor(3)}
    weights = {k: t + 0.01 * torch.randn(t.shape) for k, t in frozen.items() if k != "count"}
    weights |= {"count": frozen["count"]}
    weights["matrix"][2] = frozen["matrix"][2]  # an output that did not change
    differences = tuned.subtract(weights, frozen)
    assert differences["matrix"].dtype == torch.uint8
    again = tuned.add(frozen, differences)
    largest = (weights["matrix"] - frozen["matrix"]).flatten(1).abs().amax(1)
    error = (again["matrix"] - weights["matrix"]).flatten(1).abs().amax(1)
    assert (error <= 0.51 / 7 * largest + 1e-6).all()  # half a level
    torch.testing.assert_close(again["vector"], weights["vector"])
    assert again["count"] == 3


def test_unchanged_end_is_the_frozen_network(tmp_path):
    weights = find_weights("pocket")
    _, frozen = load_network(weights).split()
    content = tuned.to_bytes(weights, frozen, frozen.state_dict())
    (tmp_path / DIFFERENCE).write_bytes(content)
    network = tuned.Tuned.load(str(tmp_path), tmp_path / DIFFERENCE)
    pixels = torch.randn(1, 3, 64, 64)
    with torch.no_grad():
        vector, spatial = network(pixels)
        torch.testing.assert_close(spatial, load_network(weights)(pixels)[1])
        mirrored = network.end(network.stem(pixels).flip(-1))
    expected = (tuned.pool(spatial) + tuned.pool(mirrored)) / 2
    torch.testing.assert_close(vector, expected)


def test_encoder_of_stems_embeds_as_the_tuned_network(photo, end, folder):
    torch.manual_seed(0)
    linear = LinearImage(2 * 512, 16).eval()
    network = Backbone(find_weights(f"{TUNED}{folder}"))
    assert network.views(photo, "whole").shape == (1, 3, SIDE, SIDE)
    features = network.encode(network.views(photo, "whole")[None])
    base = Backbone(find_weights("pocket"))
    stems = base.stems(base.large_views(photo, "whole")[None])[:, 0]
    assert stems.shape[:2] == (1, 512)
    with torch.no_grad():
        encoder = TunedImage(end, linear).train().eval()
        expected, actual = (
            linear(features).x,
            encoder(encoder.collate(encoder.prepare(stems.half()))).x,
        )
    torch.testing.assert_close(actual, expected, atol=0.02, rtol=0)  # 4 bits, bf16


def test_batch_norms_keep_their_statistics(end):
    encoder = TunedImage(nn.Sequential(end, nn.BatchNorm2d(512)), LinearImage(1024, 4)).train()
    assert not any(module.training for module in encoder.end.modules())
    assert encoder.image.training


def test_cache_keeps_stems(photo, own_home, tmp_path):
    file = tmp_path / "photo.png"
    photo.save(file)
    cache = FeatureCache("pocket", "corners")
    stems = cache.get([file], kind=STEM)
    assert stems.shape == (1, 4, 512, SIDE // 32, SIDE // 32)
    network = load_backbone(cache.weights)
    expected = network.stems(network.large_views(photo, "corners")[None])
    torch.testing.assert_close(stems, expected.half())
    assert torch.equal(cache.get([file], kind=STEM), stems)


def test_network_before_it_was_tuned_is_needed_too(folder):
    name = f"{TUNED}{folder}"
    assert (base_of(name), base_of("pocket")) == ("pocket", "pocket")
    save_file({"x": torch.zeros(1)}, folder / DIFFERENCE, {"base": "torchvision/resnet50"})
    assert not is_available(name)
    assert "torchvision/resnet50" in how_to_get(name)
    (folder / DIFFERENCE).write_bytes(b"damaged")
    assert base_of(name) == name


def test_all_networks_below_are_needed(folder, tmp_path):
    below, upper = f"{TUNED}{folder}", tmp_path / "upper"
    upper.mkdir()
    save_file({"x": torch.zeros(1)}, upper / DIFFERENCE, {"base": below})
    name = f"{TUNED}{upper}"
    assert (base_of(name), is_available(name)) == ("pocket", True)
    (folder / DIFFERENCE).unlink()
    assert (base_of(name), is_available(name)) == (below, False)
    assert how_to_get(name) == how_to_get(below)


def test_missing_or_foreign_difference_is_reported(folder, monkeypatch):
    name = f"{TUNED}{folder}"
    assert is_available(name)
    file = folder / DIFFERENCE
    save_file(load_file(file), file, {"base": "pocket", "base_hash": "0" * 16})
    with pytest.raises(UserError, match=r"was trained over pocket with weights 0{16}"):
        Backbone(find_weights(name))
    file.unlink()
    assert not is_available(name)
    with pytest.raises(UserError, match="get the whole checkpoint again"):
        find_weights(name)
