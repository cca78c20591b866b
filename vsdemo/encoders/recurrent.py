"""Initialisation and precision of the recurrent encoders."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.utils.rnn import pack_padded_sequence

from vsdemo.core.device import fast_dtype


def initialise(network: nn.GRU | nn.LSTM) -> None:
    """Initialise a recurrent network in place.

    Recurrent weights are orthogonal, one matrix a gate; input weights are Xavier uniform; biases
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


def run(network: nn.GRU | nn.LSTM, x: Tensor, lengths: Tensor | None = None) -> Any:
    """Run a recurrent network in the precision of autocast.

    Autocast leaves recurrent networks on a CPU in float32, so weights and inputs are cast here.

    Args:
        network: With `batch_first`.
        x: Inputs, (B, T, input).
        lengths: (B,), to pack the sequences, so that padding costs nothing.

    Returns:
        What the network returns: states (packed if `lengths` is given) and last states.
    """
    dtype = fast_dtype() if torch.is_autocast_enabled(x.device.type) else x.dtype
    weights = {name: w.to(dtype) for name, w in network.named_parameters()}
    inputs: Any = x.to(dtype)
    if lengths is not None:
        inputs = pack_padded_sequence(inputs, lengths, batch_first=True, enforce_sorted=False)
    return functional_call(network, weights, (inputs,))
