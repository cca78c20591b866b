"""Training curves in a browser, on a page without other components."""

import json
from io import BytesIO

import gradio as gr
import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.ui.conftest import served_page
from vsdemo.plots.curves import curves
from vsdemo.ui import theme
from vsdemo.ui.training.curves import EMPTY, curves_widget, to_json

LINES = """(panel) => document.querySelector(`[data-panel=${panel}] .plot`).data
  .map(({ x, y, line }) => [x.length, y.at(-1), line.color, line.dash || ""])"""
LENGTH = "(p) => document.querySelector(`[data-panel=${p}] .plot`).data?.at(-1)?.x.length"
AXIS = "(p) => document.querySelector(`[data-panel=${p}] .plot`)._fullLayout.%s"
COUNTS = "[...document.querySelectorAll('.panel')].map((e) => Number(e.dataset.drawn))"
LEFTS = "[...document.querySelectorAll('.panel')].map((e) => e.getBoundingClientRect().x)"


def events(steps, loss=100.0, kind="retrieval"):
    """Yield the events of a run that is evaluated every 20 steps."""
    for step in range(1, steps + 1):
        rate, speed = 0.001 - 1e-6 * step, 2000 + step % 7
        values = {"loss": loss / step, "learning_rate": rate, "pairs_per_second": speed}
        yield {"kind": "step", "step": step, "time": 1.0, **values}
        if step % 20 == 0:
            recalls = dict.fromkeys(("r1", "r5", "r10"), step / 10)
            metrics = {"i2t": recalls, "t2i": recalls, "rsum": 0.6 * step}
            yield {"kind": "eval", "step": step} | (
                metrics if kind == "retrieval" else {"accuracy": 50 + step / 10}
            )


def value(**runs):
    return to_json(curves({name: list(events) for name, events in runs.items()}))


def page_with_curves() -> gr.Blocks:
    """Return a page with curves in its second tab, and buttons that change them."""
    values = {
        "Begin": value(order=events(30)),
        "Grow": value(order=events(60)),
        "Two": value(**{"order <b>&": events(60), "gru": events(40, 50.0)}),
        "Other": value(order=events(40), concepts=events(40, 10.0, "accuracy")),
        "Empty": value(order=[{"kind": "start", "step": 0}]),
    }
    with gr.Blocks() as demo:
        buttons = {name: gr.Button(name) for name in values}
        with gr.Tabs():
            with gr.Tab("First", render_children=True):
                gr.Markdown("Nothing.")
            with gr.Tab("Curves", render_children=True):
                component = curves_widget("Training curves", "curves")
        for name, button in buttons.items():
            button.click(lambda name=name: values[name], None, component, show_progress="hidden")
    return demo


@pytest.fixture(scope="module")
def apps():
    """Replace the app of the other tests by this page."""
    with served_page(page_with_curves, run_history=False) as address:
        yield {"toy": address}


def press(page, name):
    page.get_by_role("button", name=name, exact=True).click()


def points(page, count, panel="loss"):
    """Wait until the last line of a panel has so many points."""
    page.wait_for_function(
        f"([panel, n]) => ({LENGTH})(panel) === n",
        arg=[panel, count],
    )


def opened(page, name="Begin"):
    """Open the tab of the curves and press a button."""
    page.get_by_role("tab", name="Curves", exact=True).click()
    press(page, name)
    page.locator(".curves[data-drawn]").wait_for()
    return page


def test_curves_are_drawn_when_visible_and_grow(visit):
    page = visit()
    press(page, "Begin")
    page.wait_for_timeout(300)
    assert page.evaluate("window.Plotly") is None
    page.get_by_role("tab", name="Curves", exact=True).click()
    expect(page.get_by_role("region", name="Training curves", exact=True)).to_be_visible()
    points(page, 30)
    points(page, 1, "dev")
    before = page.locator(".panels").bounding_box()
    press(page, "Grow")
    points(page, 60)
    points(page, 60, "throughput")
    assert page.evaluate(LINES, "dev") == [[3, 36, "#0072B2", "solid"]]
    assert page.locator(".panels").bounding_box() == before
    titles = page.locator(".curves h2").all_inner_texts()
    assert titles == ["Loss", "Dev", "Learning rate", "Throughput"]


def test_a_note_is_shown_before_the_first_step(visit):
    page = visit()
    page.get_by_role("tab", name="Curves", exact=True).click()
    note = page.locator(".curves .note")
    expect(note).to_have_text(EMPTY)
    height = page.locator(".curves").bounding_box()["height"]
    press(page, "Empty")
    page.wait_for_timeout(300)
    expect(note).to_have_text(EMPTY)
    expect(page.get_by_role("button", name="PNG", exact=True)).to_be_disabled()
    press(page, "Begin")
    expect(note).to_have_text("")
    assert page.locator(".curves").bounding_box()["height"] == height
    press(page, "Empty")
    expect(note).to_have_text(EMPTY)


def test_runs_share_panels_and_a_legend(visit):
    page = opened(visit(), "Two")
    assert page.locator(".curves .runs li").all_inner_texts() == ["order <b>&", "gru"]
    lines = page.evaluate(LINES, "loss")
    assert [line[2:] for line in lines] == [["#0072B2", "solid"], ["#E69F00", "9px,4px"]]
    box = page.locator("[data-panel=dev] .point").nth(1).bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    tooltip = page.locator("[data-panel=dev] .hovertext")
    expect(tooltip).to_contain_text("step 40")
    expect(tooltip).to_contain_text("24")


