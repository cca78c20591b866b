"""Snapshots: checkpoints at the end of each cycle, the same after an interruption."""

import pytest
import torch
from safetensors.torch import load_file

from tests.support.small_runs import EPOCH, logged, stopped_at, trainer
from vsdemo.models import checkpoint
from vsdemo.training.state import STATE

SETTINGS = (
    "epochs=4",
    "snapshot_every=2",
    "cycle_epochs=2",
    "schedule=cyclic",
    "bucket=3",
    "average_start=1",
    "average_decay=0.9",
)
PRESETS = ("gru", "char_gru")


@pytest.fixture(scope="module", params=PRESETS)
def finished(request, own_folders, tmp_path_factory):
    """Train an uninterrupted run, and return its preset and folder."""
    out = tmp_path_factory.mktemp("run") / request.param
    assert trainer(out, *SETTINGS, preset=request.param).run() == "done"
    return request.param, out


def contents(run) -> dict[str, dict[str, bytes]]:
    return {
        str(epoch): {f.name: f.read_bytes() for f in folder.iterdir()}
        for epoch, folder in checkpoint.snapshots(run).items()
    }


def test_a_snapshot_is_the_model_at_the_end_of_its_epoch(finished, tmp_path):
    preset, out = finished
    assert [f.name for f in checkpoint.snapshots(out).values()] == ["snapshot-02", "snapshot-04"]
    last = load_file(out / STATE)
    stored = load_file(out / "snapshot-04" / "model.safetensors")
    for name, tensor in stored.items():
        average = last[f"average.module.{name}"]  # these weights are evaluated
        assert torch.equal(tensor, average.half() if average.dim() > 1 else average)
    assert not torch.equal(
        last["average.module.text.table.weight"], last["model.text.table.weight"]
    )
    _, spec, _ = checkpoint.load(out / "snapshot-02")
    assert spec == checkpoint.read_spec(out)
    assert spec.preset == preset
    earlier = load_file(out / "snapshot-02" / "model.safetensors")
    assert not torch.equal(earlier["image.linear.weight"], stored["image.linear.weight"])
    assert [f for f in out.iterdir() if f.name.startswith(".")] == []


@pytest.mark.parametrize("step", [EPOCH, 2 * EPOCH - 1, 2 * EPOCH, 3 * EPOCH + 4])
def test_a_resumed_run_has_the_same_snapshots(finished, tmp_path, step):
    preset, out = finished
    with stopped_at(step):
        assert trainer(tmp_path, *SETTINGS, preset=preset).run() == "stopped"
    assert trainer(tmp_path, *SETTINGS, preset=preset).run() == "done"
    assert contents(tmp_path) == contents(out)


@pytest.mark.long
@pytest.mark.parametrize("file", ["config.json", "model.safetensors"])
def test_a_run_killed_while_it_writes_a_snapshot_leaves_none(finished, tmp_path, file, monkeypatch):
    preset, out = finished
    save = checkpoint.save

    def die(folder, *rest):
        save(folder, *rest)
        if "snapshot" in folder.name:
            (folder / file).write_bytes(b"half")
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "save", die)
        with pytest.raises(KeyboardInterrupt):
            trainer(tmp_path, *SETTINGS, preset=preset).run()
    assert checkpoint.snapshots(tmp_path) == {}
    assert trainer(tmp_path, *SETTINGS, preset=preset).run() == "done"
    assert contents(tmp_path) == contents(out)
    assert {f.name for f in tmp_path.iterdir()} == {f.name for f in out.iterdir()}


def test_snapshots_do_not_change_the_run(tmp_path):
    trainer(tmp_path / "with", "epochs=2", "snapshot_every=1").run()
    trainer(tmp_path / "without", "epochs=2").run()
    a, b = (load_file(tmp_path / name / STATE) for name in ("with", "without"))
    assert all(torch.equal(t, b[k]) for k, t in a.items())
    assert checkpoint.snapshots(tmp_path / "without") == {}


def test_an_epoch_with_a_snapshot_is_evaluated(tmp_path):
    trainer(tmp_path, "epochs=4", "snapshot_every=2", "evaluate_every=3").run()
    assert [e["epoch"] for e in logged(tmp_path, "eval")] == [2, 3, 4]


def test_steps_of_char_gru_lower_the_loss_of_their_batch(tmp_path):
    settings = (
        "dropout=0",
        "word_dropout=0",
        "photo_dropout=0",
        "dim=32",
        "learning_rate=0.01",
        "schedule=constant",
    )
    run = trainer(tmp_path, *settings, preset="char_gru")
    batch = torch.arange(0, 120, 15)
    losses = [float(run._train_step(batch)["loss"].detach()) for _ in range(40)]
    assert losses[-1] < losses[0] / 4


def test_captions_of_a_batch_have_similar_lengths(tmp_path):
    run = trainer(tmp_path, "bucket=15", preset="char_gru")
    assert run.material.lengths == [len(c) for c in run.material.train_set.captions]
    spreads = []
    for batch in run.material.batches(0):
        lengths = [run.material.lengths[i] for i in batch]
        spreads.append(max(lengths) - min(lengths))
    assert max(spreads) < (max(run.material.lengths) - min(run.material.lengths)) / 2
