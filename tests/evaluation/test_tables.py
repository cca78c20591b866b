"""Means over runs and paired differences, computed by hand for small numbers."""

import json
from dataclasses import replace

import pytest

from tests.support.checkpoint_copies import editable_copy
from vsdemo.core.errors import UserError
from vsdemo.evaluation import evaluate, tables
from vsdemo.evaluation.tables import Run
from vsdemo.models import checkpoint

T_ONE, T_TWO = 12.7062, 4.30265  # 97.5% quantiles of Student's t, 1 and 2 degrees of freedom


@pytest.fixture
def copy(toy_checkpoint, tmp_path):
    """Return a function that copies the toy checkpoint with another name and settings."""

    def copy(name: str, dataset: str = "toy", **settings: object):
        folder = editable_copy(toy_checkpoint, tmp_path / name)
        values = json.loads((folder / "config.json").read_text())
        values |= {"dataset": dataset, "config": values["config"] | settings}
        (folder / "config.json").write_text(json.dumps(values))
        return folder

    return copy


def run(row: str, seed: int, value: float) -> Run:
    return Run(f"{row}-{seed}", row, f"pascal1k:{seed}", 0, {"rsum": value})


def test_estimate_of_three_values():
    result = tables.estimate([1.0, 2.0, 6.0])
    sd = ((4 + 1 + 9) / 2) ** 0.5
    half = T_TWO * sd / 3**0.5
    assert result["mean"] == 3
    assert result["sd"] == pytest.approx(sd)
    assert result["ci95"] == pytest.approx([3 - half, 3 + half], rel=1e-4)


def test_estimate_of_one_value_has_no_deviation():
    assert tables.estimate([4.5]) == {"mean": 4.5, "sd": None, "ci95": None}


def test_differences_are_paired_by_seed():
    runs = [run("a", 0, 10.0), run("a", 1, 20.0), run("a", 2, 99.0)]
    runs += [run("b", 1, 23.0), run("b", 0, 11.0), run("b", 7, -50.0)]
    result = tables.differences(tables.group(runs), "a", ["rsum"])
    half = T_ONE * 2**0.5 / 2**0.5  # the deviation of 1 and 3 is the root of 2
    assert result.keys() == {"b"}
    assert result["b"]["n"] == 2
    assert result["b"]["rsum"]["mean"] == 2
    assert result["b"]["rsum"]["ci95"] == pytest.approx([2 - half, 2 + half], rel=1e-4)


def test_pairs_share_the_seed_of_their_weights():
    other = replace(run("b", 0, 11.0), seed=5)
    with pytest.raises(UserError, match="'b' and 'a' have no run with the same data set and seed"):
        tables.differences(tables.group([run("a", 0, 10.0), other]), "a", ["rsum"])


def test_a_repeated_run_is_a_user_error():
    twice = [run("a", 0, 10.0), replace(run("a", 0, 10.0), checkpoint="copy")]
    with pytest.raises(UserError, match="a-0 and copy are the same run: a on pascal1k:0, seed 0"):
        tables.group(twice)


def test_metrics_of_a_result_are_flat():
    result = {"i2t": {"r1": 2.5, "medr": 3.0}, "rsum": 7.5, "n_images": 8, "split": "test"}
    intervals = {"ci95": {"i2t": {"r1": [1.0, 4.0]}}, "worst": [{"rank": 3.0}]}
    assert tables.metrics_of(result | intervals) == {"i2t r1": 2.5, "i2t medr": 3.0, "rsum": 7.5}


def test_label_lists_settings_but_not_the_seed(toy_checkpoint):
    spec = checkpoint.read_spec(toy_checkpoint)
    assert spec.label.startswith("gru backbone=torchvision/mobilenet_v3_small crops=center")
    other = replace(spec, config=spec.config.model_copy(update={"seed": 3}))
    assert other.label == spec.label


def test_report_has_rows_and_differences(copy, toy_checkpoint):
    """Four copies of one model in two rows have no deviation."""
    runs = [copy("a0"), copy("a1", seed=1), copy("b0", margin=1.0), copy("b1", margin=1.0, seed=1)]
    plain, wide = (checkpoint.read_spec(folder).label for folder in runs[::2])
    assert set(wide.split()) - set(plain.split()) == {"margin=1"}
    result = tables.report(runs, "dev", against=plain)
    assert json.loads(json.dumps(result)) == result
    assert list(result["rows"]) == [plain, wide]
    assert [r["seed"] for r in result["runs"]] == [0, 1, 0, 1]
    assert [r["checkpoint"] for r in result["runs"]] == [str(folder) for folder in runs]
    measured = evaluate.evaluate(toy_checkpoint, "dev")
    for name, value in (("i2t r1", measured["i2t"]["r1"]), ("rsum", measured["rsum"])):
        same = {"mean": pytest.approx(value), "sd": 0, "ci95": pytest.approx([value] * 2)}
        assert result["rows"][plain][name] == result["rows"][wide][name] == same
    assert result["differences"].keys() == {wide}
    assert result["differences"][wide]["t2i meanr"] == {"mean": 0, "sd": 0, "ci95": [0, 0]}


def test_markdown_has_a_line_per_row(copy):
    runs = [copy("a0"), copy("a1", seed=1), copy("b0", margin=1.0)]
    result = tables.report(runs, task_name="similarity")
    assert "differences" not in result
    head, rule, first, second = tables.markdown(result).splitlines()
    assert head == "| row | runs | R@1 | R@5 | R@10 | R@20 | R@50 | med r | mean r |"
    assert head.count("|") == rule.count("|") == first.count("|") == second.count("|")
    assert "` | 2 | " in first
    assert first.count(" ± 0.0") == 7
    assert "` | 1 | " in second
    assert "±" not in second


def test_markdown_of_differences_includes_intervals(copy):
    runs = [copy("a0"), copy("a1", seed=1), copy("b0", margin=1.0), copy("b1", margin=1.0, seed=1)]
    plain = checkpoint.read_spec(runs[0]).label
    lines = tables.markdown(tables.report(runs, against=plain)).splitlines()
    for head in (lines[0], lines[-3]):
        assert head.count("R@") == 6
        assert head.endswith("| t2i mean r | rsum |")
    assert f"Minus `{plain}`" in lines[5]
    assert lines[-1].endswith("| 2 |" + " +0.0 (0.0 to 0.0) |" * 11)


def test_unsuitable_runs_are_user_errors(copy, toy_checkpoint, tmp_path):
    name = checkpoint.read_spec(toy_checkpoint).label
    with pytest.raises(UserError, match="one data set; give runs of one of pascal1k, toy"):
        tables.report([toy_checkpoint, copy("pascal", "pascal1k:3")])
    with pytest.raises(UserError, match="no row 'order' to compare with; use one of 'gru "):
        tables.report([toy_checkpoint], against="order")
    with pytest.raises(UserError, match=r"only the row 'gru .*'; give runs of another"):
        tables.report([toy_checkpoint], against=name)
    with pytest.raises(UserError, match="are the same run"):
        tables.report([toy_checkpoint, copy("twin")])
    with pytest.raises(UserError, match="no task 'captioning'"):
        tables.report([toy_checkpoint], task_name="captioning")