def test_smoothing_and_log_scale_are_kept_while_data_arrive(visit):
    page = opened(visit())
    smooth, log = page.get_by_label("Smoothing"), page.get_by_label("Log scale")
    smooth.focus()
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    expect(page.locator(".curves .weight")).to_have_text("0.50")
    log.focus()
    page.keyboard.press("Space")
    page.wait_for_function("document.querySelector('.plot')._fullLayout.yaxis.type === 'log'")
    press(page, "Grow")
    points(page, 60)
    assert page.evaluate(AXIS % "yaxis.type", "loss") == "log"
    assert page.evaluate(AXIS % "yaxis.type", "learning_rate") == "log"
    assert page.evaluate(AXIS % "yaxis.type", "throughput") == "linear"
    raw, line = page.evaluate(LINES, "loss")
    total, weight = 0, 1
    for loss in (100 / step for step in range(1, 61)):
        total, weight = 0.5 * total + 0.5 * loss, 0.5 * weight
    assert raw[1] == pytest.approx(100 / 60, rel=1e-4)
    assert line[1] == pytest.approx(total / (1 - weight), rel=1e-4)
    assert len(page.evaluate(LINES, "learning_rate")) == len(page.evaluate(LINES, "dev")) == 1
    assert len(page.evaluate(LINES, "throughput")) == 2
    expect(smooth).to_have_value("0.5")
    expect(log).to_be_checked()


def test_zoom_is_kept_for_the_same_runs_and_unchanged_panels_are_not_redrawn(visit):
    page = opened(visit())
    box = page.locator("[data-panel=loss] .nsewdrag").bounding_box()
    page.mouse.move(box["x"] + 100, box["y"] + 30)
    page.mouse.down()
    page.mouse.move(box["x"] + 300, box["y"] + 90, steps=5)
    page.mouse.up()
    page.wait_for_function(f"!({AXIS % 'xaxis.autorange'})('loss')")
    zoomed = page.evaluate(AXIS % "xaxis.range", "loss")
    press(page, "Grow")
    points(page, 60)
    assert page.evaluate(AXIS % "xaxis.range", "loss") == pytest.approx(zoomed)
    points(page, 60, "throughput")
    before = page.evaluate(COUNTS)
    page.get_by_label("Log scale").check()
    page.wait_for_function(f"({AXIS % 'yaxis.type'})('learning_rate') === 'log'")
    page.wait_for_function(f"({COUNTS}).some((count, i) => count > {before}[i])")
    page.wait_for_timeout(300)
    drawn_again = [b - a for a, b in zip(before, page.evaluate(COUNTS), strict=True)]
    assert drawn_again == [1, 0, 1, 0]
    press(page, "Two")
    expect(page.locator(".curves .runs li")).to_have_count(2)
    page.wait_for_function(f"({AXIS % 'xaxis.autorange'})('loss')")


def test_runs_with_different_metrics_are_drawn_one_metric_at_a_time(visit):
    page = opened(visit(), "Other")
    metric = page.get_by_label("Metric on dev")
    names = ["rsum", "R@1", "R@5", "R@10", "accuracy"]
    assert metric.locator("option").all_inner_texts() == names
    assert page.evaluate(LINES, "dev") == [[2, 24, "#0072B2", "solid"]]
    metric.select_option("accuracy")
    page.wait_for_function(
        "document.querySelector('[data-panel=dev] .plot').data[0].y.at(-1) === 54"
    )
    assert page.evaluate(LINES, "dev") == [[2, 54, "#E69F00", "9px,4px"]]
    expect(page.locator("[data-panel=dev] .unit")).to_have_text("%")


def test_the_exported_image_has_all_panels(visit):
    page = opened(visit(), "Two")
    with page.expect_download() as download:
        press(page, "PNG")
    assert download.value.suggested_filename == "order-b-gru.png"
    with open(download.value.path(), "rb") as file:
        image = Image.open(BytesIO(file.read())).convert("RGB")
    assert image.getpixel((2, 2)) == tuple(bytes.fromhex(theme.TOKENS["paper"][0][1:]))
    half = image.width // 2, image.height // 2
    for x, y in ((0, 0), (half[0], 0), (0, half[1]), half):
        colours = {c for _, c in image.crop((x, y, x + half[0], y + half[1])).getcolors(1 << 20)}
        assert {(0, 0x72, 0xB2), (0xE6, 0x9F, 0)} <= colours


def test_panels_stack_on_a_phone_and_follow_the_dark_theme(visit):
    page = opened(visit(path="?__theme=dark", viewport={"width": 390, "height": 844}))
    assert len(set(page.evaluate(LEFTS))) == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert (
        page.evaluate("document.querySelector('.plot').layout.font.color")
        == (theme.TOKENS["quiet"][1])
    )
    page.evaluate("document.body.classList.remove('dark')")
    quiet = json.dumps(theme.TOKENS["quiet"][0])
    page.wait_for_function(f"document.querySelector('.plot').layout.font.color === {quiet}")
    page.set_viewport_size({"width": 1000, "height": 844})
    page.wait_for_function(f"new Set({LEFTS}).size === 2")
    page.wait_for_function("document.querySelector('.curves .main-svg').clientWidth > 390")
