"""A damaged file of a data set is refused in one sentence, and the other galleries are offered."""

import json
import lzma
import tarfile
from threading import Event

import pytest

from tests.support import fake_web, small_concepts, small_entities, small_pairs
from tests.support.damage import DAMAGES, damage
from vsdemo.core.errors import UserError
from vsdemo.data import datasets
from vsdemo.data.datasets import entities
from vsdemo.data.downloads import unpack
from vsdemo.data.galleries import galleries
from vsdemo.data.pairs import nli, sick, sts, wordnet
from vsdemo.data.text import vectors

FLICKR = "flickr8k/Flickr8k_text"
PHOTO = fake_web.photo(1)
READERS = {
    f"{FLICKR}/Flickr8k.token.txt": lambda root: datasets.load("flickr8k", "test"),
    f"{FLICKR}/Flickr_8k.testImages.txt": lambda root: datasets.load("flickr8k", "test"),
    "pascal1k/pascal_sentences.json": lambda root: datasets.load("pascal1k", "all"),
    "own/captions.json": lambda root: datasets.load(str(root / "own" / "captions.json"), "all"),
    "flickr30k_entities/annotations.zip": lambda root: entities.read([root / "11_a.jpg"]),
    "flickr30k_entities/other_sentences.txt.xz": lambda root: list(vectors.corpus_sentences()),
    wordnet.ARCHIVE: lambda root: wordnet.load(),
    "wordnet/data.noun": lambda root: wordnet.load(),
    "wordnet/index.noun": lambda root: wordnet.load(),
    "snli_1.0/snli_1.0_dev.jsonl": lambda root: nli.load("SNLI", "dev"),
    "sick/SICK_trial.txt": lambda root: sick.load("dev"),
    "stsbenchmark/sts-dev.csv": lambda root: sts.benchmark("dev"),
}
GALLERIES = [name for name in READERS if name.startswith(("flickr8k", "pascal1k", "own"))]


def forget():
    for function in (wordnet.load_nouns, nli._read, sick._read, entities._open_archive):
        function.cache_clear()


@pytest.fixture
def root(tmp_path, monkeypatch, own_home):
    """A small VSDEMO_DATA with every kind of file."""
    root = tmp_path / "data"
    monkeypatch.setenv("VSDEMO_DATA", str(root))
    monkeypatch.setattr(wordnet, "DEBIAN", tmp_path / "debian")
    small_pairs.write_all(root)
    for name, data in fake_web.small_flickr8k().items():
        (tmp_path / name).write_bytes(data)
        folder = {"photos.zip": "Flicker8k_Dataset", "texts.zip": "Flickr8k_text"}[name]
        target = root / "flickr8k" / folder
        unpack.unpack_archive(tmp_path / name, target, lambda *_: None, Event(), 10**6)
    (root / "pascal1k" / "images").mkdir(parents=True)
    (root / "pascal1k" / "images" / "a.jpg").write_bytes(PHOTO)
    captions = {"a.jpg": {"category": "dog", "captions": ["A dog."]}}
    (root / "pascal1k" / "pascal_sentences.json").write_text(json.dumps(captions))
    (root / "own").mkdir()
    (root / "own" / "a.jpg").write_bytes(PHOTO)
    image = {"filename": "a.jpg", "split": "test", "sentences": [{"raw": "A dog."}]}
    (root / "own" / "captions.json").write_text(json.dumps({"images": [image]}))
    small_entities.write(root)
    text = lzma.compress(b"a red circle\n" * 100)
    (root / "flickr30k_entities" / "other_sentences.txt.xz").write_bytes(text)
    forget()
    yield root
    forget()


def answer(read, root):
    """Return the sentence with which a file is refused; empty if it could be read."""
    try:
        read(root)
    except UserError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", READERS)
def test_a_damaged_file_is_refused_in_one_sentence(root, name):
    path = root / name
    if name == wordnet.ARCHIVE:
        small_concepts.write_nouns(root / "files")
        with tarfile.open(path, "w:xz") as archive:
            archive.add(root / "files", "dict")
    elif name.startswith("wordnet"):
        small_concepts.write_nouns(root / "wordnet")
    whole = path.read_bytes()
    READERS[name](root)
    for way in DAMAGES:
        damage(path, way)
        forget()
        message = answer(READERS[name], root)
        assert "\n" not in message, way
        assert len(message) < 700, way
        assert message or way not in ("empty", "garbage"), way
        path.write_bytes(whole)


@pytest.mark.parametrize("name", GALLERIES)
def test_the_other_galleries_are_offered(root, name):
    whole = [gallery.key for gallery in galleries(None)]
    assert {"flickr8k-test", "pascal1k-all", "own-test", "storybook-test"} <= {*whole}
    for way in DAMAGES:
        content = (root / name).read_bytes()
        damage(root / name, way)
        offered = [gallery.key for gallery in galleries(None)]
        own = name.partition("/")[0]
        assert {key for key in whole if not key.startswith(own)} <= {*offered}, way
        (root / name).write_bytes(content)
