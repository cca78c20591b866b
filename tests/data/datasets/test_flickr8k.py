import pytest

from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence
from vsdemo.data import datasets
from vsdemo.data.datasets.flickr8k import Flickr8k
from vsdemo.data.text.vocab import Vocab, tokenize

SPLITS = {"train": ["a.jpg", "b.jpg"], "dev": ["c.jpg"], "test": ["d.jpg"]}


@pytest.fixture
def small(tmp_path, monkeypatch):
    """The official layout with five photos, one of them in no split and one without caption."""
    text, photos = tmp_path / "flickr8k" / "Flickr8k_text", "flickr8k/Flicker8k_Dataset"
    text.mkdir(parents=True)
    (tmp_path / photos).mkdir()
    for name in ("a", "b", "c", "d", "e"):
        (tmp_path / photos / f"{name}.jpg").touch()
    for split, names in SPLITS.items():
        (text / f"Flickr_8k.{split}Images.txt").write_text("\n".join(names) + "\n")
    lines = [f"{n}.jpg#{i}\t Caption {i} of {n} . " for n in "bacdz" for i in range(3)]
    (text / "Flickr8k.token.txt").write_text("\n".join(lines))
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path))
    return text


def test_captions_belong_to_their_photos(small):
    train = Flickr8k().load("train")
    assert [p.name for p in train.photos] == ["a.jpg", "b.jpg"]
    assert train.captions[3] == "Caption 0 of b ."
    assert train.photo_of == (0, 0, 0, 1, 1, 1)


def test_all_contains_every_photo(small):
    split = Flickr8k().load("all")
    assert [p.name for p in split.photos] == [f"{n}.jpg" for n in "abcde"]
    assert split.captions_of[4] == []


def test_check_reports_problems(small):
    (small / "Flickr_8k.testImages.txt").write_text("d.jpg\na.jpg\ny.jpg\n")
    facts, problems = datasets.check("flickr8k")
    assert "1 photos are in no split (used in `all` only)" in facts
    assert "1 photos with captions do not exist (left out): z.jpg" in facts
    for problem in (
        "train has 2 photos, expected 6,000",
        "y.jpg is in a split but does not exist",
        "e.jpg has no caption",
        "a.jpg is in train and test",
    ):
        assert problem in problems


def test_missing_files_are_a_user_error(tmp_path, monkeypatch):
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path))
    with pytest.raises(UserError, match="Flickr8k is missing"):
        Flickr8k().load("train")
    with pytest.raises(UserError, match="Flickr8k is missing"):
        datasets.check("flickr8k")


@pytest.mark.usefixtures("real_data")
def test_real_splits_have_the_official_sizes():
    splits = {s: Flickr8k().load(s) for s in ("train", "dev", "test", "all")}
    photos = {s: len(f.photos) for s, f in splits.items()}
    captions = {s: len(f.captions) for s, f in splits.items()}
    assert photos == {"train": 6000, "dev": 1000, "test": 1000, "all": 8091}
    assert captions == {"train": 30_000, "dev": 5000, "test": 5000, "all": 40_455}
    assert {len(c) for f in splits.values() for c in f.captions_of} == {5}
    names = [p for s in ("train", "dev", "test") for p in splits[s].photos]
    assert len(set(names)) == 8000
    assert all(p.exists() for p in names)


@pytest.mark.usefixtures("real_data")
def test_check_of_the_real_data():
    facts, problems = Flickr8k().check()
    assert problems == []
    assert facts == [
        "8,091 photos, 40,460 captions",
        "train: 6,000 photos",
        "dev: 1,000 photos",
        "test: 1,000 photos",
        "91 photos are in no split (used in `all` only)",
        "2 photos with captions do not exist (left out): "
        "2258277193_586949ec62.jpg, 2258277193_586949ec62.jpg.1",
    ]


@pytest.mark.usefixtures("real_data")
def test_the_vocabulary_is_built_from_train_only():
    train = Vocab.build(map(Sentence, Flickr8k().load("train").captions))
    seen = {w for c in Flickr8k().load("train").captions for w in tokenize(c)}
    assert set(train.words[3:]) == seen
    unseen = {w for c in Flickr8k().load("test").captions for w in tokenize(c)} - seen
    assert len(unseen) > 100  # a vocabulary of all captions would know them


def test_a_seed_draws_90_5_and_5_percent_of_all_photos(small, monkeypatch):
    names = [f"{number}.jpg" for number in range(100)]
    monkeypatch.setattr("vsdemo.data.datasets.flickr8k.photo_names", lambda: list(names))
    parts = {
        split: [path.name for path in datasets.load("flickr8k:2", split).photos]
        for split in ("train", "dev", "test", "all")
    }
    assert [len(part) for part in parts.values()] == [90, 5, 5, 100]
    assert sorted(parts["train"] + parts["dev"] + parts["test"]) == sorted(names)
    assert datasets.load("flickr8k:2", "test").name == "flickr8k:2"
    assert parts["test"] != [path.name for path in datasets.load("flickr8k:3", "test").photos]
    assert datasets.base_name("flickr8k:2") == "flickr8k"
