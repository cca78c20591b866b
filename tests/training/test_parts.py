"""Batches that are embedded some items at a time: the same loss and gradients."""

import pytest
import torch

from tests.support.small_runs import logged, stopped_at, trainer
from tests.training.test_trainer_resume import assert_same_run
from vsdemo.training import parts

CHUNK = 3  # of batches of 8


def loss_and_gradients(out, preset: str, *settings: str) -> tuple:
    """Return the loss of the first batch, the gradients of all weights, and all buffers.

    All in double precision.
    """
    run = trainer(out, *settings, preset=preset)
    run.material.photos = run.material.photos.double()
    run.model.double().train()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.Tensor, "float", torch.Tensor.double)  # of embeddings
        embedded = run.material.embed(run.material.batches(0)[0])
        loss = run.material.loss(*embedded, progress=0.6)["loss"]
        loss.backward()
    gradients = {name: w.grad for name, w in run.model.named_parameters() if w.grad is not None}
    return loss.detach(), gradients, dict(run.model.named_buffers())


def assert_equal(a: tuple, b: tuple) -> None:
    assert a[0] == pytest.approx(b[0], rel=1e-12)
    assert len(a[1]) > 3
    for of_a, of_b in zip(a[1:], b[1:], strict=True):
        assert of_a.keys() == of_b.keys()
        assert [k for k in of_a if not torch.allclose(of_a[k], of_b[k], atol=1e-12)] == []


MODELS = [
    ("gru",),
    ("order",),
    ("dt_lstm", "vectors=learned"),
    ("fragments", "crops=windows", "vectors=learned"),
    ("devise", "crops=windows", "vectors=learned"),
]


@pytest.mark.parametrize(("preset", "settings"), [(name, rest) for name, *rest in MODELS])
def test_chunks_give_the_gradients_of_the_whole_batch(fake_parser, tmp_path, preset, settings):
    settings = [*settings, "dropout=0"]
    whole = loss_and_gradients(tmp_path / "a", preset, *settings)
    chunks = loss_and_gradients(tmp_path / "b", preset, *settings, f"chunk={CHUNK}")
    assert_equal(chunks, whole)


@pytest.mark.parametrize(
    ("preset", "settings"), [(name, rest) for name, *rest in (*MODELS, ("char_gru",))]
)
def test_chunks_are_embedded_twice_with_the_same_dropout(
    fake_parser, tmp_path, monkeypatch, preset, settings
):
    settings = [*settings, "dropout=0.3", f"chunk={CHUNK}"]
    twice = loss_and_gradients(tmp_path / "a", preset, *settings)
    monkeypatch.setattr(parts, "_embed_twice", lambda encoder, batch: encoder(batch))
    assert_equal(twice, loss_and_gradients(tmp_path / "b", preset, *settings))


def test_the_forward_pass_keeps_inputs_and_embeddings_only(tmp_path):
    run = trainer(tmp_path)
    run.model.train()
    encoder, kept = run.model.text, {}
    weights = {weight.data_ptr() for weight in encoder.parameters()}
    for chunk in (0, CHUNK):
        sizes = {}

        def note(tensor, sizes=sizes):
            if tensor.data_ptr() not in weights:
                sizes[tensor.data_ptr()] = tensor.numel()
            return tensor

        with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
            embedded = parts.embed_texts(encoder, run.material.captions, chunk)
        kept[chunk] = sum(sizes.values())
        assert embedded.x.shape == (120, 16)
    assert kept[CHUNK] < kept[0] / 4


def test_a_run_in_chunks_resumes_exactly(tmp_path):
    settings = ("epochs=1", "chunk=3")
    assert trainer(tmp_path / "whole", *settings).run() == "done"
    with stopped_at(5):
        assert trainer(tmp_path / "stopped", *settings).run() == "stopped"
    assert trainer(tmp_path / "stopped", *settings).run() == "done"
    assert_same_run(tmp_path / "stopped", tmp_path / "whole")
    assert logged(tmp_path / "whole", "start")[0]["config"]["chunk"] == 3


def test_a_table_of_concepts_has_no_chunks(run, tmp_path):
    code, _, errors = run("train", "hypernyms/toy", "--out", tmp_path / "run", "--set", "chunk=5")
    assert code == 2
    assert errors.startswith("vsdemo: hypernyms/toy ")
    assert errors.strip().endswith("set chunk=0.")
