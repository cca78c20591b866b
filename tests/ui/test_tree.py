"""The panel with the dependency tree of a sentence, and its layout in a browser."""

import io
import random
import re

import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.support.pages import PAGE, merged
from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Tree
from vsdemo.plots import tree_svg, universal_dependencies
from vsdemo.ui import callbacks, theme
from vsdemo.ui.search import tree
from vsdemo.ui.search.state import SearchState

PHONE = {"width": 390, "height": 844}
MISSING = "resources.json is missing; restore it."
MEASURE = """() => [...document.querySelectorAll('.deptree text')].map(text => {
    const {x, y, width, height} = text.getBBox();
    const size = parseFloat(getComputedStyle(text).fontSize);
    return {text: text.textContent, left: x, top: y + height * 0.15, right: x + width,
            bottom: y + height * 0.85, size};
})"""


class Words:
    """A parser that makes the second word the root and all other words its dependents."""

    def __init__(self):
        self.parsed = []

    def parse(self, texts):
        self.parsed += texts
        if "unknown" in texts[0]:
            raise UserError("The sentence holds no word.")
        words = texts[0].split()
        heads = [0 if i == 1 else 2 for i in range(len(words))]
        return [Tree(tuple(words), tuple(heads), ("dep",) * len(words), ("NOUN",) * len(words))]


@pytest.fixture
def words(monkeypatch):
    """A fake parser in place of the shipped one."""
    fake = Words()
    monkeypatch.setattr(tree.parser, "load", lambda name: fake)
    return fake


@pytest.fixture
def panel(monkeypatch):
    monkeypatch.setattr(callbacks.gr, "Warning", lambda *_, **__: None)
    with callbacks.gr.Blocks():
        return tree.TreePanel()


def state(text):
    return SearchState(text, "gru", "toy-test", 4)


def run(panel, callback, *inputs):
    """Return all updates of a callback."""
    return list(callbacks.report_errors(panel.note)(callback)(PAGE, *inputs))


def test_a_closed_panel_parses_nothing(panel, words):
    (update,) = run(panel, panel.draw, state("a dog runs"), False, None)
    assert panel.content not in update
    assert words.parsed == []


def test_an_opened_panel_shows_progress_first(panel, words):
    updates = run(panel, panel.unfold, state("a dog & cat"), None)
    assert any("Parsing the sentence" in str(u.get(panel.note)) for u in updates[:-1])
    last = merged(updates)
    assert last[panel.open] is True
    assert last[panel.shown] == "a dog & cat"
    assert 'aria-label="Dependency tree of “a dog &amp; cat”"' in last[panel.content]
    assert last[panel.content].count('role="listitem"') == 4


def test_a_sentence_is_parsed_once(panel, words):
    run(panel, panel.draw, state("a dog runs"), True, "a dog runs")
    run(panel, panel.unfold, state("a dog runs"), "a dog runs")
    run(panel, panel.unfold, None, None)
    assert words.parsed == []


def test_a_bad_sentence_removes_the_tree(panel, words):
    last = merged(run(panel, panel.draw, state("unknown"), True, "a dog runs"))
    assert "The sentence holds no word." in last[panel.note]
    assert last[panel.content] == ""
    assert last[panel.shown] is None


def test_a_missing_parser_is_reported(panel, monkeypatch):
    def load(name):
        raise UserError(MISSING)

    monkeypatch.setattr(tree.parser, "load", load)
    last = merged(run(panel, panel.unfold, state("a dog runs"), None))
    assert MISSING in last[panel.note]
    assert 'role="alert"' in last[panel.note]


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("kind", universal_dependencies.COLOURS)
@pytest.mark.parametrize("column", [0, 1], ids=["light", "dark"])
def test_tags_are_readable_on_every_paper(kind, column):
    ink = luminance(universal_dependencies.COLOURS[kind][column])
    for paper in (theme.TOKENS["paper"][column], theme.TOKENS["raised"][column]):
        low, high = sorted([ink, luminance(paper)])
        assert (high + 0.05) / (low + 0.05) >= 4.5


def example(n, seed):
    """Return a random tree with crossing arcs, and long and short words."""
    draw = random.Random(seed)
    order, heads = draw.sample(range(n), n), [0] * n
    for i, word in enumerate(order[1:], 1):
        heads[word] = order[draw.randrange(i)] + 1
    vocabulary = ["a", "I", "WWW", "mammoth", "swimming", "日本語", "שלום", "🙈👩‍👩‍👧", "мышь"]
    words = tuple(draw.choice(vocabulary) for _ in range(n))
    labels = tuple(draw.choice(list(universal_dependencies.RELATIONS)) for _ in range(n))
    return Tree(
        words, tuple(heads), labels, tuple(draw.choices(list(universal_dependencies.TAGS), k=n))
    )


