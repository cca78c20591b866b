import json

import pytest

from vsdemo import cli
from vsdemo.evaluation import bench

pytestmark = pytest.mark.usefixtures("fake_parser")
TREES = {"rnn", "ct_rnn", "dt_rnn", "sdt_rnn", "dt_lstm"}


def test_every_encoder_is_timed():
    result = bench.trees("toy", dim=8, batch_size=16, rounds=2)
    assert result["towers"].keys() == {"gru", *TREES}
    for name, row in result["towers"].items():
        assert row["ms"] > 0
        assert row["x_gru"] == pytest.approx(row["ms"] / result["towers"]["gru"]["ms"])
        assert (name == "gru") or row["x_recursion"] > 1
    assert result["words"] > 16


@pytest.mark.parametrize("as_json", [False, True])
def test_command_prints_a_table_or_json(monkeypatch, capsys, as_json):
    arguments = ["bench", "trees", "--data=toy", "--dim=4", "--batch=8", "--rounds=1"]
    if as_json:
        arguments.append("--json")
    monkeypatch.setattr("sys.argv", ["vsdemo", *arguments])
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert not caught.value.code
    printed = capsys.readouterr().out
    if as_json:
        assert json.loads(printed)["towers"].keys() >= TREES
    else:
        rows = [line.split() for line in printed.splitlines()]
        assert {row[0] for row in rows if row} >= TREES
        assert {len(row) for row in rows if row and row[0] in TREES} == {5}
