"""Checkpoints: saving, loading, sharding, and messages about damage."""

import dataclasses
import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from vsdemo import models
from vsdemo.core import checksums
from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence
from vsdemo.data.text.vocab import Vocab
from vsdemo.models import checkpoint, migrations


@pytest.fixture
def copy(toy_checkpoint, tmp_path):
    return shutil.copytree(toy_checkpoint, tmp_path / "copy")


def edit_config(folder, **changes) -> None:
    file = folder / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


def test_a_checkpoint_survives_saving_and_loading(toy_checkpoint, tmp_path):
    model, spec, vocab = checkpoint.load(toy_checkpoint)
    checkpoint.save(tmp_path / "new", spec, vocab, model.state_dict())
    again, same_spec, same_vocab = checkpoint.load(tmp_path / "new")
    assert (same_spec, same_vocab) == (spec, vocab)
    assert not again.training
    state = again.state_dict()
    assert all(torch.equal(t, state[k]) for k, t in model.state_dict().items())
    sentences = [Sentence("a red circle"), Sentence("the ground is blue")]
    assert torch.equal(model.encode_text(sentences).x, again.encode_text(sentences).x)


def test_stored_training_words_are_those_of_the_text_encoder(copy):
    assert checkpoint.load(copy)[0].text.training_words is None
    content_hash = checkpoint.content_hash(copy)
    checkpoint.save_training_words(copy, ["dog", "kötü"])
    assert json.loads((copy / "words.json").read_text("utf-8")) == ["dog", "kötü"]
    assert checkpoint.load(copy)[0].text.training_words.words == ("dog", "kötü")
    assert checkpoint.content_hash(copy) == content_hash


def test_the_stored_temperature_is_that_of_the_model_until_its_weights_change(copy):
    assert checkpoint.load(copy)[0].temperature is None
    checkpoint.save_temperature(copy, 0.05)
    model, spec, vocab = checkpoint.load(copy)
    assert model.temperature == 0.05
    checkpoint.save(copy, spec, vocab, model.state_dict())
    assert checkpoint.load(copy)[0].temperature is None


@pytest.mark.parametrize("content", ["{", "{}", '{"temperature": 0}', '{"temperature": "hot"}'])
def test_a_damaged_temperature_is_reported(copy, content):
    checkpoint.save_temperature(copy, 0.05)
    checksums.write_files(copy, {"temperature.json": content.encode()})
    with pytest.raises(UserError, match="is damaged"):
        checkpoint.load(copy)


def test_changed_lists_settings_that_differ_from_the_preset(toy_checkpoint):
    spec = checkpoint.read_spec(toy_checkpoint)
    preset = dataclasses.replace(spec, config=models.preset(spec.preset)[1])
    assert preset.changed == {}
    other = dataclasses.replace(preset, config=preset.config.model_copy(update={"margin": 1.0}))
    assert other.changed == {"margin": 1.0}


def test_the_label_names_changed_settings_but_not_the_seed(toy_checkpoint):
    spec = checkpoint.read_spec(toy_checkpoint)
    default = models.preset(spec.preset)[1]
    changes = {"seed": 7, "margin": 1.0, "hardest": 0.25}
    for values, label in [({}, "gru"), (changes, "gru margin=1 hardest=0.25")]:
        config = default.model_copy(update=values)
        assert dataclasses.replace(spec, config=config).label == label


def test_matrices_are_stored_in_half_precision(copy):
    model, spec, vocab = checkpoint.load(copy)
    state = {k: t + 1e-5 for k, t in model.state_dict().items()}
    checkpoint.save(copy, spec, vocab, state)
    stored = load_file(copy / "model.safetensors")
    for name, tensor in state.items():
        assert torch.equal(stored[name], tensor.half() if tensor.dim() > 1 else tensor)


def test_words_of_any_language_survive(copy):
    model, spec, vocab = checkpoint.load(copy)
    strange = Vocab((*vocab.words[:-1], "žluťoučký犬"))
    checkpoint.save(copy, spec, strange, model.state_dict())
    assert checkpoint.load(copy)[2] == strange
    assert "žluťoučký犬" in (copy / "vocab.json").read_text(encoding="utf-8")


