"""Words that the engine offers for unknown and misspelt ones."""

import json
import shutil

import pytest

from tests.support.checkpoint_copies import editable_copy
from tests.support.hostile import HOSTILE
from tests.support.small_runs import trainer
from vsdemo.data import caption_bank
from vsdemo.data.text.vocab import tokenize
from vsdemo.models import checkpoint
from vsdemo.search import suggestions
from vsdemo.search.engine import Engine, Reader
from vsdemo.search.suggestions import UnreadWord


@pytest.fixture(scope="module")
def characters(own_folders, tmp_path_factory):
    """Return a checkpoint that reads characters."""
    out = tmp_path_factory.mktemp("run") / "char_gru"
    trainer(out, "epochs=1", preset="char_gru").run()
    return out


def test_a_model_of_words_offers_its_vocabulary(toy_checkpoint):
    engine = Engine(toy_checkpoint)
    offered = engine.suggestions("A red trianlge, circles and wugs, trianlge!")
    assert offered == {"trianlge": ("triangle",), "circles": ("circle",), "and": (), "wugs": ()}
    assert engine.suggestions("a red circle") == {}
    assert engine.suggestions("unk a red") == {"unk": ()}  # special words are no words


def test_a_reader_without_gallery_offers_words_too(toy_checkpoint):
    assert Reader(toy_checkpoint).suggestions("a grene bar") == {"grene": ("green",)}


def test_a_model_of_characters_offers_words_of_its_training_captions(characters):
    engine = Engine(characters)
    assert engine.unknown_words("a red trianlge") == []
    assert engine.suggestions("A red trianlge and a wug.") == {"trianlge": ("triangle",)}
    assert engine.suggestions("red circles, two squares") == {}  # forms of known words
    assert engine.suggestions("a 犬") == {"犬": ()}


def test_a_model_of_characters_offers_its_stored_words(characters, tmp_path):
    folder = shutil.copytree(characters, tmp_path / "copy")
    checkpoint.save_training_words(folder, ["elephant", "zebra"])
    assert Reader(folder).suggestions("elefant trianlge") == {"elefant": ("elephant",)}


def test_without_the_data_set_the_caption_bank_has_the_words(characters, tmp_path, monkeypatch):
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path))
    model, spec, vocab = checkpoint.load(characters)
    words = suggestions.word_list(model.text, vocab, spec)
    assert set(words.words) < set(caption_bank.words())
    assert words.near("elefant") == ("elephant",)


@pytest.mark.parametrize("model", ["toy_checkpoint", "characters"])
def test_elefant_is_marked_for_a_model_of_words_and_one_of_characters(model, request, tmp_path):
    folder = editable_copy(request.getfixturevalue(model), tmp_path / "copy")
    reader = Reader(folder)
    if model == "characters":
        checkpoint.save_training_words(folder, ["elephant", "zebra", "red"])
    else:
        words = reader.vocab.to_json()
        assert "elephant" not in words
        (folder / "vocab.json").write_text(json.dumps([*words[:-1], "elephant"]))
    (unread,) = Reader(folder).unread_words("a red Elefant")
    assert (unread.word, unread.near) == ("elefant", ("elephant",))
    assert unread.is_ignored == (model == "toy_checkpoint")


def test_a_model_of_characters_has_not_learned_words_that_no_caption_has(characters, tmp_path):
    folder = shutil.copytree(characters, tmp_path / "copy")
    checkpoint.save_training_words(folder, ["circle", "triangle", "red"])
    unread = Reader(folder).unread_words("red circles by a blorptang, triangel, 犬")
    assert unread == [
        UnreadWord("犬", is_ignored=True),
        UnreadWord("blorptang", is_ignored=False),
        UnreadWord("triangel", is_ignored=False, near=("triangle",)),
    ]
    assert Reader(folder).unread_words("a red circle") == []


@pytest.mark.parametrize(
    "text", [HOSTILE, "", "?!", "犬 犬", "x" * 300, "wug-wug Wug; wug", "(wug"]
)
def test_the_parts_of_a_sentence_are_the_sentence(text):
    words = [UnreadWord(word, is_ignored=True) for word in (*tokenize(text), "wug", "(", "n't")]
    parts = list(suggestions.split(text, words))
    assert "".join(part for part, _ in parts) == text
    assert all(word is None or word.word == part.lower() for part, word in parts)
    assert list(suggestions.split(text, [])) == [(text, None)]


def test_only_whole_words_are_marked():
    words = [UnreadWord("cat", is_ignored=True)]
    parts = list(suggestions.split("Cat, concat cats cat's CAT", words))
    assert [part for part, word in parts if word] == ["Cat", "cat", "CAT"]


def test_a_word_is_replaced_wherever_it_stands():
    replace = suggestions.replace_word
    assert replace("Elefant, elefants, elefant!", "elefant", "elephant") == (
        "Elephant, elefants, elephant!"
    )
    assert replace("a (b c", "(b", "\\1") == "a \\1 c"
