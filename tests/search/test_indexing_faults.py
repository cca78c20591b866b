"""Folders, files, disks and clocks that indexing has to cope with; each is one sentence."""

import errno
import os
import shutil
import sqlite3
import subprocess
from threading import Event

import pytest
from PIL import Image

from tests.conftest import draw
from vsdemo.core.errors import Cancelled, UserError
from vsdemo.data import datasets
from vsdemo.data.catalog import catalog as catalogs
from vsdemo.data.catalog import examine
from vsdemo.data.catalog.catalog import Catalog, list_catalogs, remove_catalog
from vsdemo.search import examiners, indexing
from vsdemo.search.engine import Engine
from vsdemo.vision import shards

COLOURS = ("red", "green", "blue", "yellow")


@pytest.fixture
def folder(own_home, tmp_path):
    photos = tmp_path / "photos"
    photos.mkdir()
    for colour in COLOURS:
        draw("circle", colour, "white").save(photos / f"{colour}.png")
    return photos


@pytest.fixture
def caches(toy_checkpoint):
    return indexing.feature_caches([toy_checkpoint])


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 1 MB; without the right to mount one, the test is skipped."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(place)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("no disk can be mounted here")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def run(folder, caches, report=lambda *a: None):
    return indexing.index_folder(indexing.open_catalog(folder, "mine"), caches, report, Event())


def test_a_folder_without_photos_leaves_no_index(folder, caches, tmp_path, is_one_sentence):
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text("no photo")
    with pytest.raises(UserError, match=r"contains no photos .*; choose the folder") as caught:
        run(tmp_path / "texts", caches)
    assert is_one_sentence(caught)
    assert list_catalogs() == []
    assert run(folder, caches).photos == 4  # under the same name


def test_a_folder_whose_only_subfolder_is_unreadable_is_not_called_empty(
    own_home, caches, tmp_path, monkeypatch, is_one_sentence
):
    (tmp_path / "photos" / "secret").mkdir(parents=True)
    deny(monkeypatch, "secret")
    with pytest.raises(UserError, match="check the permissions") as caught:
        run(tmp_path / "photos", caches)
    assert is_one_sentence(caught)


def deny(monkeypatch, name):
    """Let a folder be unreadable, also for the superuser."""
    real = os.scandir

    def scandir(path):
        if str(path).rstrip("/").endswith(name):
            raise PermissionError(errno.EACCES, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)


def test_an_unreadable_folder_is_one_sentence(folder, caches, monkeypatch, is_one_sentence):
    deny(monkeypatch, "photos")
    with pytest.raises(UserError, match="check its permissions") as caught:
        run(folder, caches)
    assert is_one_sentence(caught)


def test_a_folder_below_an_unreadable_one_is_one_sentence(tmp_path, monkeypatch, is_one_sentence):
    def is_dir(path):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr("pathlib.Path.is_dir", is_dir)
    with pytest.raises(UserError, match="cannot be read") as caught:
        indexing.open_catalog(tmp_path)
    assert is_one_sentence(caught)


def test_a_read_only_folder_is_indexed_and_stays_as_it_is(folder, caches):
    folder.chmod(0o500)
    before = {path: path.stat() for path in folder.iterdir()}
    try:
        assert run(folder, caches).photos == 4
    finally:
        folder.chmod(0o700)
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == {
        path: status.st_mtime_ns for path, status in before.items()
    }


def test_a_link_to_itself_is_named(folder, caches):
    (folder / "self.jpg").symlink_to(folder / "self.jpg")
    (folder / "loop").symlink_to(folder)
    summary = run(folder, caches)
    assert (summary.photos, summary.unreadable) == (4, 1)
    assert "Too many levels" in summary.problems["self.jpg"]


def test_a_folder_that_is_a_link_to_itself_is_one_sentence(own_home, tmp_path, is_one_sentence):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(UserError, match="There is no folder") as caught:
        indexing.open_catalog(tmp_path / "loop")
    assert is_one_sentence(caught)


def test_a_pipe_and_a_huge_file_are_not_read(folder, caches):
    os.mkfifo(folder / "pipe.jpg")
    with (folder / "huge.jpg").open("wb") as file:
        file.truncate(examine.MAX_BYTES + 1)
    summary = run(folder, caches)
    assert summary.photos == 4
    assert "no regular file" in summary.problems["pipe.jpg"]
    assert "the limit is 1 GB" in summary.problems["huge.jpg"]


