"""The map in a browser, on a page without other components."""

import json

import gradio as gr
import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.ui.conftest import served_page
from vsdemo.core.arrows import Arrow
from vsdemo.plots.embedding_map import MapView, map_figure, map_overlay
from vsdemo.ui import images, theme
from vsdemo.ui.hierarchy.map import plotly_map, to_json

KINDS = ("root", "concept", "caption", "photo", "photo")
TEXTS = ("entity", "dog", "<img src=x onerror=alert(1)>", "first.jpg", "second.jpg")
POINTS = np.array([[0, 1], [-0.8, 0.4], [0.8, 0.4], [-0.8, -0.8], [0.8, -0.8]])
SOURCE = "photo/toy/{number}/small"
PIXEL = """(number) => {
  const plot = document.querySelector(".map .plot"), { xaxis, yaxis, _size } = plot._fullLayout;
  const box = plot.getBoundingClientRect();
  for (const trace of plot.data) {
    const i = (trace.customdata || []).indexOf(number);
    if (i < 0) continue;
    return [box.x + _size.l + xaxis.l2p(trace.x[i]), box.y + _size.t + yaxis.l2p(trace.y[i])];
  }
}"""  # the pixel at which an item is drawn
NAMES = "[...document.querySelectorAll('.map .legendtext')].map((e) => e.textContent)"


def view(**changes) -> MapView:
    common = {"kinds": KINDS, "texts": TEXTS, "norms": np.arange(5.0), "norm_title": "norm"}
    return MapView(**{"points": POINTS, **common, "photos": [1, 0], **changes})


def page_with_a_map() -> gr.Blocks:
    """Return a page with a map in its second tab, and buttons that change it."""

    def select(event: gr.EventData) -> tuple[str, str]:
        over = map_overlay(view(chosen=event.numbers[0], arrows=[Arrow(0, 1, 0.5)]))
        return json.dumps(event.numbers), to_json(over)

    with gr.Blocks() as demo:
        with gr.Tabs():
            with gr.Tab("First", render_children=True):
                numbers = gr.Textbox(label="Selected")
                draw = gr.Button("Draw")
                move = gr.Button("Move")
            with gr.Tab("Map", render_children=True):
                component = plotly_map("Map of the toys", "toys")
        quiet = {"show_progress": "hidden"}
        draw.click(lambda: to_json(map_figure(view()), SOURCE), None, component, **quiet)
        rotated = to_json(map_figure(view(points=-POINTS)), SOURCE)
        move.click(lambda: rotated, None, component, **quiet)
        component.select(select, None, [numbers, component], **quiet)
    return demo


@pytest.fixture(scope="module")
def apps(tmp_path_factory):
    """Replace the app of the other tests by this page."""
    photos = [tmp_path_factory.mktemp("photos") / f"{n}.png" for n in range(2)]
    for path in photos:
        Image.new("RGB", (40, 30), "tan").save(path)
    routes = [images.route(lambda token: photos)]
    with served_page(page_with_a_map, app_kwargs={"routes": routes}) as address:
        yield {"toy": address}


def drawn_times(page, times):
    expect(page.locator(".map")).to_have_attribute("data-drawn", str(times))


def opened(page):
    """Draw the map and open its tab."""
    page.get_by_role("button", name="Draw", exact=True).click()
    page.get_by_role("tab", name="Map", exact=True).click()
    drawn_times(page, 1)
    return page


def selected_numbers(page):
    return page.get_by_label("Selected")


def test_plotly_is_loaded_when_the_map_becomes_visible(visit):
    page = visit()
    page.get_by_role("button", name="Draw", exact=True).click()
    page.wait_for_timeout(300)
    assert page.evaluate("window.Plotly") is None
    page.get_by_role("tab", name="Map", exact=True).click()
    drawn_times(page, 1)
    expect(page.get_by_role("region", name="Map of the toys", exact=True)).to_be_visible()
    assert page.evaluate(NAMES) == ["Root", "Concepts", "Captions", "Photos"][::-1]
    assert page.locator(".map canvas").count() > 0  # drawn with WebGL


def test_a_click_reports_its_item_and_moves_the_ring(visit):
    page = opened(visit())
    for number in (1, 4):
        page.mouse.move(*page.evaluate(PIXEL, number))
        expect(page.locator(".map .hovertext")).to_be_visible()
        page.mouse.click(*page.evaluate(PIXEL, number))
        expect(selected_numbers(page)).to_have_value(f"[{number}]")
        page.wait_for_function(
            "(x) => document.querySelector('.plot').layout.shapes[0].xanchor === x",
            arg=POINTS[number, 0],
        )
    assert "More general ➝" in page.evaluate(NAMES)  # the overlay was drawn too


@pytest.mark.parametrize("tool", ["Box Select", "Lasso Select"])
def test_a_lasso_and_a_box_report_the_items_inside(visit, tool):
    page = opened(visit())
    page.locator(".map .plot").hover()
    page.locator(f'.map .modebar-btn[data-title="{tool}"]').click()
    (x0, y), (x1, _) = (page.evaluate(PIXEL, n) for n in (3, 4))
    corners = [(x0 - 20, y - 20), (x1 + 20, y - 20), (x1 + 20, y + 12), (x0 - 20, y + 12)]
    page.mouse.move(*corners[0])
    page.mouse.down()
    for corner in corners[2:3] if tool == "Box Select" else corners[1:]:
        page.mouse.move(*corner, steps=8)
    page.mouse.up()
    expect(selected_numbers(page)).to_have_value("[3, 4]")


def test_zoom_is_kept_for_the_same_points_only(visit):
    page = opened(visit())
    ranges = "document.querySelector('.plot').layout.xaxis.range"
    before = page.evaluate(ranges)
    page.mouse.move(*page.evaluate(PIXEL, 1))
    page.mouse.wheel(0, -300)
    page.wait_for_function(f"(x) => {ranges}[0] > x", arg=before[0])
    drawn_times(page, 2)  # labels are placed again after the zoom
    zoomed = page.evaluate(ranges)
    page.mouse.click(*page.evaluate(PIXEL, 1))
    drawn_times(page, 3)
    assert page.evaluate(ranges) == pytest.approx(zoomed)
    page.get_by_role("tab", name="First", exact=True).click()
    page.get_by_role("button", name="Move", exact=True).click()
    page.wait_for_timeout(300)
    page.get_by_role("tab", name="Map", exact=True).click()
    page.wait_for_function(f"(x) => Math.abs({ranges}[0] - x) < 1e-6", arg=before[0])


def test_a_preview_of_the_photo_under_the_pointer_is_shown(visit):
    page = opened(visit())
    page.mouse.move(*page.evaluate(PIXEL, 3))
    photo = page.locator(".map .photo-preview")
    expect(photo).to_be_visible()
    assert photo.get_attribute("src") == "photo/toy/1/small"
    expect(photo).to_have_js_property("naturalWidth", 40)
    page.mouse.move(*page.evaluate(PIXEL, 2))
    expect(photo).to_be_hidden()
    tooltip = page.locator(".map .hovertext")
    expect(tooltip).to_contain_text("<img src=x onerror=alert(1)>")
    assert tooltip.locator("img").count() == 0


def test_the_map_fits_on_a_phone_and_follows_the_dark_theme(visit):
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


def test_the_map_is_drawn_without_webgl(visit):
    page = visit()
    page.evaluate("HTMLCanvasElement.prototype.getContext = () => null")
    opened(page)
    assert page.locator(".map .trace .point").count() == len(KINDS)
    page.mouse.click(*page.evaluate(PIXEL, 4))
    expect(selected_numbers(page)).to_have_value("[4]")
