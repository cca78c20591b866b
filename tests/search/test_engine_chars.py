"""The engine with a model that reads characters."""

import pytest

from tests.support.small_runs import trainer
from vsdemo.core.errors import UserError
from vsdemo.search.engine import Engine


@pytest.fixture(scope="module")
def engine(own_folders, tmp_path_factory):
    out = tmp_path_factory.mktemp("run") / "char_gru"
    trainer(out, "epochs=1", preset="char_gru").run()
    return Engine(out)


@pytest.mark.parametrize("text", ["zxqy", "<pad> <unk>", "R2-D2?", "a", "Café"])
def test_any_latin_word_is_known(engine, text):
    assert engine.unknown_words(text) == []
    assert len(engine.search(text, 3)) == 3


@pytest.mark.parametrize("text", ["犬が走る", "собака бежит", "🐕🌳", "?!..."])
def test_sentences_without_known_characters_are_refused_in_one_sentence(engine, text):
    with pytest.raises(UserError, match="knows no word of the sentence") as caught:
        engine.search(text, 3)
    assert text.split()[0] in str(caught.value)
    assert "\n" not in str(caught.value)


def test_words_of_other_scripts_are_ignored_beside_known_ones(engine):
    assert engine.unknown_words("a собака, naïve 犬") == ["собака", "犬"]
    assert len(engine.search("a red собака", 5)) == 5


def test_case_and_punctuation_change_the_scores(engine):
    scores = [
        [h.score for h in engine.search(text, 40)]
        for text in ("a red dog", "A red dog", "a red dog.")
    ]
    assert scores[0] != scores[1]
    assert scores[0] != scores[2]
