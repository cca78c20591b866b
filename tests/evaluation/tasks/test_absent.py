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
    for name in ("recall", "false_alarms", "short_false_alarms"):
        low, high = result["ci95"][name]
        assert 0 <= low <= result[name] <= high <= 100


def test_metrics_are_shares_of_sentences_below_the_threshold_of_the_other_half(toy):
    model, data = toy
    result = Absent().evaluate(model, data)
    photos = model.encode_image(data.features)
    halves = [[c for c, p in enumerate(data.split.photo_of) if p % 2 == odd] for odd in (0, 1)]
    threshold = matching.calibrate(model, data.split, photos, captions=halves[0])
    captions = [data.split.captions[caption] for caption in halves[1]]
    for name, texts in (
        ("false_alarms", captions),
        ("short_false_alarms", list(filter(None, map(matching.opening, captions)))),
        ("recall", absent.sentences("toy")),
    ):
        scores = matching.match_scores(model, texts, photos).tolist()
        pairs = zip(scores, texts, strict=True)
        below = [score < threshold.at(len(photos), text) for score, text in pairs]
        assert result[name] == pytest.approx(100 * sum(below) / len(below))


def test_it_needs_captions_of_two_photos(toy):
    model, data = toy
    without = replace(data, split=replace(data.split, captions=(), photo_of=()))
    with pytest.raises(UserError, match="too few photos with captions"):
        Absent().evaluate(model, without)
