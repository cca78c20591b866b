"""The map of a gallery in a browser, on a page without other components, and its panel."""

import base64
import json
import re
import time
from types import SimpleNamespace

import gradio as gr
import numpy as np
import pytest
import torch
from PIL import Image
from playwright.sync_api import expect

from tests.support.pages import PAGE, merged
from tests.ui.conftest import served_page
from vsdemo.core.hits import Hit
from vsdemo.data.catalog.filters import PhotoFilter
from vsdemo.data.galleries import Gallery
from vsdemo.hierarchy import projection
from vsdemo.search.gallery_map import GalleryMap, Region
from vsdemo.search.ranking import Ranking
from vsdemo.ui import callbacks, images, theme
from vsdemo.ui.library import Library
from vsdemo.ui.search.map import MapRecord, gallery_map_widget
from vsdemo.ui.search.map_panel import MapPanel
from vsdemo.ui.search.refinement import Refinement
from vsdemo.ui.search.state import Ongoing, SearchState

PHOTOS = np.array([[-0.8, 0.6], [-0.7, 0.6], [0.8, 0.6], [0.8, -0.6], [0, 0]], dtype=np.float32)
REGIONS = (
    Region("dog", -0.75, 0.6, 2),
    Region("hound", -0.74, 0.6, 1),
    Region("<b>snow", 0.8, -0.6, 1),
    Region("", 0, 0, 1),
)
SOURCE = "photo/toy/{number}/small"
PHONE = {"width": 320, "height": 640}
MANY = 100_000
FRAME_MS = 400  # of 100,000 points without a graphics card, on a busy machine


def toy_map():
    return GalleryMap(PHOTOS, REGIONS, np.array([0, 0, 1, 2, 3]))


def large_map():
    random = np.random.default_rng(0)
    centres = random.uniform(-0.8, 0.8, (30, 2))[random.integers(0, 30, MANY)]
    positions = np.clip(centres + 0.06 * random.normal(size=(MANY, 2)), -1, 1)
    return GalleryMap(positions.astype(np.float32), (), np.zeros(MANY, dtype=np.int64))


def page_with_a_map() -> gr.Blocks:
    """Return a page with a map, and buttons that change it."""
    toy = MapRecord(toy_map(), "toy", SOURCE)
    hits = MapRecord(toy_map(), "toy", SOURCE, highlighted=[2, 3], chosen=2)
    chosen = MapRecord(toy_map(), "toy", SOURCE, selected=[0, 1])
    with gr.Blocks() as demo:
        reported = gr.Textbox(label="Reported")
        draw, highlight = gr.Button("Draw"), gr.Button("Highlight")
        select, many = gr.Button("Select"), gr.Button("Many")
        component = gallery_map_widget("Map of the toys", "toys")
        gr.HTML("<div style='height: 1500px'></div>")
        quiet = {"show_progress": "hidden"}
        draw.click(lambda: toy.to_json(has_points=True), None, component, **quiet)
        highlight.click(hits.to_json, None, component, **quiet)
        select.click(chosen.to_json, None, component, **quiet)
        large = MapRecord(large_map(), "large", SOURCE).to_json(has_points=True)
        many.click(lambda: large, None, component, **quiet)

        def report(name):
            def callback(event: gr.EventData) -> str:
                return json.dumps([name, event._data])

            return callback

        for name in ("select", "area", "region", "points"):
            getattr(component, name)(report(name), None, reported, **quiet)
    return demo


@pytest.fixture(scope="module")
def apps(tmp_path_factory):
    """Replace the app of the other tests by this page."""
    photos = [tmp_path_factory.mktemp("photos") / f"{n}.png" for n in range(len(PHOTOS))]
    for path in photos:
        Image.new("RGB", (40, 30), "tan").save(path)
    gallery = Gallery("key", "label", "own", "all", tuple(photos))
    routes = [images.route(lambda token: gallery)]
    with served_page(page_with_a_map, head=theme.head(), app_kwargs={"routes": routes}) as address:
        yield {"toy": address}


def button(page, name):
    return page.get_by_role("button", name=name, exact=True)


def opened(page):
    button(page, "Draw").click()
    page.wait_for_selector(".gallery-map[data-drawn]")
    page.locator(".gallery-map").scroll_into_view_if_needed()
    page.wait_for_timeout(100)
    return page


def pixel(page, number):
    return page.evaluate(f"document.querySelector('.gallery-map').locate({number})")


