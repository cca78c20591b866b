"""Metrics of a checkpoint, their difference between two, and the model card."""

import json
import re
import shlex
import shutil
from dataclasses import replace
from itertools import pairwise
from statistics import mean

import pytest
from safetensors.torch import load_file, save_file

from tests.conftest import TOY_SETTINGS
from tests.support import small_runs
from tests.support.checkpoint_copies import editable_copy
from vsdemo import models
from vsdemo.core import config
from vsdemo.core.errors import UserError
from vsdemo.data import datasets
from vsdemo.data.pairs import contamination
from vsdemo.evaluation import cards, evaluate
from vsdemo.evaluation.tasks import task
from vsdemo.evaluation.tasks.retrieval import Retrieval
from vsdemo.models import checkpoint

METRIC_NAMES = {"r1", "r5", "r10", "r20", "r50", "medr", "meanr"}
RETRIEVAL_KEYS = {"i2t", "t2i", "rsum", "n_images", "n_captions", "ci95"}
COMMON_KEYS = {"checkpoint", "dataset", "split", "task"}


@pytest.fixture(scope="module")
def measured(toy_checkpoint):
    return evaluate.evaluate(toy_checkpoint, "test")


@pytest.fixture(scope="module")
def worse(toy_checkpoint, tmp_path_factory):
    """The same checkpoint with the rows of its word table in reverse order."""
    folder = editable_copy(toy_checkpoint, tmp_path_factory.mktemp("worse") / "gru")
    state = load_file(folder / "model.safetensors")
    state["text.table.weight"] = state["text.table.weight"].flip(0)
    save_file(state, folder / "model.safetensors")
    return folder


def test_result_has_the_documented_keys(measured, toy_checkpoint):
    assert measured.keys() == RETRIEVAL_KEYS | COMMON_KEYS
    assert measured["i2t"].keys() == measured["t2i"].keys() == METRIC_NAMES
    assert measured["ci95"].keys() == {"i2t", "t2i", "rsum"}
    assert measured["ci95"]["i2t"].keys() == measured["ci95"]["t2i"].keys() == METRIC_NAMES
    assert [measured[k] for k in ("dataset", "split", "task")] == ["toy", "test", "retrieval"]
    assert measured["checkpoint"] == str(toy_checkpoint)
    json.dumps(measured)


def test_metrics_are_consistent(measured):
    assert (measured["n_images"], measured["n_captions"]) == (8, 40)
    for way in ("i2t", "t2i"):
        metrics, intervals = measured[way], measured["ci95"][way]
        assert 0 <= metrics["r1"] <= metrics["r5"] <= metrics["r10"] <= 100
        assert all(intervals[k][0] <= metrics[k] <= intervals[k][1] for k in METRIC_NAMES)
    assert measured["t2i"]["r10"] == 100  # of eight photos
    recalls = [measured[way][k] for way in ("i2t", "t2i") for k in ("r1", "r5", "r10")]
    assert measured["rsum"] == pytest.approx(sum(recalls))
    low, high = measured["ci95"]["rsum"]
    assert low < measured["rsum"] < high


def test_a_trained_model_is_better_than_chance(own_folders, tmp_path):
    """On average over three trainings, as the test split has only 8 photos."""
    chance = 100 * sum((1 / 8, 5 / 8, 1))
    sums = []
    for seed in range(3):
        folder = tmp_path / str(seed)
        small_runs.preset_trainer(folder, "gru", *TOY_SETTINGS, f"seed={seed}").run()
        recalls = evaluate.evaluate(folder, "test")["t2i"]
        sums.append(sum(recalls[k] for k in ("r1", "r5", "r10")))
    assert mean(sums) > chance + 50


def test_evaluation_is_deterministic(measured, toy_checkpoint):
    assert evaluate.evaluate(toy_checkpoint, "test") == measured


def test_evaluate_accepts_another_data_set(toy_checkpoint, toy_root, measured):
    result = evaluate.evaluate(toy_checkpoint, "all", str(toy_root / "toy" / "captions.json"))
    assert (result["n_images"], result["n_captions"]) == (40, 200)


def test_difference_of_a_model_with_itself_is_zero(toy_checkpoint):
    gap = evaluate.difference(toy_checkpoint, toy_checkpoint)
    retrieval, lengths = gap["retrieval"], gap["lengths"]
    for way in ("i2t", "t2i"):
        assert retrieval[way] == dict.fromkeys(METRIC_NAMES, 0)
        assert retrieval["ci95"][way] == {key: [0, 0] for key in METRIC_NAMES}
    assert retrieval["rsum"] == 0
    assert retrieval["ci95"]["rsum"] == [0, 0]
    assert (lengths["t2i"], lengths["short_to_long"]) == (0, 0)
    assert lengths["ci95"] == {"t2i": [0, 0], "short_to_long": [0, 0]}


def test_difference_is_a_minus_b(toy_checkpoint, worse):
    ahead = evaluate.difference(toy_checkpoint, worse)
    back = evaluate.difference(worse, toy_checkpoint)
    a = evaluate.evaluate(toy_checkpoint, "test")["rsum"]
    b = evaluate.evaluate(worse, "test")["rsum"]
    assert ahead["retrieval"]["rsum"] == pytest.approx(a - b)
    assert a - b > 0
    assert back["retrieval"]["rsum"] == pytest.approx(b - a)
    low, high = ahead["retrieval"]["ci95"]["rsum"]
    assert low < a - b < high
    assert back["retrieval"]["ci95"]["rsum"] == pytest.approx([-high, -low], abs=0.011)  # rounded


