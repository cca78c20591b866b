"""Catalogs: what is written is read again, by one writer and many readers."""

import os
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from vsdemo.core.errors import UserError
from vsdemo.data import datasets
from vsdemo.data.catalog import catalog as catalogs
from vsdemo.data.catalog.catalog import Catalog, catalog_of, default_name, list_catalogs
from vsdemo.data.catalog.examine import PhotoRecord
from vsdemo.data.catalog.metadata import Metadata
from vsdemo.data.catalog.scan import PhotoFile


@pytest.fixture
def catalog(own_home, tmp_path):
    (tmp_path / "photos").mkdir()
    return Catalog.create("mine", tmp_path / "photos")


def record(path, content="k", problem="", thumbnail=b"jpeg", look=None, **metadata):
    return PhotoRecord(
        PhotoFile(path, size=3, modified=1_700_000_000_123_456_789),
        content=content,
        problem=problem,
        width=30,
        height=20,
        metadata=Metadata(**metadata),
        thumbnail=thumbnail,
        look=look,
    )


def test_photos_are_read_as_they_were_written(catalog):
    odd = os.fsdecode(b"caf\xe9.jpg")
    written = record(odd, "k1", taken="2024-05-31T14:02:11", latitude=-1.5, caption='It\'s "x"')
    catalog.write([written, record("b/c.jpg", "k2"), record("d.jpg", "", "It is damaged.")])
    first, second = catalog.entries()
    assert (first.path, second.path) == ("b/c.jpg", odd)
    assert second.metadata == written.metadata
    assert catalog.photos() == (("b/c.jpg", odd), ("k2", "k1"))
    assert catalog.problems() == {"d.jpg": "It is damaged."}
    assert catalog.files()[odd] == (written.file, "k1")
    assert Catalog("mine").folder == catalog.folder


def test_a_thumbnail_stays_as_long_as_one_photo_has_its_content(catalog):
    catalog.write([record("a.jpg", "k"), record("copy.jpg", "k"), record("b.jpg", "other")])
    catalog.remove(["a.jpg"])
    assert catalog.thumbnail("k") == b"jpeg"
    catalog.remove(["copy.jpg"])
    assert catalog.thumbnail("k") is None
    assert catalog.thumbnail("other") == b"jpeg"


def test_looks_are_those_of_contents(catalog):
    catalog.write([record("a.jpg", "a", look=5), record("b.jpg", "b", look=-(2**63)), record("c")])
    assert catalog.looks(["b", "a", "k", "a", ""]).tolist() == [2**63, 5, 0, 5, 0]
    assert catalog.looks([]).tolist() == []
    catalog.remove(["a.jpg"])
    assert catalog.looks(["a", "b"]).tolist() == [0, 2**63]


def test_a_catalog_of_version_1_is_upgraded_in_place(catalog):
    catalog.write([record("a.jpg", "a"), record("b.jpg", "", "It is damaged.", thumbnail=b"")])
    entries = catalog.entries()
    with closing(sqlite3.connect(catalog.file)) as connection, connection:
        connection.execute("DROP TABLE looks")
        connection.execute("UPDATE facts SET value = '1' WHERE name = 'version'")
    upgraded = Catalog("mine")
    assert (upgraded.folder, upgraded.entries()) == (catalog.folder, entries)
    assert upgraded.thumbnail("a") == b"jpeg"
    assert upgraded.without_look() == ["a"]
    upgraded.add_looks([("a", 7)])
    assert upgraded.without_look() == []
    assert Catalog("mine").looks(["a"]).tolist() == [7]


def test_only_one_process_upgrades(catalog):
    with closing(sqlite3.connect(catalog.file)) as connection, connection:
        connection.execute("DROP TABLE looks")
        connection.execute("UPDATE facts SET value = '1' WHERE name = 'version'")
    with ThreadPoolExecutor(8) as pool:
        opened = list(pool.map(Catalog, ["mine"] * 16))
    assert all(one.without_look() == [] for one in opened)


