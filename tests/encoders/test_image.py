import torch
from torch.nn.functional import normalize

from vsdemo.encoders.heads import Head
from vsdemo.encoders.image import LinearImage


def test_an_embedding_is_one_linear_layer_and_the_head():
    tower, features = LinearImage(7, 5, head=Head(nonnegative=True)), torch.randn(4, 7)
    torch.nn.init.normal_(tower.linear.bias)
    expected = [tower.linear.weight @ v + tower.linear.bias for v in features]
    x = tower(tower.collate(tower.prepare(features))).x
    torch.testing.assert_close(x, normalize(torch.stack(expected), dim=1).abs())
    x[:, 0].sum().backward()
    assert all(p.grad.abs().sum() > 0 for p in tower.parameters())


def test_features_can_be_standardised_over_those_of_training():
    tower, features = LinearImage(7, 5, standardize=True), 3 + 2 * torch.randn(64, 7)
    tower.train()
    with torch.no_grad():
        for _ in range(200):  # a running mean
            in_training = tower(features).x
    tower.eval()
    torch.testing.assert_close(tower(features).x, in_training, atol=0.02, rtol=0)
    torch.testing.assert_close(tower(features[:1]).x, tower(features).x[:1])
    scaled = (features - features.mean(0)) / features.std(0)
    expected = normalize(tower.linear(scaled), dim=1)
    torch.testing.assert_close(tower(features).x, expected, atol=1e-3, rtol=0)


@torch.no_grad()
def test_batch_composition_never_changes_an_embedding():
    tower, features = LinearImage(7, 5).eval(), torch.randn(6, 7)
    alone = torch.cat([tower(v[None]).x for v in features])
    order = torch.tensor([3, 0, 5, 1, 4, 2])
    torch.testing.assert_close(tower(features[order]).x, alone[order], atol=1e-6, rtol=0)


@torch.no_grad()
def test_half_precision_stays_close():
    tower, features = LinearImage(64, 32), torch.randn(6, 64)
    with torch.autocast("cpu", torch.bfloat16):
        half = tower(features).x
    assert half.dtype == torch.float32
    assert not torch.equal(half, tower(features).x)
    assert (half * tower(features).x).sum(1).min() > 0.999


def test_dropout_acts_in_training_only():
    tower, features = LinearImage(64, 8, dropout=0.5), torch.randn(2, 64)
    assert not torch.equal(tower(features).x, tower(features).x)
    tower.eval()
    assert torch.equal(tower(features).x, tower(features).x)
    assert tower.needs == {"vector"}
    assert tower.dim == 8
