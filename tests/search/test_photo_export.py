"""Found photos as links, a zip file or a table: complete or not there, and nothing is replaced."""

import csv
import errno
import os
import zipfile
from pathlib import Path
from threading import Event

import pytest

from vsdemo.core.errors import Cancelled, UserError
from vsdemo.data.catalog.metadata import Metadata
from vsdemo.search.photo_export import (
    ExportedPhoto,
    ExportForm,
    check_target,
    export_photos,
    form_of,
    safe_names,
)

FORMS = ("found", "found.zip", "found.csv")


@pytest.fixture
def photos(tmp_path):
    """Three photos, one of them in a folder below."""
    names = ("a.jpg", "below/a.jpg", "b.jpg")
    for number, name in enumerate(names):
        path = tmp_path / "photos" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes([number]) * 3_000_000)
    return [
        ExportedPhoto(tmp_path / "photos" / name, name, rank, score=-rank / 8)
        for rank, name in enumerate(names, start=1)
    ]


def contents(folder):
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_links_lead_to_the_photos(photos, tmp_path):
    before = contents(tmp_path / "photos")
    export_photos(photos, tmp_path / "new" / "found")
    assert contents(tmp_path / "new" / "found") == before
    assert (tmp_path / "new" / "found" / "below" / "a.jpg").is_symlink()
    assert contents(tmp_path / "photos") == before


def test_links_of_a_relative_path_lead_to_the_photos(photos, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    photo = ExportedPhoto(Path("photos/a.jpg"), "a.jpg", 1, 0.5)
    export_photos([photo], "found")
    assert (tmp_path / "found" / "a.jpg").read_bytes() == photos[0].path.read_bytes()


def refusing(number):
    def refuse(*args, **kwargs):
        raise OSError(number, os.strerror(number))

    return refuse


@pytest.mark.parametrize("number", [errno.EPERM, errno.ENOTSUP])
def test_without_symbolic_links_they_are_hard_ones(photos, tmp_path, monkeypatch, number):
    monkeypatch.setattr(Path, "symlink_to", refusing(number))
    export_photos(photos, tmp_path / "found")
    assert (tmp_path / "found" / "b.jpg").samefile(photos[2].path)
    assert not (tmp_path / "found" / "b.jpg").is_symlink()


def test_without_links_a_zip_is_proposed(photos, tmp_path, monkeypatch, is_one_sentence):
    monkeypatch.setattr(Path, "symlink_to", refusing(errno.EPERM))
    monkeypatch.setattr(Path, "hardlink_to", refusing(errno.EXDEV))
    with pytest.raises(UserError, match=r"export a \.zip") as caught:
        export_photos(photos, tmp_path / "found")
    assert is_one_sentence(caught)
    assert os.listdir(tmp_path) == ["photos"]


def test_a_zip_holds_the_photos_as_they_are(photos, tmp_path):
    reported = []
    os.utime(photos[0].path, (0, 0))  # before 1980, which zip files do not know
    export_photos(photos, tmp_path / "found.zip", progress=lambda *a: reported.append(a))
    with zipfile.ZipFile(tmp_path / "found.zip") as archive:
        assert archive.testzip() is None
        assert archive.namelist() == [photo.name for photo in photos]
        for photo, about in zip(photos, archive.infolist(), strict=True):
            assert archive.read(about) == photo.path.read_bytes()
            assert about.compress_type == zipfile.ZIP_STORED
    assert reported == [(1, 3), (2, 3), (3, 3)]


def test_a_zip_can_have_any_size(photos, tmp_path, monkeypatch):
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 2_000_000)
    monkeypatch.setattr(zipfile, "ZIP_FILECOUNT_LIMIT", 2)
    export_photos(photos, tmp_path / "found.zip")
    with zipfile.ZipFile(tmp_path / "found.zip") as archive:
        assert archive.testzip() is None
        assert len(archive.namelist()) == 3


def test_a_table_says_what_is_known(tmp_path):
    about = Metadata("2024-05-31T14:02:11", "NIKON D90", 1.5, 2.5, "Oslo, Norway", 'A "big" dog, ö')
    known = ExportedPhoto(tmp_path / "gone.jpg", "below/ö.jpg", 1, 0.25, 30, 20, about)
    unknown = ExportedPhoto(tmp_path / "b.jpg", os.fsdecode(b"caf\xe9.jpg"), 2, -0.5)
    export_photos([known, unknown], tmp_path / "found.csv")
    assert (tmp_path / "found.csv").read_bytes().startswith(b"rank,file,score,date,")
    with (tmp_path / "found.csv").open(encoding="utf-8", newline="") as file:
        first, second = csv.DictReader(file)
    assert list(first.values()) == [
        *("1", "below/ö.jpg", "0.25", "2024-05-31T14:02:11", "NIKON D90", "Oslo, Norway"),
        *("30", "20", 'A "big" dog, ö'),
    ]
    assert list(second.values()) == ["2", "caf?.jpg", "-0.5", "", "", "", "", "", ""]


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1"])
def test_no_text_of_a_table_is_a_formula(tmp_path, text):
    about = Metadata(camera=text, place=text, caption=text)
    export_photos([ExportedPhoto(Path("a"), text, 1, -1.0, metadata=about)], tmp_path / "a.csv")
    with (tmp_path / "a.csv").open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert {row[name] for name in ("file", "camera", "place", "caption")} == {f"'{text}"}
    assert row["score"] == "-1.0"  # a number