@pytest.mark.parametrize("n", [1, 2, 9, 40])
def test_texts_do_not_overlap_and_are_not_too_small(browser, n):
    page = browser.new_page(viewport=PHONE)
    page.set_content(f'<div style="overflow-x:auto">{tree_svg(example(n, n))}</div>')
    texts = page.evaluate(MEASURE)
    page.close()
    assert len(texts) == 3 * n
    assert min(t["size"] for t in texts) >= 13
    for i, a in enumerate(texts):
        for b in texts[i + 1 :]:
            beside = a["right"] <= b["left"] or b["right"] <= a["left"]
            assert beside or a["bottom"] <= b["top"] or b["bottom"] <= a["top"], (a, b)


def unfold(page):
    expect(page.locator("#grid button.frame").first).to_be_visible()
    page.get_by_role("button", name="Dependency tree of the sentence").click()


def drawn(page):
    return page.locator(".deptree .word")


def test_the_tree_is_opened_and_read_with_the_keyboard(visit, words):
    sentence = "one red bar on a blue ground"
    page = visit(path="?q=" + sentence.replace(" ", "+"), viewport=PHONE)
    unfold(page)
    expect(drawn(page)).to_have_text(sentence.split())
    assert words.parsed == [sentence]
    assert not page.evaluate("document.documentElement.scrollWidth > window.innerWidth")
    page.keyboard.press("Tab")
    expect(page.get_by_role("region", name=f"Dependency tree of “{sentence}”")).to_be_focused()
    for word in sentence.split():
        page.keyboard.press("Tab")
        role = "root of the sentence" if word == "red" else "dep of red"
        expect(page.locator(".tree .status")).to_have_text(f"{word}, noun, {role}")
    box = page.locator(".deptree [tabindex]:focus .box").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= PHONE["width"]
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= PHONE["height"]


LONG = (
    "a man in a red hat walks a small brown dog past two green trees while three birds fly over "
    "a big house near the sea"
)  # 25 words


def edge_darkness(page, wide):
    """Return how much darker the left and the right edge of a tree are than its paper."""
    strip = Image.open(io.BytesIO(wide.screenshot())).convert("L")
    row = [strip.getpixel((x, 6)) for x in range(strip.width)]  # above all arcs
    paper = max(row)
    return paper - row[1], paper - row[-2]


@pytest.mark.parametrize("width", [320, pytest.param(1440, marks=pytest.mark.long)])
def test_a_long_tree_keeps_its_size_and_scrolls(visit, words, width):
    page = visit(path="?q=" + LONG.replace(" ", "+"), viewport={"width": width, "height": 844})
    unfold(page)
    expect(drawn(page)).to_have_text(LONG.split())
    assert not page.evaluate("document.documentElement.scrollWidth > window.innerWidth")
    wide = page.locator(".tree .wide")
    svg = wide.locator("svg.deptree")
    natural = float(svg.get_attribute("width"))
    assert natural > width
    assert svg.evaluate("e => e.getBoundingClientRect().width") == pytest.approx(natural, abs=1)
    assert wide.evaluate("e => [e.scrollLeft, e.scrollHeight <= e.clientHeight]") == [0, True]
    wide.scroll_into_view_if_needed()
    left, right = edge_darkness(page, wide)
    assert left <= 2 < 20 < right  # a shadow where there is more
    wide.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("e => e.scrollLeft > 0", arg=wide.element_handle())
    drawn(page).last.scroll_into_view_if_needed()
    wide.evaluate("e => { e.scrollLeft = e.scrollWidth; }")
    left, right = edge_darkness(page, wide)
    assert right <= 2 < 20 < left
    last, frame = drawn(page).last.bounding_box(), wide.bounding_box()
    assert last["x"] + last["width"] <= frame["x"] + frame["width"]


def test_only_an_open_tree_is_updated_by_a_search(visit, words):
    page = visit(path="?q=one+red+bar")
    unfold(page)
    expect(drawn(page)).to_have_text(["one", "red", "bar"])
    caption = page.locator("#detail .written button").first
    text = caption.text_content()
    caption.click()
    expect(drawn(page)).to_have_text(text.split())
    page.locator("#grid button.frame").nth(2).click()  # another photo, the same sentence
    page.get_by_role("button", name="Dependency tree of the sentence").click()
    page.get_by_label("Sentence", exact=True).fill("a blue square")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("a\\+blue\\+square"))
    assert words.parsed == ["one red bar", text]
    unfold(page)
    expect(drawn(page)).to_have_text(["a", "blue", "square"])
    assert words.parsed == ["one red bar", text, "a blue square"]


def test_a_missing_parser_is_reported_on_the_page(visit, monkeypatch):
    def load(name):
        raise UserError(MISSING)

    monkeypatch.setattr(tree.parser, "load", load)
    page = visit()
    unfold(page)
    expect(page.locator(".tree [role=alert]")).to_contain_text("missing")
    assert page.locator("#grid button.frame").count() == 8
