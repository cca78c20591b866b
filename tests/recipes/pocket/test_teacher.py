"""What the teacher sees, in components."""

from types import SimpleNamespace

import pytest
import torch

from vsdemo.encoders.image import LinearImage
from vsdemo.recipes.pocket import teacher


@pytest.fixture
def fake_maps(monkeypatch):
    """Counts the photos that the teacher looks at; its maps are made of their first pixel."""
    looked = []

    def raw_maps(photos):
        looked.extend(photos)
        draw = torch.Generator().manual_seed(0)
        base = torch.randn(12, teacher.GRID, teacher.GRID, generator=draw)
        return torch.stack([base * (1 + float(photo[0, 0, 0])) for photo in photos])

    monkeypatch.setattr(teacher, "raw_maps", raw_maps)
    monkeypatch.setattr(teacher, "SHARD", 4)
    monkeypatch.setattr(teacher, "COMPONENTS", 5)
    return looked


def test_maps_are_in_the_order_of_their_photos(monkeypatch):
    """A teacher whose map is the mean colour of each 32 x 32 pixels, and photos of one colour."""

    def pooled(pixels):
        shapes.append(tuple(pixels.shape[2:]))
        return None, torch.nn.functional.avg_pool2d(pixels, 32)

    shapes = []
    monkeypatch.setattr(teacher, "find_weights", lambda name: name)
    monkeypatch.setattr(teacher, "load_backbone", lambda weights: pooled)
    sizes = [(30, 60), (60, 30), (40, 40), (60, 30), (30, 60)]
    shown = [torch.full((3, *s), 10 * i, dtype=torch.uint8) for i, s in enumerate(sizes)]
    found = teacher.raw_maps(shown)
    assert found.shape == (5, 3, teacher.GRID, teacher.GRID)
    for i, one in enumerate(found):
        assert torch.allclose(one, torch.full_like(one, 10 * i), atol=1e-3)
    assert sorted(shapes) == sorted(teacher.SHAPES.values())


def photos(count):
    return [torch.full((3, 10, 10), i, dtype=torch.uint8) for i in range(count)]


def test_components_are_those_of_a_singular_value_decomposition():
    draw = torch.Generator().manual_seed(0)
    maps = torch.randn(20, 8, 3, 3, generator=draw) * torch.arange(1, 9)[:, None, None]
    found = teacher.components(maps)
    places = maps.permute(0, 2, 3, 1).reshape(-1, 8)
    _, values, rows = torch.linalg.svd(places - places.mean(0), full_matrices=False)
    assert torch.allclose(found["mean"], places.mean(0), atol=1e-5)
    assert torch.allclose(found["deviation"], values / len(places) ** 0.5, atol=1e-4)
    assert torch.allclose((found["directions"].T * rows).sum(1).abs(), torch.ones(8), atol=1e-3)


def test_nothing_is_looked_at_twice(fake_maps, tmp_path):
    maps, basis = teacher.look(photos(10), tmp_path)
    assert maps.shape == (10, 5, teacher.GRID, teacher.GRID)
    assert maps.dtype == torch.half
    next(tmp_path.glob("*/000004.safetensors")).unlink()  # as if the run had been killed
    fake_maps.clear()
    again, same = teacher.look(photos(10), tmp_path)
    assert [int(photo[0, 0, 0]) for photo in fake_maps] == [4, 5, 6, 7]
    assert torch.equal(again, maps)
    assert torch.equal(same["directions"], basis["directions"])
    fake_maps.clear()
    teacher.look(photos(11)[1:], tmp_path)  # other photos, as many
    assert {int(photo[0, 0, 0]) for photo in fake_maps} == set(range(1, 11))


def test_components_keep_what_they_can(fake_maps, tmp_path):
    maps, basis = teacher.look(photos(6), tmp_path)
    raw = teacher.raw_maps(photos(6))
    back = torch.einsum("nkhw,ck->nchw", maps.float(), basis["directions"])
    lost = (back + basis["mean"][:, None, None] - raw).square().sum() / raw.square().sum()
    assert lost < 0.6  # five of twelve directions of noise


@pytest.mark.parametrize(
    ("height", "width", "shape"),
    [(100, 150, "wide"), (150, 100, "tall"), (100, 110, "square"), (110, 100, "square")],
)
def test_a_photo_is_looked_at_in_about_its_own_shape(height, width, shape):
    assert teacher.shape_of(torch.zeros(3, height, width)) == teacher.SHAPES[shape]


def test_what_captions_do_not_speak_of_is_left_out(monkeypatch):
    """A tower that listens to one direction of two, and a basis that is turned against both."""
    image = LinearImage(2, 1, standardize=True)
    image.standardize.running_var.copy_(torch.tensor([4.0, 1.0]))
    with torch.no_grad():
        image.linear.weight.copy_(torch.tensor([[6.0, 0.0]]))
    asked = []
    monkeypatch.setattr(
        teacher.checkpoint, "load", lambda f: (asked.append(f), [SimpleNamespace(image=image)])[1]
    )
    monkeypatch.setattr(teacher, "RELEVANT", 1)
    half = 0.5**0.5
    directions = torch.tensor([[half, half], [half, -half]])
    features = torch.randn(50, 2, 3, 3, generator=torch.Generator().manual_seed(0))
    maps = torch.einsum("nchw,ck->nkhw", features, directions)
    basis = {"directions": directions, "deviation": torch.ones(2)}
    found, deviation = teacher.relevant(maps, basis)
    assert asked[0].parts[-2:] == ("flickr8k", "gru")
    assert found.shape == (50, 1, 3, 3)
    assert deviation.tolist() == [1]
    heard = features[:, :1]  # in units of its deviation
    assert torch.allclose(found.float().abs(), heard.abs(), atol=5e-3)
