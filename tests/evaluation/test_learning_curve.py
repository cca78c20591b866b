"""Retrieval by epoch, from a run's events, in numbers and drawn."""

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


def test_rows_are_what_was_measured(finished):
    rows = learning_curve.by_epoch(finished)
    assert [row["epoch"] for row in rows] == [2, 4]
    for row, event in zip(rows, logged(finished, "eval"), strict=True):
        assert row["i2t"] == {k: event["i2t"][k] for k in ("r1", "r5", "r10")}
        assert row["r10"] == (event["i2t"]["r10"] + event["t2i"]["r10"]) / 2
        assert row["rsum"] == pytest.approx(sum(row["i2t"].values()) + sum(row["t2i"].values()))
    assert learning_curve.lines(rows)[learning_curve.MEAN] == [
        (row["epoch"], row["r10"]) for row in rows
    ]


def test_table(finished):
    lines = learning_curve.markdown(learning_curve.by_epoch(finished)).splitlines()
    assert len(lines) == 4
    assert lines[0].startswith("| epoch | i2t R@1 | R@5 | R@10 | t2i R@1 |")
    assert {line.count("|") for line in lines} == {10}


@pytest.fixture
def meaning(tmp_path, toy_root, monkeypatch):
    """A run that also measured sentence pairs, over the toy photos."""
    root = tmp_path / "data"
    shutil.copytree(toy_root, root)
    small_pairs.write_all(root)
    monkeypatch.setenv("VSDEMO_DATA", str(root))
    trainer(tmp_path / "run", "epochs=2", "evaluate_sts=true").run()
    return tmp_path / "run"


def test_semantics_are_told_where_they_were_measured(meaning):
    rows = learning_curve.by_epoch(meaning)
    for row, event in zip(rows, logged(meaning, "eval"), strict=True):
        assert row["semantics"] == event["semantics"]
        assert row["semantics"].keys() == {"STS-B", "SICK-R", "mean"}
    model = checkpoint.load(meaning)[0]
    said = sts.SentenceSimilarity().evaluate(model, SentenceData("dev"))
    for name in ("STS-B", "SICK-R"):
        assert sts.on_dev(model)[name] == pytest.approx(said[f"{name}.cosine"]["pearson"])
    assert learning_curve.lines(rows)[learning_curve.SEMANTICS][1] == (
        2,
        rows[1]["semantics"]["mean"],
    )
    told = learning_curve.markdown(rows).splitlines()
    assert told[0].endswith("| rsum | r, STS-B | r, SICK-R | r, mean |")
    assert {line.count("|") for line in told} == {13}


def test_command(run, finished, tmp_path):
    code, told, errors = run("curve", finished, "--svg", tmp_path / "curve.svg")
    assert code == 0, errors
    assert told.strip() == learning_curve.markdown(learning_curve.by_epoch(finished))
    root = ElementTree.parse(tmp_path / "curve.svg").getroot()
    assert root.tag.endswith("svg")
    assert json.loads(run("curve", finished, "--json")[1]) == learning_curve.by_epoch(finished)


def test_a_folder_without_evaluations(tmp_path):
    with pytest.raises(UserError, match="has no evaluations"):
        learning_curve.by_epoch(tmp_path)
