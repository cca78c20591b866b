"""Checkpoints on the Hugging Face Hub, with a stand-in for what speaks to it."""

import shutil
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock

import numpy as np
import pytest
from huggingface_hub.errors import (
    GatedRepoError,
    HFValidationError,
    LocalEntryNotFoundError,
    LocalTokenNotFoundError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.utils import filter_repo_objects

import vsdemo
from vsdemo.core.errors import UserError
from vsdemo.models import checkpoint, hub
from vsdemo.models import ensemble as ensembles


class FakeHub:
    """Repositories as folders below one, with the functions that vsdemo calls.

    Attributes:
        public: Names of the repositories that everybody sees.
        fetched: Arguments of each download.
        error: What every call raises, if it is set.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.public: set[str] = set()
        self.fetched: list[tuple[str, str | None]] = []
        self.error: Exception | None = None

    def _speak(self) -> None:
        if self.error:
            raise self.error

    def snapshot_download(self, repo, *, revision, allow_patterns) -> str:
        self._speak()
        self.fetched.append((repo, revision))
        cached = self.root / "cache" / repo
        for name in filter_repo_objects(self.files(repo), allow_patterns=allow_patterns):
            (cached / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(self.root / repo / name, cached / name)
        return str(cached)

    def create_repo(self, repo, *, private, exist_ok):
        self._speak()
        assert exist_ok
        if not (self.root / repo).exists():
            (self.root / repo).mkdir(parents=True)
            self.public |= set() if private else {repo}
        return f"https://huggingface.co/{repo}"

    def repo_info(self, repo):
        return SimpleNamespace(private=repo not in self.public)

    def upload_folder(
        self, *, repo_id, folder_path, allow_patterns, delete_patterns, commit_message
    ) -> None:
        for name in filter_repo_objects(self.files(repo_id), allow_patterns=delete_patterns):
            (self.root / repo_id / name).unlink()
        names = [str(p.relative_to(folder_path)) for p in folder_path.rglob("*") if p.is_file()]
        for name in filter_repo_objects(names, allow_patterns=allow_patterns):
            (self.root / repo_id / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(folder_path / name, self.root / repo_id / name)

    def files(self, repo) -> list[str]:
        folder = self.root / repo
        return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


@pytest.fixture
def fake_hub(tmp_path, monkeypatch):
    fake = FakeHub(tmp_path / "hub")
    monkeypatch.setattr(hub, "snapshot_download", fake.snapshot_download)
    monkeypatch.setattr(hub, "HfApi", lambda: fake)
    return fake


@pytest.fixture
def run(toy_checkpoint, tmp_path):
    """A checkpoint as a training leaves it, with files that are no part of it."""
    folder = shutil.copytree(toy_checkpoint, tmp_path / "run")
    (folder / "last.pt").write_bytes(b"state of the training")
    (folder / "photo.jpg").write_bytes(b"a private photo")
    shutil.copytree(toy_checkpoint, folder / "snapshot-01")
    return folder


def test_a_saved_checkpoint_is_loaded_again(fake_hub, run):
    assert vsdemo.save_to_hub(run, "user/gru") == "https://huggingface.co/user/gru"
    model = vsdemo.load("hf://user/gru")
    texts = ["a red circle", "a bar"]
    assert np.array_equal(model.encode_text(texts), vsdemo.load(run).encode_text(texts))
    assert fake_hub.public == set()


def test_only_the_files_of_the_checkpoint_are_uploaded(fake_hub, run, toy_checkpoint):
    own = {file.name for file in checkpoint.files(run)}
    assert {"config.json", "vocab.json", "model.safetensors", "README.md", "SHA256SUMS"} <= own
    vsdemo.save_to_hub(str(run), "user/gru", private=False)
    assert set(fake_hub.files("user/gru")) == own
    assert fake_hub.public == {"user/gru"}


def test_only_the_files_of_the_checkpoint_are_downloaded(fake_hub, run):
    vsdemo.save_to_hub(run, "user/gru")
    (fake_hub.root / "user" / "gru" / "tf_model.h5").write_bytes(b"large")
    vsdemo.load("hf://user/gru")
    assert "tf_model.h5" not in fake_hub.files("cache/user/gru")


def test_an_older_checkpoint_is_replaced(fake_hub, run, monkeypatch):
    """Its weights in several files would be mixed with those in one."""
    other = run.with_name("other")
    model, spec, vocab = checkpoint.load(run)
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "MAX_FILE", 20_000)
        checkpoint.save(other, spec, vocab, model.state_dict())
    vsdemo.save_to_hub(other, "user/gru")
    (fake_hub.root / "user" / "gru" / "notes.txt").write_text("of the owner")
    assert "model-2.safetensors" in fake_hub.files("user/gru")
    vsdemo.save_to_hub(run, "user/gru")
    weights = [name for name in fake_hub.files("user/gru") if name.endswith(".safetensors")]
    assert weights == ["model.safetensors"]
    assert "notes.txt" in fake_hub.files("user/gru")


def test_a_shipped_checkpoint_is_saved_by_its_name(fake_hub):
    vsdemo.save_to_hub("storybook/gru", "user/gru")
    assert vsdemo.load("hf://user/gru").encode_text(["a dog"]).shape == (1, 200)


def test_a_revision_follows_an_at_sign(fake_hub, run):
    vsdemo.save_to_hub(run, "user/gru")
    vsdemo.load("hf://user/gru@v1")
    vsdemo.load("hf://user/gru")
    assert set(fake_hub.fetched) == {("user/gru", "v1"), ("user/gru", None)}


def test_a_public_repository_gets_no_private_checkpoint(fake_hub, run):
    vsdemo.save_to_hub(run, "user/gru", private=False)
    before = fake_hub.files("user/gru")
    (run / "concepts.json").write_text("[]")
    with pytest.raises(UserError, match=r"user/gru exists and is public; .* give private=False"):
        vsdemo.save_to_hub(run, "user/gru")
    assert fake_hub.files("user/gru") == before


def test_another_library_s_model_is_refused_before_its_weights_are_downloaded(fake_hub):
    folder = fake_hub.root / "user" / "bert"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text('{"architectures": ["BertModel"]}')
    (folder / "model.safetensors").write_bytes(b"large")
    problem = "user/bert on the Hugging Face Hub is not a checkpoint of vsdemo"
    with pytest.raises(UserError, match=problem):
        vsdemo.load("hf://user/bert")
    assert fake_hub.files("cache/user/bert") == ["config.json"]


def test_an_empty_repository_is_refused(fake_hub):
    (fake_hub.root / "user" / "empty").mkdir(parents=True)
    with pytest.raises(UserError, match="user/empty on the Hugging Face Hub is not a checkpoint"):
        vsdemo.load("hf://user/empty")


def test_a_damaged_checkpoint_is_not_uploaded(fake_hub, run):
    (run / "vocab.json").write_text("{}")
    with pytest.raises(UserError, match=r"vocab\.json is damaged"):
        vsdemo.save_to_hub(run, "user/gru")
    (run / "vocab.json").unlink()
    with pytest.raises(UserError, match="is damaged: a file is missing"):
        vsdemo.save_to_hub(run, "user/gru")
    assert not (fake_hub.root / "user" / "gru").exists()


def test_an_ensemble_without_its_members_is_not_uploaded(fake_hub, toy_checkpoint, tmp_path):
    members = [shutil.copytree(toy_checkpoint, tmp_path / name) for name in ("a", "b")]
    ensembles.make(members, tmp_path / "shared", share=True)
    with pytest.raises(UserError, match="members in other checkpoints"):
        vsdemo.save_to_hub(tmp_path / "shared", "user/both")
    ensembles.make(members, tmp_path / "whole")
    vsdemo.save_to_hub(tmp_path / "whole", "user/both")
    assert vsdemo.load("hf://user/both").encode_text(["a red circle"]).shape == (1, 32)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (LocalEntryNotFoundError("Got: ConnectError:\n..."), "no copy is in the cache; go online"),
        (OfflineModeIsEnabled("offline"), "unset that variable"),
        (RepositoryNotFoundError("404\nerror", response=MagicMock()), "check the name"),
        (GatedRepoError("403\nerror", response=MagicMock()), "ask for it on its page"),
        (RevisionNotFoundError("404\nerror", response=MagicMock()), "what follows the @"),
        (HFValidationError("Repo id must\nuse alphanumeric"), "write user/repo"),
        (LocalTokenNotFoundError("Token is required,\nbut no token"), "Token is required, but no"),
        (RuntimeError("x " * 500), "x x ...; check your connection and `hf auth whoami`"),
        (TimeoutError(), "TimeoutError; check your connection"),
    ],
)
def test_what_the_hub_answers_becomes_one_sentence(fake_hub, run, error, reason):
    fake_hub.error = error
    for call in (
        lambda: vsdemo.load("hf://user/gru"),
        lambda: vsdemo.save_to_hub(run, "user/gru"),
    ):
        with pytest.raises(UserError, match=r"^user/gru on the Hugging Face Hub cannot be ") as e:
            call()
        assert reason in str(e.value)
        assert "\n" not in str(e.value)
        assert len(str(e.value)) < 400
