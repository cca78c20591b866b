"""The map in a browser, on a page without other components."""

import json

import gradio as gr
import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.ui.conftest import served_page
from vsdemo.core.arrows import Arrow
from vsdemo.data.galleries import Gallery
from vsdemo.plots.embedding_map import MapView, map_overlay, map_record
from vsdemo.ui import images, theme
from vsdemo.ui.hierarchy.map import map_widget, to_json

KINDS = ("root", "concept", "caption", "photo", "photo")
TEXTS = ("entity", "dog", "<img src=x onerror=alert(1)>", "first.jpg", "second.jpg")
POINTS = np.array([[0, 1], [-0.8, 0.4], [0.8, 0.4], [-0.8, -0.8], [0.8, -0.8]])
SOURCE = "photo/toy/{number}/small"
PHONE = {"width": 390, "height": 844}
PIXEL = "(number) => document.querySelector('.map').locate(number)"
INK = """([x, y]) => {
  const canvas = document.querySelector(".map canvas"), box = canvas.getBoundingClientRect();
  const ratio = canvas.width / box.width, near = 3 * ratio;
  const data = canvas.getContext("2d").getImageData(
    (x - box.x) * ratio - near, (y - box.y) * ratio - near, 2 * near, 2 * near).data;
  return data.some((value, i) => i % 4 === 3 && value > 0);
}"""  # whether anything is drawn near a pixel

COLOUR = """([x, y]) => {
  const canvas = document.querySelector(".map canvas"), box = canvas.getBoundingClientRect();
  const ratio = canvas.width / box.width;
  return [...canvas.getContext("2d").getImageData(
    (x - box.x) * ratio, (y - box.y) * ratio, 1, 1).data].slice(0, 3);
}"""  # of a pixel


def view(**changes) -> MapView:
    common = {"kinds": KINDS, "texts": TEXTS, "norms": np.arange(5.0), "norm_title": "norm"}
    arrows = [Arrow(0, 1, 0.5)]
    return MapView(**{"points": POINTS, **common, "photos": [1, 0], "arrows": arrows, **changes})


def page_with_a_map() -> gr.Blocks:
    """Return a page with a map in its second tab, and buttons that change it."""

    def select(event: gr.EventData) -> tuple[str, str]:
        over = map_overlay([0, event.numbers[0]], event.numbers[0])
        return json.dumps(event.numbers), to_json(over)

    with gr.Blocks() as demo:
        with gr.Tabs():
            with gr.Tab("First", render_children=True):
                numbers = gr.Textbox(label="Selected")
                draw = gr.Button("Draw")
                move = gr.Button("Move")
                deepen = gr.Button("Deepen")
            with gr.Tab("Map", render_children=True):
                component = map_widget("Map of the toys", "toys")
                gr.HTML("<div style='height: 1500px'></div>")
        quiet = {"show_progress": "hidden"}
        draw.click(lambda: to_json(map_record(view()), SOURCE), None, component, **quiet)
        rotated = to_json(map_record(view(points=-POINTS)), SOURCE)
        move.click(lambda: rotated, None, component, **quiet)
        deep = to_json(map_record(view(norms=np.array([0, 5.0, 5.1, 5.2, 5.2]))), SOURCE)
        deepen.click(lambda: deep, None, component, **quiet)
        component.select(select, None, [numbers, component], **quiet)
    return demo


@pytest.fixture(scope="module")
def apps(tmp_path_factory):
    """Replace the app of the other tests by this page."""
    photos = [tmp_path_factory.mktemp("photos") / f"{n}.png" for n in range(2)]
    for path in photos:
        Image.new("RGB", (40, 30), "tan").save(path)
    gallery = Gallery("key", "label", "own", "all", tuple(photos))
    routes = [images.route(lambda token: gallery)]
    with served_page(page_with_a_map, head=theme.head(), app_kwargs={"routes": routes}) as address:
        yield {"toy": address}


def opened(page):
    """Draw the map and open its tab."""
    page.get_by_role("button", name="Draw", exact=True).click()
    page.get_by_role("tab", name="Map", exact=True).click()
    page.wait_for_selector(".map[data-drawn]")
    return page


def pixel(page, number):
    return page.evaluate(PIXEL, number)


def selected_numbers(page):
    return page.get_by_label("Selected")


