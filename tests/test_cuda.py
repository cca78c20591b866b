"""Every model trains, searches and is measured on a GPU as on the CPU.

Only where there is a GPU. All other tests run on it there too, as `device` takes it first.
"""

from contextlib import contextmanager

import pytest
import torch

from tests.support import small_concepts, small_runs
from vsdemo import models
from vsdemo.core import device
from vsdemo.data.pairs import nli
from vsdemo.data.pairs.nli import NliPair
from vsdemo.data.text import vectors
from vsdemo.evaluation.evaluate import evaluate
from vsdemo.models import checkpoint
from vsdemo.search.engine import Engine
from vsdemo.vision import features
from vsdemo.vision.features import FeatureCache

GPU = "cuda"
OF_PHOTOS = [name for name, (_, c) in models.presets().items() if c.material == "photos"]
OF_CONCEPTS = [name for name, (_, c) in models.presets().items() if c.material == "concept_pairs"]
SAME_WHEN_SMALL = ("bow/lesson", "char_gru/2048", "char_gru/4096", "order/one_crop")
OWN = ("landmarks=4", "units=24", "attention=16")
QUERY = "a red circle on a blue ground"

pytestmark = [
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU"),
    pytest.mark.usefixtures("fake_parser"),
]


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch):
    monkeypatch.setattr("vsdemo.evaluation.metrics.bootstrap.RESAMPLES", 100)


@pytest.fixture(autouse=True)
def no_corpus(monkeypatch):
    """Word vectors come from captions of `toy` alone."""
    monkeypatch.setattr(vectors, "corpus_sentences", lambda: iter(()))


@contextmanager
def on(name):
    """Let everything run on a device."""
    caches = (device.device, device.fast_dtype, features.load_backbone)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VSDEMO_DEVICE", name)
        for function in caches:
            function.cache_clear()
        yield
    for function in caches:
        function.cache_clear()


def trainer(out, preset, *settings):
    """Return the trainer of a small model of a preset over the photos of `toy`."""
    _, chosen = models.preset(preset)
    # A model of regions keeps them.
    kept = [s for s in small_runs.SETTINGS if chosen.crops != "windows" or "crops" not in s]
    own = [setting for setting in OWN if getattr(chosen, setting.partition("=")[0], 0)]
    return small_runs.preset_trainer(out, preset, *kept, *own, *settings)


@pytest.mark.parametrize("preset", [p for p in OF_PHOTOS if p not in SAME_WHEN_SMALL])
def test_a_model_of_photos(tmp_path, preset):
    out = tmp_path / "run"
    with on(GPU):
        assert trainer(out, preset, "epochs=1").run() == "done"
        engine = Engine(out, split="test")
        assert engine.photos.embeddings.x.device.type == GPU
        hits, measured = engine.search(QUERY, 8), evaluate(out)
    with on("cpu"):
        here = Engine(out, split="test").search(QUERY, 8)
        expected = evaluate(out)
    assert measured.keys() == expected.keys()
    scores = {hit.number: hit.score for hit in hits}
    for hit in here:
        assert scores[hit.number] == pytest.approx(hit.score, rel=0.05, abs=0.05)


def accuracies(result):
    """Return the accuracies in the results of a task."""
    accuracies = [part["accuracy"] for part in result.values() if isinstance(part, dict)]
    assert accuracies
    return accuracies


@pytest.mark.parametrize("preset", OF_CONCEPTS)
def test_a_model_of_concepts(tmp_path, preset):
    own, out = str(small_concepts.write(tmp_path / "own.tsv")), tmp_path / "run"
    settings = ("protocol=whole", "dim=12", "batch_size=32", "epochs=1")
    with on(GPU):
        assert small_runs.preset_trainer(out, preset, *settings, data=own).run() == "done"
        measured = accuracies(evaluate(out))
    with on("cpu"):
        assert accuracies(evaluate(out)) == pytest.approx(measured, abs=2)


def test_a_model_of_sentence_pairs(tmp_path, monkeypatch):
    pairs = tuple(NliPair(f"a {w} at a barn", f"a {w}", "entailment") for w in ("dog", "cat"))
    pairs += tuple(NliPair(f"a {w}", f"a {w} at a barn", "neutral") for w in ("dog", "cat"))
    monkeypatch.setattr(nli, "training_pairs", lambda: ("sick+snli-dev", pairs, pairs))
    monkeypatch.setattr(nli, "load", lambda name, split: pairs)
    settings = ("dim=16", "word_dim=8", "min_count=1", "batch_size=4", "epochs=1")
    with on(GPU):
        made = small_runs.preset_trainer(tmp_path / "run", "order/entailment", *settings, data=None)
        assert made.run() == "done"
        model, *_ = checkpoint.load(tmp_path / "run")
        assert next(model.parameters()).device.type == GPU


def test_a_training_resumes_as_if_it_had_not_stopped(tmp_path):
    with on(GPU):
        trainer(tmp_path / "whole", "gru", "epochs=2").run()
        with small_runs.stopped_at(small_runs.EPOCH):
            assert trainer(tmp_path / "parts", "gru", "epochs=2").run() != "done"
        assert trainer(tmp_path / "parts", "gru", "epochs=2").run() == "done"
    whole, parts = (small_runs.logged(tmp_path / name, "step") for name in ("whole", "parts"))
    assert len(whole) == len(parts)


@pytest.mark.parametrize("crops", ["center", "ten", "windows"])
def test_features_of_photos(toy_root, tmp_path, monkeypatch, crops):
    photos = sorted((toy_root / "toy" / "images").iterdir())[:8]
    computed = {}
    for name in (GPU, "cpu"):
        monkeypatch.setenv("VSDEMO_HOME", str(tmp_path / name))
        with on(name):
            computed[name] = FeatureCache("torchvision/mobilenet_v3_small", crops).get(photos)
    similarity = torch.cosine_similarity(computed[GPU], computed["cpu"], dim=-1)
    assert similarity.min() > 0.99
