"""Labels in sidecars: on request only, all or none, and only what was written is removed."""

import os
import shutil
from threading import Event

import pytest

from tests.conftest import draw
from vsdemo.core.errors import UserError
from vsdemo.data.catalog import xmp
from vsdemo.data.catalog.annotations import Annotations
from vsdemo.data.catalog.catalog import Catalog
from vsdemo.data.catalog.keywords import remove_keyword, write_keyword
from vsdemo.search import indexing

OWN = xmp.with_keyword(None, "dog", None)  # a sidecar in which somebody else wrote the keyword
NAMES = ("a.png", "b.png", "c/d.png")


def keywords_in(sidecar):
    return xmp.keywords(xmp.read(sidecar), sidecar)


def index(catalog):
    return indexing.index_folder(catalog, [], lambda *progress: None, Event())


@pytest.fixture
def catalog(own_home, tmp_path):
    folder = tmp_path / "photos"
    (folder / "c").mkdir(parents=True)
    for name, colour in zip(NAMES, ("red", "green", "blue"), strict=True):
        draw("circle", colour, "white").save(folder / name)
    catalog = Catalog.create("mine", folder)
    index(catalog)
    return catalog


@pytest.fixture
def annotations(catalog):
    return Annotations("mine")


def keys(catalog, *names):
    return [catalog.entry(name).content for name in names]


def contents(catalog):
    """Return path -> content of all files."""
    files = (path for path in catalog.folder.rglob("*") if path.is_file())
    return {str(path.relative_to(catalog.folder)): path.read_bytes() for path in files}


def test_keywords_are_written_and_removed_again(catalog, annotations):
    before = contents(catalog)
    summary = write_keyword(catalog, annotations, "dog", keys(catalog, "a.png", "c/d.png"))
    assert (summary.written, summary.unchanged, summary.removed) == (2, 0, 0)
    assert {*contents(catalog)} == {*before, "a.png.xmp", "c/d.png.xmp"}
    assert keywords_in(catalog.folder / "c/d.png.xmp") == ["dog"]
    summary = write_keyword(catalog, annotations, "dog", keys(catalog, "b.png", "c/d.png"))
    assert (summary.written, summary.unchanged, summary.removed) == (1, 1, 1)
    assert remove_keyword(catalog, annotations, "dog").removed == 2
    assert contents(catalog) == before
    assert annotations.sidecar_keywords("dog") == []


def test_two_labels_share_a_sidecar(catalog, annotations):
    for name in ("dog", "]]> & 👩‍🚒"):
        write_keyword(catalog, annotations, name, keys(catalog, "a.png"))
    remove_keyword(catalog, annotations, "dog")
    assert keywords_in(catalog.folder / "a.png.xmp") == ["]]> & 👩‍🚒"]


def test_what_somebody_else_wrote_stays(catalog, annotations):
    sidecar = catalog.folder / "a.xmp"
    sidecar.write_bytes(OWN)
    summary = write_keyword(catalog, annotations, "dog", keys(catalog, *NAMES))
    assert (summary.written, summary.unchanged) == (2, 1)
    assert remove_keyword(catalog, annotations, "dog").removed == 2
    assert sidecar.read_bytes() == OWN
    assert not (catalog.folder / "a.png.xmp").exists()


def test_a_moved_photo_takes_its_keyword_along(catalog, annotations):
    write_keyword(catalog, annotations, "dog", keys(catalog, "a.png"))
    for name in ("a.png", "a.png.xmp"):
        os.rename(catalog.folder / name, catalog.folder / "c" / name)
    assert index(catalog).moved == 1
    summary = write_keyword(catalog, annotations, "dog", keys(catalog, "c/a.png"))
    assert (summary.written, summary.unchanged, summary.removed) == (0, 1, 0)
    os.rename(catalog.folder / "c", catalog.folder / "e")
    index(catalog)
    assert remove_keyword(catalog, annotations, "dog").removed == 1
    assert not list(catalog.folder.rglob("*.xmp"))