def test_thumbnails_are_bounded(catalog, monkeypatch):
    monkeypatch.setattr(catalogs, "MAX_THUMBNAILS", 0)
    catalog.write([record("a.jpg", "k")])
    assert catalog.thumbnail("k") is None
    assert len(catalog.entries()) == 1


def test_a_moved_photo_keeps_what_is_known_of_it(catalog):
    catalog.write([record("a.jpg", "k", caption="mine")])
    catalog.move([("a.jpg", PhotoFile("b/a.jpg", 3, 5))])
    (entry,) = catalog.entries()
    assert (entry.path, entry.content, entry.metadata.caption) == ("b/a.jpg", "k", "mine")


def test_only_one_writes_at_a_time(catalog, is_one_sentence):
    with catalog.writing():
        with pytest.raises(UserError, match="already") as caught, Catalog("mine").writing():
            pass
        assert catalog.files() == {}  # readers do not wait
    assert is_one_sentence(caught)
    with catalog.writing():
        pass


def test_a_transaction_that_is_not_finished_leaves_nothing(catalog):
    with closing(sqlite3.connect(catalog.file)) as connection:
        connection.execute("DELETE FROM facts")
        assert catalog.entries() == []  # another connection reads meanwhile
    assert Catalog("mine").folder == catalog.folder


@pytest.mark.parametrize("name", ["", "../x", "A", "a b", ".x", "x" * 65])
def test_invalid_names_are_refused(own_home, tmp_path, name):
    with pytest.raises(UserError, match="cannot be the name"):
        Catalog.create(name, tmp_path)


def test_a_name_belongs_to_one_folder(catalog, tmp_path):
    assert Catalog.create("mine", catalog.folder).folder == catalog.folder
    with pytest.raises(UserError, match="choose another name"):
        Catalog.create("mine", tmp_path)


@pytest.mark.parametrize("content", [b"no database at all, but long enough to be read" * 30, b""])
def test_a_damaged_file_is_one_sentence(catalog, content, is_one_sentence):
    catalog.file.write_bytes(content)
    with pytest.raises(UserError) as caught:
        Catalog("mine")
    assert is_one_sentence(caught)


def test_a_newer_version_is_refused(catalog):
    with closing(sqlite3.connect(catalog.file)) as connection, connection:
        connection.execute("UPDATE facts SET value = '999' WHERE name = 'version'")
    with pytest.raises(UserError, match="another version"):
        Catalog("mine")


def test_catalogs_are_found_by_folder_and_by_name(catalog):
    assert list_catalogs() == ["mine"]
    same = catalog_of(catalog.folder)
    assert same is not None
    assert same.name == "mine"
    assert catalog_of(catalog.folder.parent) is None
    with pytest.raises(UserError, match="no index"):
        Catalog("other")


def test_an_index_is_a_gallery(catalog):
    with pytest.raises(UserError, match="contains no photos"):
        datasets.load("mine", "all")
    catalog.write([record("a.jpg", "k1"), record("b.jpg", "", "It is damaged.")])
    loaded = datasets.load("mine", "all")
    assert list(loaded.photos) == [catalog.folder / "a.jpg"]
    assert loaded.keys == ("k1",)


def test_an_unchanged_photo_of_an_indexed_folder_is_not_hashed_again(catalog):
    for name in ("a.jpg", "b.jpg"):
        (catalog.folder / name).write_bytes(b"abc")
    status = (catalog.folder / "a.jpg").stat()
    known = PhotoFile("a.jpg", status.st_size, status.st_mtime_ns)
    catalog.write([PhotoRecord(known, content="k1"), record("b.jpg", "k2")])
    loaded = datasets.load(str(catalog.folder), "all")
    assert loaded.keys == ("k1", "")  # the other one was written since


@pytest.mark.parametrize(
    ("folder", "name"), [("My Photos 2024!", "my-photos-2024"), ("Ünï", "n"), ("...", "photos")]
)
def test_default_names(tmp_path, folder, name):
    assert default_name(tmp_path / folder) == name
