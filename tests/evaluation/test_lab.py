"""The lab on a small Storybook: an oracle, a bag of words, and a trained checkpoint."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from tests.support import storybook_sample
from vsdemo.core.config import Config
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.data import storybook
from vsdemo.evaluation import lab
from vsdemo.evaluation.claims import CLAIMS
from vsdemo.evaluation.metrics import bootstrap
from vsdemo.evaluation.task import PhotoData
from vsdemo.evaluation.tasks import task
from vsdemo.evaluation.tasks.alignment import Alignment
from vsdemo.models import checkpoint

SPEC = SimpleNamespace(config=Config())
ORACLE, BAG, LETTERS = Path("runs/knows"), Path("runs/counts"), Path("runs/spells")


@pytest.fixture(scope="module")
def small(toy_checkpoint):
    """A small Storybook and few resamples, which must not affect the toy's stored metrics."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(storybook, "scenes", storybook_sample.scenes)
        patch.setattr(storybook, "load", storybook_sample.load)
        patch.setattr(bootstrap, "RESAMPLES", 100)
        patch.setattr(lab, "load_photos", photos)
        yield patch


@pytest.fixture(scope="module")
def report(small):
    """The report on three models; the third claims to read characters but knows nothing."""
    spells = storybook_sample.bag()
    spells.text = SimpleNamespace(needs=frozenset({"chars"}))
    spells.encode_text = lambda sentences: Embeddings(torch.ones(len(sentences), 1000))
    loaded = {ORACLE: storybook_sample.oracle(), BAG: storybook_sample.bag(), LETTERS: spells}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoint, "load", lambda folder: (loaded[folder], SPEC, None))
        return lab.report([ORACLE, BAG, LETTERS, ORACLE])


def photos(spec, split: str, dataset: str, *, boxes: bool) -> PhotoData:
    assert dataset == "storybook"
    captions = storybook_sample.load(split)
    known = torch.ones(len(captions.photos), 2, 4) if boxes else None
    return PhotoData(captions, storybook_sample.features(captions), known)


def test_every_claim_has_the_task_metrics_of_each_model(report):
    assert report["claims"].keys() == {claim.name for claim in CLAIMS}
    for claim in CLAIMS:
        rows = report["claims"][claim.name]["rows"]
        assert list(rows) == [str(ORACLE), str(BAG), str(LETTERS)]
        if claim.name == "alignment":
            assert all(row == {"verdict": "aligns no parts"} for row in rows.values())
            continue
        split = storybook_sample.load(claim.metric.split)
        module = task(claim.metric.task)
        model = storybook_sample.oracle()
        metrics = module.evaluate(model, PhotoData(split, storybook_sample.features(split)))
        value, interval = metrics, metrics["ci95"]
        for key in claim.metric.key.split():
            value, interval = value[key], interval[key]
        assert rows[str(ORACLE)]["value"] == pytest.approx(value)
        assert rows[str(ORACLE)]["ci95"] == pytest.approx(interval)
    assert json.loads(json.dumps(report)) == report


def test_claims_are_compared_with_chance(report):
    for name in ("twins", "roles", "direction", "chains", "composition"):
        assert report["claims"][name]["rows"][str(ORACLE)]["verdict"] == "holds"
    for name in ("direction", "chains"):
        symmetric = report["claims"][name]["rows"][str(BAG)]
        assert (symmetric["value"], symmetric["ci95"]) == (50, [50, 50])
        assert symmetric["verdict"] == "does not hold"
    twins = report["claims"]["twins"]["rows"][str(ORACLE)]
    assert twins["extra"]["to that in other words"]["value"] == 100


class Constant:
    """Results that are the same for all photos."""

    def __init__(self, metrics, photos: int) -> None:
        self.metrics = lambda rows=None: metrics
        self.photos = photos

    def __len__(self) -> int:
        return self.photos


def test_models_that_align_are_evaluated_with_their_region_boxes(small, monkeypatch):
    def measure(self, model, data):
        answers = {"pointing": 70.0, "gain": 20.0}
        baselines = {"centre": {"pointing": 50.0}, "random": {"pointing": 30.0}}
        metrics = {**answers, "baselines": baselines, "boxes": float(data.boxes.sum())}
        return Constant(metrics, len(data.split.photos))

    model = storybook_sample.oracle()
    monkeypatch.setattr(model.score, "can_align", True)
    monkeypatch.setattr(Alignment, "measure", measure)
    monkeypatch.setattr(lab, "RUNS", (("alignment", "test"),))
    monkeypatch.setattr(lab, "CLAIMS", [c for c in CLAIMS if c.name == "alignment"])
    monkeypatch.setattr(checkpoint, "load", lambda folder: (model, SPEC, None))
    result = lab.report([ORACLE])
    row = result["claims"]["alignment"]["rows"][str(ORACLE)]
    assert (row["value"], row["verdict"]) == (20, "holds")
    assert row["extra"]["% pointing into the right box"]["value"] == 70
    assert (
        result["figures"][str(ORACLE)]["test"]["alignment"]["boxes"] == 8 * storybook_sample.SCENES
    )


