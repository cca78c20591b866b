"""The tab Sentences: its callbacks, its HTML and its page."""

import re
from dataclasses import replace
from types import SimpleNamespace

import pytest
from playwright.sync_api import expect

from tests.support.pages import last, shown, tab_of, text
from tests.support.pages import visit as visit_of
from vsdemo.search.sentence_comparison import SentenceComparison
from vsdemo.ui import callbacks
from vsdemo.ui.sentences import view
from vsdemo.ui.sentences.state import PairState
from vsdemo.ui.sentences.tab import EXAMPLES, NEAREST, SentencesTab

A, B = "one red circle", "there is a circle here"
PHONE = {"width": 390, "height": 844}


@pytest.fixture
def tab(several, monkeypatch):
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(several))
    monkeypatch.setattr(callbacks.gr, "Warning", lambda *_, **__: None)
    return tab_of(SentencesTab)


def pair(*texts, model="gru"):
    return PairState(texts or (A, B), model, "toy-test")


def answered(tab, first=A, second=B, model="gru"):
    """Return all updates after a comparison."""
    update = shown(tab, visit_of(model, "toy-test", a=first, b=second))
    return update | last(tab, tab.answer, update[tab.state])


def test_every_model_has_a_row(tab):
    update = answered(tab)
    rows = re.findall(r"<li.*?</li>", update[tab.rows])
    assert len(rows) == 4
    assert sum("cosine" in row for row in rows) == 3
    (chosen,) = (row for row in rows if "aria-current" in row)
    assert "<b>gru</b>" in chosen
    (broken,) = (row for row in rows if "<b>broken</b>" in row)
    assert "is damaged" in broken
    assert "By order" in update[tab.entailment]
    assert "By char_gru" in update[tab.strips]
    assert update[tab.nearest].count("<button") == 2 * NEAREST == len(update[tab.captions])
    again = shown(tab, visit_of("gru", "toy-test", a=A, b=B), update[tab.state])
    assert tab.state not in again  # only the first time
    elsewhere = shown(tab, visit_of("gru", "toy-test", "a dog"), update[tab.state])
    assert elsewhere[tab.state].texts == (A, B)


def test_without_sentences_the_first_example_is_compared(tab):
    update = shown(tab, visit_of("gru", "toy-test"))
    assert (update[tab.first], update[tab.second]) == EXAMPLES[0] == update[tab.state].texts


def test_the_model_can_change_during_an_answer(tab):
    first = shown(tab, visit_of("gru", "toy-test", a=A, b=B))[tab.state]
    answer = tab.answer(first)
    next(answer)
    update = shown(tab, visit_of("char_gru", "toy-test", a=A, b=B), first)
    assert tab.state not in {key for update in answer for key in update}
    update = last(tab, tab.answer, update[tab.state])
    assert re.search(r'aria-current="true"><b>char_gru', update[tab.rows])
    assert tab.first not in update  # text typed meanwhile is kept


@pytest.mark.parametrize("bad", ["", "  ", "a\x00b", "a" * 10_000])
def test_bad_input_names_the_sentence_and_changes_nothing_else(tab, bad):
    for which, texts in (("first", (bad, B)), ("second", (A, bad))):
        update = last(tab, tab.run, *texts, pair())
        assert f"The {which} sentence" in text(update[tab.note])
        assert tab.state not in update


def test_other_scripts_are_refused_by_each_model(tab):
    update = answered(tab, "犬が走る", B, model="order")
    assert text(update[tab.rows]).count("knows no word of the sentence") == 3
    assert update[tab.entailment] == update[tab.strips] == ""
    assert "knows no word" in text(update[tab.note])
    assert update[tab.nearest] == ""


def test_unread_words_of_each_sentence_are_marked_and_corrected(tab):
    update = answered(tab, "a red trianlge", "a red circle")
    first, second = tab.words
    assert "<mark>trianlge</mark>" in update[first]
    assert update[second] == ""
    event = SimpleNamespace(_data={"number": 0})
    corrected = last(tab, tab.corrector(0), update[tab.state], event)
    assert corrected[tab.state].texts == ("a red triangle", "a red circle")
    assert corrected[tab.first] == "a red triangle"


def test_a_long_sentence_of_characters_is_read(tab):
    long = " ".join(["a red dog"] * 50)
    update = answered(tab, long, B, model="char_gru")
    assert update[tab.strips].count("--w") == len(long) + len(B)


def test_the_more_general_one_is_named():
    comparison = SentenceComparison(0.9, excess=(-0.5, 0.1, -0.2))
    html = text(view.entailment(comparison, "order"))
    assert "The second is the more general one" in html
    assert "violated in 1 of 3 dimensions" in html
    assert "violated in 2 of 3 dimensions" in html
    other = view.entailment(replace(comparison, excess=(0.5, -0.1, 0.2)), "order")
    assert "The first is the more general one" in text(other)
    for close in ((0.0, 0.0), (0.3, -0.31)):
        assert "Neither" in text(view.entailment(replace(comparison, excess=close), "order"))


def test_the_heaviest_words_are_listed():
    weights = (0.1, 0.0, 0.5, 0.2, 0.2)
    html = text(view.strips(["a dog"], SentenceComparison(1, attention=(weights,)), "char_gru"))
    assert "“dog” 90%, “a” 10%" in html


def test_back_shows_the_sentences_of_before(visit):
    page = visit(path="?tab=sentences&a=one+red+circle&b=a+circle")
    first = page.get_by_label("First sentence")
    expect(first).to_have_value("one red circle")
    expect(page.locator("#similarity section.similarity li")).to_have_count(2)
    first.fill("a green bar")
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page).to_have_url(re.compile(r"a=a\+green\+bar"))
    page.go_back()
    expect(first).to_have_value("one red circle")


@pytest.mark.parametrize(
    "viewport",
    [pytest.param(None, id="desktop", marks=pytest.mark.long), pytest.param(PHONE, id="phone")],
)
def test_a_visitor_compares_sentences_and_searches_a_caption(visit, viewport):
    page = visit(viewport=viewport) if viewport else visit()
    page.get_by_role("tab", name="Sentences").click()
    expect(page.locator("#similarity section.similarity li")).to_have_count(2)
    expect(page.get_by_label("First sentence")).to_have_value(EXAMPLES[0][0])
    page.get_by_label("First sentence").fill(A)
    page.get_by_label("Second sentence").fill(B)
    page.get_by_role("button", name="Compare").click()
    expect(page.locator("#nearest-captions button")).to_have_count(2 * NEAREST)
    expect(page).to_have_url(re.compile(r"tab=sentences&a=one\+red\+circle&b=there\+is"))
    shared = visit(path=page.url.split("/")[-1])
    expect(shared.get_by_label("Second sentence")).to_have_value(B)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    caption = page.locator("#nearest-captions button").first
    text = caption.text_content()
    caption.click()
    expect(page.get_by_role("tab", name="Search")).to_have_attribute("aria-selected", "true")
    expect(page.locator("#query textarea, #query input").first).to_have_value(text)


def test_an_empty_sentence_is_refused_on_the_page(visit):
    page = visit(path="?tab=sentences")
    expect(page.locator("#nearest-captions button")).to_have_count(2 * NEAREST)
    page.get_by_label("Second sentence").fill("   ")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator(".problem")).to_contain_text("The second sentence is empty")
    expect(page.locator("#similarity section.similarity li")).to_have_count(2)
