"""`bench scale`: a training on generated photos."""

import json
import os

import pytest

from vsdemo.core.errors import UserError
from vsdemo.training import scale_bench

SMALL = ("backbone=pocket", "crops=whole", "batch_size=64", "dim=8", "word_dim=4")


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(scale_bench, "HELD_OUT", 20)


@pytest.mark.long
@pytest.mark.parametrize("processes", [1, 2])
def test_figures_are_those_of_the_training(few, own_home, run, processes):
    settings = [part for setting in SMALL for part in ("--set", setting)]
    code, out, errors = run(
        *("bench", "scale", "gru", "--photos", 1000, "--steps", 20, "--json"),
        *("--processes", processes, *settings),
    )
    assert code == 0, errors
    result = json.loads(out)
    assert result["photos"] == 1000
    assert 0 < result["step_seconds"] < 5
    assert result["start_seconds"] > 0
    minutes = result["step_seconds"] * (1000 * 5 // 64) / 60
    assert result["epoch_minutes"] == pytest.approx(minutes, abs=0.1)
    assert 0.2 * processes < result["memory_gb"] < 4 * processes
    assert not [*own_home.glob("features/*")]


def test_features_are_deleted_and_the_cache_is_kept(few, own_home, monkeypatch):
    seen = []
    monkeypatch.setattr(scale_bench, "_train", lambda *args: seen.append(args) or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        scale_bench.measure(
            "gru", SMALL, photos=300, steps=20, processes=1, progress=lambda *_: None
        )
    ((_, out, *_),) = seen
    assert not out.parent.exists()
    assert os.environ["VSDEMO_HOME"] == str(own_home)
    assert not [*own_home.glob("features/*")]


@pytest.mark.long
def test_a_training_that_fails_is_a_user_error(few, own_home):
    with pytest.raises(UserError, match="needs an even dim"):
        scale_bench.measure(
            "gru",
            [*SMALL, "dim=7", "bidirectional=true"],
            photos=300,
            steps=20,
            processes=1,
            progress=lambda *_: None,
        )


def test_presets_without_photos_are_refused(own_home):
    with pytest.raises(UserError, match="learns without photos"):
        scale_bench.measure(
            "hypernyms", [], photos=1000, steps=20, processes=1, progress=lambda *_: None
        )