def test_claims_compare_models(report):
    rows = report["claims"]["entailment"]["rows"]
    row, other = rows[str(ORACLE)], rows[str(BAG)]
    assert row["compared_with"] == str(BAG)  # the first of two equally good ones
    (gap,) = row["differences"].values()
    assert gap["value"] == pytest.approx(100 - other["value"])
    assert gap["ci95"][0] > 0
    assert row["verdict"] == "holds"
    assert other["verdict"] == ""
    assert "differences" not in other


def test_a_model_that_retrieves_nothing_does_not_hold_the_claim(report):
    """The model of letters knows nothing, so typos cost it nothing, but it retrieves nothing."""
    rows = report["claims"]["typos"]["rows"]
    row, best = rows[str(LETTERS)], rows[str(BAG)]
    assert row["compared_with"] == str(BAG)
    assert row["value"] == 0
    lost, left = row["differences"].values()
    assert lost["value"] == pytest.approx(-best["value"])
    assert lost["ci95"][1] < 0
    title = "R@10 with two"
    assert left["value"] == pytest.approx(
        row["extra"][title]["value"] - best["extra"][title]["value"]
    )
    assert left["ci95"][1] < 0
    assert row["verdict"] == "does not hold"


def test_a_single_model_has_nothing_to_compare_with(small, monkeypatch):
    monkeypatch.setattr(checkpoint, "load", lambda folder: (storybook_sample.oracle(), SPEC, None))
    rows = lab.report([ORACLE])["claims"]["detail"]["rows"]
    assert rows[str(ORACLE)]["verdict"] == "no other model of its recipe"


@pytest.mark.parametrize(
    ("settings", "verdict"),
    [
        ({"learning_rate": 0.3, "margin": 0.5}, "holds"),  # each model has its own best ones
        ({"hardest": 0.95}, "no other model of its recipe"),
        ({"crops": "whole"}, "no other model of its recipe"),
    ],
)
def test_only_models_of_one_recipe_are_compared(small, monkeypatch, settings, verdict):
    other = SimpleNamespace(config=Config(**settings))
    loaded = {
        ORACLE: (storybook_sample.oracle(), SPEC, None),
        BAG: (storybook_sample.bag(), other, None),
    }
    monkeypatch.setattr(checkpoint, "load", loaded.__getitem__)
    row = lab.report([ORACLE, BAG])["claims"]["entailment"]["rows"][str(ORACLE)]
    assert row["verdict"] == verdict
    assert ("compared_with" in row) == (verdict == "holds")


def test_markdown_has_a_table_per_claim(report):
    printed = lab.markdown(report)
    assert printed.count("| verdict |") == len(CLAIMS)
    assert f"| `{ORACLE}` | 100.0 (100.0 to 100.0) | holds |" in printed
    assert f"| `{BAG}` | 50.0 (50.0 to 50.0) | does not hold |" in printed
    assert f"| `{BAG}` |  |  |  |  | aligns no parts |" in printed
    for claim in CLAIMS:
        assert claim.text in printed
        assert claim.paper in printed
    widths = [{line.count("|") for line in part.splitlines()} for part in printed.split("\n\n")]
    assert all(len(counts) == 1 for counts in widths)


def test_command_reports_on_a_checkpoint(run, toy_checkpoint, small, monkeypatch):
    def random(spec, split: str, dataset: str, *, boxes: bool) -> PhotoData:
        generator = torch.Generator().manual_seed(0)
        features = torch.rand(storybook_sample.SCENES, spec.features, generator=generator)
        return PhotoData(storybook_sample.load(split), features)

    monkeypatch.setattr(lab, "load_photos", random)
    code, printed, errors = run("lab", toy_checkpoint)
    assert (code, errors) == (0, "")
    assert printed.startswith("A claim predicts")
    code, printed, _ = run("lab", toy_checkpoint, "--json")
    assert json.loads(printed)["figures"].keys() == {str(toy_checkpoint)}


def test_command_defaults_to_the_checkpoints_of_storybook(run, toy_checkpoint, monkeypatch):
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(toy_checkpoint.parent))  # of another data set
    code, printed, errors = run("lab")
    assert (code, printed) == (2, "")
    assert "train one with `python -m vsdemo train bow --data storybook" in errors
    assert errors.count("\n") == 1
    spec = SimpleNamespace(dataset="storybook")
    monkeypatch.setattr(checkpoint, "read_spec", lambda folder: spec)
    folders = []
    monkeypatch.setattr(
        lab, "ModelResults", lambda folder, progress: folders.append(folder) or 1 / 0
    )
    with pytest.raises(ZeroDivisionError):
        lab.report()
    assert folders == [toy_checkpoint]


def test_a_folder_without_a_checkpoint_is_a_user_error(run, tmp_path):
    code, _, errors = run("lab", tmp_path)
    assert code == 2
    assert "There is no checkpoint at" in errors


def test_shipped_checkpoints_have_short_names(monkeypatch, tmp_path):
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(tmp_path))
    assert lab._name(tmp_path.resolve() / "storybook" / "bow") == str(Path("storybook/bow"))
    with pytest.raises(UserError):
        lab._shipped()
