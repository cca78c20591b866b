"""Thresholds stored in checkpoints."""

import json
import shutil

import pytest

from tests.support.small_runs import trainer
from vsdemo.core.errors import UserError
from vsdemo.data import datasets
from vsdemo.data.text.near_words import WordList
from vsdemo.evaluation.matching import MatchThreshold
from vsdemo.models import checkpoint
from vsdemo.search import calibration

THRESHOLD = MatchThreshold({8: 0.5}, {8: 0.4}, dataset="toy", split="dev", sentences=7)


def test_a_checkpoint_is_calibrated_on_dev_and_remembers(toy_checkpoint, tmp_path):
    folder = shutil.copytree(toy_checkpoint, tmp_path / "copy")
    content_hash = checkpoint.content_hash(folder)
    assert calibration.stored(folder, content_hash) is None
    result = calibration.calibrate(folder)
    assert (result.dataset, result.split, list(result.scores)) == ("toy", "dev", [8])
    assert calibration.stored(folder, content_hash).scores == pytest.approx(result.scores, abs=1e-4)
    assert checkpoint.content_hash(folder) == content_hash
    stored = checkpoint.load(folder)[0].temperature
    assert 0.001 < stored < 10
    assert not (folder / "words.json").exists()  # its vocabulary has the words


def test_a_model_of_characters_gets_the_words_of_its_captions(own_folders, tmp_path):
    trainer(tmp_path / "run", "epochs=1", preset="char_gru").run()
    calibration.calibrate(tmp_path / "run")
    model, _, _ = checkpoint.load(tmp_path / "run")
    assert model.text.training_words.words == WordList(datasets.find("toy").words()).words
    assert "circle" in model.text.training_words


def test_words_that_a_training_has_stored_stay(own_folders, tmp_path):
    trainer(tmp_path / "run", "epochs=1", preset="char_gru").run()
    checkpoint.save_training_words(tmp_path / "run", ["puppy"])
    calibration.calibrate(tmp_path / "run")
    assert checkpoint.load(tmp_path / "run")[0].text.training_words.words == ("puppy",)


@pytest.mark.parametrize(
    "change",
    [
        {"version": 99},
        {"checkpoint": "f00"},
        {"scores": {}},
        {"scores": {"0": 0.1}},
        {"scores": {"many": 0.1}},
        {"scores": None},
        {"short_scores": None},
        {"sentences": None},
    ],
)
def test_a_damaged_or_outdated_file_is_ignored(toy_checkpoint, tmp_path, change):
    values = {"version": calibration.VERSION, "checkpoint": "abc", **THRESHOLD.to_json()}
    file = tmp_path / calibration.FILE
    file.write_text(json.dumps(values))
    assert calibration.stored(tmp_path, "abc") == THRESHOLD
    file.write_text(json.dumps(values | change))
    assert calibration.stored(tmp_path, "abc") is None
    file.write_text("{")
    assert calibration.stored(tmp_path, "abc") is None


def test_models_without_photos_cannot_be_calibrated(toy_concepts):
    with pytest.raises(UserError, match="was trained without photos"):
        calibration.calibrate(toy_concepts)