def tool(page, name):
    return page.locator(".map").get_by_role("button", name=name, exact=True)


def width_between(page):
    """Return the pixels between the two photos, which grow with the zoom."""
    return pixel(page, 4)[0] - pixel(page, 3)[0]


def fingers(page, kind, *positions):
    """Send a touch event, as from so many fingers."""
    points = [{"x": x, "y": y, "id": n} for n, (x, y) in enumerate(positions)]
    page.cdp.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


def drag(page, *tracks, steps=8):
    """Move fingers along straight tracks of a start and an end each."""
    fingers(page, "touchStart", *(start for start, _ in tracks))
    for step in range(1, steps + 1):
        part = step / steps
        at = [tuple(a + part * (b - a) for a, b in zip(*track, strict=True)) for track in tracks]
        fingers(page, "touchMove", *at)
    fingers(page, "touchEnd")


@pytest.fixture
def phone(visit):
    """The map on a phone that is touched."""
    page = opened(visit(viewport=PHONE, has_touch=True, is_mobile=True))
    page.cdp = page.context.new_cdp_session(page)
    page.wait_for_timeout(300)
    return page


def test_every_item_is_drawn_once_the_map_is_visible(visit):
    page = opened(visit())
    expect(page.get_by_role("region", name="Map of the toys", exact=True)).to_be_visible()
    for number in range(len(KINDS)):
        assert page.evaluate(INK, pixel(page, number))
    box = page.locator(".map canvas").bounding_box()
    assert not page.evaluate(INK, [box["x"] + 20, box["y"] + box["height"] - 20])
    entries = page.locator(".map-legend span[data-kind]:visible")
    assert entries.all_inner_texts() == ["photo", "caption", "concept", "root"]


def test_lengths_that_differ_little_have_different_colours(visit):
    page = opened(visit())
    page.get_by_role("tab", name="First", exact=True).click()
    page.get_by_role("button", name="Deepen", exact=True).click()
    page.get_by_role("tab", name="Map", exact=True).click()
    page.wait_for_timeout(300)
    root, concept, caption, photo, _ = (
        np.array(page.evaluate(COLOUR, pixel(page, number))) for number in range(len(KINDS))
    )
    for one, other in ((concept, caption), (caption, photo)):
        assert np.abs(one - other).max() > 30
    assert np.abs(root - concept).max() < 10  # both at the general end of the scale


def test_a_click_near_an_item_reports_it(visit):
    page = opened(visit())
    for number in (1, 4):
        x, y = pixel(page, number)
        page.mouse.click(x + 6, y - 6)
        expect(selected_numbers(page)).to_have_value(f"[{number}]")


def test_an_area_reports_the_items_inside(visit):
    page = opened(visit())
    tool(page, "Select an area").click()
    (x0, y), (x1, _) = (pixel(page, n) for n in (3, 4))
    page.mouse.move(x0 - 20, y - 20)
    page.mouse.down()
    page.mouse.move(x1 + 20, y + 12, steps=8)
    page.mouse.up()
    expect(selected_numbers(page)).to_have_value("[3, 4]")
    expect(tool(page, "Select an area")).to_have_attribute("aria-pressed", "false")


def test_zoom_is_kept_for_the_same_points_only(visit):
    page = opened(visit())
    whole = width_between(page)
    page.mouse.move(*pixel(page, 1))
    page.mouse.wheel(0, 200)  # the wheel alone scrolls the page
    page.wait_for_function("window.scrollY > 0")
    assert width_between(page) == pytest.approx(whole)
    page.evaluate("window.scrollTo(0, 0)")
    page.keyboard.down("Control")
    page.mouse.wheel(0, -100)
    page.keyboard.up("Control")
    zoomed = width_between(page)
    assert zoomed > 1.2 * whole
    page.mouse.click(*pixel(page, 1))
    expect(selected_numbers(page)).to_have_value("[1]")
    assert width_between(page) == pytest.approx(zoomed)
    page.get_by_role("tab", name="First", exact=True).click()
    page.get_by_role("button", name="Move", exact=True).click()
    page.wait_for_timeout(300)
    page.get_by_role("tab", name="Map", exact=True).click()
    page.wait_for_function(f"({PIXEL})(3)[0] > ({PIXEL})(4)[0]")
    assert width_between(page) == pytest.approx(-whole)


