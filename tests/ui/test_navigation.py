"""Ways through the page: a selection that goes along, Back and Forward, and a tab from outside."""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import ClassVar

import gradio as gr
import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.support.pages import PAGE
from tests.ui.conftest import served_page
from vsdemo.core.errors import UserError
from vsdemo.ui import TABS, build, callbacks, theme
from vsdemo.ui import layout as layout_module
from vsdemo.ui.callbacks import Update
from vsdemo.ui.components import html
from vsdemo.ui.layout import Page
from vsdemo.ui.library import Library
from vsdemo.ui.requests import Requests
from vsdemo.ui.tabs import Context, Selection, Visit, is_shown
from vsdemo.ui.uploads import Uploads

SETTLED = 1000  # milliseconds until no request is under way
ECHO_SECONDS = 0.5
QUICK = 80  # milliseconds between two steps of a visitor in a hurry


def photos(page):
    return page.locator("#grid button.frame")


def is_large(page, number):
    large = page.locator("#detail .large img")
    expect(large).to_have_attribute("src", re.compile(f"/{number}/large$"))


def is_open(page, name):
    tab = page.get_by_role("tab", name=name, exact=True)
    expect(tab).to_have_attribute("aria-selected", "true")


def open_tab(page, name):
    page.get_by_role("tab", name=name, exact=True).click()
    is_open(page, name)


def test_a_selected_photo_goes_along(visit):
    page = visit(path="?q=one+yellow+bar")
    chosen = photos(page).nth(4)
    chosen.click()
    number = chosen.get_attribute("data-number")
    expect(page).to_have_url(re.compile(f"photo={number}"))
    open_tab(page, "Describe")
    expect(page).to_have_url(re.compile(f"tab=describe.*photo={number}$"))
    pick = page.locator("#picks button:not([aria-current])").first
    other = pick.get_attribute("data-number")
    pick.click()
    expect(page).to_have_url(re.compile(f"tab=describe.*photo={other}$"))
    open_tab(page, "Align")
    expect(page.get_by_label("Sentence to align")).to_have_value("one yellow bar")
    expect(page.locator("#figure img")).to_have_attribute("src", re.compile(f"/{other}/large$"))
    open_tab(page, "Hierarchy")
    expect(page.locator("#here img").first).to_have_attribute("src", re.compile(f"/{other}/large$"))
    open_tab(page, "Search")
    is_large(page, other)
    expect(page.get_by_label("Sentence", exact=True)).to_have_value("one yellow bar")


def test_back_and_forward_walk_the_visited_states(visit):
    page = visit(path="?q=one+yellow+bar")
    expect(photos(page).first).to_be_visible()
    first = photos(page).first.get_attribute("data-number")
    chosen = photos(page).nth(3)
    number = chosen.get_attribute("data-number")
    chosen.click()
    expect(page).to_have_url(re.compile(f"photo={number}"))
    page.get_by_label("Sentence", exact=True).fill("a red circle")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("q=a\\+red\\+circle"))
    open_tab(page, "Describe")
    expect(page).to_have_url(re.compile("tab=describe"))
    open_tab(page, "Train")
    expect(page).to_have_url(re.compile("tab=train"))
    page.go_back()
    is_open(page, "Describe")
    expect(page).to_have_url(re.compile("tab=describe"))
    page.go_back()
    is_open(page, "Search")
    expect(page.get_by_label("Sentence", exact=True)).to_have_value("a red circle")
    page.go_back()
    expect(page.get_by_label("Sentence", exact=True)).to_have_value("one yellow bar")
    is_large(page, number)
    page.go_back()
    is_large(page, first)
    page.go_forward()
    is_large(page, number)
    page.go_forward()
    expect(page.get_by_label("Sentence", exact=True)).to_have_value("a red circle")
    page.go_forward()
    is_open(page, "Describe")


