"""The form of a preset in a browser: a page with nothing else but what the app heard."""

import json
import re
import time
import warnings

import gradio as gr
import pytest
from playwright.sync_api import expect

from tests.ui.conftest import free_port
from vsdemo import models
from vsdemo.core.errors import UserError
from vsdemo.ui import theme
from vsdemo.ui.training.form import BASIC, form, form_widget, settings

PRESETS = {name: config for name, (_, config) in models.presets().items()}
PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1440, "height": 900}
SLOW = 0.3  # seconds that an answer takes here


def page_with_a_form() -> gr.Blocks:
    """A form, buttons that show presets in it, and what the app heard, one line an event."""

    def hear(preset: str, before: str, event: gr.EventData) -> str:
        time.sleep(SLOW)
        try:
            return before + json.dumps(settings(event, PRESETS[preset])) + "\n"
        except UserError as error:
            return f"{before}{error}\n"

    with gr.Blocks() as demo:
        preset = gr.State("gru")
        heard = gr.Textbox(label="Heard", lines=3)
        quiet = {"show_progress": "hidden"}
        shown = form_widget("settings", form(PRESETS["gru"]))
        for name in ("gru", "rnn", "ct_rnn", "fragments"):
            button = gr.Button(name)
            button.click(lambda name=name: (name, form(PRESETS[name])), None, [preset, shown])
        again = gr.Button("again")
        again.click(lambda: form(PRESETS["gru"], BASIC[1:]), None, shown, **quiet)
        shown.input(hear, [preset, heard], heard, trigger_mode="always_last", **quiet)
    return demo


