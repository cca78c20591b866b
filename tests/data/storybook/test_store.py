"""The data set on disk, and its contact sheet."""

import os

import pytest
from PIL import Image
from typer.testing import CliRunner

from vsdemo.cli import cli
from vsdemo.core.errors import UserError
from vsdemo.data import datasets, storybook
from vsdemo.data.overview import overview
from vsdemo.data.storybook import store
from vsdemo.data.storybook.pictures import generate_picture

FEW = {"train": range(3), "dev": range(4000, 4002), "test": range(4500, 4502)} | {
    "compositional": range(5000, 5002),
    "all": range(2),
}


@pytest.fixture
def few(monkeypatch, tmp_path):
    monkeypatch.setenv("VSDEMO_HOME", str(tmp_path))
    monkeypatch.setattr(store, "SPLITS", FEW)


def test_splits_are_disjoint_and_of_the_promised_sizes():
    sizes = {name: len(numbers) for name, numbers in store.SPLITS.items()}
    assert sizes == {"train": 4000, "dev": 500, "test": 500, "compositional": 500, "all": 5500}
    numbers = [n for name in datasets.splits("storybook")[:-1] for n in store.SPLITS[name]]
    assert sorted(numbers) == list(store.SPLITS["all"])


def test_load_draws_once_and_tells_how_far_it_is(few):
    told = []
    found = datasets.load("storybook", "train")
    assert len(found.captions) == 15
    assert [len(c) for c in found.captions_of] == [5, 5, 5]
    before = [(p.read_bytes(), p.stat().st_mtime_ns) for p in found.photos]
    found.photos[1].unlink()
    assert storybook.load("train", lambda *done: told.append(done)) == found
    after = [(p.read_bytes(), p.stat().st_mtime_ns) for p in found.photos]
    assert told == [(1, 1)]
    assert [b for b, _ in before] == [b for b, _ in after]
    assert before[0] == after[0]
    with Image.open(found.photos[0]) as photo:
        assert photo.size == (480, 360)


def test_scenes_come_back_as_they_were(few):
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
    with pytest.raises(UserError, match="valid are train, dev, test, all"):
        datasets.load("flickr8k", "compositional")


def test_contact_sheet(few, tmp_path):
    to = tmp_path / "sheet.png"
    done = CliRunner().invoke(cli, ["data", "storybook", "--show", "2", "--to", str(to)])
    assert done.exit_code == 0
    with Image.open(to) as sheet:
        assert sheet.width > 4 * 480


@pytest.mark.parametrize(
    ("name", "split", "why"),
    [("sheet.txt", "test", "image file"), ("a.png", "nope", "split"), ("no/a.png", "test", "")],
)
def test_contact_sheet_that_cannot_be(few, tmp_path, name, split, why):
    from vsdemo.data.storybook.contact_sheet import save_sheet

    (tmp_path / "no").write_text("a file where a folder should be")
    if os.sep in name and not why:
        why = "cannot be written"
    with pytest.raises(UserError, match=why):
        save_sheet(split, 1, tmp_path / name)
