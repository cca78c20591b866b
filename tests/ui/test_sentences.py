"""The tab Sentences: its callbacks, its HTML and its page."""

import re
import shutil
from dataclasses import replace

import gradio as gr
import pytest
from playwright.sync_api import expect

from tests.support.small_runs import trainer
from vsdemo.core.hits import Hit
from vsdemo.evaluation import cards
from vsdemo.search.sentence_comparison import SentenceComparison
from vsdemo.ui import callbacks
from vsdemo.ui.library import Library
from vsdemo.ui.sentences import tab as sentences
from vsdemo.ui.sentences import view
from vsdemo.ui.sentences.state import PairState
from vsdemo.ui.sentences.tab import EXAMPLES, NEAREST
from vsdemo.ui.sentences.view import Row

A, B = "one red circle", "there is a circle here"
PHONE = {"width": 390, "height": 844}
HOSTILE = '<img src=x onerror="alert(1)">\'&'


@pytest.fixture(scope="module")
def several(checkpoints, own_folders, tmp_path_factory):
    """A folder of checkpoints: `gru`, an order, one that reads characters and a damaged one."""
    root = tmp_path_factory.mktemp("several")
    shutil.copytree(checkpoints / "toy" / "gru", root / "toy" / "gru")
    for name in ("order", "char_gru"):
        trainer(root / "toy" / name, "epochs=1", preset=name).run()
        cards.finish(root / "toy" / name)
    shutil.copytree(checkpoints / "toy" / "gru", root / "toy" / "broken")
    (root / "toy" / "broken" / "model.safetensors").write_bytes(b"nothing")
    return root


@pytest.fixture
def tab(several, monkeypatch):
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(several))
    monkeypatch.setattr(callbacks.gr, "Warning", lambda *_, **__: None)
    with gr.Blocks():
        return sentences.build(Library())


def pair(*texts, model="gru", **other):
    return PairState(texts or (A, B), model, "toy-test", **other)


def last(tab, callback, *inputs):
    """Return the last update of a callback."""
    return list(tab.guard(callback)(*inputs))[-1]


def text(html):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", html))


def answered(tab, state):
    """Return the page after a question was answered."""
    put = last(tab, tab.open, state)
    return put | last(tab, tab.answer, put[tab.state])


def test_every_model_has_a_row(tab):
    shown = answered(tab, pair())
    rows = re.findall(r"<li.*?</li>", shown[tab.rows])
    assert len(rows) == 4
    assert sum("cosine" in row for row in rows) == 3
    (chosen,) = (row for row in rows if "aria-current" in row)
    assert "<b>gru</b>" in chosen
    (broken,) = (row for row in rows if "<b>broken</b>" in row)
    assert "is damaged" in broken
    assert "By order" in shown[tab.entailment]
    assert "By char_gru" in shown[tab.strips]
    assert shown[tab.nearest].count("<button") == 2 * NEAREST == len(shown[tab.captions])
    assert shown[tab.state].active
    assert tab.state not in last(tab, tab.open, shown[tab.state])  # it is state once


def test_without_sentences_the_first_example_is_compared(tab):
    shown = last(tab, tab.open, pair("", ""))
    assert (shown[tab.first], shown[tab.second]) == EXAMPLES[0] == shown[tab.state].texts


def test_nothing_is_compared_before_the_tab_opens(tab):
    put = last(tab, tab.change_settings, pair(), "order", "toy-test")
    assert put[tab.state] == pair(model="order")
    assert tab.rows not in last(tab, tab.answer, put[tab.state])


def test_the_model_can_change_during_an_answer(tab):
    first = last(tab, tab.open, pair())[tab.state]
    answer = tab.answer(first)
    next(answer)
    put = last(tab, tab.change_settings, first, "char_gru", "toy-test")
    assert tab.state not in {key for update in answer for key in update}
    shown = last(tab, tab.answer, put[tab.state])
    assert re.search(r'aria-current="true"><b>char_gru', shown[tab.rows])
    assert tab.first not in shown  # what is typed meanwhile stays


@pytest.mark.parametrize("bad", ["", "  ", "a\x00b", "a" * 10_000])
def test_bad_input_names_the_sentence_and_changes_nothing_else(tab, bad):
    for which, texts in (("first", (bad, B)), ("second", (A, bad))):
        shown = last(tab, tab.run, *texts, pair())
        assert f"The {which} sentence" in text(shown[tab.note])
        assert tab.state not in shown


def test_other_scripts_are_refused_by_each_model(tab):
    shown = answered(tab, pair("犬が走る", B, model="order"))
    assert text(shown[tab.rows]).count("knows no word of the sentence") == 3
    assert shown[tab.entailment] == shown[tab.strips] == ""
    assert "knows no word" in text(shown[tab.note])
    assert shown[tab.nearest] == ""


def test_a_long_sentence_of_characters_is_read(tab):
    long = " ".join(["a red dog"] * 50)
    shown = answered(tab, pair(long, B, model="char_gru"))
    assert shown[tab.strips].count("--w") == len(long) + len(B)


@pytest.mark.parametrize(
    "html",
    [
        view.rows([Row(HOSTILE, HOSTILE, HOSTILE, HOSTILE)], "", {"a": HOSTILE}),
        view.rows([Row("", "", "", SentenceComparison(0.5, unknown=((HOSTILE,), ())))], "", {}),
        view.entailment(SentenceComparison(0.5, (0.1, -0.2)), HOSTILE),
        view.strips(
            [HOSTILE], SentenceComparison(0.5, attention=((1 / len(HOSTILE),) * len(HOSTILE),)), ""
        ),
        view.nearest([[Hit(1, 0, HOSTILE, 0.5, 0.5)], []], "cosine"),
    ],
)
def test_html_is_escaped(html):
    assert "<img src=x" not in html
    assert 'alert(1)>"' not in html


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


@pytest.mark.parametrize("viewport", [None, PHONE], ids=["desktop", "phone"])
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
    wanted = caption.text_content()
    caption.click()
    expect(page.get_by_role("tab", name="Search")).to_have_attribute("aria-selected", "true")
    expect(page.locator("#query textarea, #query input").first).to_have_value(wanted)


def test_an_empty_sentence_is_refused_on_the_page(visit):
    page = visit(path="?tab=sentences")
    expect(page.locator("#nearest-captions button")).to_have_count(2 * NEAREST)
    page.get_by_label("Second sentence").fill("   ")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator(".problem")).to_contain_text("The second sentence is empty")
    expect(page.locator("#similarity section.similarity li")).to_have_count(2)