def test_files_stay_below_the_size_limit(copy, monkeypatch):
    model, spec, vocab = checkpoint.load(copy)
    monkeypatch.setattr(checkpoint, "MAX_FILE", 20_000)
    checkpoint.save(copy, spec, vocab, model.state_dict())
    files = sorted(copy.glob("*.safetensors"))
    parts = {f.name: load_file(f) for f in files if f.name != "last.safetensors"}
    assert len(parts) > 2
    assert "model.safetensors" not in parts  # the single file of before is gone
    for part in parts.values():
        assert sum(t.nbytes for t in part.values()) <= 20_000
    assert any("#" in name for part in parts.values() for name in part)  # larger than a file
    state = checkpoint.load(copy)[0].state_dict()
    assert all(torch.equal(t, state[k]) for k, t in model.state_dict().items())
    monkeypatch.undo()
    checkpoint.save(copy, spec, vocab, model.state_dict())
    assert [f.name for f in sorted(copy.glob("model*"))] == ["model.safetensors"]


DAMAGES = {
    "no config.json": lambda f: (f / "config.json").unlink(),
    "config.json cut": lambda f: (f / "config.json").write_text('{"format": 1, "mod'),
    "config.json empty": lambda f: (f / "config.json").write_bytes(b""),
    "config.json binary": lambda f: (f / "config.json").write_bytes(b"\xff\xfe\x00" * 9),
    "config.json a list": lambda f: (f / "config.json").write_text("[1]"),
    "config.json without format": lambda f: (f / "config.json").write_text("{}"),
    "newer format": lambda f: edit_config(f, format=2),
    "newer version": lambda f: edit_config(f, version=migrations.VERSION + 1),
    "version a word": lambda f: edit_config(f, version="new"),
    "unknown model": lambda f: edit_config(f, model="transformer"),
    "model a list": lambda f: edit_config(f, model=["gru"]),
    "unknown key": lambda f: edit_config(f, flavour="vanilla"),
    "unknown setting": lambda f: edit_config(f, config={"flavour": "vanilla"}),
    "settings a number": lambda f: edit_config(f, config=5),
    "wrong feature length": lambda f: edit_config(f, features=7),
    "feature length a word": lambda f: edit_config(f, features="many"),
    "no vocab.json": lambda f: (f / "vocab.json").unlink(),
    "vocab.json cut": lambda f: (f / "vocab.json").write_text('["<pad>", "<un'),
    "vocab.json null": lambda f: (f / "vocab.json").write_text("null"),
    "vocab.json too short": lambda f: (f / "vocab.json").write_text('["<pad>", "<unk>", "<eos>"]'),
    "words.json cut": lambda f: (f / "words.json").write_text('["a", "do'),
    "words.json null": lambda f: (f / "words.json").write_text("null"),
    "no weights": lambda f: (f / "model.safetensors").unlink(),
    "weights cut": lambda f: (f / "model.safetensors").write_bytes(
        (f / "model.safetensors").read_bytes()[:5000]
    ),
    "weights empty": lambda f: (f / "model.safetensors").write_bytes(b""),
    "weights of text": lambda f: (f / "model.safetensors").write_text("<html>" * 99),
    "a tensor missing": lambda f: save_file(
        {k: t for k, t in load_file(f / "model.safetensors").items() if k != "image.linear.bias"},
        f / "model.safetensors",
    ),
}