def test_two_photos_with_one_sidecar(catalog, annotations):
    shutil.copy(catalog.folder / "b.png", catalog.folder / "a.webp")
    index(catalog)
    sidecar = catalog.folder / "a.xmp"
    sidecar.write_bytes(xmp.NEW.replace(b"vsdemo", b"another"))
    both = keys(catalog, "a.png", "a.webp")
    assert write_keyword(catalog, annotations, "dog", both).written == 2  # b.png is a copy
    assert write_keyword(catalog, annotations, "dog", both[:1]).removed == 1
    assert keywords_in(sidecar) == ["dog"]
    remove_keyword(catalog, annotations, "dog")
    assert sidecar.read_bytes() == xmp.NEW.replace(b"vsdemo", b"another")


def test_a_damaged_sidecar_is_one_sentence_and_nothing_changes(
    catalog, annotations, is_one_sentence
):
    (catalog.folder / "c/d.png.xmp").write_text("<damaged")
    before = contents(catalog)
    with pytest.raises(UserError, match="damaged") as caught:
        write_keyword(catalog, annotations, "dog", keys(catalog, *NAMES))
    assert is_one_sentence(caught)
    assert contents(catalog) == before
    assert annotations.sidecar_keywords("dog") == []


def test_a_read_only_folder_is_one_sentence_and_nothing_changes(
    catalog, annotations, monkeypatch, is_one_sentence
):
    before, access = contents(catalog), os.access
    monkeypatch.setattr(  # chmod does not stop root
        os, "access", lambda path, mode: path != catalog.folder / "c" and access(path, mode)
    )
    with pytest.raises(UserError, match="read-only") as caught:
        write_keyword(catalog, annotations, "dog", keys(catalog, *NAMES))
    assert is_one_sentence(caught)
    assert contents(catalog) == before


def test_after_a_disk_has_failed_the_rest_can_be_written_and_removed(
    catalog, annotations, monkeypatch, is_one_sentence
):
    before, write = contents(catalog), xmp.write

    def fail(sidecar, *content):
        if sidecar.name.startswith("b"):
            raise UserError("The disk is full.")
        write(sidecar, *content)

    with monkeypatch.context() as patch:
        patch.setattr(xmp, "write", fail)
        with pytest.raises(UserError):
            write_keyword(catalog, annotations, "dog", keys(catalog, *NAMES))
    assert write_keyword(catalog, annotations, "dog", keys(catalog, *NAMES)).written == 2
    remove_keyword(catalog, annotations, "dog")
    assert contents(catalog) == before


def test_without_the_drive_nothing_is_forgotten(catalog, annotations):
    write_keyword(catalog, annotations, "dog", keys(catalog, *NAMES))
    os.rename(catalog.folder, catalog.folder.with_name("elsewhere"))
    for call in (
        lambda: write_keyword(catalog, annotations, "dog", []),
        lambda: remove_keyword(catalog, annotations, "dog"),
    ):
        with pytest.raises(UserError, match="connect its drive"):
            call()
    assert len(annotations.sidecar_keywords("dog")) == 3


def test_a_photo_that_is_gone_gets_no_sidecar(catalog, annotations):
    key = keys(catalog, "a.png")
    (catalog.folder / "a.png").unlink()
    assert write_keyword(catalog, annotations, "dog", key).written == 0
    assert not list(catalog.folder.rglob("*.xmp"))


@pytest.mark.parametrize("keyword", ["", "a\0b", "x" * 65])
def test_what_no_label_can_be_called_is_no_keyword(catalog, annotations, keyword):
    with pytest.raises(UserError):
        write_keyword(catalog, annotations, keyword, keys(catalog, *NAMES))
    assert not list(catalog.folder.rglob("*.xmp"))


def test_after_sidecars_were_written_no_photo_is_read_again(catalog, annotations, monkeypatch):
    files = catalog.files()
    write_keyword(catalog, annotations, "dog", keys(catalog, *NAMES))

    def fail(*args):
        raise AssertionError("a photo is read")

    monkeypatch.setattr(indexing, "examine_all", fail)
    monkeypatch.setattr(indexing, "content_hash", fail)
    summary = index(catalog)
    assert (summary.photos, summary.new, summary.changed, summary.moved) == (3, 0, 0, 0)
    assert catalog.files() == files
