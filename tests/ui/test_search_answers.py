"""Search says where nothing matches, marks words that were not learned, and offers examples."""

import re
import shutil

import pytest

from tests.support.hostile import HOSTILE
from tests.support.pages import last, shown, tab_of, visit
from tests.support.small_runs import trainer
from tests.ui.test_storybook import clicked
from vsdemo.core.errors import UserError
from vsdemo.models import checkpoint
from vsdemo.search.suggestions import UnreadWord
from vsdemo.ui.components import words
from vsdemo.ui.library import Library
from vsdemo.ui.search.tab import SearchTab

KEY = ("gru", "toy-test")
NONSENSE = "a wug blicks the dax under seven zorps"
ROLE = 'role="status"'


@pytest.fixture
def library(checkpoints, monkeypatch):
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(checkpoints))
    library = Library()
    library.engine(*KEY).result()
    library.wait_for_examples(*KEY)
    return library


@pytest.fixture
def tab(library):
    return tab_of(SearchTab, library)


def searched(tab, text, model="gru"):
    return last(tab, tab.run, text, model, "toy-test", 4)


def test_where_nothing_matches_the_note_says_so_and_photos_are_the_nearest(tab):
    update = searched(tab, NONSENSE)
    shown = " ".join(update[tab.grid].split())
    assert f"Nothing here matches “{NONSENSE}” by gru.</b> These are the nearest 4 of 8 p" in shown
    assert update[tab.grid].count(ROLE) == 1
    assert 'class="grid nearest"' in update[tab.grid]
    assert update[tab.grid].count("<img") == 4
    assert 'aria-label="Nearest photo 1, ' in update[tab.grid]


def test_what_is_typed_before_the_page_is_ready_is_searched(tab):
    update = shown(tab, visit("gru", "toy-test"), None, " a blue triangle ")
    assert update[tab.state].text == "a blue triangle"
    assert update[tab.state].selection.text == "a blue triangle"
    answered = searched(tab, "a blue triangle")[tab.state]
    update = shown(tab, visit("gru", "toy-test"), answered, "a blue triangle")
    assert update[tab.state].text == "a blue triangle"
    of_address = shown(tab, visit("gru", "toy-test", "a red circle"), None, "a blue triangle")
    assert of_address[tab.state].text == "a red circle"


def test_where_photos_match_there_is_no_such_note(tab):
    update = searched(tab, "a red circle on a blue ground")
    assert "Nothing here matches" not in update[tab.grid]
    assert "Best 4 of 8 photos by gru." in update[tab.grid]
    assert 'class="grid"' in update[tab.grid]
    assert 'aria-label="Photo 1, ' in update[tab.grid]


def test_as_long_as_the_threshold_is_unknown_nothing_is_said(tab, library):
    engine = library.engine(*KEY).result()
    del engine.match_threshold
    assert "Nothing here matches" not in searched(tab, NONSENSE)[tab.grid]
    assert not engine.knows_threshold  # the answer did not wait for a calibration
    assert engine.match_threshold
    assert "Nothing here matches" in searched(tab, NONSENSE)[tab.grid]


def test_a_long_sentence_is_shortened_in_the_note(tab):
    note = searched(tab, "red " + "wug " * 50)[tab.grid]
    shown = re.search("“(.*)”", note)[1]
    assert len(shown) <= 120
    assert shown.endswith("wug …")


def test_unread_words_are_marked_and_a_click_searches_for_another(tab):
    update = searched(tab, "A red trianlge and a wug")
    shown = update[tab.words]
    assert re.findall("<mark>(.*?)</mark>", shown) == ["trianlge", "and", "wug"]
    assert "has not learned the marked words and ignores them" in " ".join(shown.split())
    assert re.findall(r'data-number="(\d)" aria-label="(.*?)"', shown) == [
        ("0", "triangle, in place of trianlge")
    ]
    corrected = last(tab, tab.correct, update[tab.state], clicked(0))
    assert corrected[tab.query] == "A red triangle and a wug"
    assert corrected[tab.state].text == "A red triangle and a wug"
    assert "trianlge" not in corrected[tab.words]
    assert searched(tab, "a red triangle")[tab.words] == ""


def test_a_click_on_a_word_that_is_gone_is_an_error(tab):
    state = searched(tab, "a red trianlge")[tab.state]
    for number in (1, -1, "0", None):
        with pytest.raises(UserError, match="no longer on the page"):
            list(tab.correct(state, clicked(number)))
    assert list(tab.correct(None, clicked(0))) == []


def test_a_model_of_characters_marks_misspelt_words_too(checkpoints, tmp_path, monkeypatch):
    trainer(tmp_path / "own" / "toy" / "char_gru", "epochs=1", preset="char_gru").run()
    checkpoint.save_training_words(tmp_path / "own" / "toy" / "char_gru", ["elephant", "red"])
    shutil.copytree(checkpoints / "toy" / "gru", tmp_path / "own" / "toy" / "gru")
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(tmp_path / "own"))
    tab = tab_of(SearchTab, Library())
    update = searched(tab, "a red elefant", "char_gru")
    shown = " ".join(update[tab.words].split())
    assert "<mark>elefant</mark>" in shown
    assert "has not learned the marked word." in shown  # it reads the letters all the same
    corrected = last(tab, tab.correct, update[tab.state], clicked(0))
    assert corrected[tab.query] == "a red elephant"


def test_a_hostile_sentence_is_only_text(tab):
    update = searched(tab, f"red {HOSTILE}")
    for part in (update[tab.words], update[tab.grid]):
        assert "<img src=x" not in part
        assert "{% raw %}" in part or "[" not in part


def test_at_most_three_words_have_words_to_try():
    unread = [UnreadWord(f"w{n}", is_ignored=True, near=("a", "b")) for n in range(9)]
    text = " ".join(word.word for word in unread)
    shown = words.unread_words(text, unread)
    assert shown.count("<mark>") == 9
    assert shown.count("<button") == len(words.corrections(text, unread)) == 6
    assert words.corrections(text, unread)[1].text.startswith("b w1 w2")


def test_examples_are_offered_that_the_model_answers_rightly(tab, library):
    offered = library.known_examples(*KEY)
    assert 1 <= len(offered) <= 3
    opened = list(tab.show(visit(*KEY, k=4), None, ""))
    shown = next(update[tab.examples] for update in opened if tab.examples in update)
    assert re.findall('data-name="([^"]+)"', shown) == list(offered)
    state = next(u[tab.state] for u in reversed(opened) if tab.state in u)
    assert state.text == offered[0]
    engine = library.engine(*KEY).result()
    for text in offered:
        first = engine.search(text, 1)[0].number
        assert text in [c.strip(" .") for c in engine.gallery.own_captions(first)]


def test_a_folder_of_photos_has_no_examples_and_is_browsed(
    toy_root, tmp_path, checkpoints, monkeypatch
):
    shutil.copytree(toy_root / "toy" / "images", tmp_path / "mine")
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(checkpoints))
    library = Library(str(tmp_path / "mine"))
    gallery = next(iter(library.galleries))
    tab = tab_of(SearchTab, library)
    updates = list(tab.show(visit("gru", gallery, k=4), None, ""))
    shown = [update[tab.examples] for update in updates if tab.examples in update]
    assert shown
    assert not any("<button" in examples for examples in shown)
    assert any(update.get(tab.grid, "").count("<img") == 4 for update in updates)
