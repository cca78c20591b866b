"""Captions beside photos: text files, and which file counts."""

import json
import os

import pytest

from vsdemo.core.errors import UserError
from vsdemo.data.datasets.own.caption_list import Kind
from vsdemo.data.datasets.own.captions import has_captions, read_captions


def test_a_text_file_beside_a_photo_has_a_caption_a_line(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.txt").write_text("A dog.\n\n  A wet   dog. \nA dog.\n", "utf-8-sig")
    (tmp_path / "b.jpg.txt").write_text("Of b.jpg alone.")
    (tmp_path / "b.txt").write_text("Not this.")
    (tmp_path / "sub" / "C.TXT").write_text("A cow.\r\nTwo cows.")
    (tmp_path / "notes.txt").write_text("Of no photo.")
    paths = ["a.jpg", "b.jpg", "d.jpg", "sub/c.png"]
    result = read_captions(tmp_path, paths)
    assert result.of == {
        "a.jpg": ("A dog.", "A wet dog."),
        "b.jpg": ("Of b.jpg alone.",),
        "sub/c.png": ("A cow.", "Two cows."),
    }
    assert (result.problems, result.splits) == ([], None)
    assert has_captions(tmp_path, paths)
    assert not has_captions(tmp_path, ["d.jpg"])


def test_text_files_without_captions_are_problems(tmp_path):
    (tmp_path / "a.txt").write_text(" \n")
    (tmp_path / "b.txt").write_text("x" * 1001)
    (tmp_path / "c.txt").write_bytes(b" " * 1_000_001)
    (tmp_path / "d.txt").mkdir()
    result = read_captions(tmp_path, ["a.jpg", "b.jpg", "c.jpg", "d.jpg"])
    assert result.of == {}
    kinds = [problem.kind for problem in result.problems]
    assert kinds == [Kind.EMPTY, Kind.TOO_LONG, Kind.INCOMPLETE]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_no_text_file(tmp_path):
    os.mkfifo(tmp_path / "a.txt")
    assert read_captions(tmp_path, ["a.jpg"]).of == {}


def test_photos_that_a_table_leaves_out_may_have_text_files(tmp_path):
    (tmp_path / "captions.tsv").write_text("file\tcaption\na.jpg\tOf the table.\n")
    for name in ("a", "b"):
        (tmp_path / f"{name}.txt").write_text("Of the text file.")
    of = read_captions(tmp_path, ["a.jpg", "b.jpg"]).of
    assert of == {"a.jpg": ("Of the table.",), "b.jpg": ("Of the text file.",)}


@pytest.mark.parametrize("name", ["captions.json", "dataset_mine.json"])
def test_a_karpathy_file_has_its_own_splits(tmp_path, name):
    def image(file, split, *texts):
        return {"filename": file, "split": split, "sentences": [{"raw": t} for t in texts]}

    images = [
        image("a.jpg", "val", "A.", " "),
        image("gone.jpg", "train", "B."),
        image("c.jpg", "spare", "C."),
        image("d.jpg", "restval", "D."),
    ]
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "d.jpg").touch()
    (tmp_path / name).write_text(json.dumps({"images": images}))
    result = read_captions(tmp_path, ["a.jpg", "c.jpg", "images/d.jpg"])
    assert result.of == {"a.jpg": ("A.",), "c.jpg": ("C.",), "images/d.jpg": ("D.",)}
    assert result.splits == {"a.jpg": "dev", "images/d.jpg": "train"}
    assert [p.kind for p in result.problems] == [Kind.EMPTY, Kind.MISSING_PHOTO]


def test_a_karpathy_file_that_leaves_the_folder_is_refused(tmp_path):
    image = {"filename": "../a.jpg", "split": "train", "sentences": []}
    (tmp_path / "captions.json").write_text(json.dumps({"images": [image]}))
    with pytest.raises(UserError, match="leaves its folder"):
        read_captions(tmp_path, ["a.jpg"])


def test_two_files_of_captions_are_refused(tmp_path, is_one_sentence):
    for name in ("captions.csv", "captions.json"):
        (tmp_path / name).write_text("{}")
    assert has_captions(tmp_path, [])
    with pytest.raises(UserError, match=r"\(captions\.csv, captions\.json\); keep one") as caught:
        read_captions(tmp_path, ["a.jpg"])
    assert is_one_sentence(caught)
