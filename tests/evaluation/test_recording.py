"""Results become records with the command, the seeds, the commit and the figures."""

import json
import shutil
import subprocess
from datetime import date

import pytest

from vsdemo.core.errors import UserError
from vsdemo.evaluation import evaluate, tables
from vsdemo.evaluation.report import recording, records


def test_a_run_is_recorded_with_the_command_that_trains_it(toy_checkpoint) -> None:
    result = evaluate.evaluate(toy_checkpoint, "dev")
    record = recording.of_evaluation(toy_checkpoint, result, command="python -m vsdemo evaluate X")
    train, measure = record.command.split(" && ")
    assert train.startswith(f"python -m vsdemo train gru --data toy --out {toy_checkpoint} --set ")
    assert measure == "python -m vsdemo evaluate X"
    assert record.title.startswith("`gru backbone=")
    assert (record.data, record.split, record.seeds) == ("toy", "dev", [0])
    assert (record.checkpoint, record.date) == (None, date.today())
    assert record.minutes > 0
    assert record.figures["rsum"] == result["rsum"]
    assert record.figures["ci95"] == result["ci95"]
    assert not {"task", "split", "dataset", "checkpoint"} & record.figures.keys()
    (log,) = record.runs[toy_checkpoint.name]
    assert record.command.startswith(log.command)
    assert log.chosen_by == "rsum"
    best = max(log.dev.values())
    assert best == pytest.approx(result["rsum"], abs=0.01)  # the epoch that is best on dev
    assert log.minutes == pytest.approx(record.minutes, abs=0.01)


def test_a_checkpoint_that_ships_is_recorded_by_its_name(toy_checkpoint, monkeypatch) -> None:
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(toy_checkpoint.parent))
    result = {"task": "lengths", "split": "test", "t2i": 3.5, "worst": [{"rank": 1}]}
    record = recording.of_evaluation(toy_checkpoint, result, command="evaluate")
    name = toy_checkpoint.name
    assert (record.title, record.checkpoint, record.command) == (f"`{name}`", name, "evaluate")
    assert record.figures == {"t2i": 3.5}
    assert record.runs is None


def test_a_training_that_is_not_done_is_recorded_without_a_log(toy_checkpoint, tmp_path) -> None:
    folder = shutil.copytree(toy_checkpoint, tmp_path / "run")
    result = {"task": "lengths", "split": "test", "t2i": 3.5}
    log = folder / "events.jsonl"
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join(line for line in lines if json.loads(line)["kind"] != "done"))
    with pytest.raises(UserError, match=f"The training in {folder} is not done"):
        records.read_log(folder, name="run", command="")
    assert recording.of_evaluation(folder, result, command="evaluate").runs is None
    log.unlink()
    assert recording.of_evaluation(folder, result, command="evaluate").runs is None


def test_without_git_the_commit_is_unknown(monkeypatch) -> None:
    def fail(*args, **options):
        raise FileNotFoundError("git")

    monkeypatch.setattr("subprocess.run", fail)
    assert recording.commit() is None


def test_the_commit_says_whether_files_differ_from_it(monkeypatch, tmp_path) -> None:
    def git(*arguments):
        return subprocess.run(
            ["git", "-C", tmp_path, *arguments], capture_output=True, text=True, check=True
        )

    git("init", "-q")
    for name in ("code.py", "checkpoints/results/a.json", "checkpoints/README.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("first")
    git("add", ".")
    git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "-m", "first")
    head = git("rev-parse", "HEAD").stdout.strip()
    monkeypatch.setattr(recording, "ROOT", tmp_path)
    assert recording.commit() == head
    (tmp_path / "checkpoints/results/a.json").write_text("measured")
    (tmp_path / "checkpoints/README.md").write_text("measured")
    (tmp_path / "new.txt").write_text("new")
    assert recording.commit() == head
    (tmp_path / "code.py").write_text("second")
    assert recording.commit() == f"{head}-dirty"


def test_a_difference_is_recorded_with_both_trainings(toy_checkpoint, toy_order) -> None:
    result = evaluate.difference(toy_checkpoint, toy_order)
    record = recording.of_difference(toy_checkpoint, toy_order, result, data=None, command="minus")
    first, second, last = record.command.split(" && ")
    assert first.startswith("python -m vsdemo train gru ")
    assert second.startswith("python -m vsdemo train order ")
    assert last == "minus"
    assert record.title.split(" minus ")[1].startswith("`order ")
    assert (record.data, record.split, record.seeds) == ("toy", "test", [0, 0])
    assert record.runs.keys() == {toy_checkpoint.name, toy_order.name}
    assert record.figures.keys() == {"retrieval", "lengths"}


def test_a_row_of_a_table_is_recorded(toy_checkpoint) -> None:
    recording.check_one_row([toy_checkpoint], None)
    result = tables.report([toy_checkpoint], task_name="similarity")
    record = recording.of_table([toy_checkpoint], result, command="table")
    mean = result["runs"][0]["figures"]["meanr"]
    assert record.figures["meanr"] == {"mean": mean, "sd": None, "ci95": None}
    assert record.title.startswith("`gru ")
    assert (record.data, record.split, record.seeds) == ("toy", "test", [0])


def test_a_difference_of_rows_is_recorded(toy_checkpoint, toy_order) -> None:
    folders = [toy_checkpoint, toy_order]
    against = tables.report([toy_order])["runs"][0]["row"]
    recording.check_one_row(folders, against)
    result = tables.report(folders, against=against)
    record = recording.of_table(folders, result, command="table")
    (row,) = result["differences"].values()
    assert record.figures["t2i"]["r1"] == row["t2i r1"]
    assert record.title.endswith(f" minus `{against}`")


def test_several_rows_are_no_record(toy_checkpoint, toy_order) -> None:
    with pytest.raises(
        UserError, match=r"about one row of the table, not about 'gru .*', 'order .*'"
    ):
        recording.check_one_row([toy_checkpoint, toy_order], None)
    label = tables.report([toy_order])["runs"][0]["row"]
    with pytest.raises(UserError, match="not about none"):
        recording.check_one_row([toy_order], label)


def test_the_lab_is_recorded_by_split_and_task(toy_checkpoint) -> None:
    figures = {"test": {"voices": {"voice": 50.0, "ci95": {"voice": [40.0, 60.0]}}}}
    result = {"claims": {}, "figures": {"toy": figures}}
    record = recording.of_lab(toy_checkpoint, result, command="lab")
    assert (record.figures, record.data, record.split) == (figures, "storybook", None)
    assert record.command.endswith(" && lab")


def test_a_parser_is_recorded(tmp_path) -> None:
    scores = {"gold_tokens": {"las": 85.5}}
    record = recording.of_parser(tmp_path, scores, data="EWT", split="test", command="evaluate")
    assert (record.figures, record.data, record.split) == (scores, "EWT", "test")
    assert (record.checkpoint, record.seeds, record.command) == (None, [], "evaluate")