def test_buttons_zoom_and_a_drag_moves_the_map(visit):
    page = opened(visit())
    whole = width_between(page)
    assert tool(page, "Zoom out").is_disabled()
    tool(page, "Zoom in").click()
    assert width_between(page) > 1.5 * whole
    box = page.locator(".map canvas").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    before = pixel(page, 0)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y + 20, steps=5)
    page.mouse.up()
    assert pixel(page, 0) == pytest.approx([before[0] + 60, before[1] + 20], abs=1)
    assert selected_numbers(page).input_value() == ""
    tool(page, "Show the whole map").click()
    assert width_between(page) == pytest.approx(whole)


def test_what_is_under_the_pointer_is_shown(visit):
    page = opened(visit())
    tooltip = page.locator(".map .tooltip")
    photo = tooltip.locator("img")
    page.mouse.move(*pixel(page, 3))
    expect(photo).to_be_visible()
    assert photo.get_attribute("src") == "photo/toy/1/small"
    expect(photo).to_have_js_property("naturalWidth", 40)
    page.mouse.move(*pixel(page, 2))
    expect(photo).to_be_hidden()
    expect(tooltip).to_contain_text("<img src=x onerror=alert(1)>")
    expect(tooltip).to_contain_text("norm 2.00")
    assert tooltip.locator("img").count() == 1
    (x0, y0), (x1, y1) = pixel(page, 0), pixel(page, 1)
    page.mouse.move((x0 + x1) / 2, (y0 + y1) / 2)
    expect(tooltip).to_contain_text("is above dog")
    expect(tooltip).to_contain_text("order violation 0.500")
    page.mouse.move(x0 + 80, y0 + 200)
    expect(tooltip).to_be_hidden()


def test_a_thumb_hits_items_and_sees_what_it_hit(phone):
    x, y = pixel(phone, 3)
    phone.touchscreen.tap(x + 14, y - 14)
    expect(selected_numbers(phone)).to_have_value("[3]")
    expect(phone.locator(".map .tooltip img")).to_be_visible()
    for name in ("Zoom in", "Zoom out", "Show the whole map", "Select an area"):
        box = tool(phone, name).bounding_box()
        assert min(box["width"], box["height"]) >= 44


def test_a_thumb_scrolls_the_page_and_two_fingers_zoom_the_map(phone):
    box = phone.locator(".map canvas").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    drag(phone, ((x, y + 100), (x, y - 100)))
    phone.wait_for_function("window.scrollY > 50")
    phone.wait_for_timeout(500)  # until it has come to rest
    phone.evaluate("window.scrollTo(0, 0)")
    phone.wait_for_function("window.scrollY === 0")
    whole = width_between(phone)
    drag(phone, ((x - 30, y), (x - 90, y)), ((x + 30, y), (x + 90, y)))
    zoomed = width_between(phone)
    assert zoomed > 2 * whole
    scrolled, before = phone.evaluate("window.scrollY"), pixel(phone, 0)
    drag(phone, ((x, y), (x + 40, y + 30)))
    phone.wait_for_timeout(300)
    assert phone.evaluate("window.scrollY") == scrolled
    assert pixel(phone, 0) != pytest.approx(before, abs=10)
    assert width_between(phone) == pytest.approx(zoomed)


def test_the_map_fits_on_a_phone_and_follows_the_theme(visit):
    page = opened(visit(path="?__theme=dark", viewport=PHONE))
    box = page.locator(".map").bounding_box()
    assert box["height"] <= 0.65 * PHONE["height"]
    assert box["x"] + box["width"] <= PHONE["width"]
    colour = """([x, y]) => {
      const canvas = document.querySelector(".map canvas"), box = canvas.getBoundingClientRect();
      return [...canvas.getContext("2d").getImageData(x - box.x, y - box.y, 1, 1).data];
    }"""
    dark = page.evaluate(colour, pixel(page, 1))
    page.evaluate("document.body.classList.remove('dark')")
    page.wait_for_function(f"(dark) => ({colour})(({PIXEL})(1)).join() !== dark.join()", arg=dark)
    page.set_viewport_size({"width": 800, "height": 844})
    page.wait_for_function("document.querySelector('.map canvas').width > 600")
