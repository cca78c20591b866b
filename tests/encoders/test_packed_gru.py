"""The GRU over packed sequences, against PyTorch's."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence

from vsdemo.encoders.packed_gru import packed_gru


def run_packed(network, packed):
    return packed_gru(dict(network.named_parameters()), packed)


def results(run, network, x, lengths):
    """Return states, last states and all gradients."""
    packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
    states, last = run(network, packed)
    generator = torch.Generator().manual_seed(1)
    loss = sum(
        (values * torch.randn(values.shape, generator=generator, dtype=torch.double)).sum()
        for values in (states.data, last)
    )
    gradients = torch.autograd.grad(loss, [x, *network.parameters()])
    return [states.data, last, *gradients]


@pytest.mark.parametrize("bidirectional", [False, True])
@given(lengths=st.lists(st.integers(1, 6), min_size=1, max_size=5))
@settings(max_examples=20, deadline=None)
def test_states_and_gradients_are_those_of_pytorch(bidirectional, lengths):
    torch.manual_seed(0)
    network = nn.GRU(3, 4, batch_first=True, bidirectional=bidirectional).double()
    x = torch.randn(len(lengths), max(lengths), 3, dtype=torch.double, requires_grad=True)
    lengths = torch.tensor(lengths)
    ours, theirs = (results(run, network, x, lengths) for run in (run_packed, nn.GRU.__call__))
    for our, their in zip(ours, theirs, strict=True):
        torch.testing.assert_close(our, their, rtol=0, atol=1e-12)


def test_the_gradient_in_bfloat16_is_nearer_than_that_of_pytorch():
    torch.manual_seed(0)
    network = nn.GRU(8, 64, batch_first=True)
    x, lengths = torch.randn(16, 40, 8), torch.full((16,), 40)

    def gradient(run, dtype):
        model = nn.GRU(8, 64, batch_first=True).to(dtype)
        model.load_state_dict(network.state_dict())
        packed = pack_padded_sequence(x.to(dtype), lengths, batch_first=True)
        run(model, packed)[0].data.sum().backward()
        return model.weight_hh_l0.grad.double()

    exact = gradient(nn.GRU.__call__, torch.double)
    half = torch.bfloat16
    theirs = (gradient(nn.GRU.__call__, half) - exact).norm()
    ours = (gradient(run_packed, half) - exact).norm()
    assert ours < theirs / 2
