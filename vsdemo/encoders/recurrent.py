"""What the recurrent towers share: how their networks start, and how they run."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.utils.rnn import pack_padded_sequence

from vsdemo.core.device import fast_dtype


def initialise(network: nn.GRU | nn.LSTM) -> None:
    """Recurrent weights orthogonal, a matrix a gate; those of the input Xavier's, biases 0, but
    the LSTM's of forgetting, in the direction onward, 1."""
    units = network.hidden_size
    for name, weights in network.named_parameters():
        if "weight_hh" in name:
            for gate in weights.data.split(units):
                nn.init.orthogonal_(gate)
        elif "weight_ih" in name:
            nn.init.xavier_uniform_(weights)
        else:
            nn.init.zeros_(weights)
    if isinstance(network, nn.LSTM):
        nn.init.ones_(network.bias_ih_l0.data[units : 2 * units])  # input, forget, cell, output


def run(network: nn.GRU | nn.LSTM, x: Tensor, lengths: Tensor | None = None) -> Any:
    """(B, T, input) -> what the network gives. Autocast leaves a CPU's recurrent networks in
    float32, so they are cast here. lengths: (B,) of sequences to pack, so that padding costs
    nothing."""
    fast = fast_dtype() if torch.is_autocast_enabled(x.device.type) else x.dtype
    weights = {name: w.to(fast) for name, w in network.named_parameters()}
    inputs: Any = x.to(fast)
    if lengths is not None:
        inputs = pack_padded_sequence(inputs, lengths, batch_first=True, enforce_sorted=False)
    return functional_call(network, weights, (inputs,))