def test_the_last_of_quick_steps_counts(visit):
    page = visit(path="?q=one+yellow+bar")
    expect(photos(page).first).to_be_visible()
    for name in ("Describe", "Align", "Sentences", "Train"):
        open_tab(page, name)
        expect(page).to_have_url(re.compile(f"tab={name.lower()}"))
    for step in (-1, -1, -1, 1):
        page.evaluate(f"history.go({step})")
        page.wait_for_timeout(QUICK)
    is_open(page, "Align")
    expect(page).to_have_url(re.compile("tab=align"))
    page.wait_for_timeout(SETTLED)
    is_open(page, "Align")
    expect(page).to_have_url(re.compile("tab=align"))


def test_back_restores_model_and_gallery(visit):
    page = visit(path="?q=one+yellow+bar&gallery=toy-all&model=order")
    expect(photos(page)).to_have_count(12)
    page.get_by_label("Sentence", exact=True).fill("a red circle")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("q=a\\+red\\+circle&model=order&gallery=toy-all"))
    page.go_back()
    expect(page).to_have_url(re.compile("q=one\\+yellow\\+bar&model=order&gallery=toy-all"))
    expect(page.get_by_label("Sentence", exact=True)).to_have_value("one yellow bar")


def test_an_upload_survives_a_reload_and_is_not_in_the_address(visit, tmp_path):
    page = visit(path="?tab=describe")
    sentences = page.locator("#sentences button.sentence")
    expect(sentences).to_have_count(10)
    Image.new("RGB", (90, 60), "red").save(tmp_path / "red.png")
    page.locator("#photo button[aria-label='Remove Image']").click()
    page.locator("#photo input[type=file]").set_input_files(tmp_path / "red.png")
    expect(page).not_to_have_url(re.compile("photo="))
    expect(page.locator("#sentences .mark")).to_have_count(0)
    best = sentences.first.text_content()
    assert "red" not in page.url.split("?")[1]
    page.wait_for_timeout(SETTLED)  # a request that is cut off would be logged as an error
    page.reload()
    expect(sentences).to_have_count(10)
    expect(sentences.first).to_have_text(best)
    expect(page).not_to_have_url(re.compile("photo="))
    open_tab(page, "Align")
    expect(page.locator("#figure img")).to_have_attribute("src", re.compile("gradio_api/file="))
    page.go_back()
    is_open(page, "Describe")
    expect(sentences.first).to_have_text(best)
    other = visit(path=page.url.split("/")[-1])  # as a shared link
    expect(other.locator("#sentences button.sentence")).to_have_count(10)
    expect(other).to_have_url(re.compile("photo=0$"))


def test_uploads_are_named_by_tokens_that_nobody_can_guess(tmp_path, monkeypatch):
    uploads = Uploads()
    for name in "ab":
        (tmp_path / name).write_bytes(b"photo")
    token = uploads.token(str(tmp_path / "a"))
    assert uploads.token(str(tmp_path / "a")) == token
    assert len(token) >= 20
    assert uploads.path(token) == str(tmp_path / "a")
    for wrong in ("", "x", str(tmp_path / "a")):
        with pytest.raises(UserError, match="choose it again"):
            uploads.path(wrong)
    monkeypatch.setattr("vsdemo.ui.uploads.MAX_UPLOADS", 1)
    other = uploads.token(str(tmp_path / "b"))
    assert uploads.path(other) == str(tmp_path / "b")
    with pytest.raises(UserError):
        uploads.path(token)
    (tmp_path / "b").unlink()
    with pytest.raises(UserError):
        uploads.path(other)


def test_a_hidden_tab_changes_neither_the_address_nor_the_selection(monkeypatch):
    monkeypatch.setattr(callbacks, "REQUESTS", Requests())
    callbacks.REQUESTS.open_tab("page", "describe")

    def callback() -> Iterator[Update]:
        yield {"result": "late", "address": "?tab=search"}
        yield {"address": "?tab=search"}

    for tab, expected in (("search", None), ("describe", "?tab=search")):
        guard = callbacks.report_errors("note", tab=tab, place=["address"])
        *updates, _ = guard(callback)(PAGE)
        assert updates[0]["result"] == "late"
        assert [update.get("address") for update in updates] == [expected] * 2


