"""What the teacher sees in crops, in the directions that captions speak about."""

from types import SimpleNamespace

import pytest
import torch

from tests.recipes.pocket.conftest import Colours
from vsdemo.core.errors import UserError
from vsdemo.encoders.image import LinearImage
from vsdemo.recipes.pocket import teacher
from vsdemo.recipes.pocket.teacher import Teacher, check_files, directions
from vsdemo.vision.backbones.pocket import FEATURES, Pocket

PRUNE = Teacher.prune  # which the fixture `few_photos` replaces


@pytest.fixture
def reader(monkeypatch):
    """An image encoder that reads the first of eight features, and half as much of the second."""
    image = LinearImage(8, 2, standardize=True)
    image.standardize.running_var.copy_(torch.tensor([4.0] + 7 * [1.0]))
    with torch.no_grad():
        image.linear.weight.zero_()
        image.linear.weight[:, :2] = torch.tensor([[6.0, 0.0], [0.0, 1.5]])
    loaded = []
    monkeypatch.setattr(
        teacher.checkpoint, "load", lambda f: (loaded.append(f), [SimpleNamespace(image=image)])[1]
    )
    return loaded


def test_directions_are_what_the_image_encoder_reads(reader, monkeypatch):
    monkeypatch.setattr(teacher, "RELEVANT", 2)
    draw = torch.Generator().manual_seed(0)
    maps = torch.randn(400, 8, 3, 3, generator=draw) + 5
    basis = directions(maps)
    assert reader[0].parts[-2:] == ("flickr8k", "gru")
    cells = maps.permute(0, 2, 3, 1).flatten(0, 2)
    torch.testing.assert_close(basis["mean"], cells.mean(0))
    seen = (cells - cells.mean(0)) @ basis["directions"]  # (N, 2)
    read = (cells - cells.mean(0))[:, :2] * torch.tensor([3.0, 1.5])
    for mine, theirs in zip(seen.T, read.T, strict=True):
        assert torch.corrcoef(torch.stack([mine, theirs]))[0, 1].abs() > 0.99
    of_cells, of_means = basis["deviations"]
    assert of_cells[0] == 1
    torch.testing.assert_close(of_cells, seen.std(0), atol=5e-3, rtol=0)
    means = seen.unflatten(0, (400, 9)).mean(1)
    torch.testing.assert_close(of_means, means.std(0), atol=1e-3, rtol=0)


def test_directions_of_few_dimensions(reader, monkeypatch):
    """No more principal components than there are are kept."""
    monkeypatch.setattr(teacher, "COMPONENTS", 5)
    basis = directions(torch.randn(20, 8, 3, 3, generator=torch.Generator().manual_seed(0)))
    assert basis["directions"].shape == (8, 2)


def batch(name: str, seed: int = 0) -> SimpleNamespace:
    pixels = torch.rand(4, 3, 64, 64, generator=torch.Generator().manual_seed(seed))
    return SimpleNamespace(name=name, pixels=pixels)


@pytest.mark.usefixtures("few_photos")
def test_each_crop_is_seen_once(tmp_path):
    seen = Teacher([batch("0").pixels], tmp_path, keep=True)
    Colours.seen = 0
    first = seen.targets(batch("0"))
    assert first.shape == (4, 6, 2, 2)
    assert Colours.seen == 4
    assert torch.equal(seen.targets(batch("0")), first)
    again = Teacher([], tmp_path, keep=True)  # after a restart
    assert torch.equal(again.targets(batch("0")), first)
    assert Colours.seen == 4
    assert not torch.allclose(again.targets(batch("1", seed=1)), first)
    assert Colours.seen == 8


@pytest.mark.usefixtures("few_photos")
def test_a_teacher_is_pruned_once(tmp_path, monkeypatch):
    seen = Teacher([batch("0").pixels], tmp_path, keep=True)
    seen.net.net = SimpleNamespace(net=SimpleNamespace(features=["the layers", "a ReLU"]))
    seen.net.std = torch.full((3, 1, 1), 0.5)
    calls = []

    def prune(net, crops, mean, directions):
        calls.append((net, crops))
        return Pocket(), torch.nn.Conv2d(FEATURES, 6, 1)

    monkeypatch.setattr(teacher.pruning, "prune", prune)
    pixels = batch("0").pixels
    pocket, imitation = PRUNE(seen, [pixels, pixels])
    ((net, crops),) = calls
    assert net == "the layers"
    torch.testing.assert_close(crops, torch.cat([pixels, pixels]) * 2)
    Pocket().load_state_dict(pocket)
    assert imitation["weight"].shape == (6, FEATURES, 1, 1)
    again, _ = PRUNE(seen, [pixels])
    assert len(calls) == 1
    assert torch.equal(again["stem.0.weight"], pocket["stem.0.weight"])


@pytest.mark.usefixtures("few_photos")
def test_targets_are_projected_cells(tmp_path):
    seen = Teacher([batch("0").pixels], tmp_path, keep=False)
    one = batch("0")
    cells = torch.nn.functional.avg_pool2d(one.pixels, 32)
    targets = seen.targets(one)
    for row, column in [(0, 0), (1, 0)]:
        expected = (cells[2, :, row, column] - seen.mean) @ seen.directions
        torch.testing.assert_close(targets[2, :, row, column], expected, atol=1e-3, rtol=1e-3)
    assert [path.name for path in tmp_path.iterdir()] == [teacher.BASIS]


def test_a_reader_over_another_network_is_refused(monkeypatch):
    spec = SimpleNamespace(config=SimpleNamespace(backbone="pocket"))
    monkeypatch.setattr(teacher.checkpoint, "read_spec", lambda folder: spec)
    with pytest.raises(UserError, match="flickr8k/gru uses pocket"):
        check_files()
