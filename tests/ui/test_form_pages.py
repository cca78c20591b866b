"""The form of a preset in a browser, on a page that logs the settings it sends."""

import json
import re
import time

import gradio as gr
import pytest
from playwright.sync_api import expect

from tests.ui.conftest import served_page
from vsdemo import models
from vsdemo.core.errors import UserError
from vsdemo.ui import installation, theme
from vsdemo.ui.training.form import BASIC, form, form_widget, settings

PRESETS = {name: config for name, (_, config) in models.presets().items()}
PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1440, "height": 900}
CALLBACK_SECONDS = 0.3  # duration of each callback


def page_with_a_form() -> gr.Blocks:
    """Return a page with a form, buttons that load presets into it, and a log of its events."""

    def log_event(preset: str, before: str, event: gr.EventData) -> str:
        time.sleep(CALLBACK_SECONDS)
        try:
            return before + json.dumps(settings(event, PRESETS[preset])) + "\n"
        except UserError as error:
            return f"{before}{error}\n"

    with gr.Blocks() as demo:
        preset = gr.State("gru")
        log = gr.Textbox(label="Log", lines=3)
        quiet = {"show_progress": "hidden"}
        component = form_widget("settings", form(PRESETS["gru"]))
        for name in ("gru", "rnn", "ct_rnn", "fragments"):
            button = gr.Button(name)
            button.click(lambda name=name: (name, form(PRESETS[name])), None, [preset, component])
        again = gr.Button("again")
        again.click(lambda: form(PRESETS["gru"], BASIC[1:]), None, component, **quiet)
        component.input(log_event, [preset, log], log, trigger_mode="always_last", **quiet)
    return demo


@pytest.fixture(scope="module")
def apps():
    """Replace the app of the other tests by this page."""
    routes = installation.routes(name="form", description="a form")
    with served_page(page_with_a_form, head=theme.head(), app_kwargs={"routes": routes}) as address:
        yield {"toy": address}


def opened(page):
    expect(field(page, "epochs")).to_be_visible()
    return page


def field(page, name):
    return page.locator(f"#set-{name}")


def fill(page, name, value):
    field(page, name).fill(value)
    field(page, name).press("Tab")


def expect_log(page, *lines):
    expect(page.get_by_label("Log")).to_have_value("".join(f"{line}\n" for line in lines))


def group(page, title):
    return page.locator("details").filter(has=page.locator("summary", has_text=title))


def test_a_change_is_sent_highlighted_and_reset(visit):
    page = opened(visit())
    status = page.locator("#settings .changes [role=status]")
    expect(status).to_have_text("No settings changed.")
    field(page, "margin").press_sequentially("5")
    page.wait_for_timeout(2 * 1000 * CALLBACK_SECONDS)
    expect_log(page)  # nothing is sent while typing
    fill(page, "margin", "0.5")
    expect_log(page, '["margin=0.5"]')
    box = page.locator("[data-field=margin]")
    expect(box).to_have_class("setting-field changed")
    assert box.locator("label").evaluate("e => getComputedStyle(e, '::after').content") == '"●"'
    expect(status).to_have_text("Changed: margin")
    page.get_by_role("button", name="reset to default: margin", exact=True).click()
    expect_log(page, '["margin=0.5"]', "[]")
    expect(box).to_have_class("setting-field")
    expect(field(page, "margin")).to_have_value("0.2")
    expect(field(page, "margin")).to_be_focused()


def test_each_kind_of_input_sends_valid_settings(visit):
    page = opened(visit())
    model = group(page, "The model")
    expect(field(page, "pooling")).to_be_hidden()
    model.locator("summary").click()
    page.get_by_label("pooling", exact=True).select_option("mean")
    expect_log(page, first := '["pooling=mean"]')
    page.get_by_label("bidirectional", exact=True).focus()
    page.keyboard.press("Space")
    expect_log(page, first, second := '["pooling=mean", "bidirectional=false"]')
    expect(model.locator(".count")).to_have_text("2 changed")
    fill(page, "epochs", "1e1")
    expect_log(page, first, second, '["epochs=10", "pooling=mean", "bidirectional=false"]')
    page.get_by_role("button", name="reset all to default").click()
    expect(page.get_by_label("Log")).to_have_value(re.compile(r"\n\[\]\n$"))
    expect(page.locator("#settings .changed")).to_have_count(0)
    expect(model.locator(".count")).to_have_text("")