def test_a_decompression_bomb_is_passed_over(folder, caches):
    Image.new("1", (12_000, 12_000)).save(folder / "bomb.png")
    summary = run(folder, caches)
    assert (summary.photos, summary.unreadable) == (4, 1)
    assert "limit is 50 megapixels" in summary.problems["bomb.png"]
    assert run(folder, caches).text == "4 photos (1 unreadable)"  # it is not read again


def test_ten_thousand_files_in_one_folder(folder, caches, monkeypatch):
    monkeypatch.setattr(examiners, "FEW", 100_000)  # to start processes takes long
    for number in range(10_000):
        (folder / f"{number:05}.jpg").write_bytes(b"no photo")
    summary = run(folder, caches)
    assert (summary.photos, summary.new, summary.unreadable) == (4, 10_004, 10_000)
    assert run(folder, caches).new == 0


def test_names_that_are_no_utf8_are_stored_and_can_be_printed(own_home, caches, tmp_path):
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    draw("bar", "red", "black").save(folder / os.fsdecode(b"\xff.png"))
    (folder / os.fsdecode(b"\xfe.jpg")).write_bytes(b"no photo")
    summary = run(folder, caches)
    assert summary.photos == 1
    (path,), _ = Catalog("mine").photos()
    assert (folder / path).exists()
    assert list(summary.problems) == ["?.jpg"]
    str(summary).encode()


def test_two_indexers_do_not_write_at_once(folder, caches, is_one_sentence):
    with (
        indexing.open_catalog(folder, "mine").writing(),
        pytest.raises(UserError, match="already; wait") as caught,
    ):
        run(folder, caches)
    assert is_one_sentence(caught)
    assert run(folder, caches).photos == 4


def test_an_index_cannot_take_the_name_of_a_data_set(folder, is_one_sentence):
    for name in ("storybook", "toy"):
        with pytest.raises(UserError, match="name of a data set") as caught:
            indexing.open_catalog(folder, name)
        assert is_one_sentence(caught)
    assert list_catalogs() == []


def test_a_clock_that_goes_back_hides_no_change(folder, caches):
    run(folder, caches)
    photo = folder / "red.png"
    photo.write_bytes((folder / "green.png").read_bytes())
    os.utime(photo, ns=(-5, -5))  # before 1970
    assert run(folder, caches).changed == 1
    assert run(folder, caches).changed == 0


def test_a_time_that_is_too_late_to_be_stored_is_no_error(folder, caches):
    late = 2**63 + 10**9
    os.utime(folder / "red.png", ns=(late, late))
    if (folder / "red.png").stat().st_mtime_ns < 2**63:
        pytest.skip("this file system stores no such time")
    assert run(folder, caches).photos == 4
    assert run(folder, caches).changed == 0


@pytest.mark.parametrize("is_emptied", [True, False])
def test_known_photos_survive_a_drive_that_vanishes(folder, caches, monkeypatch, is_emptied):
    run(folder, caches)
    before = Catalog("mine").files()
    shutil.rmtree(caches[0].folder)  # as for another model: all are read again
    real = indexing.examine_all

    def examine_all(task, files):
        shutil.rmtree(folder)
        if is_emptied:
            folder.mkdir()
        return real(task, files)

    monkeypatch.setattr(indexing, "examine_all", examine_all)
    with pytest.raises(UserError, match="vanished; connect its drive"):
        run(folder, caches)
    assert Catalog("mine").files() == before


def test_a_folder_that_is_gone_between_two_runs_is_one_sentence(folder, caches, is_one_sentence):
    run(folder, caches)
    catalog = Catalog("mine")
    shutil.rmtree(folder)
    with pytest.raises(UserError, match="connect its drive") as caught:
        indexing.index_folder(catalog, caches, lambda *a: None, Event())
    assert is_one_sentence(caught)
    with pytest.raises(UserError, match="connect") as caught:
        indexing.open_catalog(folder, "mine")
    assert is_one_sentence(caught)
    assert len(Catalog("mine").files()) == 4


