"""Checkpoints on the Hugging Face Hub."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from huggingface_hub import HfApi, snapshot_download
from huggingface_hub.errors import (
    GatedRepoError,
    HFValidationError,
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from vsdemo.core.errors import UserError
from vsdemo.models import checkpoint

REASONS: dict[type[Exception], str] = {  # kind of error -> reason; the first match counts
    GatedRepoError: "its owner grants access; ask for it on its page, then run `hf auth login`",
    RepositoryNotFoundError: (
        "it does not exist or you have no access; check the name, or run `hf auth login`"
    ),
    RevisionNotFoundError: "it has no such revision; check what follows the @",
    LocalEntryNotFoundError: "the Hub is out of reach, and no copy is in the cache; go online",
    OfflineModeIsEnabled: "HF_HUB_OFFLINE forbids it; unset that variable",
    HFValidationError: "this is not a repository name; write user/repo",
}


def download(place: str) -> Path:
    """Return the folder of a checkpoint, whose files are kept in the cache of `huggingface_hub`.

    Args:
        place: The repository, `user/repo`, or one of its revisions, `user/repo@revision`.

    Raises:
        UserError: The repository cannot be read, or holds no checkpoint.
    """
    folder = _fetch(place, ["config.json"])
    try:
        checkpoint.read_spec(folder)  # before weights of other libraries, which may be large
    except UserError:
        raise UserError(
            f"{place} on the Hugging Face Hub is not a checkpoint of vsdemo, or is one of a "
            "newer version; check the name, or update vsdemo."
        ) from None
    return _fetch(place, checkpoint.FILES)


def _fetch(place: str, patterns: Sequence[str]) -> Path:
    repo, _, revision = place.partition("@")
    with _user_errors(f"{place} on the Hugging Face Hub cannot be loaded"):
        return Path(
            snapshot_download(repo, revision=revision or None, allow_patterns=list(patterns))
        )


def upload(folder: Path, repo: str, *, private: bool) -> str:
    """Upload the files of a checkpoint, in place of those of an older one.

    Args:
        folder: The checkpoint.
        repo: `user/repo`, which is created if it is missing.
        private: Whether only its owner sees it.

    Returns:
        Address of the repository.

    Raises:
        UserError: The checkpoint is damaged or needs another one; the repository is public and
            should be private, or the reverse; or the Hub refuses the files or cannot be reached.
    """
    checkpoint.check_files(folder)
    checkpoint.check_sums(folder)
    if any(member.of for member in checkpoint.read_spec(folder).members):
        raise UserError(
            f"{folder} has members in other checkpoints; make the ensemble again without --share."
        )
    api, problem = HfApi(), f"{repo} on the Hugging Face Hub cannot be written"
    with _user_errors(problem):
        address = str(api.create_repo(repo, private=private, exist_ok=True))
        is_private = bool(api.repo_info(repo).private)
    if is_private != private:
        raise UserError(
            f"{repo} exists and is {'private' if is_private else 'public'}; change that in its "
            f"settings, or give private={is_private}."
        )
    with _user_errors(problem):
        api.upload_folder(
            repo_id=repo,
            folder_path=folder,
            allow_patterns=[file.name for file in checkpoint.files(folder)],
            delete_patterns=list(checkpoint.FILES),  # such as weights in more files than now
            commit_message="Upload a checkpoint of vsdemo",
        )
    return address


@contextmanager
def _user_errors(problem: str) -> Iterator[None]:
    """Turn every error of `huggingface_hub` into one sentence.

    Every exception is caught, because `huggingface_hub` also lets through errors of its HTTP
    library, which depends on its version.
    """
    try:
        yield
    except Exception as error:
        raise UserError(f"{problem}: {_reason(error)}.") from None


def _reason(error: Exception) -> str:
    for kind, reason in REASONS.items():
        if isinstance(error, kind):
            return reason
    text = str(error).rstrip(". \n") or type(error).__name__
    shown = textwrap.shorten(text, width=200, placeholder=" ...")
    return f"{shown}; check your connection and `hf auth whoami`"
