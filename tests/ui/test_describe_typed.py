"""A photo is compared with words and sentences that the visitor types."""

import re

import pytest
from PIL import Image

from tests.support.pages import last, shown, tab_of, visit
from vsdemo.core.errors import UserError
from vsdemo.core.images import open_photo
from vsdemo.ui.describe.state import MAX_TYPED, typed_sentences
from vsdemo.ui.describe.tab import DescribeTab
from vsdemo.ui.library import Library

KEY = ("gru", "toy-test")
TYPED = "a red circle\n\n  a blue bar \na red circle\n"


@pytest.fixture
def tab(checkpoints, monkeypatch):
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(checkpoints))
    library = Library()
    library.engine(*KEY).result()
    return tab_of(DescribeTab, library)


def test_sentences_are_lines_each_once():
    assert typed_sentences(TYPED) == ("a red circle", "a blue bar")
    assert typed_sentences(" \n ") == ()
    with pytest.raises(UserError, match=f"the limit is {MAX_TYPED}"):
        typed_sentences("\n".join(map(str, range(MAX_TYPED + 1))))


def test_typed_sentences_are_ranked_and_kept_for_other_photos(tab):
    state = shown(tab, visit(*KEY, photo=2))[tab.state]
    update = last(tab, tab.rank_typed, TYPED, state)
    state = update[tab.state]
    reader = tab.library.reader("gru").result().reader
    photo = open_photo(tab.library.galleries["toy-test"].photos[2])
    hits = reader.rank_sentences(photo, ("a red circle", "a blue bar"))
    assert state.sentences == tuple(hit.item for hit in hits)
    assert hits[0].score >= hits[1].score
    assert "Your sentences, ranked by gru." in update[tab.sentences]
    assert state.call is None
    other = shown(tab, visit(*KEY, photo=3), state)
    assert "Your sentences" in other[tab.sentences]
    again = last(tab, tab.rank_typed, " ", other[tab.state])
    assert "Your sentences" not in again[tab.sentences]
    assert re.search(r"Best \d+ of [\d,]+ sentences by gru", again[tab.sentences])


def test_they_are_ranked_for_an_upload(tab, tmp_path):
    path = tmp_path / "red.png"
    Image.new("RGB", (90, 60), "red").save(path)
    state = last(tab, tab.upload, str(path), None, *KEY)[tab.state]
    update = last(tab, tab.rank_typed, TYPED, state)
    assert set(update[tab.state].sentences) == {"a red circle", "a blue bar"}


def test_a_sentence_without_a_known_word_is_one_message(tab):
    state = shown(tab, visit(*KEY, photo=2))[tab.state]
    update = last(tab, tab.rank_typed, "a red circle\nxyzzy", state)
    assert "xyzzy" in update[tab.note]
    assert tab.sentences not in update  # what was there stays
