"""A GRU over packed sequences that trains faster on a CPU than PyTorch's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.utils.rnn import PackedSequence


def packed_gru(
    weights: Mapping[str, Tensor], packed: PackedSequence
) -> tuple[PackedSequence, Tensor]:
    """Run a GRU of one layer, like `nn.GRU`.

    The backward pass of `nn.GRU` adds to the gradient of the recurrent weights after every step. On
    a CPU these additions take most of the time of a large network. Here the gradient is one product
    over all steps, which also loses less in bfloat16.

    Args:
        weights: Name of each parameter of the `nn.GRU` -> its value.
        packed: Inputs, (N, input) for the N words of B sequences, of the same type.

    Returns:
        The states of all directions, (N, directions * D), and last states (directions, B, D).
    """
    sizes = packed.batch_sizes.tolist()
    # The rows of each step: first those of all sequences, last those of the longest only.
    steps = [slice(end - size, end) for end, size in zip(accumulate(sizes), sizes, strict=True)]
    states, last = [], []
    for suffix, in_order in (("", steps), ("_reverse", steps[::-1])):
        if f"weight_ih_l0{suffix}" not in weights:
            continue  # it reads in one direction
        w_input, w_hidden, b_input, b_hidden = (
            weights[f"{name}_l0{suffix}"]
            for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        )
        inputs = F.linear(packed.data, w_input, b_input)  # (N, 3 D)
        outputs = _Recurrence.apply(inputs, w_hidden, b_hidden, in_order)
        states.append(outputs[0])
        last.append(outputs[1])
    stacked = torch.stack(last)
    if packed.unsorted_indices is not None:
        stacked = stacked.index_select(1, packed.unsorted_indices)
    return packed._replace(data=torch.cat(states, -1)), stacked


class _Recurrence(torch.autograd.Function):
    """The recurrence of one direction.

        r_t = sigmoid(x_t^r + R^r h_{t-1} + b^r)
        z_t = sigmoid(x_t^z + R^z h_{t-1} + b^z)
        n_t = tanh(x_t^n + r_t * c_t)                c_t = R^n h_{t-1} + b^n
        h_t = n_t + z_t * (h_{t-1} - n_t)

    `forward` takes the products x of inputs and weights, (N, 3 D), R (3 D, D), b (3 D,) and the
    rows of each step in the order of reading. It returns the states, (N, D), and the last state of
    each sequence, (B, D).
    """

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weights: Tensor, bias: Tensor, steps: Sequence[slice]
    ) -> tuple[Tensor, Tensor]:
        units = weights.shape[1]
        gates = torch.empty_like(x)  # r, z, n
        states, previous, candidates = (x.new_empty(len(x), units) for _ in range(3))
        h = x.new_zeros(max(_size(step) for step in steps), units)
        for step in steps:
            current = h[: _size(step)]  # of the sequences that have this step
            previous[step] = current
            hidden = F.linear(current, weights, bias)  # (b, 3 D)
            r, z, n = gates[step].split(units, -1)
            torch.add(x[step, :units], hidden[:, :units], out=r).sigmoid_()
            torch.add(x[step, units : 2 * units], hidden[:, units : 2 * units], out=z).sigmoid_()
            candidates[step] = hidden[:, 2 * units :]
            torch.addcmul(x[step, 2 * units :], r, candidates[step], out=n).tanh_()
            current.copy_(torch.lerp(n, current, z, out=states[step]))
        ctx.save_for_backward(weights, previous, candidates, gates)
        ctx.steps = steps
        return states, h

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        grad_states, grad_last = gradients
        weights, previous, candidates, gates = ctx.saved_tensors
        units = weights.shape[1]
        r, z, n = gates.split(units, -1)
        # The factors that need no other step, for all steps at once.
        n_factor = (1 - z) * (1 - n * n)
        z_factor = (previous - n) * z * (1 - z)
        r_factor = candidates * r * (1 - r)
        grad_x, grad_hidden = torch.empty_like(gates), torch.empty_like(gates)
        h = grad_last.clone()
        for step in reversed(ctx.steps):
            current = h[: _size(step)]
            current += grad_states[step]
            grad_r, grad_z, grad_c = grad_hidden[step].split(units, -1)
            grad_n = torch.mul(current, n_factor[step], out=grad_x[step, 2 * units :])
            torch.mul(current, z_factor[step], out=grad_z)
            torch.mul(grad_n, r_factor[step], out=grad_r)
            torch.mul(grad_n, r[step], out=grad_c)
            current.mul_(z[step]).addmm_(grad_hidden[step], weights)
        grad_x[:, : 2 * units] = grad_hidden[:, : 2 * units]
        return grad_x, grad_hidden.t() @ previous, grad_hidden.sum(0), None


def _size(step: slice) -> int:
    """Return the number of sequences that have a step."""
    size: int = step.stop - step.start
    return size
