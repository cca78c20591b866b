"""The interactive order-embedding in the plane: its HTML, and its behaviour in a browser."""

import json
import re
import shutil
from html import unescape
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from playwright.sync_api import expect

from tests.support.hostile import HOSTILE
from vsdemo.core.errors import UserError
from vsdemo.ui import installation, theme
from vsdemo.ui.hierarchy.cones import Toy, cones

NAMES = ("entity", "animal", "plant", "bird", "cat", "dog", "rose", "oak", "puppy", "kitten")
POINTS = ((0, 0), (1, 0.6), (0.4, 1.2), (1.2, 1.1), (1.7, 0.9), (2.2, 0.7), (0.8, 1.7), (0.5, 2.4))
POINTS += ((2.9, 0.85), (2.4, 1.05))
EDGES = ((0, 1), (0, 2), (1, 3), (1, 4), (1, 5), (2, 6), (2, 7), (5, 8), (4, 9))
TOY = Toy(NAMES, POINTS, EDGES)  # one pair is spurious: the kitten lies in the cone of dog
ALL_HOLD = "9 of 9 true pairs hold, 1 pair is spurious."
PHONE = {"width": 390, "height": 844}
OVERLAPS = """() => {
    const boxes = [...document.querySelectorAll('.points text, .points .dot')].map(shape => {
        const {left, top, right, bottom} = shape.getBoundingClientRect();
        return {of: shape.parentNode.dataset.point, left, top: top + 2, right, bottom: bottom - 2};
    });
    const over = (a, b) => a.of < b.of && a.left < b.right && b.left < a.right
        && a.top < b.bottom && b.top < a.bottom;
    return boxes.flatMap(a => boxes.filter(b => over(a, b)).map(b => [a.of, b.of]));
}"""


def record(html):
    return json.loads(unescape(re.search('data-cones="([^"]*)"', html)[1]))


def test_the_record_has_the_points_and_every_true_pair():
    data = record(cones(TOY))
    assert data["names"] == list(NAMES)
    assert [tuple(point) for point in data["points"]] == list(POINTS)
    assert [tuple(pair) for pair in data["edges"]] == list(EDGES)
    implied = [(0, 3), (0, 4), (0, 5), (0, 6), (0, 7), (0, 8), (0, 9), (1, 8), (1, 9)]
    assert [tuple(pair) for pair in data["pairs"]] == sorted([*EDGES, *implied])


@given(st.lists(st.text().filter(str.strip), min_size=2, max_size=4, unique_by=str.strip))
@example([HOSTILE, "b"])
def test_names_are_escaped_within_the_attribute(names):
    toy = Toy(tuple(names), ((0, 0),) * len(names), tuple(pairwise(range(len(names)))))
    html = cones(toy)
    assert record(html)["names"] == names
    plain = cones(Toy(("a", "b"), ((0, 0), (0, 0)), ((0, 1),)))
    outside = [re.sub('data-cones="[^"]*"', "", text) for text in (html, plain)]
    assert outside[0] == outside[1]


@pytest.mark.parametrize(
    ("names", "points", "edges", "message"),
    [
        ((), (), (), "0 concepts"),
        (("a", "b"), ((0, 0),), (), "2 concepts but 1 points"),
        (("a", "a"), ((0, 0), (1, 1)), (), "unique name"),
        (("a", " "), ((0, 0), (1, 1)), (), "unique name"),
        (("a", "b"), ((0, 0), (1, -0.1)), (), "“b” needs two"),
        (("a", "b"), ((0, float("nan")), (1, 1)), (), "“a” needs two"),
        (("a", "b"), ((0, 0), (float("inf"), 1)), (), "“b” needs two"),
        (("a",), ((0, 0, 0),), (), "“a” needs two"),
        (("a", "b"), ((0, 0), (1, 1)), ((0, 2),), r"pair \(0, 2\)"),
        (("a", "b"), ((0, 0), (1, 1)), ((-1, 0),), r"pair \(-1, 0\)"),
        (("a", "b"), ((0, 0), (1, 1)), ((0, 1), (0, 1)), "twice"),
        (("a", "b"), ((0, 0), (1, 1)), ((0, 1), (1, 0)), "a kind of itself"),
        (("a",), ((0, 0),), ((0, 0),), "a kind of itself"),
    ],
)
def test_invalid_toys_raise_an_error_of_one_sentence(names, points, edges, message):
    with pytest.raises(UserError, match=message) as error:
        Toy(names, points, edges)
    assert re.fullmatch(r"[^\n]+[^.]\.", str(error.value))


@pytest.fixture
def show(browser, tmp_path):
    """Open a page with only the figure; it makes no other request and raises no error."""
    contexts, requests, errors = [], [], []
    path = tmp_path / "cones.html"
    shutil.copytree(installation.FAVICON.parent, tmp_path / "icons")
    body = '<body class="gradio-container"><main class="prose">'
    start = f'<!doctype html><meta charset="utf-8"><style>{theme.css()}</style>{theme.head()}'

    def show(toy=TOY, **options):
        path.write_text(f"{start}{body}{cones(toy)}", encoding="utf-8")
        contexts.append(browser.new_context(**options))
        page = contexts[-1].new_page()
        page.on("request", lambda request: requests.append(request.url))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda line: errors.append(line.text) if line.type == "error" else None)
        page.goto(path.as_uri())
        expect(page.locator(".cones .total")).not_to_be_empty()  # the points have their places
        return page

    yield show
    for context in contexts:
        context.close()
    icon = tmp_path / "icons" / "icon.svg"
    assert set(requests) <= {path.as_uri(), icon.as_uri()}
    assert errors == []


def point(page, name):
    return page.locator(".cones [data-point]").filter(has_text=re.compile(f"^{name}$"))


