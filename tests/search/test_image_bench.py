"""`bench image`: what is timed, on one thread, and what is printed."""

import json
from types import SimpleNamespace

import pytest
import torch

from vsdemo.search import image_bench, index_bench
from vsdemo.vision.features import FeatureCache

BATCH_MS, SINGLE_MS, DECODE_MS, WARM_UP_MS = 16.0, 20.0, 35.0, 999.0


@pytest.fixture(autouse=True)
def small_photo(monkeypatch):
    """Draw a small photo, and let torch have two threads."""
    monkeypatch.setattr(index_bench, "SIZE", (400, 300))
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def clock(monkeypatch):
    """Let the steps take fixed times, the first of each longer; returns what they saw."""
    seen = SimpleNamespace(now=0.0, shapes=[], threads=set())

    def pass_time(milliseconds: float, *, is_first: bool) -> None:
        seen.threads.add(torch.get_num_threads())
        seen.now += (WARM_UP_MS if is_first else milliseconds) / 1000

    def encode(cache, views):
        photos = len(views)
        is_first = views.shape not in seen.shapes
        seen.shapes.append(views.shape)
        pass_time({1: SINGLE_MS, 8: 8 * BATCH_MS}[photos], is_first=is_first)

    decode, decoded = image_bench.decode_photo, []

    def slow_decode(*arguments):
        pass_time(DECODE_MS, is_first=not decoded)
        decoded.append(decode(*arguments))
        return decoded[-1]

    monkeypatch.setattr(FeatureCache, "encode_views", encode)
    monkeypatch.setattr(image_bench, "decode_photo", slow_decode)
    monkeypatch.setattr(image_bench, "time", SimpleNamespace(perf_counter=lambda: seen.now))
    return seen


def test_json_has_medians_a_photo_without_the_warm_up(run, clock):
    code, out, errors = run("bench", "image", "--rounds", 2, "--json")
    assert code == 0, errors
    result = json.loads(out)
    size = result["size"]
    assert result["backbone"] == "pocket"
    assert result["batch_ms"] == BATCH_MS
    assert result["single_ms"] == SINGLE_MS
    assert result["decode_ms"] == DECODE_MS
    assert clock.shapes == 3 * [(8, 1, 3, size, size), (1, 1, 3, size, size)]


def test_one_thread_computes_and_the_others_come_back(run, clock, monkeypatch):
    run("bench", "image", "--rounds", 1)
    assert clock.threads == {1}
    assert torch.get_num_threads() == 2

    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(FeatureCache, "encode_views", interrupt)
    with pytest.raises(KeyboardInterrupt):
        image_bench.measure("pocket", 1, lambda *_: None)
    assert torch.get_num_threads() == 2


def test_a_table_of_another_network(run):
    code, out, errors = run(
        "bench", "image", "--backbone", "torchvision/mobilenet_v3_small", "--rounds", 1
    )
    assert code == 0, errors
    title, *rows = out.splitlines()
    assert title.startswith("torchvision/mobilenet_v3_small at 224 px")
    assert all(float(row.split()[-1]) > 0 for row in rows[-3:])


def test_an_unknown_network_is_refused(run):
    code, _, errors = run("bench", "image", "--backbone", "pocket/large")
    assert code == 2
    assert "There is no backbone" in errors
    assert errors.count("\n") == 1
