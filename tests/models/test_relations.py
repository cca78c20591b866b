"""The matrices of tree networks, by their norm."""

import json

import pytest
import torch

from tests.support.small_runs import trainer
from vsdemo import cli
from vsdemo.evaluation.composition import matrix_norms
from vsdemo.models import checkpoint


@pytest.fixture
def sdt_rnn(fake_parser, tmp_path):
    """A checkpoint whose matrices are known: 0, 1, 2, ... times the identity of 16 rows."""
    run = trainer(tmp_path / "run", "vectors=learned", preset="sdt_rnn")
    with torch.no_grad():
        for i, matrix in enumerate(run.model.text.weights):
            matrix.copy_(i * torch.eye(16))
    run.material.save(tmp_path / "run", run.model)
    return tmp_path / "run"


def run(monkeypatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["vsdemo", "relations", *map(str, arguments)])
    with pytest.raises(SystemExit) as end:
        cli.main()
    return end.value.code or 0


def test_norms_of_known_matrices(sdt_rnn):
    _, _, vocab = checkpoint.load(sdt_rnn)
    names = [*vocab.relations, "other"]
    rows = matrix_norms(sdt_rnn)
    assert [row["name"] for row in rows] == names[::-1]
    assert [row["norm"] for row in rows] == [4.0 * i for i in reversed(range(len(names)))]
    assert [row["change"] for row in rows] == [
        4.0 * abs(i - 1) for i in reversed(range(len(names)))
    ]
    assert {row["start"] for row in rows} == {4.0}


def test_the_command_prints_and_draws(sdt_rnn, monkeypatch, capsys, tmp_path):
    assert run(monkeypatch, sdt_rnn) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[3:]]
    assert rows[-1] == [matrix_norms(sdt_rnn)[-1]["name"], "0.00", "4.00"]
    assert run(monkeypatch, sdt_rnn, "--json") == 0
    assert json.loads(capsys.readouterr().out) == matrix_norms(sdt_rnn)
    assert run(monkeypatch, sdt_rnn, "--svg", tmp_path / "norms.svg") == 0
    assert ">other<" in (tmp_path / "norms.svg").read_text()


def test_an_lstm_has_a_block_for_each_position(fake_parser, tmp_path):
    run = trainer(tmp_path, "children=1", "vectors=learned", preset="dt_lstm")
    run.material.save(tmp_path, run.model)
    rows = matrix_norms(tmp_path)
    assert {row["name"] for row in rows} == {"l1", "r1"}
    assert {row["change"] for row in rows} == {row["start"] for row in rows} == {None}


def test_a_model_without_matrices_is_refused(toy_checkpoint, monkeypatch, capsys):
    assert run(monkeypatch, toy_checkpoint) == 2
    assert "gru has no matrices of relations" in capsys.readouterr().err