def reported(page, name):
    """Return what the last event of a name has reported."""
    box = page.get_by_label("Reported")
    expect(box).to_have_value(re.compile(rf'^\["{name}"'))
    return json.loads(box.input_value())[1]


def redraw(page):
    page.evaluate("document.querySelector('.gallery-map').drawNow()")


def expect_raised(page, photos):
    """Wait until these photos are drawn in full colour, and no others."""
    wanted = [number in photos for number in range(len(PHOTOS))]
    until = time.monotonic() + 20
    while [colour_at(page, number)[3] > 220 for number in range(len(PHOTOS))] != wanted:
        assert time.monotonic() < until
        page.wait_for_timeout(50)


def colour_at(page, number):
    """Return the colour of the points where a photo lies, as drawn just now."""
    return page.evaluate(
        """number => {
          const map = document.querySelector(".gallery-map"), [x, y] = map.locate(number);
          map.drawNow();
          const canvas = map.querySelector(".points"), box = canvas.getBoundingClientRect();
          const ratio = canvas.width / box.width, copy = document.createElement("canvas");
          Object.assign(copy, { width: canvas.width, height: canvas.height });
          const pen = copy.getContext("2d");
          pen.drawImage(canvas, 0, 0);
          return [...pen.getImageData((x - box.x) * ratio, (y - box.y) * ratio, 1, 1).data];
        }""",
        number,
    )


def test_photos_are_drawn_by_webgl_and_hits_in_another_colour(visit):
    page = opened(visit())
    expect(page.get_by_role("region", name="Map of the toys", exact=True)).to_be_visible()
    assert page.locator(".gallery-map").get_attribute("data-painter") == "webgl"
    plain = [colour_at(page, number) for number in range(len(PHOTOS))]
    assert all(colour[3] > 100 for colour in plain)
    button(page, "Highlight").click()
    expect_raised(page, {2, 3})
    button(page, "Select").click()
    expect_raised(page, {0, 1})


def test_without_webgl_the_points_are_drawn_all_the_same(visit):
    script = """const get = HTMLCanvasElement.prototype.getContext;
      HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
        return kind === "webgl2" ? null : get.call(this, kind, ...rest);
      };"""
    page = opened(visit(script=script))
    assert page.locator(".gallery-map").get_attribute("data-painter") == "canvas"
    assert all(colour_at(page, number)[3] > 100 for number in range(len(PHOTOS)))


def test_a_page_without_the_positions_asks_for_them(visit):
    page = visit()
    button(page, "Highlight").click()
    assert reported(page, "points") == {"key": "toy"}
    expect(page.locator(".gallery-map")).not_to_have_attribute("data-drawn", re.compile("."))


def test_a_click_reports_a_photo_and_the_pointer_shows_it(visit):
    page = opened(visit())
    x, y = pixel(page, 3)
    page.mouse.move(x + 3, y + 16)
    page.mouse.move(*pixel(page, 4))
    preview = page.locator(".gallery-map .tooltip img")
    expect(preview).to_be_visible()
    expect(preview).to_have_attribute("src", "photo/toy/4/small")
    page.mouse.click(*pixel(page, 4))
    assert reported(page, "select") == {"number": 4}


def test_names_do_not_overlap_and_report_their_region(visit):
    page = opened(visit())
    names = page.locator(".gallery-map .names button")
    expect(names).to_have_text(["dog", "hound", "<b>snow"])
    for number, is_visible in enumerate((True, False, True)):
        expect(names.nth(number)).to_be_visible(visible=is_visible)
    names.nth(2).click()
    assert reported(page, "region") == {"number": 2}
    label = "Select 2 photos near “dog”"
    expect(page.get_by_role("button", name=label, exact=True)).to_be_visible()


def draw_around(page, number):
    """Draw an area around a photo with the mouse."""
    x, y = pixel(page, number)
    page.mouse.move(x - 30, y - 30)
    page.mouse.down()
    for dx, dy in ((30, -30), (30, 30), (-30, 30)):
        page.mouse.move(x + dx, y + dy, steps=3)
    page.mouse.up()


def test_an_area_is_reported_in_coordinates_of_the_map(visit):
    page = opened(visit())
    button(page, "Select photos by drawing around them").click()
    draw_around(page, 4)
    polygon = reported(page, "area")["polygon"]
    assert toy_map().inside(polygon).tolist() == [4]


