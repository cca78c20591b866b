"""The composition matrices of tree networks by their norms (Socher 2014, section 6.7)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from vsdemo.core.errors import UserError
from vsdemo.encoders.tree.lstm import TreeLSTM
from vsdemo.encoders.tree.rnn import TreeRNN
from vsdemo.models import checkpoint


def matrix_norms(folder: Path) -> list[dict[str, Any]]:
    """Return a row for the matrices of each relation or position, the largest norm first.

    name: the relation or position; norm: the Frobenius norm |W|; start: |1|, as square matrices
    start near the identity, and change: |W - 1|; both None for other matrices.

    Raises:
        UserError: The model has no such matrices.
    """
    model, spec, _ = checkpoint.load(folder)
    encoder = model.text
    if not isinstance(encoder, TreeRNN | TreeLSTM):
        raise UserError(
            f"{spec.model} has no matrices of relations; a checkpoint of sdt_rnn or dt_rnn has."
        )
    weights = encoder.weights.detach().cpu()
    rows = [_row(name, matrix) for name, matrix in zip(encoder.shape.names, weights, strict=True)]
    return sorted(rows, key=lambda row: -row["norm"])


def _row(name: str, matrix: torch.Tensor) -> dict[str, Any]:
    row: dict[str, Any] = {"name": name, "norm": float(matrix.norm()), "start": None}
    row["change"] = None
    if matrix.shape[0] == matrix.shape[1]:
        identity = torch.eye(len(matrix))
        row["start"] = float(identity.norm())
        row["change"] = float((matrix - identity).norm())
    return row
