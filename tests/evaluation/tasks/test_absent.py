"""The task `absent`: sentences that nothing in the gallery matches."""

from dataclasses import replace

import pytest

from vsdemo.core.errors import UserError
from vsdemo.data import absent
from vsdemo.evaluation import evaluate, matching
from vsdemo.evaluation.evaluate import load_photos
from vsdemo.evaluation.tasks.absent import Absent
from vsdemo.models import checkpoint


@pytest.fixture(scope="module")
def toy(toy_checkpoint):
    model, spec, _ = checkpoint.load(toy_checkpoint)
    return model, load_photos(spec, "all")


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch):
    monkeypatch.setattr("vsdemo.evaluation.metrics.bootstrap.RESAMPLES", 50)


def test_a_model_of_shapes_notices_that_none_matches(toy_checkpoint):
    result = evaluate.evaluate(toy_checkpoint, "all", task_name="absent")
    assert result["task"] == "absent"
    assert (result["n_captions"], result["n_absent"]) == (100, 200)
    assert result["recall"] > 90
    assert result["false_alarms"] < 20
    for name in ("recall", "false_alarms"):
        low, high = result["ci95"][name]
        assert 0 <= low <= result[name] <= high <= 100


def test_both_metrics_are_shares_of_sentences_below_the_threshold(toy):
    model, data = toy
    result = Absent().evaluate(model, data)
    photos = model.encode_image(data.features)
    captions = zip(data.split.captions, data.split.photo_of, strict=True)
    odd = [caption for caption, photo in captions if photo % 2]
    for name, texts in (("false_alarms", odd), ("recall", absent.sentences("toy"))):
        below = matching.match_scores(model, texts, photos) < result["threshold"]
        assert result[name] == pytest.approx(100 * below.float().mean().item(), abs=1.1)


def test_the_threshold_is_that_of_the_other_half(toy):
    model, data = toy
    even = [c for c, photo in enumerate(data.split.photo_of) if photo % 2 == 0]
    photos = model.encode_image(data.features)
    threshold = matching.calibrate(model, data.split, photos, captions=even)
    result = Absent().evaluate(model, data)
    assert result["threshold"] == pytest.approx(threshold.at(len(photos)), abs=1e-4)


def test_it_needs_captions_of_two_photos(toy):
    model, data = toy
    without = replace(data, split=replace(data.split, captions=(), photo_of=()))
    with pytest.raises(UserError, match="too few photos with captions"):
        Absent().evaluate(model, without)
