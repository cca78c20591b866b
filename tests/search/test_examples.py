"""Which sentences are offered: only those that a model answers rightly."""

import json
import shutil

import pytest

from vsdemo.data import examples as sentences
from vsdemo.data import packaged
from vsdemo.data.examples import Example
from vsdemo.models import checkpoint
from vsdemo.search import examples
from vsdemo.search.engine import Engine

RIGHT, WRONG = "a red circle on a blue ground", "a blue triangle on a red ground"


@pytest.fixture(scope="module")
def engine(toy_checkpoint):
    return Engine(toy_checkpoint)


@pytest.fixture
def listed(monkeypatch, engine):
    """Put three sentences on the list; the engine answers the first rightly, not the second."""
    first = {text: engine.search(text, 1)[0].item for text in (RIGHT, WRONG)}
    on_list = [Example(text, "animal") for text in (RIGHT, WRONG, "a red wug")]
    photos = {RIGHT: {first[RIGHT]}, WRONG: {"another.png"}, "a red wug": set(engine.photos.items)}
    monkeypatch.setattr(sentences, "examples", lambda dataset: on_list)
    monkeypatch.setattr(sentences, "true_photos", lambda gallery: photos)
    return first


def test_an_answer_is_right_if_the_sentence_is_true_of_the_first_photo(engine, listed):
    assert list(examples.answered(engine)) == [(Example(RIGHT, "animal"), listed[RIGHT])]


def test_a_sentence_that_is_said_to_match_nothing_is_no_right_answer(engine, listed, monkeypatch):
    monkeypatch.setattr(engine, "matches", lambda text, hits: False)
    assert list(examples.answered(engine)) == []


def test_captions_follow_where_the_list_is_too_short(engine, listed):
    offered = examples.offered(engine)
    assert len(offered) == examples.COUNT
    assert offered[0] == RIGHT
    captions = {e.text: photo for e, photo in sentences.short_captions(engine.gallery).items()}
    for text in offered[1:]:
        assert engine.search(text, 1)[0].item == captions[text]


def test_own_photos_without_captions_have_no_examples(toy_checkpoint, toy_root, tmp_path):
    shutil.copytree(toy_root / "toy" / "images", tmp_path / "mine")
    assert examples.offered(Engine(toy_checkpoint, str(tmp_path / "mine"))) == ()


def test_a_sentence_of_each_topic_comes_first():
    topics = ["animal", "animal", "scene", "people", "", "scene"]
    right = [Example(f"{topic} {number}", topic) for number, topic in enumerate(topics)]
    assert examples.choose(right) == ("animal 0", "people 3", "scene 2")
    assert examples.choose(right[:2]) == ("animal 0", "animal 1")
    assert examples.choose(right, count=5)[3:] == ("animal 1", " 4")
    assert examples.choose([]) == ()


@pytest.fixture
def shipped():
    """Return a shipped checkpoint, and what is stored of its answers in Storybook."""
    folder = next(f for f in checkpoint.shipped() if f.match("storybook/order"))
    values = json.loads(examples.file("storybook").read_text())
    return folder, values["checkpoints"]["storybook/order"]["first_photos"]


def test_stored_examples_are_those_of_the_checkpoint_as_it_was(shipped, tmp_path):
    folder, first = shipped
    offered = examples.stored(folder, "storybook", "test")
    assert len(offered) == examples.COUNT
    assert set(offered) <= set(first)
    assert examples.stored(folder, "storybook", "dev") is None
    assert examples.stored(folder, "pascal1k", "test") is None
    changed = shutil.copytree(folder, tmp_path / "order")
    assert examples.stored(changed, "storybook", "test") == offered
    words = (changed / "vocab.json").read_text()
    (changed / "vocab.json").write_text(words + " ")
    examples.content_hash.cache_clear()
    assert examples.stored(changed, "storybook", "test") is None


def test_of_some_photos_only_sentences_with_their_first_photo_are_offered(shipped):
    folder, first = shipped
    some = sorted(set(first.values()))[:8]
    offered = examples.stored(folder, "storybook", "test", photos=some)
    assert offered
    assert {first[text] for text in offered} <= set(some)
    assert len(examples.stored(folder, "storybook", "test", photos=some[:1])) <= 2
    assert examples.stored(folder, "storybook", "test", photos=[]) == ()


def test_the_command_writes_what_is_stored(run, toy_checkpoint, tmp_path, monkeypatch):
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(toy_checkpoint.parent))
    monkeypatch.setattr(sentences, "FOLDER", tmp_path)
    monkeypatch.setattr(packaged, "FOLDER", tmp_path)
    monkeypatch.setattr(sentences, "examples", lambda dataset: [Example(RIGHT, "scene")])
    engine = Engine(toy_checkpoint, split="test")
    photo = engine.search(RIGHT, 1)[0].item
    monkeypatch.setattr(sentences, "true_photos", lambda gallery: {RIGHT: frozenset({photo})})
    code, out, _ = run("data", "examples", "toy")
    assert code == 0
    assert "gru  1 of 1" in out
    values = json.loads((tmp_path / "toy.json").read_text())
    record = values["checkpoints"]["gru"]
    assert values["photos"] == {RIGHT: [photo]}
    assert record["first_photos"] == {RIGHT: photo}
    assert record["checkpoint"] == checkpoint.content_hash(toy_checkpoint)
