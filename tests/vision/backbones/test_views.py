"""Views of a photo: the squares that a network reads."""

import pytest
import torch
import torchvision
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from vsdemo.vision.backbones import find_weights
from vsdemo.vision.backbones.network import Backbone
from vsdemo.vision.crops import VIEWS


@pytest.fixture(scope="module")
def network(own_folders):
    return Backbone(find_weights("torchvision/mobilenet_v3_small"))


@pytest.fixture(scope="module")
def noise():
    """512 x 384 pixels, so that 256 on the short side makes 341 on the long one."""
    seeded = torch.Generator().manual_seed(1)
    pixels = torch.randint(0, 256, (3, 384, 512), dtype=torch.uint8, generator=seeded)
    return torchvision.transforms.functional.to_pil_image(pixels)


def test_ten_views_are_those_of_torchvision(network, noise):
    ten = torchvision.transforms.TenCrop(224)(torchvision.transforms.Resize(256)(noise))
    expected = [torchvision.transforms.functional.pil_to_tensor(view) for view in ten]
    assert torch.equal(network.views(noise, "ten"), torch.stack(expected))


def test_mirror_is_the_centre_and_its_mirror_image(network, noise):
    centre, mirror = network.views(noise, "center"), network.views(noise, "mirror")
    assert torch.equal(mirror[0], centre[0])
    assert torch.equal(mirror[1], centre[0].flip(2))
    assert torch.equal(network.views(noise, "ten")[4], centre[0])


def test_whole_is_all_of_the_photo(network, noise):
    whole = network.views(noise, "whole")
    assert torch.equal(
        whole[0],
        torchvision.transforms.functional.pil_to_tensor(
            noise.resize((224, 224), Image.Resampling.BILINEAR)
        ),
    )
    edge = Image.new("RGB", (400, 100), "black")
    edge.paste("red", (0, 0, 40, 100))
    assert network.views(edge, "whole")[0, 0, :, :20].min() > 200
    assert network.views(edge, "center")[0].max() == 0


def test_corners_are_seven_tenths_of_the_photo(network):
    """Each pixel of the photo says where it is."""
    across, down = torch.meshgrid(torch.arange(200), torch.arange(100), indexing="xy")
    photo = torchvision.transforms.functional.to_pil_image(
        torch.stack([across, down, torch.zeros(100, 200)]).byte()
    )
    views = network.views(photo, "corners")[:, :2].float()
    lefts, tops = views[:, 0, 0, 0], views[:, 1, 0, 0]
    rights, bottoms = views[:, 0, -1, -1], views[:, 1, -1, -1]
    torch.testing.assert_close(lefts, torch.tensor([0.0, 60, 0, 60]), atol=2, rtol=0)
    torch.testing.assert_close(rights, torch.tensor([140.0, 200, 140, 200]), atol=2, rtol=0)
    torch.testing.assert_close(tops, torch.tensor([0.0, 0, 30, 30]), atol=2, rtol=0)
    torch.testing.assert_close(bottoms, torch.tensor([70.0, 70, 100, 100]), atol=2, rtol=0)


@given(st.integers(8, 400), st.floats(1, 20), st.booleans(), st.sampled_from(list(VIEWS)))
def test_views_of_any_shape(network, short, ratio, tall, crops):
    size = (short, int(short * ratio))
    views = network.views(Image.new("RGB", size if tall else size[::-1], "red"), crops)
    assert views.shape == (VIEWS[crops].views, 3, 224, 224)
    assert views.dtype == torch.uint8
    red = torch.tensor([255, 0, 0], dtype=torch.uint8)[:, None, None]
    assert torch.equal(views, red.expand_as(views))  # no view reaches outside the photo
