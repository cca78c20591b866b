"""Frozen image networks: vectors, maps, and missing or damaged weights."""

import http.client
import re
import urllib.error

import pytest
import torch
import torch.nn.functional as F
import torchvision
from safetensors.torch import load_file, save_file
from torch import nn

from vsdemo.core.errors import UserError
from vsdemo.core.images import open_photo
from vsdemo.data import datasets
from vsdemo.vision.backbones import find_weights
from vsdemo.vision.backbones import network as networks
from vsdemo.vision.backbones.network import Backbone
from vsdemo.vision.backbones.weights import Weights
from vsdemo.vision.crops import IMAGENET_MEAN, IMAGENET_STD

BACKBONE = "torchvision/mobilenet_v3_small"
POOLED = {"resnet18": 512, "densenet121": 1024, "mobilenet_v2": 1280}  # the vector is a mean
OTHERS = {"mobilenet_v3_small": 1024, "alexnet": 4096}  # AlexNet has the layers of VGG, but fewer


def pixels(count: int, size: int = 224) -> torch.Tensor:
    seeded = torch.Generator().manual_seed(1)
    return torch.randint(0, 256, (count, 3, size, size), dtype=torch.uint8, generator=seeded)


def input_of_classifier(net: nn.Module, photos: torch.Tensor) -> torch.Tensor:
    """What the last linear layer of a torchvision network reads."""
    inputs = []
    last = [m for m in net.modules() if isinstance(m, nn.Linear)][-1]
    hook = last.register_forward_pre_hook(lambda _, args: inputs.append(args[0]))
    mean, std = (torch.tensor(c)[:, None, None] for c in (IMAGENET_MEAN, IMAGENET_STD))
    with torch.no_grad():
        net((photos / 255 - mean) / std)
    hook.remove()
    return inputs[0]


@pytest.mark.parametrize(("name", "dim"), (POOLED | OTHERS).items())
def test_vector_is_the_input_of_the_classifier(name, dim, random_network, float32):
    net, file = random_network(name)
    vector, spatial = Backbone(Weights(f"torchvision/{name}", file, "0"))(pixels(2))
    assert vector.shape == (2, dim)
    assert vector.dtype == spatial.dtype == torch.float32
    assert spatial.shape[2:] == ((6, 6) if name == "alexnet" else (7, 7))
    assert (vector[0] - vector[1]).abs().max() > 0.01  # or the tolerance hides everything
    torch.testing.assert_close(vector, input_of_classifier(net, pixels(2)), rtol=1e-4, atol=1e-4)
    if name in POOLED:
        torch.testing.assert_close(vector, spatial.mean((2, 3)), rtol=1e-4, atol=1e-4)


def test_vector_and_map_do_not_depend_on_the_batch(random_network, float32):
    network = Backbone(Weights(BACKBONE, random_network("mobilenet_v3_small")[1], "0"))
    vectors, maps = network(pixels(4))
    assert (vectors[2] - vectors[1]).abs().max() > 0.01
    vector, spatial = network(pixels(4)[2:3])
    torch.testing.assert_close(vectors[2], vector[0])
    torch.testing.assert_close(maps[2], spatial[0])


def test_encode_is_the_normalised_mean_of_rectified_vectors(float32):
    network = Backbone(find_weights(BACKBONE))
    vectors = network(pixels(6))[0]
    assert vectors.min() < 0  # because of hard-swish: the ReLU has an effect
    mean = vectors.relu().view(3, 2, -1).mean(1)
    expected = mean / mean.norm(dim=1, keepdim=True)
    torch.testing.assert_close(network.encode(pixels(6).view(3, 2, 3, 224, 224)), expected)


def test_weights_are_frozen():
    network = Backbone(find_weights(BACKBONE))
    assert not network.training
    assert not any(p.requires_grad for p in network.parameters())


@pytest.mark.parametrize(
    "name",
    [
        "",
        "resnet18",
        "pocket/small",
        "torchvision",
        "torchvision/",
        "torchvision/resnet",
        "torchvision/fcn_resnet50",
        "torchvision/../../weights",
        "keras/resnet18",
        "clip:ViT-B-32",
        "clip:ViT-Z-99/random",
        "clip:ViT-B-32/nobody",
        "clip:ViT-Z-99/openai",
    ],
)
def test_unknown_name_is_refused(name, is_one_sentence):
    with pytest.raises(UserError) as caught:
        find_weights(name)
    assert is_one_sentence(caught)


@pytest.mark.parametrize("name", ["swin_t", "squeezenet1_0", "shufflenet_v2_x0_5"])
def test_network_without_a_map_or_a_classifier_is_refused(name, tmp_path, is_one_sentence):
    with pytest.raises(UserError, match="use a convolutional network") as caught:
        Backbone(Weights(f"torchvision/{name}", tmp_path / "no file", "0"))
    assert is_one_sentence(caught)


