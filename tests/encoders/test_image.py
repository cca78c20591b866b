import torch
from torch.nn.functional import normalize

from vsdemo.encoders.heads import Head
from vsdemo.encoders.image import LinearImage


def test_embedding_is_a_linear_layer_and_the_head():
    encoder, features = LinearImage(7, 5, head=Head(nonnegative=True)), torch.randn(4, 7)
    torch.nn.init.normal_(encoder.linear.bias)
    expected = [encoder.linear.weight @ v + encoder.linear.bias for v in features]
    x = encoder(encoder.collate(encoder.prepare(features))).x
    torch.testing.assert_close(x, normalize(torch.stack(expected), dim=1).abs())
    x[:, 0].sum().backward()
    assert all(p.grad.abs().sum() > 0 for p in encoder.parameters())


def test_features_are_standardised_over_the_training_photos():
    encoder, features = LinearImage(7, 5, standardize=True), 3 + 2 * torch.randn(64, 7)
    encoder.train()
    with torch.no_grad():
        for _ in range(200):  # a running mean
            in_training = encoder(features).x
    encoder.eval()
    torch.testing.assert_close(encoder(features).x, in_training, atol=0.02, rtol=0)
    torch.testing.assert_close(encoder(features[:1]).x, encoder(features).x[:1])
    assert list(encoder.standardize.parameters()) == []  # nothing to be trained
    scaled = (features - features.mean(0)) / features.std(0)
    expected = normalize(encoder.linear(scaled), dim=1)
    torch.testing.assert_close(encoder(features).x, expected, atol=1e-3, rtol=0)


@torch.no_grad()
def test_embedding_does_not_depend_on_the_batch():
    encoder, features = LinearImage(7, 5).eval(), torch.randn(6, 7)
    alone = torch.cat([encoder(v[None]).x for v in features])
    order = torch.tensor([3, 0, 5, 1, 4, 2])
    torch.testing.assert_close(encoder(features[order]).x, alone[order], atol=1e-6, rtol=0)


@torch.no_grad()
def test_half_precision_stays_close():
    encoder, features = LinearImage(64, 32), torch.randn(6, 64)
    with torch.autocast("cpu", torch.bfloat16):
        half = encoder(features).x
    assert half.dtype == torch.float32
    assert not torch.equal(half, encoder(features).x)
    assert (half * encoder(features).x).sum(1).min() > 0.999


def test_dropout_acts_in_training_only():
    encoder, features = LinearImage(64, 8, dropout=0.5), torch.randn(2, 64)
    assert not torch.equal(encoder(features).x, encoder(features).x)
    encoder.eval()
    assert torch.equal(encoder(features).x, encoder(features).x)
    assert encoder.needs == {"vector"}
    assert encoder.dim == 8
