"""The large photo of a gallery of one's own says which file it is."""

import os

from PIL import Image

from vsdemo.data.catalog.catalog import Catalog
from vsdemo.data.catalog.examine import PhotoRecord
from vsdemo.data.catalog.metadata import Metadata
from vsdemo.data.catalog.scan import PhotoFile
from vsdemo.data.galleries import galleries
from vsdemo.ui.search import view


def test_an_indexed_photo_has_file_date_camera_place_size_and_caption(own_home, tmp_path):
    metadata = Metadata(
        taken="2024-05-31T14:02:11", camera="Acme One", place="Oslo", caption="<b>Us</b>"
    )
    record = PhotoRecord(
        PhotoFile("b/a.jpg", 1, 1), content="k", width=4000, height=3000, metadata=metadata
    )
    Catalog.create("mine", tmp_path).write([record])
    (gallery,) = (g for g in galleries(None) if g.is_own)
    file = view.own_file(gallery, 0)
    assert file.facts == [
        "b/a.jpg", "2024-05-31 14:02", "Acme One", "Oslo", "4,000 x 3,000", "<b>Us</b>",
    ]  # fmt: skip
    shown = view.detail("a", [], text="t", bar=None, nearest=[], file=file)
    assert "&lt;b&gt;Us" in shown
    assert file.path == str(tmp_path / "b" / "a.jpg")
    assert file.path in shown


def test_strangers_get_no_path(own_home, tmp_path, monkeypatch):
    record = PhotoRecord(PhotoFile("a.jpg", 1, 1), content="k", width=4, height=3)
    Catalog.create("mine", tmp_path).write([record])
    (gallery,) = (g for g in galleries(None) if g.is_own)
    monkeypatch.setenv("GRADIO_SERVER_NAME", "0.0.0.0")
    file = view.own_file(gallery, 0)
    shown = view.detail("a", [], text="t", bar=None, nearest=[], file=file)
    assert str(tmp_path) not in shown


def test_a_photo_that_is_not_indexed_has_its_name(own_home, tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    odd = os.fsdecode(b"caf\xe9.png")
    Image.new("RGB", (30, 20)).save(folder / odd)
    (gallery,) = (g for g in galleries(str(folder)) if g.is_own)
    assert view.own_file(gallery, 0).facts == ["caf?.png"]


def test_a_data_set_has_no_facts(toy_root):
    gallery = next(iter(galleries("toy")))
    assert view.own_file(gallery, 0) is None