@pytest.mark.parametrize(
    "error",
    [
        urllib.error.URLError("no route"),
        TimeoutError("slow"),
        RuntimeError("invalid hash value"),
        http.client.IncompleteRead(b"half"),
    ],
)
def test_failed_download_is_reported(error, models_folder, monkeypatch, is_one_sentence):
    def fail(*args, **options):
        raise error

    monkeypatch.setattr("vsdemo.vision.backbones.weights.download", fail)
    with pytest.raises(UserError, match=r"could not be downloaded.*models/ folder") as caught:
        find_weights("torchvision/resnet18")
    assert is_one_sentence(caught)


def test_weights_are_downloaded(models_folder, tmp_path, monkeypatch, random_network, float32):
    net, _ = random_network("resnet18")

    def download(url, path, *args, limit):
        assert limit == 46_831_501  # 44.661 MiB, rounded up
        path.parent.mkdir()
        torch.save(net.state_dict(), path)

    monkeypatch.setattr(torch.hub, "get_dir", lambda: str(tmp_path))
    monkeypatch.setattr("vsdemo.vision.backbones.weights.download", download)
    monkeypatch.setattr("vsdemo.vision.backbones.weights.sha256", lambda path: "f37072fd" * 8)
    weights = find_weights("torchvision/resnet18")
    assert weights.path.name == "resnet18-f37072fd.pth"
    vector, _ = Backbone(weights)(pixels(1))
    torch.testing.assert_close(vector, input_of_classifier(net, pixels(1)), rtol=1e-4, atol=1e-4)


def test_old_densenet_names_are_read(models_folder, random_network, float32):
    net, written = random_network("densenet121")
    state = load_file(written)
    file = models_folder / "densenet121_old.safetensors"
    save_file({re.sub(r"(layer\d+\.\w+)([12]\.)", r"\1.\2", k): t for k, t in state.items()}, file)
    assert "features.denseblock1.denselayer1.norm.1.weight" in load_file(file)
    vector, _ = Backbone(find_weights("torchvision/densenet121"))(pixels(1))
    torch.testing.assert_close(vector, input_of_classifier(net, pixels(1)), rtol=1e-4, atol=1e-4)


def test_file_of_a_longer_name_is_not_taken(models_folder):
    for name in ("vgg11_bn_imagenet", "vgg11_imagenet"):
        (models_folder / f"{name}.safetensors").write_text(name)
    assert find_weights("torchvision/vgg11").path.stem == "vgg11_imagenet"
    assert find_weights("torchvision/vgg11_bn").path.stem == "vgg11_bn_imagenet"


def test_hash_is_of_the_content(models_folder):
    file = models_folder / "resnet18_mine.safetensors"
    file.write_bytes(b"abc")
    assert find_weights("torchvision/resnet18").hash == "ba7816bf8f01cfea"  # FIPS 180-2, B.1


@pytest.mark.parametrize("damage", ["cut", "empty", "another network", "a tensor less"])
def test_damaged_weights_are_reported(damage, models_folder, random_network, is_one_sentence):
    _, whole = random_network("mobilenet_v3_small")
    file = models_folder / "mobilenet_v3_small_mine.safetensors"
    if damage == "a tensor less":
        missing = "features.12.1.bias"
        state = load_file(whole)
        assert missing in state
        save_file({k: t for k, t in state.items() if k != missing}, file)
    elif damage == "another network":
        save_file(load_file(random_network("mobilenet_v2")[1]), file)
    else:
        file.write_bytes(whole.read_bytes()[: {"cut": 100_000, "empty": 0}[damage]])
    with pytest.raises(UserError, match="mobilenet_v3_small_mine") as caught:
        Backbone(find_weights(BACKBONE))
    assert is_one_sentence(caught)


def test_densenet169_on_photos(real_data, monkeypatch):
    weights = find_weights("torchvision/densenet169")
    network = Backbone(weights)
    net = torchvision.models.densenet169(weights=None).eval()
    stored = {name: tensor.float() for name, tensor in load_file(weights.path).items()}
    assert not net.load_state_dict(stored, strict=False).unexpected_keys
    photos = [open_photo(p) for p in datasets.load("flickr8k", "dev").photos[:4]]
    views = torch.stack([network.views(p, "center") for p in photos])
    vectors = {}
    for dtype in (torch.bfloat16, torch.float32):
        monkeypatch.setattr(
            networks,
            "autocast",
            lambda t=dtype: torch.autocast("cpu", t, enabled=t is torch.bfloat16),
        )
        vectors[dtype] = network.encode(views)
    exact = vectors[torch.float32]
    assert exact.shape == (4, 1664)
    expected = F.normalize(input_of_classifier(net, views[:, 0]).relu(), dim=1)
    torch.testing.assert_close(exact, expected, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(exact.norm(dim=1), torch.ones(4))
    assert (exact @ exact.T).fill_diagonal_(0).max() < 0.9
    assert not torch.equal(vectors[torch.bfloat16], exact)
    assert (exact * vectors[torch.bfloat16]).sum(1).min() >= 0.999
