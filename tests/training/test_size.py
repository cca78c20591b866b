"""Estimates of the memory and the disk space that a training takes."""

import os

import psutil
import pytest

from tests.support.small_runs import SETTINGS
from vsdemo import models
from vsdemo.core.config import override
from vsdemo.core.errors import UserError
from vsdemo.training import preflight, size
from vsdemo.training.jobs.spec import JobSpec
from vsdemo.training.size import HUGE, Amounts, Size, estimate

FLICKR = Amounts(pairs=30_000, photos=7_000, features=1664)
MB = 1e6
# Peaks in MB that were measured for these settings on a CPU.
MEASURED = {
    "gru": 1112,
    "gru dim=4096": 2496,
    "gru batch_size=2000": 2504,
    "order batch_size=3000": 2139,
    "order dim=4096": 2844,
    "char_gru": 1361,
    "kcca": 1752,
    "kcca/rbf": 1415,
}


def size_of(command, amounts=FLICKR):
    preset, *settings = command.split()
    model, config = models.preset(preset)
    return estimate(model, override(config, settings), amounts)


@pytest.mark.parametrize("command", MEASURED)
def test_estimates_are_near_what_was_measured(command):
    photos = FLICKR.photos if command.startswith("kcca") else 1500
    estimated = size_of(command, FLICKR._replace(photos=photos)).memory / MB
    assert 0.9 * MEASURED[command] < estimated < 2 * MEASURED[command]


@pytest.mark.parametrize("preset", models.presets())
def test_every_preset_is_trained_with_less_than_4_gb(preset):
    needed = size_of(preset)
    assert 700 * MB < needed.memory < 4000 * MB
    assert 0 < needed.disk < 2500 * MB


@pytest.mark.parametrize("preset", ["bow", "gru", "order", "dt_rnn", "hypernyms", "fragments"])
@pytest.mark.parametrize("setting", ["dim=1000000000", "dim=50000000"])
def test_models_that_no_machine_holds_are_estimated_in_an_instant(preset, setting):
    before = psutil.Process().memory_info().rss
    needed = size_of(f"{preset} {setting}")
    assert needed.memory > 1e12
    assert needed.disk > 1e12
    assert psutil.Process().memory_info().rss - before < 200 * MB


def test_more_numbers_than_can_be_counted():
    assert size_of("order dim=1000000000") == Size(HUGE, HUGE)


@pytest.mark.parametrize(
    ("small", "large"),
    [
        ("gru", "gru batch_size=20000"),
        ("gru", "gru word_dim=100000"),
        ("char_gru", "char_gru attention=1000000"),
        ("char_gru average_decay=0", "char_gru"),
        ("kcca/rbf", "kcca/rbf landmarks=100000"),
        ("dt_lstm", "dt_lstm units=5000"),
    ],
)
def test_what_costs_memory(small, large):
    assert size_of(large).memory > size_of(small).memory


def test_a_batch_is_no_larger_than_the_data():
    assert size_of("gru batch_size=1000000000", Amounts(pairs=120, features=9)).memory < 2000 * MB


def test_snapshots_need_disk_space():
    few, many = size_of("gru snapshot_every=6"), size_of("gru epochs=1000000 snapshot_every=1")
    assert many.disk > 1000 * few.disk


def test_negatives_are_counted():
    config = override(models.preset("hypernyms/toy")[1], ["negatives=1000000000"])
    assert preflight.size("hypernyms/toy", config, "toy").memory > 1e12


@pytest.mark.parametrize(
    ("limit", "memory"), [(None, 5000), (b"max\n", 5000), (b"3000\n", 3000), (b"9000\n", 5000)]
)
def test_the_memory_of_a_container_counts(monkeypatch, tmp_path, limit, memory):
    file = tmp_path / "memory.max"
    if limit:
        file.write_bytes(limit)
    monkeypatch.setattr(size, "LIMITS", (str(file), "absent"))
    monkeypatch.setattr(os, "sysconf", {"SC_PAGE_SIZE": 50, "SC_PHYS_PAGES": 100}.get)
    assert size.memory_of_machine() == memory


def test_a_training_that_the_machine_cannot_hold_is_refused(own_home, run, tmp_path):
    spec = JobSpec("gru", "toy", (*SETTINGS, "dim=1000000"))
    with pytest.raises(
        UserError, match=r"^This machine has .* of memory; about [0-9,.]+ GB are ne"
    ):
        preflight.require(spec)
    words = [f"--set={setting}" for setting in spec.settings]
    code, printed, errors = run("train", "gru", "--data=toy", "--out", tmp_path / "out", *words)
    assert (code, printed) == (2, "")
    assert errors.startswith("vsdemo: This machine has ")
    assert errors.endswith("are needed: choose a smaller dim or batch_size.\n")
    assert not (tmp_path / "out").exists()


def test_what_a_model_refuses_fails_the_check(own_home):
    (check,) = preflight.check(JobSpec("gru", "toy", (*SETTINGS, "dim=33")))
    assert check == (False, "A bidirectional GRU needs an even dim, not 33; set dim to 34.")


def test_a_server_allows_less_than_the_machine_has(own_home):
    spec = JobSpec("gru", "toy", SETTINGS)
    allowed = preflight.check(spec, Size(memory=2 * 10**9, disk=10**9))
    assert all(check.ok for check in allowed)
    for limit, message in (
        (Size(5 * 10**8, 10**9), "This server allows 500 MB of memory; about "),
        (Size(2 * 10**9, 10**5), "This server allows 0 MB on the disk; about "),
    ):
        (failed,) = (check for check in preflight.check(spec, limit) if not check.ok)
        assert failed.message.startswith(message)
