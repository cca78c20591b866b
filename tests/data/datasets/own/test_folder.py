"""Photos of one's own as data sets, with captions and without."""

import shutil
from threading import Event

import pytest
from PIL import Image

from tests.support.captioned_folder import write_photos, write_table
from vsdemo.core.errors import UserError
from vsdemo.data import datasets
from vsdemo.data.catalog.catalog import Catalog
from vsdemo.data.catalog.examine import content_hash, examine
from vsdemo.data.catalog.scan import scan
from vsdemo.data.datasets.own import content_split
from vsdemo.data.datasets.own.content_split import split_of
from vsdemo.data.galleries import galleries, open_gallery

SPLITS = ("train", "dev", "test")


@pytest.fixture
def folder(own_home, tmp_path):
    """Sixty photos with two captions each, one without, and a copy with captions of its own."""
    folder = tmp_path / "photos"
    captions = write_photos(folder)
    shutil.copy(folder / "001.png", folder / "copy.png")
    write_table(folder, captions, ("copy.png", "A copy."))
    Image.new("RGB", (30, 20), "red").save(folder / "bare.png")
    return folder


def index(folder, name: str = "mine") -> Catalog:
    catalog = Catalog.create(name, folder)
    listed = scan(folder, lambda done, total: None, Event()).files
    catalog.write([examine(folder, file)[0] for file in listed])
    return catalog


def names(dataset: str) -> dict[str, list[str]]:
    return {split: [p.name for p in datasets.photos(dataset, split)] for split in SPLITS}


def test_photos_with_captions_are_split_by_content(folder):
    name = str(folder)
    assert datasets.find(name).captioned
    sets = {split: datasets.load(name, split) for split in (*SPLITS, "all")}
    for split in SPLITS:
        assert {split_of(content_hash(photo)) for photo in sets[split].photos} == {split}
        assert all(sets[split].captions_of)
    assert len(sets["all"].photos) == 62
    assert sum(len(sets[split].photos) for split in SPLITS) == 61  # all but the bare one
    numbers = {photo.name: number for number, photo in enumerate(sets["all"].photos)}
    assert sets["all"].own_captions(numbers["bare.png"]) == []
    assert sets["all"].own_captions(numbers["002.png"]) == [
        "A blue bar at 2.",
        "There is a blue bar at 2.",
    ]
    assert sets["all"].is_own


def test_copies_are_in_one_split_and_new_photos_move_none(folder):
    before = names(str(folder))
    (holder,) = (split for split in SPLITS if "copy.png" in before[split])
    assert "001.png" in before[holder]
    for number in range(30):
        Image.new("RGB", (30, 20), (number, 9, 9)).save(folder / f"new{number}.png")
        (folder / f"new{number}.txt").write_text("A new one.")
    after = names(str(folder))
    assert {s: [n for n in after[s] if not n.startswith("new")] for s in SPLITS} == before
    assert sum(map(len, after.values())) == 91


def test_a_folder_without_captions_stays_a_gallery(folder):
    (folder / "captions.csv").unlink()
    found = datasets.find(str(folder))
    assert not found.captioned
    assert len(datasets.photos(str(folder), "dev")) == 62
    (obstacle,) = found.check_training().obstacles
    assert "has no captions to learn from; put a text file next to each photo" in obstacle
    assert found.check() == (["62 photos without captions"], [])


def test_an_index_has_the_captions_of_its_folder_and_of_metadata(folder, monkeypatch):
    exif = Image.Exif()
    exif[270] = "A bare wall."
    Image.new("RGB", (30, 20), "red").save(folder / "bare.jpg", exif=exif)
    exif[270] = "OLYMPUS DIGITAL CAMERA"
    Image.new("RGB", (30, 20), "red").save(folder / "camera.jpg", exif=exif)
    index(folder)
    monkeypatch.setattr(content_split, "sha256", None)  # nothing is read
    split = datasets.load("mine", "all")
    numbers = {photo.name: number for number, photo in enumerate(split.photos)}
    assert split.own_captions(numbers["bare.jpg"]) == ["A bare wall."]
    assert split.own_captions(numbers["camera.jpg"]) == []
    assert split.name == "mine"
    by_name = names("mine")
    assert sum(map(len, by_name.values())) == 62
    dev = datasets.load("mine", "dev")
    assert [content_hash(photo) for photo in dev.photos] == list(dev.keys)
    by_path = names(str(folder))  # the keys of the index serve the folder as well
    assert {split: [n for n in by_name[split] if n != "bare.jpg"] for split in SPLITS} == by_path


