"""A model learns the scores of a teacher: any checkpoint of photos, which is embedded once."""

import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file

from tests.support.checkpoint_copies import editable_copy
from tests.support.small_runs import logged, preset_trainer, trainer
from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence
from vsdemo.data import datasets
from vsdemo.evaluation import cards
from vsdemo.models import checkpoint
from vsdemo.models.losses import distillation
from vsdemo.training import teacher
from vsdemo.training.state import STATE


def distillations(out) -> list[float]:
    return [event["distillation"] for event in logged(out, "step")]


def test_its_scores_are_those_of_the_checkpoint(toy_checkpoint):
    train_set = datasets.load("toy", "train")
    captions, photos = torch.tensor([7, 0, 119, 7]), torch.tensor([3, 3, 20])
    model, spec, _ = checkpoint.load(toy_checkpoint)
    texts = model.encode_text([Sentence(train_set.captions[row]) for row in captions])
    paths = [train_set.photos[row] for row in photos]
    expected = model.score(texts, model.encode_image(checkpoint.feature_cache(spec).get(paths)))
    scores = teacher.load(str(toy_checkpoint), train_set).scores(captions, photos)
    torch.testing.assert_close(scores.cpu(), expected, rtol=0, atol=1e-6)


def test_the_loss_is_the_models_own_and_that_of_the_teachers_scores(tmp_path, toy_checkpoint):
    settings = ("dropout=0", "teacher_weight=0.5", "teacher_temperature=0.2")
    material = trainer(tmp_path, *settings, f"teacher={toy_checkpoint}").material
    batch = torch.arange(0, 120, 15)
    captions, photos, _, owner = embedded = material.embed(batch)
    parts = material.loss(*embedded, progress=0.0)
    own = material._loss(material.model.score, captions, photos, owner)["loss"]
    scores = material.teacher.scores(batch, owner)
    taught = distillation(material.model.score(captions, photos), scores, 0.2)
    assert parts["loss"].item() == pytest.approx(own.item() + 0.5 * taught.item())
    assert parts["distillation"].item() == pytest.approx(taught.item())
    assert parts["loss"].requires_grad
    assert not parts["distillation"].requires_grad


@pytest.mark.parametrize("name", ["storybook/clip", "storybook/order", "storybook/fragments"])
def test_any_checkpoint_of_photos_can_be_a_teacher(tmp_path, fake_parser, name):
    assert trainer(tmp_path, "photos=8", "epochs=1", f"teacher={name}").run() == "done"
    assert all(value > 0 for value in distillations(tmp_path))


@pytest.mark.parametrize("preset", ["order", "char_gru/small", "bow/squared", "dt_rnn"])
def test_any_model_of_photos_can_be_taught(tmp_path, fake_parser, toy_checkpoint, preset):
    taught = (f"teacher={toy_checkpoint}", "vectors=learned", "epochs=8")
    run = trainer(tmp_path, *taught, preset=preset)
    assert run.run() == "done"
    first, *_, last = distillations(tmp_path)
    assert last < first


def test_a_teacher_is_embedded_once_and_not_saved(tmp_path, toy_checkpoint, monkeypatch):
    run = trainer(tmp_path / "taught", "epochs=2", f"teacher={toy_checkpoint}")
    monkeypatch.setattr(checkpoint, "load", None)
    assert run.run() == "done"
    trainer(tmp_path / "plain", "epochs=1").run()
    taught, plain = (load_file(tmp_path / name / STATE) for name in ("taught", "plain"))
    assert taught.keys() == plain.keys()


def test_without_weight_or_teacher_nothing_is_taught(tmp_path, toy_checkpoint):
    """The weights are the same bit by bit, so a teacher draws no random numbers."""
    runs = {
        "plain": (),
        "no_teacher": ("teacher_weight=3",),
        "no_weight": ("teacher_weight=0", f"teacher={toy_checkpoint}"),
    }
    for name, settings in runs.items():
        trainer(tmp_path / name, "epochs=1", *settings).run()
    plain, *others = (load_file(tmp_path / name / STATE) for name in runs)
    for other in others:
        assert [key for key, tensor in plain.items() if not torch.equal(tensor, other[key])] == []
    assert "distillation" not in logged(tmp_path / "no_teacher", "step")[0]


def test_a_student_approaches_the_scores_of_clip(tmp_path, monkeypatch):
    few = datasets.load("storybook", "train", limit=16)
    monkeypatch.setattr(datasets, "load", lambda *args, limit=0: few)  # drawing dev takes long
    settings = ("backbone=pocket", "crops=whole", "dim=64", "min_count=1", "dropout=0")
    steps = ("batch_size=80", "epochs=100", "evaluate_every=100", "learning_rate=0.003")
    taught = ("teacher=storybook/clip", "teacher_weight=10", "teacher_temperature=0.2", "margin=0")
    run = preset_trainer(tmp_path, "gru", *settings, *steps, *taught, data="storybook")
    expected = run.material.teacher.scores(torch.arange(80), torch.arange(16)).cpu()

    def likeness() -> float:
        """Return the correlation of all scores with the teacher's."""
        texts = run.model.encode_text([Sentence(text) for text in few.captions])
        scores = run.model.score(texts, run.model.encode_image(run.material.photos))
        return float(torch.stack([scores.flatten(), expected.flatten()]).corrcoef()[0, 1])

    assert likeness() < 0.2
    run.run()
    assert likeness() > 0.9  # 0.46 with a weight of 0


def test_a_run_names_its_teacher(tmp_path, toy_checkpoint):
    trainer(tmp_path / "run", "epochs=1", f"teacher={toy_checkpoint}").run()
    cards.finish(tmp_path / "run")
    spec = checkpoint.read_spec(tmp_path / "run")
    assert spec.config.teacher == spec.teacher.of == str(toy_checkpoint)
    assert spec.teacher.of_hash == checkpoint.content_hash(toy_checkpoint)
    assert spec.teacher.config == checkpoint.read_spec(toy_checkpoint).config
    card = (tmp_path / "run" / "README.md").read_text()
    assert f"Teacher: {toy_checkpoint} ({spec.teacher.of_hash}), whose scores" in card
    assert f"--set teacher={toy_checkpoint}" in card
    assert "They learned from the data set's own terms; a teacher that learned from" in card


def test_a_run_is_not_resumed_with_another_teacher(tmp_path, toy_checkpoint):
    folder = editable_copy(toy_checkpoint, tmp_path / "teacher")
    trainer(tmp_path / "run", "epochs=1", f"teacher={folder}").run()
    assert trainer(tmp_path / "run", "epochs=1", f"teacher={folder}").run() == "done"
    same = shutil.copytree(folder, tmp_path / "same")
    state = load_file(folder / "model.safetensors")
    save_file({name: 2 * tensor for name, tensor in state.items()}, folder / "model.safetensors")
    for name in (folder, same):
        with pytest.raises(UserError, match="another configuration; choose another --out"):
            trainer(tmp_path / "run", "epochs=1", f"teacher={name}").run()


def test_a_teacher_that_cannot_teach_is_refused(tmp_path, toy_concepts, is_one_sentence):
    for name, message in (
        (toy_concepts, f"{toy_concepts} reads no photos, so it cannot be a teacher"),
        ("nobody", "There is no checkpoint 'nobody'"),
        ("clip:ViT-B-23/openai", "ViT-B-32"),
        (tmp_path, "There is no checkpoint at"),
    ):
        with pytest.raises(UserError, match=message) as caught:
            trainer(tmp_path / "run", f"teacher={name}")
        assert is_one_sentence(caught)
