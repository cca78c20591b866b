"""Ensembles that read a member's weights from a checkpoint beside them."""

import json
import shutil

import pytest
import torch
from safetensors.torch import load_file

from tests.support.small_runs import trainer
from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence
from vsdemo.models import checkpoint, ensemble

SENTENCES = [Sentence(t) for t in ("a red circle", "one blue bar on a zebra")]


@pytest.fixture(scope="module")
def trained(own_folders, tmp_path_factory):
    """A run with three snapshots, of which it chose the last."""
    out = tmp_path_factory.mktemp("runs") / "gru"
    trainer(out, "epochs=3", "snapshot_every=1", preset="gru").run()
    return shutil.copytree(out / "snapshot-03", out, dirs_exist_ok=True)


@pytest.fixture
def shared(trained, tmp_path):
    """The ensemble of its last two snapshots, made beside a copy of it."""
    copy = shutil.copytree(trained, tmp_path / "gru")
    ensemble.make([copy / "snapshot-02", copy / "snapshot-03"], tmp_path / "both", share=True)
    return tmp_path / "both"


def embeddings(folder):
    model = checkpoint.load(folder)[0]
    photos = torch.rand(5, 1024, generator=torch.Generator().manual_seed(0))
    return model.encode_text(SENTENCES).x, model.encode_image(photos).x


def test_a_shared_member_is_not_stored_again(shared, trained, tmp_path):
    assert [m.of for m in checkpoint.read_spec(shared).members] == ["", "../gru"]
    assert {k.split(".")[2] for k in load_file(shared / "model.safetensors")} == {"0"}
    assert json.loads((shared / "vocab.json").read_text())[1] is None
    whole = tmp_path / "elsewhere" / "whole"
    snapshots = checkpoint.snapshots(trained)
    ensemble.make([snapshots[2], snapshots[3]], whole, share=True)  # nothing lies beside
    assert not any(m.of for m in checkpoint.read_spec(whole).members)
    for a, b in zip(embeddings(shared), embeddings(whole), strict=True):
        assert torch.equal(a, b)


def test_members_are_shared_only_with_the_option(run, shared, tmp_path):
    code, _, errors = run("ensemble", tmp_path / "gru/snapshot-03", "--out", tmp_path / "own")
    assert code == 0, errors
    assert " --share" not in (tmp_path / "own" / "README.md").read_text()
    shutil.rmtree(tmp_path / "gru")
    checkpoint.load(tmp_path / "own")


def test_the_card_names_what_is_shared(run, trained, tmp_path):
    last = shutil.copytree(trained / "snapshot-03", tmp_path / "last")  # no run: a member itself
    code, _, errors = run("ensemble", last, "--share", "--out", tmp_path / "one")
    assert code == 0, errors
    card = (tmp_path / "one" / "README.md").read_text()
    assert "The weights of `../last` are read from there." in card
    assert f"python -m vsdemo ensemble {tmp_path.name}/last --out one --share" in card


CHANGES = {
    "gone": lambda f: shutil.rmtree(f),
    "no weights": lambda f: (f / "model.safetensors").unlink(),
    "no vocab.json": lambda f: (f / "vocab.json").unlink(),
    "no config.json": lambda f: (f / "config.json").unlink(),
    "another": lambda f: shutil.copytree(f / "snapshot-01", f, dirs_exist_ok=True),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_shared_member_is_refused(shared, tmp_path, change):
    CHANGES[change](tmp_path / "gru")
    with pytest.raises(UserError, match=r"in \.\./gru, which is missing or has changed") as caught:
        checkpoint.load(shared)
    assert "\n" not in str(caught.value)


def test_the_content_hash_covers_shared_members(shared, tmp_path):
    before = checkpoint.content_hash(shared)
    CHANGES["another"](tmp_path / "gru")
    assert checkpoint.content_hash(shared) != before


@pytest.mark.parametrize("path", [5, None, "\0", "../..", "../both"])
def test_an_invalid_path_of_a_member_is_refused(shared, path):
    file = shared / "config.json"
    values = json.loads(file.read_text())
    values["members"][1]["of"] = path
    file.write_text(json.dumps(values))
    with pytest.raises(UserError, match="missing or has changed"):
        checkpoint.load(shared)
