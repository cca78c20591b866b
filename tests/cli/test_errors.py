"""Bad input to the command line: one sentence on stderr, exit code 2, never a traceback."""

import shutil
import sys

import pytest
from PIL import Image

from vsdemo.cli import main


@pytest.fixture
def refused(monkeypatch, capsys):
    """Run `python -m vsdemo ...`, check that it is refused, and return the error message."""

    def refused(*words: object) -> str:
        monkeypatch.setattr(sys, "argv", ["vsdemo", *map(str, words)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        printed = capsys.readouterr()
        assert end.value.code == 2
        assert printed.out == ""
        assert printed.err.startswith("vsdemo: ")
        assert printed.err.endswith("\n")
        assert printed.err.count("\n") == 1, printed.err
        assert len(printed.err) < 1200
        return printed.err

    return refused


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("fly",), "No such command 'fly'"),
        (("search",), "Missing argument"),
        (("walk", "x"), "Missing argument"),
        (("compose", "x"), "Missing argument"),
        (("walk", "x", "y", "-k", "5"), "No such option: -k"),
        (("search", "x", "y", "--nonsense"), "No such option: --nonsense"),
        (("search", "x", "y", "-k"), "requires an argument"),
        (("search", "x", "y", "z"), "unexpected extra argument"),
        (("train", "gru"), "Missing option '--out'"),
        (("app", "--port", "http"), "Invalid value for '--port'"),
        (("data", "fly"), "No such command 'fly'"),
    ],
)
def test_wrong_usage_is_refused(refused, words, message):
    assert message in refused(*words)
    assert "`python -m vsdemo --help`" in refused(*words)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("transformer",), "no preset 'transformer'; valid presets are bow, bow/paper"),
        (
            ("gru", "--set", "colour=red"),
            "no setting 'colour'; valid settings are adagrad_reset, alternate_epochs",
        ),
        (("gru", "--set", "dim"), "--set takes key=value, not 'dim'"),
        (
            ("gru", "--set", "dim=many"),
            "dim must be a whole number from 1 to",
        ),
        (("gru", "--set", "dim=0"), "dim must be a whole number from"),
        (("gru", "--set", "learning_rate=nan"), "learning_rate must be a number"),
        (("gru", "--set", "crops=five"), "crops must be one of center, mirror, ten"),
        (("gru", "--set", "bidirectional=perhaps"), "bidirectional must be true or false"),
        (("gru", "--data", "toy", "--set", "teacher=none"), "no checkpoint 'none'"),
        (("kcca", "--set", "teacher=storybook/clip"), "leave teacher empty"),
        (("gru", "--data", "imagenet"), "no data set 'imagenet'; use one of"),
        (("gru", "--data", "toy", "--set", "backbone=torchvision/resnet999"), "no backbone"),
    ],
)
def test_wrong_settings_of_train_are_refused(refused, tmp_path, words, message):
    assert message in refused("train", *words, "--out", tmp_path / "run")


def test_an_unwritable_folder_is_refused(refused, tmp_path):
    (tmp_path / "file").write_text("not a folder")
    message = refused("train", "gru", "--data", "toy", "--out", tmp_path / "file" / "run")
    assert str(tmp_path / "file") in message
    assert "Not a directory" in message


def test_a_folder_with_another_run_is_refused(refused, toy_checkpoint):
    settings = ("--set", "backbone=torchvision/mobilenet_v3_small", "--set", "crops=center")
    message = refused("train", "gru", "--data", "toy", "--out", toy_checkpoint, *settings)
    assert "another configuration; choose another --out" in message


def test_missing_data_sets_are_reported(refused, toy_checkpoint, tmp_path, monkeypatch):
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path))
    assert "no data set 'toy'" in refused("search", toy_checkpoint, "red")
    assert "Flickr8k is missing" in refused("data", "check", "flickr8k")
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path / "nowhere"))
    assert "no data set 'toy'" in refused("evaluate", toy_checkpoint)
    monkeypatch.delenv("VSDEMO_DATA")
    assert "needs VSDEMO_DATA" in refused("train", "gru", "--out", tmp_path / "run")


def test_missing_photos_are_reported(refused, toy_checkpoint, toy_root, tmp_path, monkeypatch):
    shutil.copytree(toy_root, tmp_path / "data")
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path / "data"))
    gone = sorted((tmp_path / "data" / "toy" / "images").iterdir())[5]
    gone.unlink()
    assert f"{gone.name} cannot be read" in refused("search", toy_checkpoint, "red")


