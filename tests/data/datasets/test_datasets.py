"""Data sets by name, and the overview of what is available."""

import json
import shutil
from collections import Counter

import pytest

from tests.support import small_concepts
from vsdemo.core.errors import UserError
from vsdemo.data import caption_bank, datasets
from vsdemo.data.overview import overview
from vsdemo.data.pairs import wordnet
from vsdemo.data.storybook.lexicon import load_lexicon
from vsdemo.data.text.vocab import tokenize


def test_a_captions_file_below_vsdemo_data_is_found_by_its_folder_s_name(toy_root):
    counts = {s: len(datasets.load("toy", s).photos) for s in datasets.splits("toy")}
    assert counts == {"train": 24, "dev": 8, "test": 8, "all": 40}
    assert all(
        p.is_relative_to(toy_root) and p.exists() for p in datasets.load("toy", "all").photos
    )
    assert datasets.load(str(toy_root / "toy" / "captions.json"), "dev").photo_of[-1] == 7


def test_coco_s_file_name_is_found(tmp_path, monkeypatch):
    (tmp_path / "coco").mkdir()
    image = {"filename": "1.jpg", "split": "train", "sentences": [{"raw": "A dog."}]}
    (tmp_path / "coco" / "dataset_coco.json").write_text(json.dumps({"images": [image]}))
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path))
    assert datasets.load("coco", "train").captions == ("A dog.",)


def test_a_folder_of_photos_has_no_captions(toy_root):
    split = datasets.load(str(toy_root / "toy" / "images"), "all")
    assert len(split.photos) == 40
    assert split.captions == split.photo_of == ()


def test_words_are_those_that_training_captions_repeat(toy_root):
    words = datasets.find("toy").words()
    assert set(words) >= {"a", "circle", "red", "ground"}
    assert words[0] == "a"
    train = datasets.load("toy", "train").captions
    counts = Counter(word for caption in train for word in tokenize(caption))
    assert set(words) == {word for word, count in counts.items() if count > 1}
    assert datasets.find("storybook").words() == load_lexicon().words()


def test_words_are_those_of_the_caption_bank_without_training_captions(toy_root, monkeypatch):
    assert datasets.find(str(toy_root / "toy" / "images")).words() == caption_bank.words()
    monkeypatch.delenv("VSDEMO_DATA")
    assert datasets.find("flickr8k").words() == caption_bank.words()


def test_unknown_names_and_splits_list_the_valid_ones(tmp_path):
    known = "flickr8k, flickr8k:SEED, pascal1k, pascal1k:SEED, storybook, toy"
    with pytest.raises(UserError, match=f"'nowhere'; use one of {known}"):
        datasets.load("nowhere", "train")
    with pytest.raises(UserError, match="'val'; use one of train, dev, test, all"):
        datasets.load("toy", "val")
    with pytest.raises(UserError, match="contains no photos"):
        datasets.load(str(tmp_path), "all")


@pytest.mark.parametrize("name", ["", "a\0b", "~nobody-of-this-name/x", "x" * 5000])
def test_a_name_that_cannot_be_a_path_is_a_user_error(name):
    with pytest.raises(UserError):
        datasets.load(name, "all")


def test_overview_lists_what_is_available_and_how_to_get_the_rest(toy_root, monkeypatch):
    lines = "\n".join(overview())
    assert f"VSDEMO_DATA is {toy_root}" in lines
    assert "found    toy" in lines
    assert "missing  flickr8k: request it at https://" in lines
    assert "missing  pascal1k" in lines
    monkeypatch.delenv("VSDEMO_DATA")
    assert "VSDEMO_DATA is not set" in overview()[0]


def test_check_finds_no_problem_in_an_intact_data_set():
    facts, problems = datasets.check("toy")
    assert problems == []
    assert facts == ["40 of 40 photos decode"]


def test_check_finds_damage_and_photos_in_two_splits(toy_root, tmp_path, monkeypatch):
    shutil.copytree(toy_root / "toy", tmp_path / "toy")
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path))
    photos = datasets.load("toy", "all").photos
    photos[0].write_bytes(photos[30].read_bytes())  # train and dev
    photos[5].write_bytes(photos[6].read_bytes())  # both train
    photos[7].write_bytes(b"no photo")
    photos[8].unlink()
    facts, problems = datasets.check("toy")
    assert facts[0] == "38 of 40 photos decode"
    assert facts[1:] == [
        f"the same photo twice within a split: {photos[5].name} (train); {photos[6].name} (train)"
    ]
    assert sum(photos[7].name in p for p in problems) == 1
    assert sum(photos[8].name in p for p in problems) == 1
    assert f"in two splits: {photos[0].name} (train); {photos[30].name} (dev)" in problems[-1]
    assert len(problems) == 3


def test_overview_finds_wordnet_in_every_location(tmp_path, monkeypatch):
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(wordnet, "DEBIAN", tmp_path / "debian")
    assert f"  missing  wordnet: {wordnet.HOW_TO_GET}" in overview()
    small_concepts.write_nouns(tmp_path / "debian")
    assert f"  found    wordnet: {tmp_path / 'debian'}" in overview()
    monkeypatch.delenv("VSDEMO_DATA")
    assert f"  found    wordnet: {tmp_path / 'debian'}" in overview()
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path / "data"))
    folder = small_concepts.write_nouns(tmp_path / "data" / "wordnet" / "dict")
    assert f"  found    wordnet: {folder}" in overview()
    assert not any("missing  wordnet" in line for line in overview())
