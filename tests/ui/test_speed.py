"""Times, transfer and layout shifts that a visitor would notice; for a quiet machine."""

import re
import time

import pytest
from playwright.sync_api import expect

from tests.support.clicks import milliseconds
from tests.ui.conftest import DESKTOP, PATIENCE

pytestmark = pytest.mark.long
USABLE = 5.0  # seconds until a page of a running app shows results
CLICK = 200  # milliseconds of a click in the hierarchy
TRANSFER = 1.5e6  # bytes before the pictures
SHIFT = 0.01  # cumulative layout shift when results come
# Adds the layout shifts up from when the empty cards stand in for the results.
OBSERVE_SHIFTS = """
window.shift = null;
new PerformanceObserver((list) => {
  if (window.shift === null) return;
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
}).observe({ type: "layout-shift" });
const wait = () => {
  if (document.querySelector("#grid .waiting")) setTimeout(() => { window.shift = 0; }, 100);
  else requestAnimationFrame(wait);
};
requestAnimationFrame(wait);
"""


@pytest.fixture
def visit_shipped(shipped, browser):
    """Open a page of the app as it ships."""
    pages = []

    def visit_shipped(path):
        page = browser.new_page(viewport=DESKTOP)
        pages.append(page)
        page.set_default_timeout(PATIENCE)
        page.goto(shipped + path)
        return page

    yield visit_shipped
    for page in pages:
        page.close()


def test_a_page_is_usable_soon(visit):
    began = time.monotonic()
    page = visit(path="?q=one+yellow+bar")
    expect(page.locator("#grid .score-bar").first).to_be_visible()
    seconds = time.monotonic() - began
    print(f"usable after {seconds:.2f} s")
    assert seconds <= USABLE


@pytest.mark.timeout(600)
def test_a_click_in_the_hierarchy_is_fast(visit_shipped):
    page = visit_shipped("?tab=hierarchy&q=an+animal")
    expect(page.locator("#map .map")).to_have_attribute("data-drawn", re.compile(r"\d"))
    times = []
    for _ in range(9):
        button = page.locator("#above button, #below button").nth(1)
        times.append(milliseconds(button, "#here section"))
        page.wait_for_timeout(700)
    print(f"{times} ms")
    assert sorted(times)[len(times) // 2] <= CLICK, times


def test_the_page_is_light_before_its_pictures(visit, apps, browser):
    visit()  # a page that is compressed for the first time
    page = browser.new_page()
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    addresses, sizes = {}, {}
    session.on(
        "Network.responseReceived",
        lambda event: addresses.update({event["requestId"]: event["response"]["url"]}),
    )
    session.on(
        "Network.loadingFinished",
        lambda event: sizes.update({event["requestId"]: event["encodedDataLength"]}),
    )
    page.goto(apps["toy"])
    expect(page.locator("#grid .score-bar").first).to_be_visible()
    page.wait_for_timeout(1000)
    loaded = {addresses.get(name, ""): size for name, size in sizes.items()}
    page.close()
    total = sum(size for address, size in loaded.items() if "/photo/" not in address)
    print(f"{total / 1e6:.2f} MB in {len(loaded)} responses")
    assert not any("plotly" in address for address in loaded)
    assert total <= TRANSFER, sorted(loaded.items(), key=lambda item: -item[1])[:12]


@pytest.mark.parametrize("width", [1440, 390])
def test_nothing_jumps_when_results_come(visit, width):
    page = visit(
        path="?q=one+yellow+bar",
        viewport={"width": width, "height": 900},
        script=OBSERVE_SHIFTS,
    )
    expect(page.locator("#grid .score-bar").first).to_be_visible()
    page.wait_for_timeout(1000)
    opening = page.evaluate("window.shift")
    page.get_by_label("Sentence", exact=True).fill("a red circle")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("q=a\\+red\\+circle"))
    page.wait_for_timeout(1000)
    shift = page.evaluate("window.shift")
    print(f"{opening:.4f} at opening, {shift:.4f} with another search")
    assert shift <= SHIFT


@pytest.mark.timeout(600)
@pytest.mark.parametrize("model", ["gru", "char_gru", "order", "dt_lstm", "clip"])
def test_another_sentence_is_read_within_300_milliseconds(visit_shipped, model):
    """From the click on the button, with the search."""
    page = visit_shipped(f"?tab=search&model=storybook/{model}&q=a+dog+chases+a+man")
    page.get_by_text("How the model reads the sentence").click()
    expect(page.locator("ol.reading")).to_be_visible()
    times = []
    for animal in ("cat", "horse", "bear", "fox", "cow"):
        page.wait_for_timeout(1000)  # pictures are loaded
        page.get_by_label("Sentence", exact=True).fill(f"a man chases a {animal}")
        times.append(milliseconds(page.locator("#find"), "ol.reading > li:last-child", animal))
    print(f"{model}: {times} ms")
    assert sorted(times)[len(times) // 2] <= 300


@pytest.mark.timeout(600)
def test_a_replay_starts_within_a_second(visit_shipped):
    page = visit_shipped("?tab=train")
    page.get_by_role("button", name="Replay a recorded training").click()
    expect(page.locator("#replay-results img").first).to_be_visible()
    page.wait_for_timeout(2000)  # pictures are loaded
    time = milliseconds(page.locator("#replay-play"), "#replay-results", "epoch 1")
    print(f"{time} ms")
    assert time <= 1000


@pytest.mark.timeout(600)
def test_four_models_are_compared_within_a_second_and_a_half(visit_shipped):
    models = "model=storybook/vse&with=storybook/gru,storybook/order,storybook/clip"
    page = visit_shipped(f"?tab=compare&{models}&q=a+dog")
    expect(page.locator("#compare-results .ranking")).to_have_count(4)
    times = []
    for animal in ("cat", "horse", "bear", "fox", "cow"):
        page.wait_for_timeout(2000)  # pictures are loaded
        page.locator("#compare-query input, #compare-query textarea").fill(f"a man sees a {animal}")
        times.append(milliseconds(page.locator("#compare-go"), "#compare-results"))
    print(f"{times} ms")
    assert sorted(times)[len(times) // 2] <= 1500
