"""The map in a browser: a page with nothing else but what it was told."""

import json
import warnings

import gradio as gr
import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.ui.conftest import free_port
from vsdemo.core.arrows import Arrow
from vsdemo.plots.embedding_map import MapView, map_figure, map_overlay
from vsdemo.ui import images, theme
from vsdemo.ui.hierarchy.map import plotly_map, to_json

KINDS = ("root", "concept", "caption", "photo", "photo")
TEXTS = ("entity", "dog", "<img src=x onerror=alert(1)>", "first.jpg", "second.jpg")
POINTS = np.array([[0, 1], [-0.8, 0.4], [0.8, 0.4], [-0.8, -0.8], [0.8, -0.8]])
SOURCE = "photo/toy/{number}/small"
WHERE = """(number) => {
  const plot = document.querySelector(".map .plot"), { xaxis, yaxis, _size } = plot._fullLayout;
  const box = plot.getBoundingClientRect();
  for (const trace of plot.data) {
    const i = (trace.customdata || []).indexOf(number);
    if (i < 0) continue;
    return [box.x + _size.l + xaxis.l2p(trace.x[i]), box.y + _size.t + yaxis.l2p(trace.y[i])];
  }
}"""  # the pixel of an item
NAMES = "[...document.querySelectorAll('.map .legendtext')].map((e) => e.textContent)"


def view(**changes) -> MapView:
    common = {"kinds": KINDS, "texts": TEXTS, "norms": np.arange(5.0), "norm_title": "norm"}
    return MapView(**{"points": POINTS, **common, "photos": [1, 0], **changes})


def page_with_a_map() -> gr.Blocks:
    """A map in a second tab; buttons that change it."""

    def chosen(event: gr.EventData) -> tuple[str, str]:
        over = map_overlay(view(chosen=event.numbers[0], arrows=[Arrow(0, 1, 0.5)]))
        return json.dumps(event.numbers), to_json(over)

    with gr.Blocks() as demo:
        with gr.Tabs():
            with gr.Tab("First", render_children=True):
                told = gr.Textbox(label="Chosen")
                first = gr.Button("Draw")
                moved = gr.Button("Move")
            with gr.Tab("Map", render_children=True):
                shown = plotly_map("Map of the toys", "toys")
        quiet = {"show_progress": "hidden"}
        first.click(lambda: to_json(map_figure(view()), SOURCE), None, shown, **quiet)
        turned = to_json(map_figure(view(points=-POINTS)), SOURCE)
        moved.click(lambda: turned, None, shown, **quiet)
        shown.select(chosen, None, [told, shown], **quiet)
    return demo