def test_missing_weights_are_reported(refused, toy_checkpoint, toy_root, tmp_path, monkeypatch):
    shutil.copytree(toy_root / "toy", tmp_path / "toy")
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path))

    def fail(*args, **options):
        raise TimeoutError

    monkeypatch.setattr("vsdemo.vision.backbones.weights.download", fail)
    assert "could not be downloaded" in refused("search", toy_checkpoint, "red")


def test_missing_and_damaged_checkpoints_are_reported(refused, toy_checkpoint, tmp_path):
    verbs = ("search", "red"), ("similar", "red"), ("evaluate",), ("walk", "red")
    for verb in (*verbs, ("compose", "red", "blue"), ("common", "red", "blue")):
        assert "no checkpoint at" in refused(verb[0], tmp_path / "nothing", *verb[1:])
    damaged = shutil.copytree(toy_checkpoint, tmp_path / "damaged")
    (damaged / "model.safetensors").write_bytes(b"\0" * 1000)
    assert "is damaged" in refused("search", damaged, "red")
    assert "is damaged" in refused("difference", toy_checkpoint, damaged)


@pytest.mark.parametrize("k", ["0", "-1", "nan", "inf", "1e9", "1001", "abc", "", "2.5", "1\n2"])
def test_an_invalid_k_is_refused(refused, toy_checkpoint, toy_root, k):
    photo = next((toy_root / "toy" / "images").iterdir())
    for words in (("search", "red"), ("describe", photo), ("similar", "red")):
        message = refused(words[0], toy_checkpoint, words[1], "-k", k)
        assert "k must be a whole number from 1 to 1,000" in message


@pytest.mark.parametrize(
    ("sentence", "message"),
    [
        ("", "empty"),
        (" \t ", "empty"),
        ("red " * 25_000 + "car", "100,003 characters"),
        ("🐕", "no word"),
        ("wug blicket", "no word of the sentence ('wug', 'blicket')"),
        ("red\x07", "control characters"),
        ("\udc80", "control characters"),  # how Python decodes bytes that are not UTF-8
    ],
)
def test_invalid_sentences_are_refused(refused, toy_checkpoint, sentence, message):
    assert message in refused("search", toy_checkpoint, sentence)
    assert message in refused("similar", toy_checkpoint, sentence)


@pytest.fixture
def bad_photos(tmp_path):
    (tmp_path / "text.png").write_text("this is no photo")
    (tmp_path / "empty.jpg").write_bytes(b"")
    Image.effect_noise((300, 300), 90).save(tmp_path / "whole.jpg")
    (tmp_path / "cut.jpg").write_bytes((tmp_path / "whole.jpg").read_bytes()[:3000])
    Image.new("1", (12_000, 12_000)).save(tmp_path / "huge.png")
    Image.new("RGB", (20_000, 1)).save(tmp_path / "thin.png")
    (tmp_path / "folder.jpg").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("text.png", "text.png is not a readable photo"),
        ("empty.jpg", "empty.jpg is empty (0 bytes)"),
        ("cut.jpg", "cut.jpg is damaged or truncated"),
        ("huge.png", "the limit is 50 megapixels"),
        ("thin.png", "20,000 x 1 pixels"),
        ("gone.jpg", "no file"),
        ("folder.jpg", "folder.jpg"),
    ],
)
def test_invalid_photos_are_refused(refused, toy_checkpoint, bad_photos, name, message):
    assert message in refused("describe", toy_checkpoint, bad_photos / name)
    assert message in refused("similar", toy_checkpoint, bad_photos / name)


def test_invalid_galleries_are_refused(refused, toy_checkpoint, tmp_path):
    (tmp_path / "no photos").mkdir()
    (tmp_path / "no photos" / "notes.txt").write_text("none")
    (tmp_path / "broken.json").write_text("{")
    command = ("search", toy_checkpoint, "red", "--gallery")
    assert "contains no photos" in refused(*command, tmp_path / "no photos")
    assert "no data set" in refused(*command, tmp_path / "nowhere")
    assert "not in the Karpathy caption format" in refused(*command, tmp_path / "broken.json")


def test_unknown_choices_list_the_valid_ones(refused, toy_checkpoint):
    for verb in (("search", "red"), ("evaluate",)):
        message = refused(verb[0], toy_checkpoint, *verb[1:], "--split", "val")
        assert "no split 'val'; use one of train, dev, test, all" in message
    message = refused("evaluate", toy_checkpoint, "--task", "captioning")
    assert "no task 'captioning'; use one of retrieval, first_captions" in message
    assert "a fold needs 1,000" in refused("evaluate", toy_checkpoint, "--folds")
    assert "center, mirror, ten" in refused("data", "features", "toy", "--crops", "five")
    assert "no backbone 'resnet18'" in refused("data", "features", "toy", "--backbone", "resnet18")
    assert "no data set 'imagenet'" in refused("data", "check", "imagenet")
