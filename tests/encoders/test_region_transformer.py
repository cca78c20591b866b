"""The transformer over regions: what it reads of a photo, and in which order."""

import pytest
import torch
from torch import nn
from torch.func import functional_call

from vsdemo.encoders.region_transformer import RegionTransformer

FEATURES, WIDTH, DIM = 7, 8, 5


def transformer(**options) -> RegionTransformer:
    return RegionTransformer(FEATURES, DIM, width=WIDTH, layers=2, **options).eval()


def photos() -> torch.Tensor:
    """Three photos of up to four regions: all of them, two, and the frame alone."""
    x = torch.rand(3, 4, FEATURES)
    x[1, 1:3] = 0
    x[2, :3] = 0
    return x


def plain(encoder: RegionTransformer, photo: torch.Tensor) -> torch.Tensor:
    """The embeddings of one photo, zeros for a missing region, from the others alone."""
    x = encoder.linear(photo[photo.any(-1)])
    for layer in encoder.transformer.layers:
        normed, heads = layer.norm1(x), []
        q, k, v = (normed @ layer.self_attn.in_proj_weight.T + layer.self_attn.in_proj_bias).chunk(
            3, -1
        )
        for part in torch.arange(WIDTH).chunk(layer.self_attn.num_heads):
            attention = (q[:, part] @ k[:, part].T / len(part) ** 0.5).softmax(-1)
            heads.append(attention @ v[:, part])
        x = x + layer.self_attn.out_proj(torch.cat(heads, -1))
        x = x + layer.linear2(nn.functional.gelu(layer.linear1(layer.norm2(x))))
    embeddings = torch.zeros(len(photo), DIM)
    embeddings[photo.any(-1), :-1] = nn.functional.normalize(encoder.out(x), dim=1)
    return embeddings


@torch.no_grad()
@pytest.mark.parametrize("training", [True, False])
def test_it_agrees_with_its_definition(training):
    encoder, x = transformer(), photos()
    nn.init.normal_(encoder.linear.bias)
    embeddings = encoder.train(training)(encoder.collate(encoder.prepare(x)))
    assert torch.equal(embeddings.mask, x.any(-1))
    expected = torch.stack([plain(encoder, photo) for photo in x])
    torch.testing.assert_close(embeddings.x, expected, atol=1e-5, rtol=0)


@torch.no_grad()
def test_the_order_of_regions_does_not_matter():
    encoder, x = transformer(), photos()
    order = torch.tensor([2, 0, 3, 1])
    torch.testing.assert_close(encoder(x[:, order]).x, encoder(x).x[:, order], atol=1e-6, rtol=0)


@torch.no_grad()
def test_a_region_is_read_with_those_around_it():
    encoder, x = transformer(), photos()
    changed = x.clone()
    changed[:, 3, 0] += 1
    difference = (encoder(changed).x - encoder(x).x).abs().amax(-1)
    assert (difference[x.any(-1)] > 1e-4).all()


@torch.no_grad()
def test_missing_regions_do_not_matter():
    encoder, x = transformer(standardize=True), photos()
    encoder.train()(x)  # so that zeros are not standardized to zeros
    encoder.eval()
    more = torch.cat([torch.zeros(3, 2, FEATURES), x, torch.zeros(3, 5, FEATURES)], 1)
    torch.testing.assert_close(encoder(more).x[:, 2:6], encoder(x).x, atol=1e-6, rtol=0)
    is_real = x[1].any(-1)
    two = encoder(x[1][is_real][None])
    torch.testing.assert_close(two.x[0], encoder(x).x[1][is_real], atol=1e-6, rtol=0)


@torch.no_grad()
def test_the_frame_alone_is_enough():
    encoder, x = transformer(), photos()
    embedded = encoder(x[2:])
    lengths = embedded.x.norm(dim=-1)
    torch.testing.assert_close(lengths, torch.tensor([[0.0, 0.0, 0.0, 1.0]]))
    torch.testing.assert_close(encoder(x[2:, 3]).x[:, 0], embedded.x[:, 3])  # (N, F): one region


@torch.no_grad()
def test_an_embedding_does_not_depend_on_the_batch():
    encoder, x = transformer(dropout=0.5, standardize=True), photos()
    encoder.train()(x)
    encoder.eval()
    alone = torch.cat([encoder(photo[None]).x for photo in x])
    torch.testing.assert_close(encoder(x).x, alone, atol=1e-6, rtol=0)
    torch.testing.assert_close(encoder(x.flip(0)).x, alone.flip(0), atol=1e-6, rtol=0)
    assert encoder(x[:0]).x.shape == (0, 4, DIM)


def test_statistics_ignore_missing_regions():
    encoder, x = transformer(standardize=True), photos()
    encoder.standardize.momentum = 1.0
    encoder.train()(x)
    torch.testing.assert_close(encoder.standardize.running_mean, x[x.any(-1)].mean(0))


def test_dropout_acts_in_training_only():
    encoder, x = transformer(dropout=0.5), photos()
    assert torch.equal(encoder(x).x, encoder(x).x)
    encoder.train()
    assert not torch.equal(encoder(x).x, encoder(x).x)


def test_gradients_agree_with_differences():
    encoder, x = transformer().double(), photos().double()
    encoder.head = nn.Identity()  # the head computes in float32
    names, weights = zip(*encoder.named_parameters(), strict=True)

    def run(*values: torch.Tensor) -> torch.Tensor:
        return functional_call(encoder, dict(zip(names, values, strict=True)), (x,)).x

    assert torch.autograd.gradcheck(run, weights, fast_mode=True)


def test_every_weight_gets_a_gradient():
    encoder = transformer()
    (encoder(photos()).x * torch.randn(DIM)).sum().backward()
    assert [name for name, p in encoder.named_parameters() if not p.grad.any()] == []


@torch.no_grad()
def test_half_precision_stays_close():
    encoder, x = transformer(), photos()
    full = encoder(x).x
    with torch.autocast("cpu", torch.bfloat16):
        half = encoder(x).x
    assert half.dtype == torch.float32
    assert (half * full).sum(-1)[photos().any(-1)].min() > 0.999