@pytest.fixture(scope="module")
def apps(tmp_path_factory):
    """In the place of the whole app."""
    photos = [tmp_path_factory.mktemp("photos") / f"{n}.png" for n in range(2)]
    for path in photos:
        Image.new("RGB", (40, 30), "tan").save(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        demo, port = page_with_a_map(), free_port()
        demo.launch(
            server_port=port,
            prevent_thread_lock=True,
            quiet=True,
            ssr_mode=False,
            theme=theme.theme(),
            css=theme.css(),
            footer_links=[],
            app_kwargs={"routes": [images.route(lambda token: photos)]},
        )
    yield {"toy": f"http://127.0.0.1:{port}/"}
    demo.close()


def drawn_times(page, times):
    expect(page.locator(".map")).to_have_attribute("data-drawn", str(times))


def opened(page):
    """The map, drawn."""
    page.get_by_role("button", name="Draw", exact=True).click()
    page.get_by_role("tab", name="Map", exact=True).click()
    drawn_times(page, 1)
    return page


def told(page):
    return page.get_by_label("Chosen")


def test_plotly_is_fetched_when_the_map_shows_and_not_before(visit):
    page = visit()
    page.get_by_role("button", name="Draw", exact=True).click()
    page.wait_for_timeout(300)
    assert page.evaluate("window.Plotly") is None
    page.get_by_role("tab", name="Map", exact=True).click()
    drawn_times(page, 1)
    expect(page.get_by_role("region", name="Map of the toys", exact=True)).to_be_visible()
    assert page.evaluate(NAMES) == ["Root", "Concepts", "Captions", "Photos"][::-1]
    assert page.locator(".map canvas").count() > 0  # the graphics card draws, or what stands for it


def test_a_click_tells_the_number_of_its_item_and_moves_the_ring(visit):
    page = opened(visit())
    for number in (1, 4):
        page.mouse.move(*page.evaluate(WHERE, number))
        expect(page.locator(".map .hovertext")).to_be_visible()
        page.mouse.click(*page.evaluate(WHERE, number))
        expect(told(page)).to_have_value(f"[{number}]")
        page.wait_for_function(
            "(x) => document.querySelector('.plot').layout.shapes[0].xanchor === x",
            arg=POINTS[number, 0],
        )
    assert "More general ➝" in page.evaluate(NAMES)  # the overlay was drawn too


@pytest.mark.parametrize("tool", ["Box Select", "Lasso Select"])
def test_a_lasso_and_a_box_tell_all_within(visit, tool):
    page = opened(visit())
    page.locator(".map .plot").hover()
    page.locator(f'.map .modebar-btn[data-title="{tool}"]').click()
    (x0, y), (x1, _) = (page.evaluate(WHERE, n) for n in (3, 4))
    corners = [(x0 - 20, y - 20), (x1 + 20, y - 20), (x1 + 20, y + 12), (x0 - 20, y + 12)]
    page.mouse.move(*corners[0])
    page.mouse.down()
    for corner in corners[2:3] if tool == "Box Select" else corners[1:]:
        page.mouse.move(*corner, steps=8)
    page.mouse.up()
    expect(told(page)).to_have_value("[3, 4]")


def test_a_new_value_is_drawn_and_zoom_stays_for_the_same_points_only(visit):
    page = opened(visit())
    ranges = "document.querySelector('.plot').layout.xaxis.range"
    before, place = page.evaluate(ranges), page.evaluate(WHERE, 1)
    page.mouse.move(*place)
    page.mouse.wheel(0, -300)
    page.wait_for_function(f"(x) => {ranges}[0] > x", arg=before[0])
    drawn_times(page, 2)  # names have room elsewhere now
    zoomed = page.evaluate(ranges)
    page.mouse.click(*page.evaluate(WHERE, 1))
    drawn_times(page, 3)
    assert page.evaluate(ranges) == pytest.approx(zoomed)
    page.get_by_role("tab", name="First", exact=True).click()
    page.get_by_role("button", name="Move", exact=True).click()
    page.wait_for_timeout(300)
    page.get_by_role("tab", name="Map", exact=True).click()
    page.wait_for_function(f"(x) => Math.abs({ranges}[0] - x) < 1e-6", arg=before[0])


def test_a_photo_shows_itself_where_the_pointer_is(visit):
    page = opened(visit())
    page.mouse.move(*page.evaluate(WHERE, 3))
    photo = page.locator(".map .near")
    expect(photo).to_be_visible()
    assert photo.get_attribute("src") == "photo/toy/1/small"
    expect(photo).to_have_js_property("naturalWidth", 40)
    page.mouse.move(*page.evaluate(WHERE, 2))
    expect(photo).to_be_hidden()
    said = page.locator(".map .hovertext")
    expect(said).to_contain_text("<img src=x onerror=alert(1)>")
    assert said.locator("img").count() == 0


def test_on_a_phone_in_the_dark_it_fits_and_can_be_read(visit):
    page = opened(visit(path="?__theme=dark", viewport={"width": 390, "height": 844}))
    box = page.locator(".map").bounding_box()
    assert box["height"] == 360
    assert box["x"] + box["width"] <= 390
    assert page.locator(".map .plot .main-svg").first.bounding_box()["width"] <= box["width"]
    ink = page.evaluate(
        "getComputedStyle(document.querySelector('.map')).getPropertyValue('--ink')"
    )
    assert ink == theme.TOKENS["ink"][1]
    assert page.evaluate("document.querySelector('.plot').layout.font.color") == ink
    page.set_viewport_size({"width": 800, "height": 844})
    page.wait_for_function("document.querySelector('.map .main-svg').clientWidth > 600")


def test_without_webgl_it_is_drawn_all_the_same(visit):
    page = visit()
    page.evaluate("HTMLCanvasElement.prototype.getContext = () => null")
    opened(page)
    assert page.locator(".map .trace .point").count() == len(KINDS)
    page.mouse.click(*page.evaluate(WHERE, 4))
    expect(told(page)).to_have_value("[4]")
