"""Words that the engine offers for unknown and misspelt ones."""

import shutil

import pytest

from tests.support.small_runs import trainer
from vsdemo.data import caption_bank
from vsdemo.models import checkpoint
from vsdemo.search import suggestions
from vsdemo.search.engine import Engine, Reader


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
