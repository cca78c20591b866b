"""Storybook on disk: splits, pictures that are drawn once, and the contact sheet."""

import hashlib
import os
import subprocess
import sys
import time

import pytest
from PIL import Image
from typer.testing import CliRunner

from vsdemo.cli import cli
from vsdemo.core.errors import Cancelled, UserError
from vsdemo.data import datasets, storybook
from vsdemo.data.overview import overview
from vsdemo.data.storybook import painters, store
from vsdemo.data.storybook.contact_sheet import save_sheet
from vsdemo.data.storybook.drawing import FOLDER
from vsdemo.data.storybook.pictures import generate_picture

FEW = {
    "train": range(3),
    "dev": range(4000, 4002),
    "test": range(4500, 4502),
    "compositional": range(5000, 5002),
    "all": range(2),
}
CONTENT = ("4889aec129ee", "e50cb3130fe0")  # store.VERSION, and the hash of what it stands for


@pytest.fixture
def few(monkeypatch, tmp_path):
    monkeypatch.setenv("VSDEMO_HOME", str(tmp_path))
    monkeypatch.setattr(store, "SPLITS", FEW)


def content_hash() -> str:
    """Return a hash of all drawings, and of the pictures and captions of some numbers."""
    digest = hashlib.sha256()
    for path in sorted(path for path in FOLDER.rglob("*") if path.suffix in (".svg", ".json")):
        digest.update(f"{path.relative_to(FOLDER).as_posix()}\0".encode() + path.read_bytes())
    for number in range(0, 5500, 250):
        picture = generate_picture(number, compositional=number >= 5000)
        captions = [caption.text for caption in store.captions_of(picture.scene)]
        digest.update("\0".join([picture.svg(), *captions]).encode())
    return digest.hexdigest()[:12]


def test_a_change_of_content_changes_the_version():
    """Choose another store.VERSION if this fails, then write both into CONTENT."""
    assert (store.VERSION, content_hash()) == CONTENT


def test_splits_are_disjoint():
    sizes = {name: len(numbers) for name, numbers in store.SPLITS.items()}
    assert sizes == {"train": 4000, "dev": 500, "test": 500, "compositional": 500, "all": 5500}
    numbers = [n for name in datasets.splits("storybook")[:-1] for n in store.SPLITS[name]]
    assert sorted(numbers) == list(store.SPLITS["all"])


def test_load_draws_missing_pictures_once(few):
    reports = []
    split = datasets.load("storybook", "train")
    assert len(split.captions) == 15
    assert [len(captions) for captions in split.captions_of] == [5, 5, 5]
    before = [(path.read_bytes(), path.stat().st_mtime_ns) for path in split.photos]
    split.photos[1].unlink()
    again = storybook.load("train", lambda done, total: reports.append((done, total)))
    assert again == split
    after = [(path.read_bytes(), path.stat().st_mtime_ns) for path in split.photos]
    assert reports == [(0, 1), (1, 1)]
    assert [content for content, _ in before] == [content for content, _ in after]
    assert before[0] == after[0]
    with Image.open(split.photos[0]) as photo:
        assert photo.size == (480, 360)


def test_pictures_are_drawn_in_order_and_wait_for_the_caller(few, monkeypatch):
    """Whoever is called with the progress can stop the drawing for a while."""
    monkeypatch.setattr(store.cores, "available", lambda: 2)
    numbers, drawn = range(4000, 4040), []

    def progress(done, total):
        drawn.append(sum(store.photo(number).exists() for number in numbers[:done]))
        if done == 4:
            time.sleep(2)
            ahead = sum(store.photo(number).exists() for number in numbers)
            assert ahead <= 4 + 3 * painters.CHUNK

    store.draw(numbers, progress)
    assert drawn == list(range(41))


