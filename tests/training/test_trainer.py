"""Training: its events and checkpoints, the best epoch, and losses of nan."""

import json
import time

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file

from tests.support.small_runs import EPOCH, logged, trainer
from vsdemo import models
from vsdemo.core import events
from vsdemo.core.errors import UserError
from vsdemo.evaluation.metrics import retrieval
from vsdemo.training import materials
from vsdemo.training.state import STATE
from vsdemo.training.trainer import Trainer


@pytest.fixture(scope="module")
def three_epochs(own_folders, tmp_path_factory):
    out = tmp_path_factory.mktemp("run") / "three"
    assert trainer(out, "epochs=3").run() == "done"
    return out


def test_a_run_writes_all_events(three_epochs):
    logged_events = list(events.read(three_epochs / "events.jsonl"))
    kinds = [e["kind"] for e in logged_events]
    assert kinds[0] == "start"
    assert kinds[-1] == "done"
    assert [e["step"] for e in logged_events] == sorted(e["step"] for e in logged_events)
    assert all(abs(e["time"] - time.time()) < 600 for e in logged_events)
    assert logged_events[0]["steps"] == 3 * EPOCH
    assert logged_events[0]["config"]["dropout"] == 0.3
    assert logged_events[0].keys() >= {"preset", "dataset", "device"}
    steps = [e for e in logged_events if e["kind"] == "step"]
    assert [e["step"] for e in steps] == [1, 10, 20, 30, 40]
    keys = {"loss", "violated", "right_score", "grad_norm", "learning_rate", "pairs_per_second"}
    assert all(e.keys() >= keys for e in steps)
    evals = [e for e in logged_events if e["kind"] == "eval"]
    assert [(e["epoch"], e["step"], e["split"]) for e in evals] == [
        (n, n * EPOCH, "dev") for n in (1, 2, 3)
    ]
    metrics = {"r1", "r5", "r10", "r20", "r50", "medr", "meanr"}
    assert all(e["i2t"].keys() == metrics for e in evals)
    best = max(e["rsum"] for e in evals)
    assert [e for e in logged_events if e["kind"] == "checkpoint"][-1]["rsum"] == best
    assert logged_events[-1]["best_rsum"] == best
    wall = logged_events[-1]["time"] - logged_events[0]["time"]
    assert 0 < logged_events[-1]["seconds"] <= wall + 0.1


def test_the_best_epoch_is_kept(tmp_path, monkeypatch):
    """The rsum rises, then falls, so the checkpoint holds the weights of the middle epoch."""
    values, weights = iter([100.0, 300.0, 200.0]), []

    def ranks(model, *encoded):
        weights.append({k: t.clone() for k, t in model.state_dict().items()})
        return type("Ranks", (), {"metrics": lambda self: {"rsum": next(values)}})()

    monkeypatch.setattr(retrieval, "ranks", ranks)
    trainer(tmp_path, "epochs=3").run()
    stored = load_file(tmp_path / "model.safetensors")["image.linear.weight"]
    expected = [w["image.linear.weight"].half() for w in weights]
    assert [torch.equal(stored, e) for e in expected] == [False, True, False]
    assert [e["step"] for e in logged(tmp_path, "checkpoint")] == [EPOCH, 2 * EPOCH]


def test_training_stops_when_patience_is_over(tmp_path, monkeypatch):
    values = iter([100.0, 300.0, 200.0, 300.0, 250.0, 900.0])
    ranks = type("Ranks", (), {"metrics": lambda self: {"rsum": next(values)}})()
    monkeypatch.setattr(retrieval, "ranks", lambda *encoded: ranks)
    assert trainer(tmp_path, "epochs=6", "patience=3").run() == "done"
    assert [e["rsum"] for e in logged(tmp_path, "eval")] == [100, 300, 200, 300, 250]
    assert logged(tmp_path, "done")[0]["best_rsum"] == 300


