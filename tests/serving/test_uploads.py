"""Uploaded files: whose they are, and how long they stay."""

import os
import time
from pathlib import Path

import pytest

from vsdemo.serving.uploads import FRESH, UploadFolder


@pytest.fixture
def uploads(tmp_path):
    return UploadFolder(tmp_path / "uploads")


def store(uploads, name="a.png", size=10, digest="0" * 64):
    """Store a file where Gradio does."""
    path = uploads.folder / digest / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)
    return str(path)


def age(path, seconds):
    os.utime(path, (time.time() - seconds,) * 2)


def test_a_claimed_file_moves_to_a_path_of_its_own(uploads):
    first = uploads.claim(store(uploads), "ann")
    second = uploads.claim(store(uploads), "bob")
    assert first != second
    assert not (uploads.folder / ("0" * 64)).exists()
    for path in (first, second):
        assert path.startswith(str(uploads.folder))
        assert Path(path).read_bytes() == b"x" * 10


def test_only_its_visitor_may_name_a_file(uploads):
    path = uploads.claim(store(uploads), "ann")
    assert not uploads.is_foreign(path, "ann")
    for visitor in ("bob", None, ""):
        assert uploads.is_foreign(path, visitor)


def test_another_process_knows_whose_a_file_is(uploads):
    """Nothing is kept in the process; so does one that was started again."""
    path = uploads.claim(store(uploads), "ann")
    other = UploadFolder(uploads.folder)
    assert not other.is_foreign(path, "ann")
    assert other.is_foreign(path, "bob")
    renamed = Path(path).parent.name[:-1] + "x"
    assert not other.is_foreign(str(uploads.folder / renamed / "a.png"), "ann")  # there is none


def test_a_made_up_folder_belongs_to_nobody(uploads):
    made_up = uploads.folder / f"{'0' * 32}-{'0' * 32}" / "a.png"
    for visitor in ("ann", None):
        assert uploads.is_foreign(str(made_up), visitor)


@pytest.mark.parametrize("form", ["{0}", " {0} ", "x{0}", "{1}/../{2}", "{1}/./{2}", "{1}//{2}"])
def test_a_path_can_be_written_in_several_ways(uploads, form):
    path = uploads.claim(store(uploads), "ann")
    folder, name = str(uploads.folder), os.path.relpath(path, uploads.folder)
    text = form.format(path, folder, f"{uploads.folder.name}/{name}" if ".." in form else name)
    assert uploads.is_foreign(text, "bob")


@pytest.mark.parametrize("text", ["", "/", "a dog", "/etc/passwd", "\0", "a" * 10_000])
def test_other_texts_name_no_file(uploads, text):
    assert not uploads.is_foreign(text, None)
    assert not uploads.is_foreign(str(uploads.folder) + text, None)


def test_a_file_uploaded_without_a_cookie_can_be_named_by_who_knows_its_path(uploads):
    path = uploads.claim(store(uploads), None)
    assert not uploads.is_foreign(path, None)
    assert not uploads.is_foreign(path, "ann")


def test_old_files_are_deleted_and_used_ones_stay(uploads):
    old, used = (uploads.claim(store(uploads), "ann") for _ in range(2))
    for path in (old, used):
        age(path, 4000)
    assert not uploads.is_foreign(used, "ann")  # a page shows it again
    assert uploads.delete_old(3600, 10**9) == 1
    assert not os.path.exists(os.path.dirname(old))
    assert os.path.exists(used)


def test_the_longest_unused_are_deleted_when_the_disk_is_full(uploads):
    paths = [uploads.claim(store(uploads, size=100), "ann") for _ in range(4)]
    for seconds, path in enumerate(reversed(paths)):
        age(path, FRESH + 1 + seconds)
    assert uploads.delete_old(3600, 250) == 2
    assert [os.path.exists(path) for path in paths] == [False, False, True, True]


def test_deleting_survives_a_missing_folder(uploads):
    assert uploads.delete_old(0, 0) == 0
