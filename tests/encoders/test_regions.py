import torch
import torch.nn.functional as F

from vsdemo.encoders.heads import Head
from vsdemo.encoders.regions import PlacedRegions, RegionImage, RegionMean
from vsdemo.vision.regions import FRAME, PLACE


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


def placed():
    """Three photos of three regions and the frame, the second without one of the regions."""
    features = torch.rand(3, 4, 7 + PLACE)
    features[:, -1, 7:] = torch.tensor([*FRAME, 0.0])
    features[1, 1] = 0
    return features


@torch.no_grad()
def test_a_region_is_what_it_shows_where_it_is_and_how_certain():
    encoder, features = PlacedRegions(7 + PLACE, 5).eval(), placed()
    embeddings = encoder(features)
    assert embeddings.mask.tolist() == [[True] * 4, [True, False, True, True], [True] * 4]
    for photo, region in embeddings.mask.nonzero().tolist():
        own = features[photo, region]
        kind = encoder.frames if region == 3 else encoder.regions
        u = kind.linear(kind.standardize(own[None, :7]))[0]
        if region < 3:
            u = u + encoder.place(2 * own[7:11] - 1)
        expected = torch.cat([F.normalize(u, dim=0), own[-1:]])
        torch.testing.assert_close(embeddings.x[photo, region], expected)
    assert not embeddings.x[~embeddings.mask].any()


def test_regions_and_frames_are_scaled_apart():
    encoder, features = PlacedRegions(7 + PLACE, 5).train(), placed()
    for kind in (encoder.regions, encoder.frames):
        kind.standardize.momentum = 1.0
    encoder(features)
    frames, others = features[:, -1, :7], features[:, :-1, :7]
    others = others[(others != 0).any(-1)]
    torch.testing.assert_close(encoder.frames.standardize.running_mean, frames.mean(0))
    torch.testing.assert_close(encoder.regions.standardize.running_mean, others.mean(0))


@torch.no_grad()
def test_dropout_takes_the_same_features_from_all_regions_of_a_photo():
    encoder = PlacedRegions(200 + PLACE, 5, dropout=0.5).train()
    passed = []
    for kind in (encoder.regions, encoder.frames):
        kind.linear.register_forward_hook(lambda _, inputs, __: passed.append(inputs[0]))
    features = torch.rand(2, 3, 200 + PLACE)
    features[:, -1, 200:] = torch.tensor([*FRAME, 0.0])
    encoder(features)
    regions, frames = ((x == 0).float() for x in passed)
    for photo in range(2):
        for region in range(2):
            torch.testing.assert_close(regions[2 * photo + region], frames[photo])
    assert 0.3 < frames.mean() < 0.7
    assert (frames[0] != frames[1]).any()
