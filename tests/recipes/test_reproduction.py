"""`reproduce` trains and measures an experiment, resumes it, and writes its record."""

import json

import pytest

from tests.conftest import TOY_SETTINGS
from vsdemo.core import events
from vsdemo.core.errors import UserError
from vsdemo.evaluation import cards
from vsdemo.evaluation.experiments import experiment
from vsdemo.evaluation.report.page import Page
from vsdemo.models import checkpoint, ensemble
from vsdemo.recipes.reproduction import Reproduction

SETTINGS = [s for s in TOY_SETTINGS if not s.startswith(("epochs", "learning_rate"))]
FILE = f"""
paper = "Vendrov 2016"
title = "Small"
about = "Two bags of words."
data = ["toy"]
seeds = [0, 1]
curves = ["t2i r10"]
settings = {json.dumps([*SETTINGS, "epochs=2", "snapshot_every=1"])}

[tune]
learning_rate = [0.0, 0.05]

[rows.bow]
preset = "bow"
paper = {{ retrieval = {{ t2i = {{ r1 = 12.5 }} }} }}

[rows.still]
preset = "bow"
settings = ["learning_rate=0"]
grid = {{}}

[rows.two]
preset = "bow"
snapshots_of = "bow"

[[claims]]
name = "learning"
text = "Learning helps"
where = "Table 9"
a = "bow"
b = "still"
higher = ["retrieval rsum"]
paper = "5 and 4"
"""


@pytest.fixture
def small(tmp_path, monkeypatch):
    """Let `reproduce` know one small experiment, and write its record below a folder."""
    folder = tmp_path / "experiments"
    folder.mkdir()
    (folder / "small.toml").write_text(FILE)
    monkeypatch.setattr(experiment, "FOLDER", folder)
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(tmp_path / "checkpoints"))
    monkeypatch.setattr("vsdemo.evaluation.metrics.bootstrap.RESAMPLES", 100)
    return tmp_path


def written(folder):
    return {path: path.stat().st_mtime_ns for path in folder.rglob("model*.safetensors")}


def test_an_experiment_is_trained_measured_and_recorded(small, run):
    out = small / "runs"
    code, printed, _ = run("reproduce", "small", "--out", out, "--row", "still")
    assert code == 0
    assert {path.name for path in (out / "small").iterdir() if path.is_dir()} == {
        "still-toy-0",
        "still-toy-1",
    }
    assert "train bow --out" in printed
    before = written(out)
    code, printed, error = run("reproduce", "small", "--out", out)
    assert code == 0, error
    assert before.items() <= written(out).items()  # nothing is trained twice

    chosen = checkpoint.read_spec(out / "small" / "bow-toy-1").config
    assert (chosen.learning_rate, chosen.seed) == (0.05, 1)  # the better one on dev
    record = json.loads((small / "checkpoints/results/experiments/small.json").read_text())
    assert record["command"] == "python -m vsdemo reproduce small"
    assert [log["name"] for log in record["runs"]["bow"]] == [
        "bow-tune-0",
        "bow-tune-1",
        "bow-toy-0",
        "bow-toy-1",
    ]
    measured = {path.parent.name for path in (out / "small").rglob(checkpoint.METRICS)}
    assert measured == {"bow-toy-0", "bow-toy-1", "still-toy-0", "still-toy-1"}  # no tuning
    log = record["runs"]["bow"][2]
    evals_of = {
        name: [e for e in events.read(out / "small" / name / "events.jsonl") if e["kind"] == "eval"]
        for name in ("bow-toy-0", "bow-toy-1")
    }
    evals = evals_of["bow-toy-0"]
    assert log["dev"] == {str(e["epoch"]): round(e["rsum"], 2) for e in evals}
    assert log["curves"] == {"t2i r10": {str(e["epoch"]): round(e["t2i"]["r10"], 2) for e in evals}}
    values = [
        checkpoint.read_metrics(out / "small" / f"bow-toy-{seed}")["test"]["rsum"]
        for seed in (0, 1)
    ]
    rsum = record["figures"]["rows"]["bow"]["retrieval"]["rsum"]
    assert rsum["mean"] == pytest.approx(sum(values) / 2, abs=1e-3)
    gap = record["figures"]["claims"]["learning"]["retrieval"]["rsum"]
    still = record["figures"]["rows"]["still"]["retrieval"]["rsum"]["mean"]
    assert gap["mean"] == pytest.approx(rsum["mean"] - still, abs=1e-3)

    assert record["runs"]["two"] == []  # an ensemble of trainings that were there
    combined = []
    for seed in (0, 1):
        ensemble.make([out / "small" / f"bow-toy-{seed}"], small / f"two-{seed}")
        combined.append(cards.finish(small / f"two-{seed}")["test"]["rsum"])
    two = record["figures"]["rows"]["two"]["retrieval"]["rsum"]["mean"]
    assert two == pytest.approx(sum(combined) / 2, abs=1e-3)

    page = Page(small / "checkpoints")
    table = page.experiment("small", {"t2i R@1": "{retrieval t2i r1:.1f}"})
    assert "(12.5)" in table
    assert "`python -m vsdemo reproduce small`, 6 trainings" in table
    curve = page.curve("small", "bow", {"t2i R@10": "t2i r10"}, every=2).splitlines()
    last = evals_of["bow-toy-1"][-1]
    assert curve[0] == "| epoch | rsum | t2i R@10 |"
    assert curve[-1] == f"| 2 | {last['rsum']:.1f} | {last['t2i']['r10']:.1f} |"
    (line,) = page.claims("Vendrov 2016").splitlines()[2:]
    low, high = gap["ci95"]
    verdict = "holds" if low > 0 else "does not hold" if high <= 0 else "not shown"
    assert line.startswith("| `small` | Learning helps | Table 9: 5 and 4 | rsum ")
    assert line.endswith(f"| {verdict} |")


def test_a_training_with_other_settings_is_not_taken_for_this_one(small, run):
    out = small / "runs"
    assert run("reproduce", "small", "--out", out, "--row", "still")[0] == 0
    (experiment.FOLDER / "small.toml").write_text(FILE.replace("epochs=2", "epochs=3"))
    code, _, error = run("reproduce", "small", "--out", out, "--row", "still")
    assert code == 2
    assert "still-toy-0 holds a training with other settings than small has now" in error


def test_an_incomplete_experiment_is_not_recorded(small):
    reproduction = Reproduction(experiment.load("small"), small / "runs")
    with pytest.raises(UserError, match="bow-tune-0 is not trained yet; run `python -m vsdemo"):
        reproduction.record()


def test_the_experiments_are_listed(small, run):
    code, printed, _ = run("reproduce")
    assert code == 0
    assert "small" in printed
    assert "6" in printed.splitlines()[1]


def test_a_wrong_name_is_refused_in_one_sentence(small, run):
    for words, message in (
        (["nothing"], "There is no experiment 'nothing'; use one of small."),
        (["small", "--row", "tree"], "small has no row 'tree'; use one of bow, still, two."),
    ):
        code, _, error = run("reproduce", *words, "--out", small / "runs")
        assert code == 2
        assert error.strip() == f"vsdemo: {message}"