def test_evaluate_every_skips_epochs_but_not_the_last(tmp_path):
    trainer(tmp_path, "epochs=5", "evaluate_every=2").run()
    assert [e["epoch"] for e in logged(tmp_path, "eval")] == [2, 4, 5]


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
def test_a_loss_that_is_not_finite_is_a_user_error(tmp_path, value):
    run = trainer(tmp_path)
    loss, before = run.material.loss, []

    def fail_at_the_fifth(*embedded, progress):
        before.append({k: t.clone() for k, t in run.model.text.state_dict().items()})
        return loss(*embedded, progress=progress) | (
            {"loss": torch.tensor(value)} if len(before) == 5 else {}
        )

    run.material.loss = fail_at_the_fifth
    with pytest.raises(UserError, match="failed at step 4: the loss became nan") as error:
        run.run()
    assert "lower learning_rate" in str(error.value)
    assert all(torch.equal(t, before[4][k]) for k, t in run.model.text.state_dict().items())
    *_, last = events.read(tmp_path / "events.jsonl")
    assert (last["kind"], last["step"]) == ("error", 4)
    assert "the loss became nan" in last["message"]


def test_a_gradient_that_is_not_finite_is_a_user_error(tmp_path):
    run = trainer(tmp_path)
    run.model.image.linear.bias.register_hook(lambda grad: grad * torch.inf)
    with pytest.raises(UserError, match="the gradient became nan"):
        run.run()
    assert run.model.image.linear.bias.isfinite().all()


def test_any_other_error_is_logged_and_raised(tmp_path):
    run = trainer(tmp_path)
    run.material.loss = None
    with pytest.raises(TypeError):
        run.run()
    *_, last = events.read(tmp_path / "events.jsonl")
    assert last["kind"] == "error"
    assert last["message"].startswith("TypeError: ")


def test_weights_of_nan_are_not_saved_as_a_checkpoint(tmp_path, monkeypatch):
    """Comparisons with nan are false, so nan would rank first and seem perfect."""
    train_step = Trainer._train_step

    def spoil(self, batch):
        parts = train_step(self, batch)
        if self.step == EPOCH:
            self.model.text.table.weight.data.fill_(torch.nan)
        return parts

    monkeypatch.setattr(Trainer, "_train_step", spoil)
    with pytest.raises(UserError, match="embeddings became nan"):
        trainer(tmp_path, "epochs=2").run()
    assert not (tmp_path / "model.safetensors").exists()


def test_a_seed_determines_the_weights(tmp_path):
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        trainer(tmp_path / name, "epochs=1", f"seed={seed}").run()
    a, b, c = (load_file(tmp_path / n / STATE) for n in "abc")
    assert all(torch.equal(t, b[k]) for k, t in a.items())
    assert not torch.equal(a["model.image.linear.weight"], c["model.image.linear.weight"])


def test_dropout_is_active_in_training_only(tmp_path):
    run = trainer(tmp_path)
    run.model.train()
    words = run.model.text.collate(run.material.captions[:4])
    assert not torch.equal(run.model.text(words).x, run.model.text(words).x)
    assert not torch.equal(
        run.model.image(run.material.photos).x, run.model.image(run.material.photos).x
    )
    run.model.eval()
    assert torch.equal(run.model.text(words).x, run.model.text(words).x)


def test_a_step_lowers_the_loss_of_its_batch(tmp_path):
    run = trainer(tmp_path, "dropout=0")
    batch = torch.arange(0, 120, 15)
    losses = [float(run._train_step(batch)["loss"].detach()) for _ in range(20)]
    assert losses[-1] < losses[0] / 2


def test_the_state_is_saved_in_full_precision(three_epochs):
    with safe_open(three_epochs / STATE, "pt") as file:
        progress = json.loads(file.metadata()["run"])
        dtypes = {file.get_tensor(k).dtype for k in file.keys() if k != "rng"}  # noqa: SIM118
    assert progress["step"] == 3 * EPOCH
    assert dtypes <= {torch.float32, torch.int64}


def test_photos_without_captions_are_a_user_error(tmp_path, toy_root):
    with pytest.raises(UserError, match="fewer than two photos with captions"):
        materials.create("gru", models.preset("gru")[1], str(toy_root / "toy" / "images"))
