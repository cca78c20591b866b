import torch
import torch.nn.functional as F

from vsdemo.encoders.heads import Head
from vsdemo.encoders.regions import COMPRESSION, PlacedRegions, RegionImage, RegionMean
from vsdemo.vision.regions import PLACE


def photos():
    """Three photos of four regions each, the second with two of them."""
    x = torch.rand(3, 4, 7)
    x[1, 2:] = 0
    return x


def test_regions_share_a_linear_layer():
    encoder, x = RegionImage(7, 5), photos()
    torch.nn.init.normal_(encoder.linear.bias)
    embeddings = encoder(encoder.collate(encoder.prepare(x)))
    assert embeddings.mask.tolist() == [[True] * 4, [True, True, False, False], [True] * 4]
    expected = x @ encoder.linear.weight.T + encoder.linear.bias
    torch.testing.assert_close(embeddings.x[embeddings.mask], expected[embeddings.mask])
    assert not embeddings.x[~embeddings.mask].any()


def test_whole_photo_is_one_region():
    encoder, x = RegionImage(7, 5), torch.rand(3, 7)
    embeddings = encoder(x)
    assert embeddings.x.shape == (3, 1, 5)
    assert embeddings.mask.all()
    torch.testing.assert_close(embeddings.x[:, 0], encoder.linear(x))


def test_statistics_ignore_missing_regions():
    encoder, x = RegionImage(7, 5, standardize=True), photos()
    encoder.standardize.momentum = 1.0
    encoder.train()(x)
    real = x[(x != 0).any(-1)]
    torch.testing.assert_close(encoder.standardize.running_mean, real.mean(0))
    assert list(encoder.standardize.parameters()) == []  # nothing to be trained


@torch.no_grad()
def test_embedding_does_not_depend_on_the_batch():
    for encoder in (RegionImage(7, 5, standardize=True).eval(), RegionMean(7, 5).eval()):
        x = photos()
        alone = torch.cat([encoder(photo[None]).x for photo in x])
        torch.testing.assert_close(encoder(x).x, alone)


def test_mean_ignores_missing_regions():
    encoder, x = RegionMean(7, 5, head=Head(unit=False)), photos()
    means = torch.stack([x[0].mean(0), x[1, :2].mean(0), x[2].mean(0)])
    torch.testing.assert_close(encoder(x).x, encoder.linear(means))
    torch.testing.assert_close(encoder(means).x, encoder.linear(means))


@torch.no_grad()
def test_a_region_is_what_it_shows_where_it_is_and_how_certain():
    encoder = PlacedRegions(7 + PLACE, 5).eval()
    features = torch.rand(3, 4, 7 + PLACE)
    features[1, 2:] = 0
    embeddings = encoder(features)
    assert embeddings.mask.tolist() == [[True] * 4, [True, True, False, False], [True] * 4]
    for photo, region in embeddings.mask.nonzero().tolist():
        own = features[photo, region]
        seen = encoder.standardize(torch.log1p(COMPRESSION * own[None, :7]))
        v = encoder.linear(seen) + encoder.place(2 * own[7:11] - 1)
        expected = torch.cat([F.normalize(v[0], dim=0), own[-1:]])
        torch.testing.assert_close(embeddings.x[photo, region], expected)
    assert not embeddings.x[~embeddings.mask].any()