def test_drawing_ends_with_an_error_of_its_caller(few, monkeypatch):
    monkeypatch.setattr(store.cores, "available", lambda: 2)
    processes = []
    start = subprocess.Popen
    monkeypatch.setattr(
        painters.subprocess,
        "Popen",
        lambda *a, **o: processes.append(start(*a, **o)) or processes[-1],
    )

    def progress(done, total):
        if done:
            raise Cancelled

    with pytest.raises(Cancelled) as caught:
        store.draw(range(4000, 4040), progress)
    assert len(processes) == 2
    assert [process.returncode for process in processes] == [0, 0]
    assert caught.traceback  # still refers to what was drawing
    assert len(list(store.folder().glob("*.png"))) < 40


def test_a_picture_that_cannot_be_drawn(few, monkeypatch, tmp_path):
    monkeypatch.setattr(store.cores, "available", lambda: 2)
    (tmp_path / "file").write_text("in the place of a folder")
    monkeypatch.setenv("VSDEMO_HOME", str(tmp_path / "file" / "home"))
    with pytest.raises(UserError, match=r"Storybook cannot be drawn \(.+\)\.$"):
        store.draw(range(4000, 4016))
    monkeypatch.setattr(painters, "MODULE", "vsdemo.core.paths")  # ends at once
    monkeypatch.setenv("VSDEMO_HOME", str(tmp_path))
    with pytest.raises(UserError, match="process that draws them has ended"):
        store.draw(range(4000, 4016))


@pytest.mark.long
def test_painters_end_with_a_killed_program(few):
    code = (
        "import os, signal; from vsdemo.data.storybook import painters;"
        "next(painters.draw(range(4000, 4400), 2)); os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", code], check=False)
    time.sleep(3)  # more than a few pictures take
    count = len(list(store.folder().glob("*.png")))
    assert 0 < count <= 4 * painters.CHUNK
    time.sleep(1)
    assert len(list(store.folder().glob("*.png"))) == count
    assert list(store.folder().glob(".*.tmp")) == []


def test_scenes_are_read_as_they_were_generated(few):
    assert storybook.scenes("test") == tuple(generate_picture(n).scene for n in FEW["test"])
    scene = storybook.scenes("compositional")[1]
    assert scene == generate_picture(5001, compositional=True).scene
    texts = tuple(caption.text for caption in storybook.captions_of(scene))
    assert texts == storybook.load("compositional").captions[5:]


def test_check_and_overview(few, monkeypatch):
    facts, problems = datasets.check("storybook")
    assert problems == []
    assert "2 pictures" in facts[0]
    monkeypatch.delenv("VSDEMO_DATA", raising=False)
    assert any("found    storybook" in line for line in overview())


def test_other_data_sets_have_no_compositional_split():
    with pytest.raises(UserError, match="use one of train, dev, test, all"):
        datasets.load("flickr8k", "compositional")


def test_contact_sheet(few, tmp_path):
    to = tmp_path / "sheet.png"
    result = CliRunner().invoke(cli, ["data", "storybook", "--show", "2", "--to", str(to)])
    assert result.exit_code == 0
    with Image.open(to) as sheet:
        assert sheet.width > 4 * 480


@pytest.mark.parametrize(
    ("name", "split", "message"),
    [("sheet.txt", "test", "image file"), ("a.png", "nope", "split"), ("no/a.png", "test", "")],
)
def test_contact_sheet_errors(few, tmp_path, name, split, message):
    (tmp_path / "no").write_text("a file where a folder should be")
    if os.sep in name and not message:
        message = "cannot be written"
    with pytest.raises(UserError, match=message):
        save_sheet(split, 1, tmp_path / name)


@pytest.mark.timeout(60)
def test_drawing_ends_although_another_process_holds_the_input_open():
    """A copy of this process does, as the one that has the GPU on ZeroGPU."""
    with painters._Painter() as painter:
        held = os.dup(painter._orders.fileno())
    os.close(held)
    assert painter._process.returncode == 0
