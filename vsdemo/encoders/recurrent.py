"""Initialisation, precision and ONNX operators of the recurrent encoders."""

from __future__ import annotations

from threading import Lock
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

from vsdemo.core.device import fast_dtype
from vsdemo.encoders.packed_gru import packed_gru

# Mode of a network -> its gates in the order of the ONNX operator, and attributes of the operator.
OPERATORS: dict[str, tuple[tuple[int, ...], dict[str, int]]] = {
    "GRU": ((1, 0, 2), {"linear_before_reset": 1}),
    "LSTM": ((0, 3, 1, 2), {}),
}

# `functional_call` swaps the weights of the network itself while it runs, so no other thread may
# read them then.
_swapping = Lock()


def initialise(network: nn.GRU | nn.LSTM) -> None:
    """Initialise a recurrent network in place.

    Recurrent weights are orthogonal, one matrix per gate; input weights are Xavier uniform; biases
    are 0, except for the forget gate of a forward LSTM, which starts at 1.
    """
    units = network.hidden_size
    for name, weights in network.named_parameters():
        if "weight_hh" in name:
            for gate in weights.data.split(units):
                nn.init.orthogonal_(gate)
        elif "weight_ih" in name:
            nn.init.xavier_uniform_(weights)
        else:
            nn.init.zeros_(weights)
        if name == "bias_ih_l0" and isinstance(network, nn.LSTM):
            # The gates of an LSTM are input, forget, cell, output.
            nn.init.ones_(weights.data[units : 2 * units])


def run(network: nn.GRU | nn.LSTM, x: Tensor, lengths: Tensor) -> Any:
    """Run a recurrent network in the precision of autocast.

    Autocast leaves recurrent networks on a CPU in float32, so weights and inputs are cast here.

    Args:
        network: Of one layer, with `batch_first`.
        x: Inputs, (B, T, input).
        lengths: (B,), on the CPU. Sequences are packed, so padding costs nothing and is not read.

    Returns:
        What the network returns: states (B, T, directions * D), which are 0 after the end of a
        sequence, and last states.
    """
    if torch.onnx.is_in_onnx_export():
        return _operator(network, x, lengths)
    dtype = fast_dtype() if torch.is_autocast_enabled(x.device.type) else x.dtype
    packed = pack_padded_sequence(x.to(dtype), lengths, batch_first=True, enforce_sorted=False)
    with _swapping:
        weights = {name: w.to(dtype) for name, w in network.named_parameters()}
    if isinstance(network, nn.GRU) and torch.is_grad_enabled() and x.device.type == "cpu":
        states, last = packed_gru(weights, packed)
    else:
        with _swapping:
            states, last = functional_call(network, weights, (packed,))
    return _padded(states, lengths), last


def _padded(packed: PackedSequence, lengths: Tensor) -> Tensor:
    """Return the steps of packed sequences, with zeros after the end of each: (B, T, D).

    The gradient of `pad_packed_sequence` copies the whole batch once per step.
    """
    steps = torch.arange(len(packed.batch_sizes))
    starts = packed.batch_sizes.cumsum(0) - packed.batch_sizes
    assert packed.unsorted_indices is not None
    rows = starts + packed.unsorted_indices.cpu()[:, None]  # (B, T) of `packed.data`
    nothing = len(packed.data)
    rows = rows.where(steps < lengths[:, None], nothing).to(packed.data.device)
    states: Tensor = F.pad(packed.data, (0, 0, 0, 1)).index_select(0, rows.flatten())
    return states.view(*rows.shape, -1)


def _operator(network: nn.GRU | nn.LSTM, x: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """Run a recurrent network as one operator of the ONNX model that is being exported.

    torch.export has no packed sequences, and would unroll the steps of one length.

    Args:
        network: As for `run`.
        x: Inputs, (B, T, input).
        lengths: (B,).

    Returns:
        States (B, T, D), and last states (directions, B, units).
    """
    gates, attributes = OPERATORS[network.mode]
    units = network.hidden_size
    directions = ("", "_reverse") if network.bidirectional else ("",)

    def stack(name: str) -> Tensor:
        """Return weights of all directions, (directions, units of all gates, ...)."""
        weights = [network.get_parameter(f"{name}_l0{suffix}") for suffix in directions]
        by_gate = [torch.cat([w.narrow(0, g * units, units) for g in gates]) for w in weights]
        return torch.stack(by_gate)

    inputs = [x.transpose(0, 1), stack("weight_ih"), stack("weight_hh")]
    inputs += [torch.cat([stack("bias_ih"), stack("bias_hh")], 1), lengths.int()]
    batch, steps, _ = x.shape
    states, last = torch.onnx.ops.symbolic_multi_out(
        network.mode,
        inputs,
        {
            "hidden_size": units,
            "direction": "bidirectional" if network.bidirectional else "forward",
            **attributes,
        },
        dtypes=(x.dtype, x.dtype),
        shapes=((steps, len(directions), batch, units), (len(directions), batch, units)),
    )
    return states.permute(2, 0, 1, 3).flatten(2), last
