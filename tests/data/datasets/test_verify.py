from PIL import Image

from vsdemo.core.caption_set import CaptionSet
from vsdemo.data.datasets.verify import verify


def test_equal_pixels_are_found_across_file_formats(tmp_path):
    red, blue = Image.new("RGB", (20, 10), "red"), Image.new("RGB", (20, 10), "blue")
    turned = Image.new("RGB", (10, 20), "red")  # the same bytes in another shape
    for name, photo in {"a.png": red, "a.bmp": red, "b.png": blue, "c.png": turned}.items():
        photo.save(tmp_path / name)
    a, twin, b, c = (tmp_path / n for n in ("a.png", "a.bmp", "b.png", "c.png"))
    splits = {
        "train": CaptionSet("x", "train", (a, b)),
        "test": CaptionSet("x", "test", (c, twin)),
        "all": CaptionSet("x", "all", (a, b, c, twin)),
    }
    facts, problems = verify(splits)
    assert facts == ["4 of 4 photos decode"]
    assert problems == ["the same photo in two splits: a.png (train); a.bmp (test)"]
    facts, problems = verify(splits | {"test": CaptionSet("x", "test", (c,))})
    assert facts[1:] == ["the same photo in a split and in none: a.png (train); a.bmp (no split)"]
    assert problems == []


def test_unreadable_photos_are_no_duplicates(tmp_path):
    for name in ("a.png", "b.png"):
        (tmp_path / name).write_bytes(b"no photo")
    photos = (tmp_path / "a.png", tmp_path / "b.png")
    facts, problems = verify({"all": CaptionSet("x", "all", photos)})
    assert facts == ["0 of 2 photos decode"]
    assert [p.split()[0] for p in problems] == ["a.png", "b.png"]
