"""`python -m vsdemo report`, and the option `--record` of commands that measure."""

import json
import re
import shutil
from pathlib import Path

import pytest

from vsdemo.vision.backbones.families import DIFFERENCE

CHECKPOINTS = Path(__file__).resolve().parents[2] / "checkpoints"
WITH_WEIGHTS = CHECKPOINTS / "storybook" / "sdt_rnn"  # whose matrices the page names


@pytest.fixture
def root(tmp_path, monkeypatch):
    """Set VSDEMO_CHECKPOINTS to a copy of everything that the page is made from."""
    folder = tmp_path / "checkpoints"
    for path in CHECKPOINTS.rglob("*"):
        copy = folder / path.relative_to(CHECKPOINTS)
        copy.parent.mkdir(parents=True, exist_ok=True)
        if path.name == DIFFERENCE or path.parent == WITH_WEIGHTS:
            copy.symlink_to(path)
        elif path.suffix in (".json", ".jsonl") and path.name != "vocab.json":
            shutil.copy(path, copy)
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(folder))
    return folder


def test_report_writes_the_page(run, root):
    code, printed, errors = run("report")
    assert (code, printed, errors) == (0, f"{root / 'README.md'}\n", "")
    assert (root / "README.md").read_bytes() == (CHECKPOINTS / "README.md").read_bytes()
    assert [path for path in root.iterdir() if path.name.startswith(".")] == []


def test_check_prints_the_lines_that_differ(run, root):
    shutil.copy(CHECKPOINTS / "README.md", root)
    code, printed, _ = run("report", "--check")
    assert (code, printed) == (0, f"{root / 'README.md'} is up to date.\n")
    path = root / "results" / "times" / "align.json"
    path.write_text(re.sub(r'"photos": \d+', '"photos": 4321', path.read_text()))
    before = (root / "README.md").read_bytes()
    code, printed, errors = run("report", "--check")
    assert (code, errors) == (1, "")
    removed, added = printed.splitlines()[-2:]
    assert removed.startswith("-| ... 1,000 new photos are ready")
    assert added == "+" + removed[1:].replace("1,000", "4,321")
    assert (root / "README.md").read_bytes() == before
    assert run("report")[0] == 0
    assert run("report", "--check")[0] == 0


def test_check_of_a_page_that_is_missing(run, root):
    code, printed, _ = run("report", "--check")
    assert code == 1
    assert "+# Results" in printed
    assert not (root / "README.md").exists()


def test_a_record_that_is_not_on_the_page_is_listed(run, root):
    extra = root / "results" / "times" / "extra.json"
    shutil.copy(root / "results" / "times" / "align.json", extra)
    code, _, errors = run("report")
    assert (code, errors) == (0, f"Not on the page: {extra}\n")


def test_a_damaged_record_is_one_sentence(run, root):
    path = root / "results" / "times" / "align.json"
    path.write_text("{")
    code, printed, errors = run("report")
    assert (code, printed) == (2, "")
    assert errors.startswith(f"vsdemo: {path} is not a record of results")
    assert errors.count("\n") == 1
    assert not (root / "README.md").exists()


@pytest.mark.parametrize("option", [["--record", "{}"], ["--record={}"]], ids=["two", "one"])
def test_evaluate_writes_a_record(run, toy_checkpoint, tmp_path, option):
    file = tmp_path / "results" / "toy.json"
    words = [word.format(file) for word in option]
    code, _, _ = run("evaluate", toy_checkpoint, *words, "--task", "lengths", "--split", "dev")
    assert code == 0
    record = json.loads(file.read_text())
    assert record["command"].endswith(
        f" && python -m vsdemo evaluate {toy_checkpoint} --task lengths --split dev"
    )
    assert (record["data"], record["split"]) == ("toy", "dev")
    assert record["figures"]["ci95"]["t2i"][0] <= record["figures"]["t2i"]


def test_difference_writes_a_record(run, toy_checkpoint, tmp_path):
    file = tmp_path / "difference.json"
    code, printed, _ = run("difference", toy_checkpoint, toy_checkpoint, "--record", file)
    assert code == 0
    record = json.loads(file.read_text())
    assert record["title"].count(" minus ") == 1
    assert record["command"].startswith("python -m vsdemo train ")
    assert record["command"].endswith(
        f" && python -m vsdemo difference {toy_checkpoint} {toy_checkpoint}"
    )
    assert (record["data"], record["split"], record["seeds"]) == ("toy", "test", [0, 0])
    assert record["figures"]["retrieval"] == json.loads(printed)["retrieval"]


def test_table_writes_a_record_of_one_row(run, toy_checkpoint, toy_order, tmp_path):
    file = tmp_path / "row.json"
    code, _, _ = run("table", toy_checkpoint, "--task", "similarity", "--record", file)
    assert code == 0
    record = json.loads(file.read_text())
    assert record["command"].endswith(f"vsdemo table {toy_checkpoint} --task similarity")
    assert record["figures"]["meanr"]["sd"] is None
    code, printed, errors = run("table", toy_checkpoint, toy_order, "--record", file)
    assert (code, printed) == (2, "")
    assert "A record is about one row of the table" in errors


def test_lab_writes_a_record_of_one_checkpoint(run, toy_checkpoint, tmp_path, monkeypatch):
    figures = {"test": {"voices": {"voice": 50.0}}}
    result = {"claims": {}, "figures": {"toy": figures}}
    monkeypatch.setattr("vsdemo.evaluation.lab.report", lambda folders: result)
    file = tmp_path / "toy.json"
    assert run("lab", toy_checkpoint, "--record", file)[0] == 0
    assert json.loads(file.read_text())["figures"] == figures
    for folders in ([], [toy_checkpoint, toy_checkpoint]):
        code, _, errors = run("lab", *folders, "--record", file)
        assert (code, errors) == (2, "vsdemo: A record is about one checkpoint; give one folder.\n")


def test_a_parser_is_recorded(run, tmp_path, monkeypatch):
    monkeypatch.setattr("vsdemo.data.text.parser.is_pipeline", lambda folder: True)
    scores = {"las": 97.4}
    monkeypatch.setattr("vsdemo.recipes.parsing.score.on_storybook", lambda *words: scores)
    monkeypatch.setattr("vsdemo.recipes.parsing.score.evaluate", lambda *words: scores)
    file = tmp_path / "parser.json"
    assert run("evaluate", tmp_path, "--data", "storybook", "--record", file)[0] == 0
    assert json.loads(file.read_text())["data"] == "storybook"
    assert run("evaluate", tmp_path, "--record", file)[0] == 0
    assert json.loads(file.read_text())["data"] == "UD English EWT"


def test_no_other_file_is_overwritten(run, toy_checkpoint, tmp_path):
    file = tmp_path / "notes.json"
    file.write_text("my notes")
    code, _, errors = run("evaluate", toy_checkpoint, "--split", "dev", "--record", file)
    assert code == 2
    assert f"{file} is not a record of results" in errors
    assert file.read_text() == "my notes"