def test_an_interrupted_index_is_searched_as_far_as_it_is(
    folder, caches, toy_checkpoint, monkeypatch
):
    monkeypatch.setattr(indexing, "FIRST_PART", 2)
    stop = Event()

    def report(stage, done, total):
        if done == 3:
            stop.set()

    with pytest.raises(Cancelled):
        indexing.index_folder(indexing.open_catalog(folder, "mine"), caches, report, stop)
    assert len(Engine(toy_checkpoint, "mine").photos) == 3
    assert run(folder, caches).new == 1
    assert len(Engine(toy_checkpoint, "mine").photos) == 4


def test_an_index_for_another_model_is_searched_with_features_of_its_own(
    folder, caches, toy_checkpoint
):
    other = indexing.FeatureCache("torchvision/mobilenet_v3_small", "mirror")
    run(folder, [other])
    assert caches[0].known() == {}
    assert len(Engine(toy_checkpoint, "mine").search("a red circle", 4)) == 4


def test_a_full_disk_for_features_is_one_sentence(folder, caches, monkeypatch, is_one_sentence):
    def write(folder, keys, values):
        raise OSError(errno.ENOSPC, "No space left on device", str(folder))

    with monkeypatch.context() as patch:
        patch.setattr(shards, "write", write)
        with pytest.raises(UserError, match=r"No space left on device.*make room") as caught:
            run(folder, caches)
    assert is_one_sentence(caught)
    assert Catalog("mine").files() == {}
    assert run(folder, caches).photos == 4


def test_a_full_disk_for_the_catalog_is_one_sentence(folder, caches, monkeypatch, is_one_sentence):
    real = sqlite3.connect

    def connect(*args, **options):
        connection = real(*args, **options)
        connection.execute("PRAGMA max_page_count = 1")  # no more than there are
        return connection

    with monkeypatch.context() as patch:
        patch.setattr(catalogs.sqlite3, "connect", connect)
        with pytest.raises(UserError, match="is full; make room") as caught:
            run(folder, caches)
    assert is_one_sentence(caught)
    assert run(folder, caches).photos == 4


@pytest.mark.parametrize("free", [0, 60_000, 100_000, 150_000])
def test_a_disk_that_is_really_full_is_one_sentence(
    folder, caches, small_disk, monkeypatch, is_one_sentence, free
):
    monkeypatch.setenv("VSDEMO_HOME", str(small_disk))
    monkeypatch.setattr(examiners, "FEW", 100)
    caches = [indexing.FeatureCache(caches[0].weights.name, "center")]
    for number in range(40):
        draw("bar", COLOURS[number % 4], "black").resize((60 + number, 90)).save(
            folder / f"{number}.png"
        )
    filler = small_disk / "filler"
    filler.write_bytes(bytes(shutil.disk_usage(small_disk).free - free))
    with pytest.raises(UserError, match="make room") as caught:
        run(folder, caches)
    assert is_one_sentence(caught)
    filler.unlink()
    assert run(folder, caches).photos == 44
    assert len(caches[0].known()) == 44


def test_a_removed_index_leaves_photos_and_labels(folder, caches, own_home, is_one_sentence):
    run(folder, caches)
    labels = own_home / "annotations" / "mine.sqlite"
    labels.parent.mkdir()
    labels.write_bytes(b"labels")
    remove_catalog("mine")
    assert list_catalogs() == []
    assert sorted(path.name for path in own_home.iterdir()) == [
        "annotations",
        "catalogs",
        "features",
    ]
    assert labels.read_bytes() == b"labels"
    assert len(list(folder.iterdir())) == 4
    with pytest.raises(UserError, match="no index") as caught:
        remove_catalog("mine")
    assert is_one_sentence(caught)
    with pytest.raises(UserError, match="use one of"):
        datasets.find("mine")


def test_an_index_is_not_removed_while_it_is_written(folder, caches):
    run(folder, caches)
    with Catalog("mine").writing(), pytest.raises(UserError, match="already"):
        remove_catalog("mine")
    assert list_catalogs() == ["mine"]


def test_a_damaged_index_can_be_removed(folder, caches):
    run(folder, caches)
    Catalog("mine").file.write_bytes(b"damaged" * 1000)
    with pytest.raises(UserError, match="damaged"):
        run(folder, caches)
    remove_catalog("mine")
    assert run(folder, caches).new == 4