@pytest.mark.parametrize("name", FORMS)
def test_nothing_is_replaced(photos, tmp_path, name, is_one_sentence):
    target = tmp_path / name
    target.write_bytes(b"mine")
    with pytest.raises(UserError, match="exists already") as caught:
        export_photos(photos, target)
    assert is_one_sentence(caught)
    assert target.read_bytes() == b"mine"
    target.unlink()
    target.symlink_to(tmp_path / "nothing")
    with pytest.raises(UserError, match="exists already"):
        check_target(target)


@pytest.mark.parametrize("name", FORMS)
def test_a_target_that_is_made_meanwhile_is_not_replaced(photos, tmp_path, name):
    target = tmp_path / name

    def progress(done, total):
        target.write_bytes(b"mine")

    with pytest.raises(UserError, match="exists already"):
        export_photos(photos, target, progress=progress)
    assert target.read_bytes() == b"mine"
    assert sorted(os.listdir(tmp_path)) == sorted([name, "photos"])


@pytest.mark.parametrize("name", FORMS)
def test_a_cancelled_export_leaves_nothing(photos, tmp_path, name):
    cancel = Event()
    with pytest.raises(Cancelled):
        export_photos(photos, tmp_path / name, progress=lambda *a: cancel.set(), cancel=cancel)
    assert os.listdir(tmp_path) == ["photos"]


@pytest.mark.parametrize("name", ["found", "found.zip"])
def test_photos_that_are_gone_are_named(photos, tmp_path, name, is_one_sentence):
    photos[1].path.unlink()
    with pytest.raises(UserError, match=r"1 of 3 photos are gone, such as below/a\.jpg") as caught:
        export_photos(photos, tmp_path / name)
    assert is_one_sentence(caught)
    assert os.listdir(tmp_path) == ["photos"]


def test_a_photo_that_vanishes_meanwhile_is_named(photos, tmp_path, is_one_sentence):
    with pytest.raises(UserError, match=r"b\.jpg cannot be read") as caught:
        export_photos(
            photos,
            tmp_path / "found.zip",
            progress=lambda *a: photos[2].path.unlink(missing_ok=True),
        )
    assert is_one_sentence(caught)
    assert os.listdir(tmp_path) == ["photos"]


@pytest.mark.parametrize("name", FORMS)
def test_a_full_disk_is_one_sentence(photos, tmp_path, monkeypatch, name, is_one_sentence):
    monkeypatch.setattr(Path, "rename", refusing(errno.ENOSPC))
    monkeypatch.setattr(Path, "replace", refusing(errno.ENOSPC))
    with pytest.raises(UserError, match="is full") as caught:
        export_photos(photos, tmp_path / name)
    assert is_one_sentence(caught)
    assert os.listdir(tmp_path) == ["photos"]


@pytest.mark.parametrize("name", FORMS)
def test_an_unwritable_folder_is_one_sentence(photos, tmp_path, name, is_one_sentence):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(UserError, match="cannot be written") as caught:
        export_photos(photos, tmp_path / "file" / name)
    assert is_one_sentence(caught)


def test_no_photos_are_no_export(tmp_path, is_one_sentence):
    with pytest.raises(UserError, match="no photos") as caught:
        export_photos([], tmp_path / "found.zip")
    assert is_one_sentence(caught)


@pytest.mark.parametrize(
    ("names", "safe"),
    [
        (["a/b.jpg", "a/c.jpg"], ["a/b.jpg", "a/c.jpg"]),
        (["/etc/a.jpg", "../../b.jpg", "c/../d.jpg"], ["etc/a.jpg", "b.jpg", "c/d.jpg"]),
        (["..\\..\\a.jpg", "C:\\a.jpg"], [".._.._a.jpg", "C__a.jpg"]),
        (["a.jpg", "A.jpg", "a.jpg"], ["a.jpg", "A (2).jpg", "a (3).jpg"]),
        (["a:.jpg", "a?.jpg", "a_ (2).jpg"], ["a_.jpg", "a_ (2).jpg", "a_ (2) (2).jpg"]),
        (["é.jpg", "é.jpg"], ["é.jpg", "é (2).jpg"]),
        ([os.fsdecode(b"caf\xe9.jpg")], ["caf_.jpg"]),
        (["..", "/", ""], ["photo", "photo (2)", "photo (3)"]),
    ],
)
def test_names_are_safe_on_every_system(names, safe):
    assert safe_names(names) == safe


@pytest.mark.parametrize(
    ("target", "form"),
    [
        ("found.zip", ExportForm.ZIP),
        (Path("x/Found.CSV"), ExportForm.CSV),
        ("found", ExportForm.LINKS),
        ("trip 12.05", ExportForm.LINKS),
        ("found.links", ExportForm.LINKS),
    ],
)
def test_the_suffix_selects_the_form(target, form):
    assert form_of(target) is form