def test_a_photo_belongs_to_its_gallery():
    selection = Selection("a dog", 3, "here")
    assert selection.photo_in("here") == 3
    assert selection.photo_in("there") is None
    assert Selection("a dog", 3, "here", "upload.png").photo_in("here") is None


@dataclass(frozen=True)
class EchoState:
    model: str
    gallery: str
    selection: Selection = field(default_factory=Selection)
    call: None = None

    @property
    def address(self):
        return {"tab": "echo", "q": self.selection.text}


class EchoTab:
    """A tab from outside that repeats what is selected, after a while."""

    key: ClassVar = "echo"
    title: ClassVar = "Echo"

    def __init__(self, context: Context) -> None:
        self.context = context
        self.note = gr.HTML(elem_id="echo-note")
        self.text = gr.HTML(elem_id="echo")
        self.back = gr.Button("Find a red bar")
        self.state = gr.State(None)
        self.back.click(
            lambda: context.go("search", Selection("a red bar")), None, context.navigation
        )

    @property
    def inputs(self):
        return [self.state]

    @property
    def outputs(self):
        return [self.note, self.text, self.state, *self.context.place]

    def begin_loading(self, visit: Visit):
        return []

    def show(self, visit: Visit, state):
        if not is_shown(visit, state):
            state = EchoState(visit.model, visit.gallery, visit.selection)
            yield {self.state: state}
            time.sleep(ECHO_SECONDS)
            yield {self.text: html.note(f"Echo of {state.selection.text}")}
        yield self.context.record(state)


@pytest.fixture(params=["last", pytest.param("first", marks=pytest.mark.long)])
def echo_app(apps, app_checkpoints, monkeypatch, request):
    """The app with one tab more."""
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(app_checkpoints))

    def page():
        tabs = (*TABS, EchoTab) if request.param == "last" else (EchoTab, *TABS)
        return build(Library(), tabs)[0]

    with served_page(page, head=theme.head()) as apps["echo"]:
        yield "echo"
    del apps["echo"]


def test_a_tab_that_is_left_for_a_moment_shows_its_answer(browser, apps, echo_app):
    page = browser.new_page()
    page.goto(apps[echo_app] + "?tab=train")
    is_open(page, "Train")
    open_tab(page, "Echo")
    open_tab(page, "Train")
    open_tab(page, "Echo")
    expect(page.locator("#echo")).to_have_text("Echo of")
    page.close()


def test_a_tab_from_outside_is_part_of_the_page(browser, apps, echo_app):
    page = browser.new_page()
    page.goto(apps[echo_app] + "?tab=echo&q=two+dogs")
    is_open(page, "Echo")
    expect(page.locator("#echo")).to_have_text("Echo of two dogs")
    page.get_by_role("button", name="Find a red bar").click()
    is_open(page, "Search")
    expect(page.get_by_label("Sentence", exact=True)).to_have_value("a red bar")
    expect(page).to_have_url(re.compile(r"q=a\+red\+bar"))
    page.go_back()
    is_open(page, "Echo")
    expect(page.locator("#echo")).to_have_text("Echo of two dogs")
    page.close()


@pytest.mark.parametrize("path", [{}, {"tab": "describe"}])
def test_a_visitor_who_opens_a_tab_while_the_page_loads_stays_there(
    app_checkpoints, monkeypatch, path
):
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(app_checkpoints))
    with gr.Blocks():
        layout = Page(Library(), TABS)
    session = SimpleNamespace(session_hash=f"quick {path}", query_params=path)

    def click_meanwhile(gallery):
        layout_module.REQUESTS.open_tab(session.session_hash, "sentences")
        return "gru"

    monkeypatch.setattr(layout.library, "default_model", click_meanwhile)
    update = layout.load("", 12, session)
    assert layout_module.REQUESTS.tab(session.session_hash) == "sentences"
    assert layout.context.tabs not in update
    assert not [value for value in update.values() if isinstance(value, Visit)]