@pytest.mark.parametrize("listed", [True, False], ids=["checksums", "no checksums"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_reported_in_one_sentence(copy, damage, listed):
    if not listed:
        (copy / checksums.LIST).unlink()
    DAMAGES[damage](copy)
    with pytest.raises(UserError) as caught:
        checkpoint.load(copy)
    assert "\n" not in str(caught.value)
    assert 20 < len(str(caught.value)) < 500


def test_missing_weights_are_named_in_the_message(copy):
    (copy / checksums.LIST).unlink()
    DAMAGES["a tensor missing"](copy)
    with pytest.raises(UserError, match=r"damaged: .*Missing key.*image\.linear"):
        checkpoint.load(copy)


def test_an_invalid_setting_is_damage(copy):
    spec = checkpoint.read_spec(copy)
    edit_config(copy, config=spec.config.model_dump() | {"pooling": "sum", "dim": -1})
    with pytest.raises(UserError, match="damaged"):
        checkpoint.load(copy)


def test_an_unknown_score_is_damage(copy):
    settings = {"score": "zebra", "dim": 32, "word_dim": 16}
    edit_config(copy, model="order", config=settings)
    with pytest.raises(UserError, match="damaged"):
        checkpoint.load(copy)


def test_a_folder_may_be_given_as_text(toy_checkpoint):
    text = str(toy_checkpoint)
    assert checkpoint.load(text)[1] == checkpoint.load(toy_checkpoint)[1]
    assert checkpoint.read_spec(text) == checkpoint.read_spec(toy_checkpoint)
    assert checkpoint.content_hash(text) == checkpoint.content_hash(toy_checkpoint)
    assert checkpoint.read_metrics(text) == checkpoint.read_metrics(toy_checkpoint)
    assert checkpoint.snapshots(text) == checkpoint.snapshots(toy_checkpoint)
    checkpoint.check_files(text)


def test_a_missing_checkpoint_given_as_text_is_not_called_damaged(tmp_path):
    with pytest.raises(UserError, match="no checkpoint at"):
        checkpoint.load(str(tmp_path / "nothing"))


def test_a_missing_checkpoint_is_reported(tmp_path):
    with pytest.raises(UserError, match=r"no checkpoint at .*`python -m vsdemo models`"):
        checkpoint.load(tmp_path / "nothing")
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError):
        checkpoint.load(tmp_path / "file")


def test_another_backbone_is_refused(toy_checkpoint):
    spec = checkpoint.read_spec(toy_checkpoint)
    assert checkpoint.feature_cache(spec).weights.hash == spec.backbone_hash
    other = dataclasses.replace(spec, backbone_hash="0123456789abcdef")
    with pytest.raises(UserError, match=f"0123456789abcdef.*{spec.backbone_hash}"):
        checkpoint.feature_cache(other)


def test_weights_of_exactly_the_size_limit_stay_in_one_file(copy, monkeypatch):
    model, spec, vocab = checkpoint.load(copy)
    size = sum(t.nbytes for t in load_file(copy / "model.safetensors").values())
    for limit, files in [(size, 1), (size - 1, 2)]:
        monkeypatch.setattr(checkpoint, "MAX_FILE", limit)
        checkpoint.save(copy, spec, vocab, model.state_dict())
        assert len(list(copy.glob("model*.safetensors"))) == files


def test_content_hash_does_not_depend_on_the_order_of_a_folder(copy, monkeypatch):
    model, spec, vocab = checkpoint.load(copy)
    monkeypatch.setattr(checkpoint, "MAX_FILE", 20_000)
    checkpoint.save(copy, spec, vocab, model.state_dict())
    glob = Path.glob
    hashes = set()
    for reverse in (False, True):
        monkeypatch.setattr(
            Path, "glob", lambda *args, r=reverse: iter(sorted(glob(*args), reverse=r))
        )
        hashes.add(checkpoint.content_hash(copy))
    assert len(hashes) == 1


def test_content_hash_changes_with_the_weights_only(copy, toy_checkpoint):
    before = checkpoint.content_hash(copy)
    assert before == checkpoint.content_hash(toy_checkpoint)
    assert len(before) == 16
    (copy / "metrics.json").write_text("{}")
    assert checkpoint.content_hash(copy) == before
    file = copy / "model.safetensors"
    state = load_file(file)
    state["image.linear.bias"][0] += 1
    save_file(state, file)
    assert checkpoint.content_hash(copy) != before


def test_shipped_lists_folders_with_a_config(toy_checkpoint, tmp_path, monkeypatch):
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(tmp_path))
    assert checkpoint.shipped() == []
    for name in ("toy/b", "toy/a", "c"):
        shutil.copytree(toy_checkpoint, tmp_path / name)
    assert checkpoint.shipped() == [tmp_path / n for n in ("c", "toy/a", "toy/b")]
