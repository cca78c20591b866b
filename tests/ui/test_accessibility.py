"""Every tab can be used with a screen reader, with large type and on a small screen."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.support import fake_alignment
from tests.support.model_menu import open_list

TABS = {  # key -> what is on the page when the tab shows its results
    "search": "#grid .score-bar",
    "describe": "#sentences .score-bar",
    "align": "#parts svg",
    "sentences": "#nearest-captions button",
    "compare": "#compare-results .rank",
    "hierarchy": "#here h2",
    "train": "#command",
}
WIDTHS = {1440: 900, 390: 844, 320: 640}
ALL = [(tab, width, scheme) for tab in TABS for width in WIDTHS for scheme in ("light", "dark")]


CUT_OFF = """() => {
  const scrolls = (element) => {
    for (let box = element.parentElement; box; box = box.parentElement) {
      const style = getComputedStyle(box);
      if (["auto", "scroll"].includes(style.overflowX) && box !== document.body
          && box !== document.documentElement) return true;
      if (style.clipPath !== "none" || style.visibility === "hidden") return true;
    }
    return false;
  };
  return [...document.querySelectorAll("button, input, textarea, a, [role=button]")]
    .filter((element) => element.tabIndex >= 0 && element.checkVisibility() && !scrolls(element))
    .map((element) => [element.getBoundingClientRect(), element])
    .filter(([box]) => box.width > 1 && (box.right > innerWidth + 1 || box.left < -1))
    .map(([box, element]) => `${element.outerHTML.slice(0, 120)} at ${box.left}, ${box.right}`);
}"""


@pytest.fixture(autouse=True)
def aligning_models(monkeypatch, fake_parser):
    """Let every model align."""
    fake_alignment.install(monkeypatch)


def violations(page):
    """Return what axe-core objects to, with the elements, one line each."""
    report = Axe().run(page).response
    return [
        f"{rule['id']} ({rule['impact']}): {node['html'][:160]}"
        for rule in report["violations"]
        for node in rule["nodes"]
    ]


def opened(visit, tab, width, scheme, more="", **options):
    size = {"width": width, "height": WIDTHS[width]}
    path = f"?tab={tab}&__theme={scheme}{more}"
    page = visit(path=path, viewport=size, color_scheme=scheme, reduced_motion="reduce", **options)
    expect(page.locator(TABS[tab]).first).to_be_visible(timeout=60_000)
    page.wait_for_timeout(500)  # a button that is enabled changes its colours slowly
    return page


def cut_off(page):
    """Return the controls that reach out of the page, where nothing can be scrolled sideways."""
    return page.evaluate(CUT_OFF)


def check(page):
    assert violations(page) == []
    assert cut_off(page) == []
    assert not page.evaluate("document.documentElement.scrollWidth > window.innerWidth")


@pytest.mark.parametrize("tab", TABS)
def test_axe_has_no_objection_and_nothing_is_cut_off_at_twice_the_size(visit, tab):
    """A browser at 200% zoom has half as many pixels of CSS, and German has longer words."""
    page = opened(visit, tab, 1440, "light", locale="de-DE")
    check(page)
    page.set_viewport_size({"width": 720, "height": 450})
    assert cut_off(page) == []
    assert not page.evaluate("document.documentElement.scrollWidth > window.innerWidth")


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (320, "dark")])
def test_axe_has_no_objection_to_the_list_of_models(visit, width, scheme):
    page = opened(visit, "search", width, scheme)
    expect(open_list(page)).to_have_count(2)
    check(page)


@pytest.mark.long
@pytest.mark.parametrize(("tab", "width", "scheme"), ALL)
@pytest.mark.parametrize("locale", ["en-US", "de-DE"])
def test_axe_has_no_objection_on_any_screen(visit, tab, width, scheme, locale):
    check(opened(visit, tab, width, scheme, locale=locale))
