"""Training, checkpoints and queries of models that read trees."""

import lzma
import shutil

import pytest
import torch
from safetensors.torch import load_file

from tests.support.small_runs import EPOCH, logged, trainer
from vsdemo.core.errors import UserError
from vsdemo.data.text import vectors
from vsdemo.models import checkpoint
from vsdemo.search.engine import Engine
from vsdemo.training.state import STATE
from vsdemo.training.trainer import Trainer

pytestmark = pytest.mark.usefixtures("fake_parser")


@pytest.fixture
def other_sentences(toy_root):
    """Add text for word vectors to the toy data during a test."""
    file = toy_root / "flickr30k_entities" / "other_sentences.txt.xz"
    file.parent.mkdir()
    text = "a red circle on a blue ground\nthe green square is behind a yellow bar\n" * 9
    file.write_bytes(lzma.compress(text.encode()))
    yield
    shutil.rmtree(file.parent)


@pytest.mark.parametrize("preset", ["sdt_rnn", "dt_rnn", "ct_rnn", "dt_lstm"])
def test_a_tree_model_trains_and_searches(tmp_path, preset):
    run = trainer(tmp_path, "epochs=2", "vectors=learned", preset=preset)
    assert run.run() == "done"
    losses = [e["loss"] for e in logged(tmp_path, "step")]
    assert losses[-1] < losses[0]
    engine = Engine(tmp_path)
    assert engine.vocab == run.material.vocab
    hit = engine.search("a red circle .", 1)[0]
    assert hit.item.endswith(".png")
    assert engine.describe_photo(0, 3).hits
    assert engine.unknown_words("a red wug !") == ["wug"]
    with pytest.raises(UserError, match="knows no word of the sentence"):
        engine.search("wug !", 1)


def test_relations_come_from_the_training_captions(tmp_path):
    run = trainer(tmp_path, "epochs=1", "vectors=learned", preset="sdt_rnn")
    run.run()
    assert set(run.material.vocab.relations) <= {"det", "nsubj", "obj", "case"}
    assert len(run.material.vocab.relations) >= 2
    _, _, vocab = checkpoint.load(tmp_path)
    assert vocab == run.material.vocab
    assert len(run.model.text.weights) == len(vocab.relations) + 1


@pytest.mark.parametrize("preset", ["dt_rnn/paper", "rnn/squared"])
def test_the_papers_presets_resume_exactly(tmp_path, other_sentences, preset, monkeypatch):
    settings = ("epochs=3", "adagrad_reset=1", "evaluate_every=1", "word_dim=4")
    assert trainer(tmp_path / "whole", *settings, preset=preset).run() == "done"
    train_step = Trainer._train_step

    def train_and_stop(self, batch):
        parts = train_step(self, batch)
        self.stop_requested = self.step == EPOCH + 2
        return parts

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "_train_step", train_and_stop)
        assert trainer(tmp_path / "cut", *settings, preset=preset).run() == "stopped"
    assert trainer(tmp_path / "cut", *settings, preset=preset).run() == "done"
    a, b = (load_file(tmp_path / name / STATE) for name in ("whole", "cut"))
    assert a.keys() == b.keys()
    assert [k for k, t in a.items() if not torch.equal(t, b[k])] == []


@pytest.mark.parametrize("kind", ["learned", "fixed", "tuned"])
def test_word_vectors_are_learned_fixed_or_tuned(tmp_path, other_sentences, kind):
    run = trainer(tmp_path, "epochs=1", f"vectors={kind}", "word_dim=4", preset="sdt_rnn")
    expected = vectors.vectors_for(run.material.vocab, run.material.train_set.captions, 4)
    assert torch.equal(run.model.text.table.weight, expected) == (kind != "learned")
    run.run()
    assert torch.equal(run.model.text.table.weight, expected) == (kind == "fixed")
    assert run.model.text.table.weight[0].tolist() == [0] * 4


def test_encoders_are_trained_in_turn(tmp_path, other_sentences):
    run = trainer(tmp_path, "alternate_epochs=1", "word_dim=4", preset="dt_rnn/squared")
    encoders = {"image": run.model.image, "text": run.model.text}
    before = {n: [p.clone() for p in t.parameters()] for n, t in encoders.items()}

    def changed(name):
        pairs = zip(encoders[name].parameters(), before[name], strict=True)
        return [not torch.equal(now, then) for now, then in pairs]

    for _ in range(EPOCH):
        run._train_step(torch.arange(8))
    assert any(changed("image"))
    assert not any(changed("text"))
    run._train_step(torch.arange(8))
    assert any(changed("text"))


@pytest.mark.parametrize("preset", ["kcca", "kcca/rbf"])
def test_kcca_is_fitted_saved_and_searched(tmp_path, other_sentences, preset):
    settings = ["word_dim=4", "batch_size=1000"]
    if preset == "kcca/rbf":
        settings.append("landmarks=20")
    run = trainer(tmp_path, *settings, preset=preset)
    assert run.run() == "done"
    (step,) = logged(tmp_path, "step")
    assert 0 < step["least_correlation"] <= step["correlation"] <= 1
    assert Engine(tmp_path).search("a red circle", 1)[0].item.endswith(".png")
    assert trainer(tmp_path, *settings, preset=preset).run() == "done"
