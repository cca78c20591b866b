"""The folder chooser of the panel "Add photos …"."""

import os
import time

import pytest

from vsdemo.core.errors import UserError
from vsdemo.ui.indexing import folders, view
from vsdemo.ui.indexing.folders import find_folder, list_folder


def names(listed):
    return [place.label for place in listed.subfolders]


@pytest.fixture
def root(tmp_path, monkeypatch):
    """Folders in a home of the test's own."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("Berlin", "amsterdam", "Bonn", ".hidden", os.fsdecode(b"caf\xe9")):
        (tmp_path / name).mkdir()
    for number in range(3):
        (tmp_path / "Bonn" / f"{number}.JPG").write_bytes(b"")
    (tmp_path / "a.png").write_bytes(b"")
    (tmp_path / ".b.png").write_bytes(b"")
    (tmp_path / "text.txt").write_bytes(b"")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "link").symlink_to(tmp_path / "Bonn")
    return tmp_path


def test_subfolders_are_listed_by_name_with_their_photos(root):
    listed = list_folder(root)
    assert names(listed) == ["amsterdam", "Berlin", "Bonn", "caf?", "link"]
    assert {place.label: place.photos for place in listed.subfolders}["Bonn"] == "3"
    assert listed.photos == "1"
    assert listed.above is not None
    assert listed.above.path == root.parent
    assert "Home" in [place.label for place in listed.places]
    shown = str(view.folders(listed))
    assert shown.count("data-number=") == len(listed.choices)
    assert "3 photos" in shown
    shown.encode()


def test_a_folder_whose_name_is_no_utf8_can_be_entered(root):
    odd = next(place.path for place in list_folder(root).subfolders if place.label == "caf?")
    listed = list_folder(odd)
    assert listed.text == f"{root}/caf?"
    assert find_folder(listed.text, listed).folder == odd


def test_the_root_has_nothing_above():
    assert list_folder(folders.Path("/")).above is None


def test_a_typed_path_is_shown_or_completed(root):
    assert find_folder(f" {root}/Bonn ", None).folder == root / "Bonn"
    assert find_folder("~", None).folder == root
    listed = find_folder(f"{root}/B", None)
    assert (listed.folder, listed.start, names(listed)) == (root, "B", ["Berlin", "Bonn"])
    assert listed.text == f"{root}/B"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "Type the path"),
        ("relative", "is not a full path"),
        ("/nowhere/at/all", "There is no folder"),
        ("/\0", "There is no folder"),
        ("~nobody-at-all/x", "is not a path"),
    ],
)
def test_what_is_no_folder_is_one_sentence(text, reason, is_one_sentence):
    with pytest.raises(UserError, match=reason) as caught:
        find_folder(text, None)
    assert is_one_sentence(caught)


def test_a_file_is_no_folder(root, is_one_sentence):
    with pytest.raises(UserError, match="There is no folder") as caught:
        find_folder(f"{root}/a.png", None)
    assert is_one_sentence(caught)


def test_a_folder_that_cannot_be_read_is_one_sentence(root, monkeypatch, is_one_sentence):
    def scandir(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "scandir", scandir)
    with pytest.raises(UserError, match="check its permissions") as caught:
        list_folder(root)
    assert is_one_sentence(caught)


def test_ten_thousand_subfolders_do_not_stop_the_list(tmp_path):
    for number in range(10_000):
        (tmp_path / f"{number:05}").mkdir()
    started = time.monotonic()
    listed = list_folder(tmp_path)
    assert time.monotonic() - started < 5  # about 0.1 s on an idle machine
    assert len(listed.subfolders) == folders.MAX_SHOWN
    assert listed.more == 10_000 - folders.MAX_SHOWN
    assert "9,800 more folders" in view.folders(listed)
    assert names(find_folder(f"{tmp_path}/0999", None))[0] == "09990"


def test_counting_photos_ends_in_time(tmp_path, monkeypatch):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.jpg").write_bytes(b"")
    monkeypatch.setattr(folders, "COUNT_SECONDS", -1)
    assert list_folder(tmp_path).subfolders[0].photos == ""
    monkeypatch.undo()
    monkeypatch.setattr(folders, "MAX_COUNTED", 0)
    assert list_folder(tmp_path).subfolders[0].photos == "more than 0"
