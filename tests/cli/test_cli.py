"""The command line on the toy data, from training to search."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

NO_MATCH = "Nothing in this gallery matches this sentence well; the nearest photos are shown."
TRAIN = (
    "train",
    "bow",
    "--data=toy",
    "--set=backbone=torchvision/mobilenet_v3_small",
    "--set=crops=center",
    "--set=dim=16",
    "--set=word_dim=8",
    "--set=min_count=1",
    "--set=batch_size=8",
    "--set=epochs=2",
)


@pytest.fixture
def good(run):
    """Run a command that must succeed, and return what it printed."""

    def good(*words: object) -> str:
        code, out, errors = run(*words)
        assert code == 0, errors
        assert "Traceback" not in errors
        return out

    return good


def test_train_evaluate_search_describe(good, toy_root, tmp_path):
    out = tmp_path / "runs" / "bow"
    printed = good(*TRAIN, "--out", out)
    assert "| dev |" in printed
    assert "| test |" in printed
    assert f'python -m vsdemo search {out} "a brown dog runs" -k 5' in printed
    files = {f.name for f in out.iterdir()}
    assert files == {
        "config.json",
        "vocab.json",
        "model.safetensors",
        "metrics.json",
        "events.jsonl",
        "README.md",
        "last.safetensors",
        "SHA256SUMS",
    }
    metrics = json.loads(good("evaluate", out, "--json"))
    stored = json.loads((out / "metrics.json").read_text())["test"]
    assert {k: metrics[k] for k in stored} == stored
    hits = json.loads(good("search", out, "a red circle", "-k", 4, "--json"))["hits"]
    assert [h["rank"] for h in hits] == [1, 2, 3, 4]
    assert all(h.keys() == {"rank", "photo", "score", "unit_score"} for h in hits)
    photo = toy_root / "toy" / "images" / hits[0]["photo"]
    described = json.loads(good("describe", out, photo, "-k", 3, "--json"))
    assert described["photo"] == str(photo)
    assert [h.keys() for h in described["hits"]] == [
        {"rank", "sentence", "score", "unit_score"}
    ] * 3


def test_train_uses_pocket_where_the_backbone_of_a_preset_is_missing(run, tmp_path):
    others = [word for word in TRAIN if "backbone=" not in word and "crops=" not in word]
    code, _, errors = run(*others, "--out", tmp_path)
    assert code == 0, errors
    assert "Adapted to the data: --set backbone=pocket --set crops=whole\n" in errors
    config = json.loads((tmp_path / "config.json").read_text())["config"]
    assert (config["backbone"], config["crops"]) == ("pocket", "whole")


def test_the_same_command_again_changes_nothing(good, tmp_path):
    first = good(*TRAIN, "--out", tmp_path / "bow")
    before = (tmp_path / "bow" / "model.safetensors").read_bytes()
    assert good(*TRAIN, "--out", tmp_path / "bow") == first
    assert (tmp_path / "bow" / "model.safetensors").read_bytes() == before


def test_search_prints_a_table_or_json(good, toy_checkpoint):
    printed = json.loads(good("search", toy_checkpoint, "a red wug", "-k", "2", "--json"))
    assert printed.keys() == {
        "sentence",
        "unknown_words",
        "suggestions",
        "matches",
        "photos",
        "unit",
        "hits",
    }
    assert (printed["sentence"], printed["unknown_words"]) == ("a red wug", ["wug"])
    assert printed["suggestions"] == {"wug": []}
    lines = good("search", toy_checkpoint, "a red wug", "-k", "2").splitlines()
    assert [line.split()[2] for line in lines[-3:-1]] == [h["photo"] for h in printed["hits"]]
    assert "higher is better" in lines[-1]
    assert lines[:-3] == ([] if printed["matches"] else [NO_MATCH])


def test_search_lists_unknown_words_on_stderr(run, toy_checkpoint):
    _, _, errors = run("search", toy_checkpoint, "a red wug")
    assert errors == "Words this model does not know: wug\n"
    assert run("search", toy_checkpoint, "a red circle")[2] == ""


def test_search_suggests_near_words_on_stderr(run, toy_checkpoint):
    _, _, errors = run("search", toy_checkpoint, "a red trianlge and a wug")
    assert errors.splitlines() == [
        "Words this model does not know: trianlge, and, wug",
        "Instead of 'trianlge' try: triangle",
    ]


def test_search_says_when_nothing_matches(good, toy_checkpoint):
    nonsense = "a wug blicks the dax under seven zorps"
    assert good("search", toy_checkpoint, nonsense, "-k", 2).splitlines()[0] == NO_MATCH
    printed = json.loads(good("search", toy_checkpoint, nonsense, "-k", 2, "--json"))
    assert printed["matches"] is False
    assert len(printed["hits"]) == 2
    known = "a red circle on a blue ground"
    assert NO_MATCH not in good("search", toy_checkpoint, known)
    assert json.loads(good("search", toy_checkpoint, known, "--json"))["matches"] is True


def test_calibrate_stores_a_threshold(good, toy_checkpoint, tmp_path):
    folder = shutil.copytree(toy_checkpoint, tmp_path / "gru")
    printed = good("calibrate", folder)
    values = json.loads((folder / "matching.json").read_text())
    assert (values["dataset"], values["split"]) == ("toy", "dev")
    assert printed == f"{folder}, by number of photos: 8: {values['scores']['8']:.3f}\n"
    result = json.loads(good("calibrate", folder, "--json"))[str(folder)]
    printed_keys = ("dataset", "split", "sentences", "scores", "short_scores", "bar_scale")
    assert result == {key: values[key] for key in printed_keys}


def test_calibrate_stores_the_limit_of_a_model_of_concepts(good, toy_concepts, tmp_path):
    folder = shutil.copytree(toy_concepts, tmp_path / "concepts")
    printed = good("calibrate", folder)
    limits = json.loads((folder / "limits.json").read_text())
    assert printed == f"{folder}, largest violation above texts: {limits['texts']:.3f}\n"
    assert json.loads(good("calibrate", folder, "--json")) == {str(folder): {"limits": limits}}
    assert not (folder / "matching.json").exists()


def test_search_in_a_folder_of_photos(good, toy_checkpoint, toy_root, tmp_path):
    (tmp_path / "mine").mkdir()
    for photo in sorted((toy_root / "toy" / "images").iterdir())[:3]:
        shutil.copy(photo, tmp_path / "mine" / f"my {photo.name}")
    options = ("--gallery", tmp_path / "mine", "--json")
    hits = json.loads(good("search", toy_checkpoint, "a red circle", *options))["hits"]
    assert sorted(h["photo"] for h in hits) == sorted(p.name for p in (tmp_path / "mine").iterdir())


def test_search_leaves_out_broken_photos(run, toy_checkpoint, toy_root, tmp_path):
    photos = sorted((toy_root / "toy" / "images").iterdir())
    for photo in photos[:3]:
        shutil.copy(photo, tmp_path)
    (tmp_path / photos[1].name).write_bytes(photos[1].read_bytes()[:90])
    (tmp_path / "text.jpg").write_text("no photo")
    options = ("--gallery", tmp_path, "--json")
    code, printed, errors = run("search", toy_checkpoint, "a red circle", *options)
    assert code == 0
    photos_found = {h["photo"] for h in json.loads(printed)["hits"]}
    assert photos_found == {photos[0].name, photos[2].name}
    assert errors.splitlines()[-1].startswith("Photos left out: 2, such as: ")


def test_similar_takes_a_photo_or_a_sentence(good, toy_checkpoint, toy_root):
    photo = sorted((toy_root / "toy" / "images").iterdir())[7]
    hits = json.loads(good("similar", toy_checkpoint, photo, "--json"))["hits"]
    assert hits[0]["photo"] == photo.name
    hits = json.loads(good("similar", toy_checkpoint, "one red circle", "--json"))["hits"]
    assert hits[0]["sentence"] == "one red circle"


def test_search_in_a_split(good, toy_checkpoint):
    options = ("--split", "dev", "-k", "1000", "--json")
    assert len(json.loads(good("search", toy_checkpoint, "red", *options))["hits"]) == 8


def test_evaluate_prints_a_table_or_json(good, toy_checkpoint):
    assert "| dev |" in good("evaluate", toy_checkpoint, "--split", "dev")
    assert json.loads(good("evaluate", toy_checkpoint, "--task", "lengths"))["n_pairs"] == 80


def test_difference_of_a_model_with_itself_is_zero(good, toy_checkpoint):
    gap = json.loads(good("difference", toy_checkpoint, toy_checkpoint))
    assert gap["retrieval"]["rsum"] == 0


def test_data_lists_available_and_missing_data_sets(good, toy_root):
    printed = good("data")
    assert f"VSDEMO_DATA is {toy_root}" in printed
    assert "found    toy" in printed
    assert "missing  flickr8k: request it at" in printed


def test_data_check_counts_photos_and_problems(good):
    printed = good("data", "check", "toy")
    assert "40 of 40 photos decode" in printed
    assert printed.endswith("toy: 0 problems\n")


def test_data_check_lists_problems(run, toy_root, tmp_path, monkeypatch):
    own = shutil.copytree(toy_root / "toy", tmp_path / "toy")
    photos = sorted((own / "images").iterdir())
    photos[0].write_bytes(photos[0].read_bytes()[:100])
    shutil.copy(photos[1], photos[39])
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path))
    code, printed, _ = run("data", "check", "toy")
    assert code == 1
    assert f"! {photos[0].name}" in printed
    assert f"{photos[1].name} (train); {photos[39].name} (test)" in printed
    assert printed.endswith("toy: 2 problems\n")


def test_data_features_prints_the_shape_and_the_file(good, tmp_path, monkeypatch):
    monkeypatch.setenv("VSDEMO_HOME", str(tmp_path))
    options = ("--backbone", "torchvision/mobilenet_v3_small", "--split", "dev")
    assert good("data", "features", "toy", *options).startswith(f"(8, 1024) in {tmp_path}")
    assert good("data", "features", "toy", *options, "--maps").startswith("(8, 576, 7, 7) in")


def test_models_lists_presets_and_checkpoints(good, toy_checkpoint, tmp_path, monkeypatch):
    shutil.copytree(toy_checkpoint, tmp_path / "toy" / "gru")
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(tmp_path))
    printed = good("models")
    for preset in ("bow", "gru", "order", "order/symmetric"):
        assert f"\n  {preset} " in printed
    assert "learning_rate=0.001" in printed
    assert str(tmp_path / "toy" / "gru") in printed


def test_models_lists_the_licence_of_each_checkpoint(good, toy_checkpoint, tmp_path, monkeypatch):
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(tmp_path))
    for name, dataset in (("free", "storybook"), ("bound", "flickr8k"), ("damaged", None)):
        folder = shutil.copytree(toy_checkpoint, tmp_path / name)
        spec = json.loads((folder / "config.json").read_text())
        text = json.dumps({**spec, "dataset": dataset}) if dataset else "{"
        (folder / "config.json").write_text(text)
    lines = good("models").split("Checkpoints")[1].splitlines()
    labels = {Path(path).name: label for path, label in (x.split(maxsplit=1) for x in lines[1:])}
    assert labels == {
        "free": "MIT; its image network: BSD-3-Clause",
        "bound": "research only",
        "damaged": "unknown: its config.json is damaged",
    }


@pytest.mark.parametrize("words", [(), ("--help",)])
def test_help_shows_examples(good, words):
    printed = good(*words)
    for command in ("data", "models", "search", "train", "app"):
        assert f"  python -m vsdemo {command}" in printed


@pytest.mark.parametrize(
    "verb", ["train", "evaluate", "search", "describe", "similar", "walk", "data"]
)
def test_every_command_has_help(good, verb):
    assert "--help" in good(verb, "--help")


def test_help_is_printed_before_torch_is_imported():
    script = (
        "import sys, vsdemo.cli\nprint(*{'torch', 'numpy', 'gradio', 'PIL'} & set(sys.modules))"
    )
    assert subprocess.check_output([sys.executable, "-c", script], text=True) == "\n"


def test_commands_have_one_name(run):
    for old in ("caption", "neighbours", "traverse", "abstract"):
        code, _, error = run(old, "x")
        assert code == 2
        assert f"No such command '{old}'" in error


def test_ctrl_c_exits_without_a_traceback(run, toy_checkpoint, monkeypatch):
    def press(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr("vsdemo.search.engine.Engine", press)
    code, _, errors = run("search", toy_checkpoint, "red")
    assert code == 130
    assert "Traceback" not in errors
