import torch

from vsdemo.encoders.heads import Head
from vsdemo.encoders.regions import RegionImage, RegionMean


def photos():
    """Three photos of four regions each, the second with two of them."""
    x = torch.rand(3, 4, 7)
    x[1, 2:] = 0
    return x


def test_each_region_has_one_linear_layer():
    tower, x = RegionImage(7, 5), photos()
    torch.nn.init.normal_(tower.linear.bias)
    found = tower(tower.collate(tower.prepare(x)))
    assert found.mask.tolist() == [[True] * 4, [True, True, False, False], [True] * 4]
    expected = x @ tower.linear.weight.T + tower.linear.bias
    torch.testing.assert_close(found.x[found.mask], expected[found.mask])
    assert not found.x[~found.mask].any()


def test_one_frame_is_one_region():
    tower, x = RegionImage(7, 5), torch.rand(3, 7)
    found = tower(x)
    assert found.x.shape == (3, 1, 5)
    assert found.mask.all()
    torch.testing.assert_close(found.x[:, 0], tower.linear(x))


def test_statistics_are_those_of_regions_that_exist():
    tower, x = RegionImage(7, 5, standardize=True), photos()
    tower.standardize.momentum = 1.0
    tower.train()(x)
    real = x[(x != 0).any(-1)]
    torch.testing.assert_close(tower.standardize.running_mean, real.mean(0))


@torch.no_grad()
def test_batch_composition_never_changes_an_embedding():
    for tower in (RegionImage(7, 5, standardize=True).eval(), RegionMean(7, 5).eval()):
        x = photos()
        alone = torch.cat([tower(photo[None]).x for photo in x])
        torch.testing.assert_close(tower(x).x, alone)


def test_the_mean_is_that_of_regions_that_exist():
    tower, x = RegionMean(7, 5, head=Head(unit=False)), photos()
    means = torch.stack([x[0].mean(0), x[1, :2].mean(0), x[2].mean(0)])
    torch.testing.assert_close(tower(x).x, tower.linear(means))
    torch.testing.assert_close(tower(means).x, tower.linear(means))