def middle(page, name):
    box = point(page, name).locator(".dot").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def expect_texts(page, status, total):
    expect(page.locator(".cones .status")).to_contain_text(status)
    expect(page.locator(".cones .total")).to_have_text(total)


def test_a_concept_is_dragged_out_of_a_cone_and_reset(show):
    page = show()
    expect_texts(page, "Select a concept", ALL_HOLD)
    expect(page.locator(".cones .spurious-pairs")).to_have_text(
        "Spurious: kitten in the cone of dog."
    )
    expect(page.locator(".line.holds")).to_have_count(len(EDGES) + 1)  # and in the legend
    x, y = middle(page, "cat")
    page.mouse.move(x, y)
    page.mouse.down()
    expect_texts(page, "In the cone of cat: kitten.", ALL_HOLD)
    page.mouse.move(x + 60, y - 30)
    to = middle(page, "plant")
    page.mouse.move(to[0], to[1] + 20)
    page.mouse.up()
    expect_texts(
        page,
        "cat has left the cone of animal: E =",
        "7 of 9 true pairs hold, 3 pairs are spurious.",
    )
    expect(page.locator(".cones .status")).to_contain_text("kitten has left the cone of cat: E =")
    expect(page.locator(".cones .spurious-pairs")).to_contain_text("cat in the cone of plant")
    expect(page.locator(".arrows .line.violated")).to_have_count(2)
    expect(page.locator(".arrows text")).to_have_text([re.compile(r"^E\s=\s0\.\d+$")] * 2)
    page.get_by_role("button", name="Reset").click()
    expect_texts(page, "Select a concept", ALL_HOLD)
    expect(page.locator(".arrows .line.violated")).to_have_count(0)
    assert middle(page, "cat") == pytest.approx((x, y))


def test_keys_select_concepts_and_move_them(show):
    page = show()
    animal = point(page, "animal")
    animal.focus()
    page.keyboard.press("Enter")
    expect_texts(page, "In the cone of animal: bird, cat, dog, puppy and kitten.", ALL_HOLD)
    expect(animal).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".cones .kind")).to_have_count(5)
    page.keyboard.press("ArrowUp")
    expect_texts(
        page, "animal lies in the cone of entity: E = 0, so every animal is an entity.", ALL_HOLD
    )
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")  # (0.7, 0.9): dog (2.2, 0.7) and puppy are outside
    expect_texts(
        page,
        "dog has left the cone of animal: E = 0.04.",
        "8 of 9 true pairs hold, 2 pairs are spurious.",
    )
    expect(point(page, "dog")).to_have_attribute("aria-label", "dog, in the cone of entity")
    page.keyboard.press("Escape")
    expect(page.locator(".cones [aria-pressed=true]")).to_have_count(0)
    for _ in range(99):  # never out of the quadrant
        page.keyboard.press("ArrowUp")
    assert middle(page, "animal") == pytest.approx(middle(page, "entity"))


def test_two_concepts_are_composed_and_abstracted(show):
    page = show()
    compose, abstract = (page.get_by_role("button", name=name) for name in ("Compose", "Common"))
    point(page, "dog").click()
    expect(compose).to_be_disabled()
    point(page, "cat").click()
    compose.click()  # (2.2, 0.9), from a dog (2.2, 0.7)
    expect_texts(
        page,
        "composes dog and cat: its cone is the intersection of their cones. "
        "The nearest concept is dog, 0.20 away.",
        ALL_HOLD,
    )
    abstract.click()  # (1.7, 0.7), from a cat (1.7, 0.9)
    expect_texts(
        page,
        "abstracts dog and cat: it is the lowest point above both. "
        "The nearest concept is cat, 0.20 away.",
        ALL_HOLD,
    )
    expect(page.locator("rect.result")).to_have_count(1)
    point(page, "bird").click()
    expect(page.locator("rect.result")).to_have_count(0)


def test_a_finger_moves_a_concept_on_a_phone(show):
    page = show(viewport=PHONE, has_touch=True)
    assert not page.evaluate("document.documentElement.scrollWidth > window.innerWidth")
    assert page.evaluate(OVERLAPS) == []
    touch = page.context.new_cdp_session(page)
    x, y = middle(page, "oak")
    steps = [("touchStart", 0), *(("touchMove", by) for by in (10, 40, 80)), ("touchEnd", None)]
    for kind, by in steps:
        points = [] if by is None else [{"x": x - by, "y": y - by / 2}]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    assert middle(page, "oak") == pytest.approx((x - 80, y - 40), abs=2)
    expect(page.locator(".cones .status")).to_contain_text("oak")


def test_a_figure_is_drawn_before_anything_can_be_pressed(show):
    page = show()
    start = """html => {
        document.querySelector("main").innerHTML = html;
        vsdemo.cones.start(document.querySelector(".cones"));
        return document.querySelector(".cones .total").textContent;
    }"""
    other = cones(Toy(("top", "below"), ((0, 0), (1, 1)), ((0, 1),)))
    assert page.evaluate(start, other) == "1 of 1 true pairs hold, no pairs are spurious."


def test_a_figure_that_replaces_another_is_drawn(show):
    page = show()
    other = cones(Toy(("<b>top</b>", "below"), ((0, 0), (1, 1)), ((0, 1),)))
    page.evaluate("html => document.querySelector('main').innerHTML = html", other)
    expect(page.locator(".points text")).to_have_text(["<b>top</b>", "below"])
    point(page, "below").focus()
    page.keyboard.press("ArrowDown")
    expect_texts(
        page,
        "below lies in the cone of <b>top</b>",
        "1 of 1 true pairs hold, no pairs are spurious.",
    )
