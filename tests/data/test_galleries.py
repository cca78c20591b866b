"""Galleries that the app offers."""

import io
from threading import Event

from PIL import Image

from vsdemo.data.catalog.catalog import Catalog, catalog_of
from vsdemo.data.catalog.examine import examine
from vsdemo.data.catalog.scan import scan
from vsdemo.data.galleries import galleries


def test_only_a_folder_without_captions_has_photos_of_ones_own(toy_root):
    def own(name):
        return [gallery.key for gallery in galleries(name) if gallery.is_own]

    assert own(str(toy_root / "toy" / "images")) == ["images-all"]
    assert own(str(toy_root / "toy" / "captions.json")) == []
    assert own("toy") == own("storybook") == own(None) == []


def test_an_index_is_a_gallery_with_thumbnails(own_home, tmp_path):
    for name in ("a.png", "b.png"):
        Image.new("RGB", (800, 400), "red").save(tmp_path / name)
    catalog = Catalog.create("mine", tmp_path)
    listed = scan(tmp_path, lambda done, total: None, Event()).files
    catalog.write([examine(tmp_path, file)[0] for file in listed])
    (mine,) = (gallery for gallery in galleries(None) if gallery.is_own)
    assert (mine.label, mine.name, len(mine.keys)) == ("mine (2)", "mine", 2)
    thumbnail = mine.thumbnail(1)
    assert thumbnail is not None
    assert Image.open(io.BytesIO(thumbnail)).size == (320, 160)
    assert not any(gallery.is_own for gallery in galleries(None, with_indexes=False))
    (named,) = (g for g in galleries("mine", with_indexes=False) if g.is_own)
    assert named == mine
    (folder,) = (g for g in galleries(str(tmp_path), with_indexes=False) if g.is_own)
    assert folder.thumbnail(0) == mine.thumbnail(0)  # by its path as well
    entry = mine.entry(1)
    assert entry is not None
    assert (entry.path, entry.width, entry.height) == ("b.png", 800, 400)
    assert folder.entry(1) == entry


def test_a_damaged_index_does_not_hide_other_galleries(own_home, tmp_path):
    Catalog.create("mine", tmp_path).file.write_bytes(b"damaged")
    keys = [gallery.key for gallery in galleries(None)]
    assert "storybook-test" in keys
    assert "mine-all" not in keys
    assert catalog_of(tmp_path) is None
