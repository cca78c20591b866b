import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from vsdemo.encoders.heads import AngleAndOrderHead, CubeHead, Head, Twin

rows = st.lists(st.floats(-1e6, 1e6, width=32), min_size=3, max_size=3)


@given(st.lists(rows, min_size=1, max_size=4), st.booleans())
def test_head_normalises_any_input(values, nonnegative):
    x = torch.tensor(values)
    out = Head(nonnegative=nonnegative)(x)
    long_enough = x.norm(dim=1) > 1e-6
    torch.testing.assert_close(out.norm(dim=1)[long_enough], torch.ones(int(long_enough.sum())))
    assert out.isfinite().all()
    assert (out >= 0).all() or not nonnegative


def test_sign_is_kept_unless_nonnegative():
    x = torch.tensor([[3.0, -4.0]])
    assert Head()(x)[0].tolist() == pytest.approx([0.6, -0.8])
    assert Head(nonnegative=True)(x)[0].tolist() == pytest.approx([0.6, 0.8])


def test_parts_have_the_same_length():
    out = Head(parts=2)(torch.tensor([[3.0, -4.0, 0.0, 0.1]]))
    assert out[0].tolist() == pytest.approx([0.6 / 2**0.5, -0.8 / 2**0.5, 0, 1 / 2**0.5])


def test_half_precision_is_normalised_in_float32():
    x = torch.randn(8, 512, generator=torch.Generator().manual_seed(0)).bfloat16()
    out = Head()(x)
    assert out.dtype == torch.float32
    torch.testing.assert_close(out.norm(dim=1), torch.ones(8))


@pytest.mark.parametrize("signed", [False, True])
def test_twin_is_two_affine_layers_with_leaky_relus(signed):
    torch.manual_seed(0)
    twin, x = Twin(5, 7, signed=signed), torch.randn(3, 5)
    first, _, second, *_ = twin
    assert not first.bias.any()
    assert not second.bias.any()
    torch.nn.init.normal_(first.bias)
    torch.nn.init.normal_(second.bias)
    inner = x @ first.weight.T + first.bias
    outer = torch.where(inner > 0, inner, inner / 100) @ second.weight.T + second.bias
    expected = outer if signed else torch.where(outer > 0, outer, outer / 100)
    torch.testing.assert_close(twin(x), expected)
    assert (outer < 0).any()


def test_a_cube_has_its_equation():
    out = CubeHead()(torch.tensor([[1.0, -2.0, 50.0]]).bfloat16())
    assert out.tolist() == [[pytest.approx(1 - math.exp(-1)), 0, 1]]
    assert out.dtype == torch.float32


def test_angle_and_order_have_their_equations():
    x = torch.tensor([[3.0, -4.0, 1.0, -2.0]])
    assert AngleAndOrderHead(2)(x)[0].tolist() == pytest.approx([0.6, -0.8, 1 - math.exp(-1), 0])
    lowest = AngleAndOrderHead(2, lowest=(2, 1))(x)[0].tolist()
    assert lowest == pytest.approx([0.6, -0.8, 1, 1, 1 - math.exp(-1), 0, 1])


@given(st.lists(rows, min_size=1, max_size=4))
def test_the_order_part_is_between_0_and_1(values):
    out = AngleAndOrderHead(1)(torch.tensor(values))
    assert (out[:, 1:] >= 0).all()
    assert (out[:, 1:] <= 1).all()
    assert out.dtype == torch.float32
