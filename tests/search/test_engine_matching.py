"""The engine says whether anything in the gallery matches a sentence."""

import shutil

import pytest

from vsdemo.evaluation import matching
from vsdemo.models import checkpoint
from vsdemo.search import calibration
from vsdemo.search.engine import Engine

ABSENT = "a wug blicks the dax under seven zorps"


@pytest.fixture(scope="module")
def engine(toy_checkpoint):
    return Engine(toy_checkpoint)


@pytest.fixture
def calibrated(toy_checkpoint, tmp_path):
    """Return a copy of the toy model with a stored threshold."""
    folder = shutil.copytree(toy_checkpoint, tmp_path / "gru")
    calibration.calibrate(folder)
    return folder


@pytest.fixture
def own_photos(toy_root, tmp_path):
    shutil.copytree(toy_root / "toy" / "images", tmp_path / "mine")
    return tmp_path / "mine"


def test_captions_match_and_sentences_of_unknown_words_do_not(engine):
    captions = engine.gallery.captions
    matched = [engine.matches(text, engine.search(text, 1)) for text in captions]
    assert sum(matched) >= 0.9 * len(captions)
    assert engine.matches(ABSENT, engine.search(ABSENT)) is False


def test_the_threshold_is_that_of_captions_in_dev(engine):
    split = engine.gallery
    dev = [c for c, photo in enumerate(split.photo_of) if 24 <= photo < 32]
    result = matching.calibrate(engine.model, split, engine.photos.embeddings, captions=dev)
    assert engine.match_threshold == result


def test_a_gallery_without_dev_photos_uses_all_its_captions(toy_checkpoint):
    engine = Engine(toy_checkpoint, split="test")
    split = engine.gallery
    captions = range(len(split.captions))
    result = matching.calibrate(engine.model, split, engine.photos.embeddings, captions=captions)
    assert engine.match_threshold == result


def test_the_stored_threshold_is_used_in_the_same_data_set(calibrated, monkeypatch):
    stored = calibration.calibrate(calibrated)
    monkeypatch.setattr(matching, "calibrate", None)
    assert Engine(calibrated).match_threshold.scores == pytest.approx(stored.scores, abs=1e-4)


def test_another_data_set_with_captions_is_calibrated_on_these(calibrated, toy_root, monkeypatch):
    shutil.copytree(toy_root / "toy", calibrated.parent / "other")
    engine = Engine(calibrated, str(calibrated.parent / "other" / "captions.json"))
    assert engine.gallery.name == "other"
    captions = matching.spread(range(200), 500)
    expected = matching.calibrate(
        engine.model, engine.gallery, engine.photos.embeddings, captions=captions
    )
    assert engine.match_threshold == expected


def test_a_folder_of_photos_has_the_stored_threshold(calibrated, own_photos):
    engine = Engine(calibrated, str(own_photos))
    stored = calibration.stored(calibrated, checkpoint.content_hash(calibrated))
    assert engine.match_threshold == stored
    assert not engine.matches(ABSENT, engine.search(ABSENT))


def test_without_captions_and_calibration_everything_matches(toy_checkpoint, own_photos):
    engine = Engine(toy_checkpoint, str(own_photos))
    assert engine.match_threshold is None
    assert engine.matches(ABSENT, engine.search(ABSENT))


def test_the_score_of_the_best_hit_decides(engine):
    text = "a red circle on a blue ground"
    hits = engine.search(text, 5)
    assert engine.matches(text, hits) == (
        hits[0].unit_score >= engine.match_threshold.at(len(engine.photos), text)
    )
    assert engine.matches(text, [])


def test_whether_a_calibration_is_needed_is_known_before_it(
    calibrated, toy_checkpoint, own_photos, monkeypatch
):
    engine = Engine(toy_checkpoint)
    assert not engine.knows_threshold
    assert engine.match_threshold is not None
    assert engine.knows_threshold
    assert Engine(calibrated).knows_threshold
    for folder in (calibrated, toy_checkpoint):
        assert Engine(folder, str(own_photos)).knows_threshold