def test_lengths_has_its_own_metrics(toy_checkpoint):
    result = evaluate.evaluate(toy_checkpoint, "test", task_name="lengths")
    assert result.keys() == COMMON_KEYS | {"t2i", "short_to_long", "n_pairs", "ci95"}
    assert result["n_pairs"] == 80  # 10 pairs of captions for each of 8 photos, fewer than 100
    assert 1 <= result["t2i"] <= 8
    assert 1 <= result["short_to_long"] <= 40


def test_folds_need_a_thousand_photos(toy_checkpoint):
    with pytest.raises(UserError, match="8 photos; a fold needs 1,000"):
        evaluate.evaluate(toy_checkpoint, "test", options={"folds": True})
    with pytest.raises(
        UserError, match="lengths has no option folds, which is for retrieval; leave --folds out"
    ):
        evaluate.evaluate(toy_checkpoint, task_name="lengths", options={"folds": True})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"task_name": "captioning"}, "no task 'captioning'; use one of retrieval, first_captions"),
        ({"split": "val"}, "no split 'val'; use one of train, dev, test, all"),
        ({"dataset": "imagenet"}, "no data set 'imagenet'; use one of .*toy"),
    ],
)
def test_unknown_names_list_the_valid_ones(toy_checkpoint, options, message):
    with pytest.raises(UserError, match=message):
        evaluate.evaluate(toy_checkpoint, **options)


def test_photos_without_captions_are_a_user_error(toy_checkpoint, toy_root):
    with pytest.raises(UserError, match="no captions, so there is nothing to measure"):
        evaluate.evaluate(toy_checkpoint, dataset=str(toy_root / "toy" / "images"))


def test_metrics_file_contains_dev_and_test(toy_checkpoint, measured):
    stored = json.loads((toy_checkpoint / "metrics.json").read_text())
    assert stored.keys() == {"dev", "test"}
    assert stored["test"] == {k: v for k, v in measured.items() if k != "checkpoint"}


def test_model_card_describes_run_and_metrics(toy_checkpoint, measured):
    card = (toy_checkpoint / "README.md").read_text()
    spec = checkpoint.read_spec(toy_checkpoint)
    assert card.startswith("---\n")
    assert re.search(r"^    python -m vsdemo train gru --data toy --out gru .*", card, re.M)
    for setting in ("batch_size=8", "dim=32", "dropout=0.0", f"backbone={spec.config.backbone}"):
        assert f"--set {setting}" in card
    assert "trained on the train split of toy" in card
    assert f"Seed {spec.config.seed};" in card
    assert spec.backbone_hash in card
    assert re.search(r"took \d+\.\d minutes", card)
    for way in ("i2t", "t2i"):
        for k in ("r1", "r5", "r10"):
            low, high = measured["ci95"][way][k]
            assert f"{measured[way][k]:.1f} ({low:.1f}-{high:.1f})" in card
    assert f"**{measured['rsum']:.1f}**" in card
    assert "Licence of the weights: see its data" in card


def test_command_on_the_card_reproduces_the_config(toy_checkpoint):
    spec = checkpoint.read_spec(toy_checkpoint)
    command = re.search(r"^    (python -m .*)$", (toy_checkpoint / "README.md").read_text(), re.M)
    words = shlex.split(command[1])
    settings = [after for word, after in pairwise(words) if word == "--set"]
    assert config.override(models.preset(words[4])[1], settings) == spec.config


def test_table_has_a_row_for_each_split(measured):
    lines = Retrieval().table({"dev": measured, "test": measured}).splitlines()
    assert len(lines) == 4
    assert len({line.count("|") for line in lines}) == 1
    assert [line.split("|")[1].strip() for line in lines[2:]] == ["dev", "test"]


def test_data_without_a_test_split_are_measured_on_dev(
    toy_checkpoint, toy_root, tmp_path, monkeypatch
):
    """Captions of users often have no test split; their models are measured on dev only."""
    data = shutil.copytree(toy_root / "toy", tmp_path / "data" / "toy")
    images = json.loads((data / "captions.json").read_text())["images"]
    kept = [i for i in images if i["split"] != "test"]
    (data / "captions.json").write_text(json.dumps({"images": kept}))
    shutil.copytree(toy_root / "models", tmp_path / "data" / "models")
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path / "data"))
    folder = shutil.copytree(toy_checkpoint, tmp_path / "run")
    assert cards.finish(folder).keys() == {"dev"}
    assert json.loads((folder / "metrics.json").read_text()).keys() == {"dev"}
    assert "| dev |" in (folder / "README.md").read_text()


def test_sentence_tasks_know_the_captions_that_a_model_has_read(toy_checkpoint, monkeypatch):
    spec = checkpoint.read_spec(toy_checkpoint)
    read = {contamination.normalized(text) for text in datasets.load("toy", "train").captions}
    assert evaluate.load_data(task("sts"), spec, "test").seen == read
    monkeypatch.setattr("vsdemo.data.storybook.load", lambda *_: 1 / 0)  # nothing is drawn for it
    for dataset in ("storybook", "", "missing"):
        assert not evaluate.load_data(task("sts"), replace(spec, dataset=dataset), "test").seen