def test_escape_breaks_an_area_off(visit):
    page = opened(visit())
    area = button(page, "Select photos by drawing around them")
    area.click()
    x, y = pixel(page, 4)
    page.mouse.move(x - 90, y - 90)
    page.mouse.down()
    page.mouse.move(x - 60, y - 90, steps=3)
    page.locator(".gallery-map .plane").focus()
    page.keyboard.press("Escape")
    page.mouse.move(x - 60, y - 60, steps=3)
    page.mouse.up()
    expect(area).to_have_attribute("aria-pressed", "false")
    area.click()
    draw_around(page, 4)
    polygon = reported(page, "area")["polygon"]  # nothing of what was broken off
    assert toy_map().inside(polygon).tolist() == [4]


def test_a_tap_while_selecting_ends_that_and_reports_nothing(visit):
    page = opened(visit())
    area = button(page, "Select photos by drawing around them")
    area.click()
    page.mouse.click(*pixel(page, 4))
    expect(area).to_have_attribute("aria-pressed", "false")
    expect(page.get_by_label("Reported")).to_have_value("")
    page.mouse.click(*pixel(page, 4))
    assert reported(page, "select") == {"number": 4}


def test_keys_wheel_and_buttons_zoom(visit):
    page = opened(visit())
    width = lambda: pixel(page, 2)[0] - pixel(page, 0)[0]  # noqa: E731
    whole = width()
    page.mouse.move(*pixel(page, 4))
    page.mouse.wheel(0, 200)  # without the focus, the wheel scrolls the page
    page.wait_for_timeout(200)
    assert width() == pytest.approx(whole)
    page.locator(".gallery-map .plane").focus()
    page.keyboard.press("+")
    zoomed = width()
    assert zoomed == pytest.approx(1.6 * whole)
    before = pixel(page, 4)
    page.keyboard.press("ArrowLeft")
    assert pixel(page, 4)[0] == pytest.approx(before[0] + 60)
    page.mouse.move(*pixel(page, 4))
    page.mouse.wheel(0, -100)
    page.wait_for_timeout(200)
    assert width() > 1.1 * zoomed
    page.keyboard.press("-")
    page.keyboard.press("0")
    assert width() == pytest.approx(whole)
    button(page, "Zoom in").click()
    assert width() == pytest.approx(1.6 * whole)
    button(page, "Show the whole map").click()
    assert width() == pytest.approx(whole)


def touch(page, kind, *positions):
    points = [{"x": x, "y": y, "id": n} for n, (x, y) in enumerate(positions)]
    page.cdp.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


def test_a_narrow_phone_pinches_and_taps(visit):
    page = opened(visit(viewport=PHONE, has_touch=True, is_mobile=True))
    page.cdp = page.context.new_cdp_session(page)
    assert not page.evaluate("document.documentElement.scrollWidth > window.innerWidth")
    x, y = pixel(page, 4)
    before = pixel(page, 2)[0] - x
    touch(page, "touchStart", (x - 20, y), (x + 20, y))
    for step in range(1, 9):
        touch(page, "touchMove", (x - 20 - 5 * step, y), (x + 20 + 5 * step, y))
    touch(page, "touchEnd")
    after = pixel(page, 2)[0] - pixel(page, 4)[0]
    assert after > 1.5 * before
    x, y = pixel(page, 4)
    touch(page, "touchStart", (x + 4, y))
    touch(page, "touchEnd")
    assert reported(page, "select") == {"number": 4}


def frame_times(page, frames=12):
    """Return the milliseconds of frames at different zooms."""
    return page.evaluate(
        """frames => {
          const map = document.querySelector(".gallery-map"), times = [];
          for (let n = 0; n < frames; n += 1) {
            const start = performance.now();
            map.drawNow();
            times.push(performance.now() - start);
          }
          return times;
        }""",
        frames,
    )


@pytest.mark.long
def test_a_hundred_thousand_photos_are_drawn_without_a_stall(visit):
    page = visit()
    button(page, "Many").click()
    page.wait_for_selector(".gallery-map[data-drawn]")
    redraw(page)
    assert min(frame_times(page)) < FRAME_MS


def fake_ranking(*numbers):
    """Return photos in an order."""
    photos, zeros = torch.tensor(numbers), torch.zeros(len(numbers))
    return Ranking(NAMES, photos, zeros, zeros, None, "", "", candidates=len(numbers))