def test_an_index_without_any_caption_is_a_gallery(folder):
    (folder / "captions.csv").unlink()
    index(folder)
    assert not datasets.find("mine").captioned


def test_own_photos_with_captions_are_own_photos_in_the_app(folder):
    index(folder)
    for name in ("mine", str(folder)):
        (gallery,) = (g for g in galleries(name) if g.name == name)
        assert gallery.is_own
        assert gallery.is_captioned
        assert gallery.label.endswith(" (62)")
        assert gallery.thumbnail(0)
        entry = gallery.entry(3)
        assert entry is not None
        assert entry.path == str(gallery.photos[3].relative_to(folder))
    dev = open_gallery(str(folder), "dev")
    assert dev is not None
    assert dev.entry(0) is not None


def test_a_relative_path_is_the_same_data_set(folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    assert datasets.full_name("photos") == str(folder)
    assert datasets.full_name("storybook") == "storybook"
    assert datasets.full_name("pascal1k:3") == "pascal1k:3"
    assert datasets.full_name("nowhere") == "nowhere"
    gallery = open_gallery("photos", "all", own=True)
    assert gallery is not None
    assert (gallery.name, gallery.label) == (str(folder), "photos (62)")


def test_a_refused_table_leaves_photos_to_search(folder, is_one_sentence):
    write_table(folder, {"../out.png": "Out."})
    assert len(datasets.load(str(folder), "all").photos) == 62
    with pytest.raises(UserError, match="leads out of the folder") as caught:
        datasets.load(str(folder), "train")
    assert is_one_sentence(caught)
    assert datasets.find(str(folder)).check_training() == ([str(caught.value)], [])
    problems = datasets.check(str(folder)).problems
    assert problems.count(str(caught.value)) == 1


def test_a_check_lists_everything_that_is_left_out(folder):
    captions = {path.relative_to(folder).as_posix(): "A." for path in folder.rglob("0*.png")}
    write_table(folder, captions, ("gone.png", "B."), ("gone2.png", "C."), ("001.png", " "))
    (folder / "002.png").write_bytes(b"no photo")
    facts, problems = datasets.check(str(folder))
    assert facts[0] == "62 photos, 60 of them with captions, 120 captions"
    assert facts[1].startswith("split by the photos' content: train ")
    text = "\n".join(problems)
    for part in (
        "line 122: there is no photo gone.png",
        "line 123:",
        "001.png is empty",
        "002.png",
    ):
        assert part in text
    assert len(problems) == 4
    obstacles, notes = datasets.find(str(folder)).check_training()
    assert obstacles == []
    assert notes[0].startswith("2 of 62 photos have no captions and are left out")
    assert "dev, so its figures are rough" in notes[1]
    assert f"(there is one more like it; `python -m vsdemo data check {folder}`" in notes[2]
    assert len(notes) == 4


def test_too_few_photos_are_an_obstacle(folder):
    write_table(folder, {"001.png": "A.", "002.png": "B."})
    (obstacle,) = datasets.find(str(folder)).check_training().obstacles
    assert "has too few photos with captions: train " in obstacle
    assert obstacle.endswith("so add captions until about 50 photos have some.")
    assert obstacle in datasets.check(str(folder)).problems


def test_an_index_counts_the_files_that_it_could_not_read(folder):
    (folder / "broken.png").write_bytes(b"no photo")
    index(folder)
    notes = datasets.find("mine").check_training().notes
    assert any(
        note.startswith("Unreadable files are left out: 1, such as: broken.png") for note in notes
    )
