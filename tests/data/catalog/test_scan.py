"""Listing folders: what is a photo, links, loops, odd names and folders that cannot be read."""

import os
from threading import Event

import pytest

from vsdemo.core.errors import Cancelled, UserError
from vsdemo.data.catalog import scan as scanning
from vsdemo.data.catalog.scan import scan


def list_files(folder):
    return scan(folder, lambda done, total: None, Event())


def write(path, content=b"x"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_photos_of_all_kinds_are_listed_in_order(tmp_path):
    for name in ("b.JPG", "a.heic", "c/d.avif", "c/e.txt", ".hidden/f.jpg", ".g.jpg", "B.webp"):
        write(tmp_path / name, name.encode())
    listed = list_files(tmp_path)
    assert [file.path for file in listed.files] == ["B.webp", "a.heic", "b.JPG", "c/d.avif"]
    status = (tmp_path / "b.JPG").stat()
    assert listed.files[2].size == 5
    assert listed.files[2].modified == status.st_mtime_ns
    assert not listed.unreadable


def test_a_loop_of_links_ends_and_a_linked_photo_is_listed(tmp_path):
    photo = write(tmp_path / "elsewhere.jpg")
    folder = tmp_path / "photos"
    write(folder / "a.jpg")
    (folder / "loop").symlink_to(folder)
    (folder / "linked.jpg").symlink_to(photo)
    (folder / "broken.jpg").symlink_to(tmp_path / "nothing.jpg")
    listed = list_files(folder)
    assert [file.path for file in listed.files] == ["a.jpg", "linked.jpg"]
    assert list(listed.unreadable) == ["broken.jpg"]


def test_names_that_are_no_utf8_can_be_opened(tmp_path):
    raw = os.path.join(os.fsencode(tmp_path), b"caf\xe9.jpg")
    with open(raw, "wb") as file:
        file.write(b"x")
    (file,) = list_files(tmp_path).files
    assert (tmp_path / file.path).read_bytes() == b"x"


def test_a_subfolder_that_cannot_be_read_is_named(tmp_path, monkeypatch):
    write(tmp_path / "a.jpg")
    write(tmp_path / "secret" / "b.jpg")
    real = os.scandir

    def scandir(path):
        if str(path).endswith("secret"):
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    listed = list_files(tmp_path)
    assert [file.path for file in listed.files] == ["a.jpg"]
    assert listed.unreadable == {"secret": "Permission denied"}


def test_a_missing_folder_is_one_sentence(tmp_path, is_one_sentence):
    with pytest.raises(UserError, match="cannot be read") as caught:
        list_files(tmp_path / "gone")
    assert is_one_sentence(caught)


def test_a_scan_can_be_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(scanning, "REPORT_EVERY", 2)
    for number in range(5):
        write(tmp_path / f"{number}.jpg")
    stop = Event()
    stop.set()
    with pytest.raises(Cancelled):
        scan(tmp_path, lambda done, total: None, stop)