def test_invalid_values_are_highlighted_and_rejected(visit):
    page = opened(visit())
    error = page.locator("[data-field=epochs] .input-error")
    expect(error).to_be_hidden()
    fill(page, "epochs", "0")
    expect(error).to_have_text("Enter a whole number from 1 to 1,000,000,000.")
    expect(error).to_be_visible()
    fill(page, "epochs", "")
    expect(error).to_be_visible()
    low = "epochs must be a whole number from 1 to 1,000,000,000, not '0'."
    expect(page.get_by_label("Log")).to_have_value(
        f"{low}\nepochs must be a whole number from 1 to 1,000,000,000, not ''.\n"
    )
    page.get_by_role("button", name="reset to default: epochs").click()
    expect(error).to_be_hidden()


def test_the_last_change_during_a_callback_is_sent_after_it(visit):
    page = opened(visit())
    for value in ("0.1", "0.3", "0.4"):
        fill(page, "margin", value)
    expect(page.get_by_label("Log")).to_have_value(re.compile(r'\["margin=0.4"\]\n$'))


def test_another_preset_starts_from_its_defaults_and_keeps_groups_open(visit):
    page = opened(visit())
    group(page, "Loss").locator("summary").click()
    fill(page, "margin", "0.5")
    page.get_by_role("button", name="rnn", exact=True).click()
    expect(field(page, "init_noise")).to_be_attached()
    expect(field(page, "margin")).to_have_value("0.2")
    expect(page.locator("#settings .changed")).to_have_count(0)
    expect(page.locator("details[open]")).to_have_attribute("data-group", "Loss")
    fill(page, "margin", "0.7")
    expect(page.get_by_label("Log")).to_have_value(re.compile('"margin=0.7"'))
    page.get_by_role("button", name="ct_rnn", exact=True).click()  # has the same defaults
    expect(page.locator("#settings .changed")).to_have_count(0)
    expect(field(page, "margin")).to_have_value("0.2")
    page.get_by_role("button", name="fragments", exact=True).click()
    expect(field(page, "mil_start")).to_be_attached()
    expect(field(page, "loss")).to_be_disabled()  # has only one choice


def test_reloading_the_same_preset_keeps_typed_values(visit):
    page = opened(visit())
    fill(page, "margin", "0.5")
    for name in ("gru", "again"):  # the second shows other fields first
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
    expect(page.locator("[data-field=margin]")).to_have_class("setting-field changed")


@pytest.mark.parametrize(
    ("viewport", "columns", "theme_path"),
    [
        (PHONE, 1, "?__theme=dark"),
        (DESKTOP, 3, ""),
        pytest.param(PHONE, 1, "", marks=pytest.mark.long),
        pytest.param(DESKTOP, 3, "?__theme=dark", marks=pytest.mark.long),
    ],
)
def test_the_form_fits_a_phone_and_a_desktop(visit, viewport, columns, theme_path):
    page = opened(visit(path=theme_path, viewport=viewport))
    for summary in page.locator("#settings summary").all():
        summary.click()
    assert not page.evaluate("document.documentElement.scrollWidth > window.innerWidth")
    lefts = page.evaluate(
        "[...document.querySelectorAll('.setting-field label')]"
        ".map(label => label.getBoundingClientRect().x)"
    )
    assert len(set(map(round, lefts))) == columns
    cut = page.evaluate(
        "[...document.querySelectorAll('.setting-field label, .setting-field .note')]"
        ".filter(e => e.scrollWidth > e.clientWidth).map(e => e.textContent)"
    )
    assert cut == []
    token = theme.TOKENS["ink"][bool(theme_path)]
    ink = page.evaluate("getComputedStyle(document.querySelector('#set-epochs')).color")
    assert ink == "rgb({}, {}, {})".format(*bytes.fromhex(token[1:]))
