"""Training on labelled sentence pairs."""

import json

import pytest
import torch

from tests.support.small_runs import preset_trainer
from vsdemo import models
from vsdemo.core import config, events
from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence
from vsdemo.data.pairs import nli
from vsdemo.data.pairs.nli import NliPair
from vsdemo.models import checkpoint

PRESET = "order/entailment"
SMALL = (
    "dim=16",
    "word_dim=8",
    "min_count=1",
    "batch_size=8",
    "dropout=0",
    "epochs=40",
    "learning_rate=0.02",
    "patience=40",
    "margin=1",
)


@pytest.fixture
def root(tmp_path, monkeypatch):
    """Install pairs whose hypothesis is entailed if it leaves out words of its premise."""
    things, places = ("dog", "cat", "cow", "bird"), ("barn", "road", "lake", "tree")
    known = [(a, b) for a in things for b in places]
    yes = [NliPair(f"a {a} at a {b}", f"a {a}", "entailment") for a, b in known]
    no = [NliPair(f"a {a}", f"a {a} at a {b}", "neutral") for a, b in known]
    others = dict(zip(things, things[1:] + things[:1], strict=True))
    no += [NliPair(f"a {a} at a {b}", f"a {others[a]}", "contradiction") for a, b in known]
    held_out = (*yes[1::3], *no[1::3])
    monkeypatch.setattr(nli, "training_pairs", lambda: ("sick+snli-dev", (*yes, *no), held_out))
    monkeypatch.setattr(nli, "load", lambda name, split: held_out)
    monkeypatch.setattr("vsdemo.evaluation.metrics.bootstrap.RESAMPLES", 100)
    return tmp_path


def trainer(out, *settings: str):
    return preset_trainer(out, PRESET, *SMALL, *settings, data=None)


def test_training_learns_the_direction_of_entailment(root):
    out = root / "run"
    assert trainer(out).run() == "done"
    model, spec, _ = checkpoint.load(out)
    assert model.image is None
    assert (spec.dataset, spec.features, spec.backbone_hash) == ("sick+snli-dev", 0, "")
    short, long, other = (
        model.encode_text([Sentence(text)]) for text in ("a dog", "a dog at a lake", "a cat")
    )
    positive = model.score.pairs(short, long)
    assert positive > model.score.pairs(long, short)
    assert positive > model.score.pairs(other, long)
    logged = [e for e in events.read(out / "events.jsonl") if e["kind"] in ("eval", "done")]
    assert logged[0]["accuracy"] < 100
    assert logged[-1]["best_accuracy"] == max(e["accuracy"] for e in logged[:-1]) == 100


def test_an_interrupted_run_resumes_to_the_same_weights(root):
    whole, parts = root / "whole", root / "parts"
    trainer(whole, "epochs=3").run()
    first = trainer(parts, "epochs=3")
    step = first._train_step

    def stop_at_six(batch):
        first.stop_requested = first.step == 5
        return step(batch)

    first._train_step = stop_at_six
    assert first.run() == "stopped"
    assert trainer(parts, "epochs=3").run() == "done"
    states = [(folder / "model.safetensors").read_bytes() for folder in (whole, parts)]
    assert states[0] == states[1]


def test_embed_returns_hypotheses_premises_and_labels(root):
    run = trainer(root / "run")
    run.model.eval()
    numbers = torch.tensor([20, 3, 0])
    general, specific, label = run.material.embed(numbers)
    _, pairs, _ = nli.training_pairs()
    for row, number in enumerate(numbers.tolist()):
        both = [Sentence(t) for t in (pairs[number].hypothesis, pairs[number].premise)]
        expected = run.model.encode_text(both).x
        torch.testing.assert_close(general.x[row], expected[0], atol=1e-5, rtol=0)
        torch.testing.assert_close(specific.x[row], expected[1], atol=1e-5, rtol=0)
        assert bool(label[row]) == pairs[number].entailed


def test_train_command_writes_metrics_and_a_model_card(root, run):
    options = [word for setting in SMALL for word in ("--set", setting)]
    code, printed, _ = run("train", PRESET, "--out", root / "run", *options)
    assert code == 0
    assert "| test, SNLI | 16 | **100.0** (100.0-100.0) |" in printed
    stored = json.loads((root / "run" / "metrics.json").read_text())
    assert stored["test"]["SICK"]["accuracy"] == 100
    metrics = json.loads(run("evaluate", root / "run")[1])  # the default task is nli
    assert (metrics["task"], metrics["SICK"]) == ("nli", stored["test"]["SICK"])
    card = (root / "run" / "README.md").read_text()
    assert f"python -m vsdemo train {PRESET} --out run --set min_count=1" in card
    assert "None" not in card


def test_options_and_commands_for_photos_are_refused(root, run):
    code, _, errors = run("train", PRESET, "--out", root / "run", "--data", "toy")
    assert code == 2
    assert "omit --data" in errors
    with pytest.raises(UserError, match="set alternate_epochs=0"):
        trainer(root / "run", "alternate_epochs=1")
    with pytest.raises(UserError, match="set evaluate_sts=false"):
        trainer(root / "run", "evaluate_sts=true")
    trainer(root / "run", "epochs=1", "bucket=2").run()
    retrieval = ("evaluate", root / "run", "--task", "retrieval")
    for words in (("search", root / "run", "a dog"), retrieval):
        code, _, errors = run(*words)
        assert code == 2
        assert errors.count("\n") == 1
        assert "was trained without photos" in errors
    code, _, errors = run("curve", root / "run")
    assert (code, errors.count("\n")) == (2, 1)
    code, _, errors = run("ensemble", root / "run", "--out", root / "both")
    assert (code, "trained without photos" in errors) == (2, True)
    assert not (root / "both").exists()


def test_the_preset_survives_json():
    preset = models.preset(PRESET)[1]
    assert preset.material != "photos"
    assert config.from_json(type(preset), json.loads(json.dumps(vars(preset)))) == preset
    with pytest.raises(UserError, match="loss=ranking does not fit material=sentence_pairs"):
        config.override(preset, ["loss=ranking"])