@pytest.fixture(scope="module")
def apps():
    """In the place of the whole app."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        demo, port = page_with_a_form(), free_port()
        demo.launch(
            server_port=port,
            prevent_thread_lock=True,
            quiet=True,
            ssr_mode=False,
            theme=theme.theme(),
            css=theme.css(),
            head=theme.head(),
            footer_links=[],
        )
    yield {"toy": f"http://127.0.0.1:{port}/"}
    demo.close()


def opened(page):
    expect(field(page, "epochs")).to_be_visible()
    return page


def field(page, name):
    return page.locator(f"#set-{name}")


def put(page, name, value):
    field(page, name).fill(value)
    field(page, name).press("Tab")


def heard(page, *lines):
    expect(page.get_by_label("Heard")).to_have_value("".join(f"{line}\n" for line in lines))


def group(page, title):
    return page.locator("details").filter(has=page.locator("summary", has_text=title))


def test_a_change_is_told_and_marked_and_taken_back(visit):
    page = opened(visit())
    said = page.locator("#settings .sum [role=status]")
    expect(said).to_have_text("Nothing is changed.")
    field(page, "margin").press_sequentially("5")
    page.wait_for_timeout(2 * 1000 * SLOW)
    heard(page)  # not while it is typed
    put(page, "margin", "0.5")
    heard(page, '["margin=0.5"]')
    box = page.locator("[data-field=margin]")
    expect(box).to_have_class("setting-of changed")
    assert box.locator("label").evaluate("e => getComputedStyle(e, '::after').content") == '"●"'
    expect(said).to_have_text("Changed: margin")
    page.get_by_role("button", name="margin back to default", exact=True).click()
    heard(page, '["margin=0.5"]', "[]")
    expect(box).to_have_class("setting-of")
    expect(field(page, "margin")).to_have_value("0.2")
    expect(field(page, "margin")).to_be_focused()


def test_each_kind_of_widget_tells_what_override_takes(visit):
    page = opened(visit())
    model = group(page, "The model")
    expect(field(page, "pooling")).to_be_hidden()
    model.locator("summary").click()
    page.get_by_label("pooling", exact=True).select_option("mean")
    heard(page, first := '["pooling=mean"]')
    page.get_by_label("bidirectional", exact=True).focus()
    page.keyboard.press("Space")
    heard(page, first, second := '["pooling=mean", "bidirectional=false"]')
    expect(model.locator(".count")).to_have_text("2 changed")
    put(page, "epochs", "1e1")
    heard(page, first, second, '["epochs=10", "pooling=mean", "bidirectional=false"]')
    page.get_by_role("button", name="all back to default").click()
    expect(page.get_by_label("Heard")).to_have_value(re.compile(r"\n\[\]\n$"))
    expect(page.locator("#settings .changed")).to_have_count(0)
    expect(model.locator(".count")).to_have_text("")


def test_what_does_not_fit_is_marked_and_refused_by_the_app(visit):
    page = opened(visit())
    wrong = page.locator("[data-field=epochs] .wrong")
    expect(wrong).to_be_hidden()
    put(page, "epochs", "0")
    expect(wrong).to_have_text("Whole numbers from 1 to 1,000,000,000.")
    expect(wrong).to_be_visible()
    put(page, "epochs", "")
    expect(wrong).to_be_visible()
    low = "epochs must be a whole number from 1 to 1,000,000,000, not '0'."
    expect(page.get_by_label("Heard")).to_have_value(
        f"{low}\nepochs must be a whole number from 1 to 1,000,000,000, not ''.\n"
    )
    page.get_by_role("button", name="epochs back to default").click()
    expect(wrong).to_be_hidden()


def test_changes_during_an_answer_are_heard_in_the_end(visit):
    page = opened(visit())
    for value in ("0.1", "0.3", "0.4"):
        put(page, "margin", value)
    expect(page.get_by_label("Heard")).to_have_value(re.compile(r'\["margin=0.4"\]\n$'))


def test_another_preset_begins_anew_and_open_groups_stay_open(visit):
    page = opened(visit())
    group(page, "Loss").locator("summary").click()
    put(page, "margin", "0.5")
    page.get_by_role("button", name="rnn", exact=True).click()
    expect(field(page, "init_noise")).to_be_attached()
    expect(field(page, "margin")).to_have_value("0.2")
    expect(page.locator("#settings .changed")).to_have_count(0)
    expect(page.locator("details[open]")).to_have_attribute("data-group", "Loss")
    put(page, "margin", "0.7")
    expect(page.get_by_label("Heard")).to_have_value(re.compile('"margin=0.7"'))
    page.get_by_role("button", name="ct_rnn", exact=True).click()  # all its defaults are those
    expect(page.locator("#settings .changed")).to_have_count(0)
    expect(field(page, "margin")).to_have_value("0.2")
    page.get_by_role("button", name="fragments", exact=True).click()
    expect(field(page, "mil_start")).to_be_attached()
    expect(field(page, "loss")).to_be_disabled()  # there is one choice


def test_the_same_preset_told_again_keeps_what_is_typed(visit):
    page = opened(visit())
    put(page, "margin", "0.5")
    for name in ("gru", "again"):  # the second with other fields on top
        field(page, "dim").fill("25")
        page.evaluate(
            "name => [...document.querySelectorAll('button')].find("
            "button => button.textContent.trim() === name).click()",
            name,
        )
        page.wait_for_timeout(500)
        expect(field(page, "dim")).to_be_focused()
        field(page, "dim").press_sequentially("6")
        expect(field(page, "dim")).to_have_value(re.compile("256|625"))
        expect(field(page, "margin")).to_have_value("0.5")
    expect(page.locator("#settings .fields").first.locator("#set-epochs")).to_have_count(0)
    expect(page.locator("[data-field=margin]")).to_have_class("setting-of changed")


@pytest.mark.parametrize(("viewport", "columns"), [(PHONE, 1), (DESKTOP, 3)])
@pytest.mark.parametrize("look", ["", "?__theme=dark"])
def test_it_fits_a_phone_and_a_desktop(visit, viewport, columns, look):
    page = opened(visit(path=look, viewport=viewport))
    for summary in page.locator("#settings summary").all():
        summary.click()
    assert not page.evaluate("document.documentElement.scrollWidth > window.innerWidth")
    lefts = page.evaluate(
        "[...document.querySelectorAll('.setting-of label')].map(e => e.getBoundingClientRect().x)"
    )
    assert len(set(map(round, lefts))) == columns
    cut = page.evaluate(
        "[...document.querySelectorAll('.setting-of label, .setting-of .note')]"
        ".filter(e => e.scrollWidth > e.clientWidth).map(e => e.textContent)"
    )
    assert cut == []
    token = theme.TOKENS["ink"][bool(look)]
    ink = page.evaluate("getComputedStyle(document.querySelector('#set-epochs')).color")
    assert ink == "rgb({}, {}, {})".format(*bytes.fromhex(token[1:]))
