"""The teacher's maps and their components."""

from types import SimpleNamespace

import pytest
import torch

from vsdemo.encoders.image import LinearImage
from vsdemo.recipes.pocket import teacher


@pytest.fixture
def fake_maps(monkeypatch):
    """Record the photos that the teacher gets; its maps depend on their first pixel."""
    received = []

    def compute_maps(photos):
        received.extend(photos)
        draw = torch.Generator().manual_seed(0)
        base = torch.randn(12, teacher.GRID, teacher.GRID, generator=draw)
        return torch.stack([base * (1 + float(photo[0, 0, 0])) for photo in photos])

    monkeypatch.setattr(teacher, "compute_maps", compute_maps)
    monkeypatch.setattr(teacher, "SHARD", 4)
    monkeypatch.setattr(teacher, "COMPONENTS", 5)
    return received


def test_maps_are_in_the_order_of_the_photos(monkeypatch):
    """A teacher that averages 32 x 32 pixels, and photos of a single color."""

    def pooled(pixels):
        shapes.append(tuple(pixels.shape[2:]))
        return None, torch.nn.functional.avg_pool2d(pixels, 32)

    shapes = []
    monkeypatch.setattr(teacher, "find_weights", lambda name: name)
    monkeypatch.setattr(teacher, "load_backbone", lambda weights: pooled)
    sizes = [(30, 60), (60, 30), (40, 40), (60, 30), (30, 60)]
    photos = [torch.full((3, *s), 10 * i, dtype=torch.uint8) for i, s in enumerate(sizes)]
    result = teacher.compute_maps(photos)
    assert result.shape == (5, 3, teacher.GRID, teacher.GRID)
    for i, maps in enumerate(result):
        assert torch.allclose(maps, torch.full_like(maps, 10 * i), atol=1e-3)
    assert sorted(shapes) == sorted(teacher.SHAPES.values())


def photos(count):
    return [torch.full((3, 10, 10), i, dtype=torch.uint8) for i in range(count)]


def test_components_agree_with_a_singular_value_decomposition():
    draw = torch.Generator().manual_seed(0)
    maps = torch.randn(20, 8, 3, 3, generator=draw) * torch.arange(1, 9)[:, None, None]
    result = teacher.principal_components(maps)
    cells = maps.permute(0, 2, 3, 1).reshape(-1, 8)
    _, values, rows = torch.linalg.svd(cells - cells.mean(0), full_matrices=False)
    assert torch.allclose(result["mean"], cells.mean(0), atol=1e-5)
    assert torch.allclose(result["deviation"], values / len(cells) ** 0.5, atol=1e-4)
    assert torch.allclose((result["directions"].T * rows).sum(1).abs(), torch.ones(8), atol=1e-3)


def test_maps_are_computed_once(fake_maps, tmp_path):
    maps, basis = teacher.cached_maps(photos(10), tmp_path)
    assert maps.shape == (10, 5, teacher.GRID, teacher.GRID)
    assert maps.dtype == torch.half
    next(tmp_path.glob("*/000004.safetensors")).unlink()  # as after a kill
    fake_maps.clear()
    again, same = teacher.cached_maps(photos(10), tmp_path)
    assert [int(photo[0, 0, 0]) for photo in fake_maps] == [4, 5, 6, 7]
    assert torch.equal(again, maps)
    assert torch.equal(same["directions"], basis["directions"])
    fake_maps.clear()
    teacher.cached_maps(photos(11)[1:], tmp_path)  # as many, but other photos
    assert {int(photo[0, 0, 0]) for photo in fake_maps} == set(range(1, 11))


def test_components_reconstruct_the_maps(fake_maps, tmp_path):
    maps, basis = teacher.cached_maps(photos(6), tmp_path)
    raw = teacher.compute_maps(photos(6))
    back = torch.einsum("nkhw,ck->nchw", maps.float(), basis["directions"])
    lost = (back + basis["mean"][:, None, None] - raw).square().sum() / raw.square().sum()
    assert lost < 0.6  # five of twelve directions of noise


@pytest.mark.parametrize(
    ("height", "width", "shape"),
    [(100, 150, "wide"), (150, 100, "tall"), (100, 110, "square"), (110, 100, "square")],
)
def test_input_shape_suits_the_photo(height, width, shape):
    assert teacher.input_shape(torch.zeros(3, height, width)) == teacher.SHAPES[shape]


def test_project_keeps_what_the_image_encoder_reads(monkeypatch):
    """An encoder that reads one direction of two, and a basis that is rotated against both."""
    image = LinearImage(2, 1, standardize=True)
    image.standardize.running_var.copy_(torch.tensor([4.0, 1.0]))
    with torch.no_grad():
        image.linear.weight.copy_(torch.tensor([[6.0, 0.0]]))
    loaded = []
    monkeypatch.setattr(
        teacher.checkpoint, "load", lambda f: (loaded.append(f), [SimpleNamespace(image=image)])[1]
    )
    monkeypatch.setattr(teacher, "RELEVANT", 1)
    half = 0.5**0.5
    directions = torch.tensor([[half, half], [half, -half]])
    features = torch.randn(50, 2, 3, 3, generator=torch.Generator().manual_seed(0))
    maps = torch.einsum("nchw,ck->nkhw", features, directions)
    basis = {"directions": directions, "deviation": torch.ones(2)}
    projected, deviation = teacher.project(maps, basis)
    assert loaded[0].parts[-2:] == ("flickr8k", "gru")
    assert projected.shape == (50, 1, 3, 3)
    assert deviation.tolist() == [1]
    read = features[:, :1]  # in units of its deviation
    assert torch.allclose(projected.float().abs(), read.abs(), atol=5e-3)