def marked(bits):
    """Return the numbers of the photos that are marked in a record."""
    flags = np.frombuffer(base64.b64decode(bits), np.uint8)
    return np.unpackbits(flags, bitorder="little").nonzero()[0].tolist()


NAMES = [str(number) for number in range(200)]
HITS = tuple(
    Hit(rank=rank, number=number, item=str(number), score=0.5, unit_score=0.5)
    for rank, number in enumerate((3, 1), start=1)
)
RESULT = {"hits": HITS, "ongoing": Ongoing(hits=HITS, ranking=fake_ranking(3, 1, 0, 2))}


@pytest.fixture
def panel(monkeypatch, app_checkpoints):
    """A panel over the toy photos, outside of a page."""
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(app_checkpoints))
    monkeypatch.setattr(projection, "MIN_FOR_UMAP", 10_000)
    with gr.Blocks():
        return MapPanel(Library())


def state(**changes):
    return SearchState(
        **{"text": "a bar", "model": "gru", "gallery": "toy-test", "k": 4, **changes}
    )


def run(panel, callback, *inputs):
    """Return what is on the page after a callback."""
    return merged(callbacks.report_errors(panel.note)(callback)(PAGE, *inputs))


def event(**data):
    return SimpleNamespace(_data=data)


def test_a_closed_panel_draws_nothing(panel):
    assert panel.map not in run(panel, panel.draw, state(), False, None, None)
    assert panel.map not in run(panel, panel.unfold, None, None, None)


def test_an_opened_panel_draws_the_map_and_later_only_the_hits(panel):
    first = run(panel, panel.unfold, state(), None, None)
    record = json.loads(first[panel.map])
    assert record["count"] == 8
    assert len(record["points"]) > 0
    assert first[panel.open] is True
    drawn = first[panel._drawn]
    later = run(panel, panel.draw, state(**RESULT, photo=3), True, None, drawn)
    record = json.loads(later[panel.map])
    assert "points" not in record
    assert marked(record["highlighted"]) == [1, 3]
    assert "highlighted" in later[panel.note]
    assert record["chosen"] == 3
    again = run(panel, panel.send_points, state(), None)
    assert "points" in json.loads(again[panel.map])


def test_the_map_highlights_the_best_results_or_all_that_meet_the_conditions():
    best = fake_ranking(*reversed(range(200)))
    result = {"hits": HITS[:1], "ongoing": Ongoing(ranking=best)}
    assert state(**result).highlights == [199, 198]  # a hundredth
    assert state(hits=HITS * 2, ongoing=Ongoing(ranking=best)).highlights == [199, 198, 197, 196]
    filtered = {"text": "", "refinement": Refinement(conditions=PhotoFilter(camera="X100"))}
    assert len(state(**filtered, **result).highlights) == 200
    assert state().highlights == []


def test_an_area_and_a_region_are_selections_until_they_are_cleared(panel):
    drawn = run(panel, panel.unfold, state(), None, None)[panel._drawn]
    everything = [[-2, -2], [2, -2], [2, 2], [-2, 2]]
    update = run(panel, panel.select_area, state(), event(polygon=everything))
    assert update[panel.selected] == tuple(range(8))
    assert "8 of 8 photos selected" in update[panel.note]
    assert update[panel.clear]["visible"] is True
    kept = run(panel, panel.draw, state(**RESULT), True, update[panel.selected], drawn)
    assert kept[panel.selected] == tuple(range(8))
    other = run(panel, panel.draw, state(model="order"), True, update[panel.selected], drawn)
    assert other[panel.selected] is None
    assert run(panel, panel.select_region, state(), event(number=0))[panel.selected]
    cleared = run(panel, panel.clear_selection, state())
    assert cleared[panel.selected] is None
    assert cleared[panel.clear]["visible"] is False


def test_an_area_without_photos_selects_nothing(panel):
    update = run(panel, panel.select_area, state(), event(polygon=[[5, 5], [6, 5], [6, 6]]))
    assert update[panel.selected] is None
    assert "no photo in this area" in update[panel.note]


@pytest.mark.parametrize("data", [{}, {"polygon": "x"}, {"polygon": [[0, 0]]}], ids=str)
def test_a_malformed_area_is_a_message(panel, data):
    update = run(panel, panel.select_area, state(), event(**data))
    assert "three corners" in update[panel.note]
    assert panel.selected not in update
