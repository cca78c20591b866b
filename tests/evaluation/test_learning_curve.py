"""Retrieval by epoch from a run's events: rows, table and chart."""

import json
import shutil
import xml.etree.ElementTree as ElementTree

import pytest

from tests.support import small_pairs
from tests.support.small_runs import logged, trainer
from vsdemo.core.errors import UserError
from vsdemo.evaluation import learning_curve
from vsdemo.evaluation.task import SentenceData
from vsdemo.evaluation.tasks import sts
from vsdemo.models import checkpoint


@pytest.fixture(scope="module")
def finished(own_folders, tmp_path_factory):
    out = tmp_path_factory.mktemp("run") / "gru"
    trainer(out, "epochs=4", "evaluate_every=2").run()
    return out


def test_rows_equal_the_logged_evaluations(finished):
    rows = learning_curve.by_epoch(finished)
    assert [row["epoch"] for row in rows] == [2, 4]
    for row, event in zip(rows, logged(finished, "eval"), strict=True):
        assert row["i2t"] == {k: event["i2t"][k] for k in ("r1", "r5", "r10")}
        assert row["r10"] == (event["i2t"]["r10"] + event["t2i"]["r10"]) / 2
        assert row["rsum"] == pytest.approx(sum(row["i2t"].values()) + sum(row["t2i"].values()))
    assert learning_curve.lines(rows)[learning_curve.MEAN] == [
        (row["epoch"], row["r10"]) for row in rows
    ]


def test_markdown_table_has_a_row_per_epoch(finished):
    lines = learning_curve.markdown(learning_curve.by_epoch(finished)).splitlines()
    assert len(lines) == 4
    assert lines[0].startswith("| epoch | i2t R@1 | R@5 | R@10 | t2i R@1 |")
    assert {line.count("|") for line in lines} == {10}


@pytest.fixture
def run_with_semantics(tmp_path, toy_root, monkeypatch):
    """A run that also measured sentence pairs, over the toy photos."""
    root = tmp_path / "data"
    shutil.copytree(toy_root, root)
    small_pairs.write_all(root)
    monkeypatch.setenv("VSDEMO_DATA", str(root))
    trainer(tmp_path / "run", "epochs=2", "evaluate_sts=true").run()
    return tmp_path / "run"


def test_semantics_are_included_if_measured(run_with_semantics):
    rows = learning_curve.by_epoch(run_with_semantics)
    for row, event in zip(rows, logged(run_with_semantics, "eval"), strict=True):
        assert row["semantics"] == event["semantics"]
        assert row["semantics"].keys() == {"STS-B", "SICK-R", "mean"}
    model = checkpoint.load(run_with_semantics)[0]
    metrics = sts.SentenceSimilarity().evaluate(model, SentenceData("dev"))
    for name in ("STS-B", "SICK-R"):
        assert sts.on_dev(model)[name] == pytest.approx(metrics[f"{name}.cosine"]["pearson"])
    assert learning_curve.lines(rows)[learning_curve.SEMANTICS][1] == (
        2,
        rows[1]["semantics"]["mean"],
    )
    table = learning_curve.markdown(rows).splitlines()
    assert table[0].endswith("| rsum | r, STS-B | r, SICK-R | r, mean |")
    assert {line.count("|") for line in table} == {13}


def test_command_prints_and_draws_the_curve(run, finished, tmp_path):
    code, output, errors = run("curve", finished, "--svg", tmp_path / "curve.svg")
    assert code == 0, errors
    assert output.strip() == learning_curve.markdown(learning_curve.by_epoch(finished))
    root = ElementTree.parse(tmp_path / "curve.svg").getroot()
    assert root.tag.endswith("svg")
    assert json.loads(run("curve", finished, "--json")[1]) == learning_curve.by_epoch(finished)


def test_a_folder_without_evaluations_is_a_user_error(tmp_path):
    with pytest.raises(UserError, match="has no evaluations"):
        learning_curve.by_epoch(tmp_path)
