"""The tab Align in a browser, with a fake model."""

import re
import time

import pytest
from playwright.sync_api import expect

from tests.support.fake_alignment import alignment, install
from vsdemo.plots.region_marks import COLOURS, marks, phrase

TEXT = "a small dog runs after one red ball"
PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1440, "height": 900}


@pytest.fixture(autouse=True)
def aligning_models(monkeypatch, fake_parser):
    """Let every model align."""
    install(monkeypatch)


def rows(page):
    return page.locator("#parts .fragments button")


def coloured(page):
    """Return what is drawn in a colour of regions: the colours, and the texts of words."""
    return page.evaluate(
        """(colours) => {
            const seen = new Set(), words = new Set(), probe = document.createElement("i");
            document.body.append(probe);
            const names = Object.fromEntries(colours.map((colour) => {
                probe.style.color = colour;
                return [getComputedStyle(probe).color, colour];
            }));
            probe.remove();
            for (const element of document.querySelectorAll("#align *")) {
                const style = getComputedStyle(element);
                for (const name of ["color", "backgroundColor", "borderTopColor", "fill", "stroke"])
                    if (names[style[name]]) {
                        seen.add(names[style[name]]);
                        const word = element.closest("[data-word]");
                        if (word) words.add(Number(word.dataset.word));
                    }
            }
            return [[...seen], [...words].sort()];
        }""",
        list(COLOURS),
    )


def check_coloured(page, colours, words):
    """Check what is in colour, after the transitions of buttons."""
    until = time.monotonic() + 20
    while coloured(page) != [colours, words] and time.monotonic() < until:
        page.wait_for_timeout(50)
    assert coloured(page) == [colours, words]


def aligned(visit, viewport=PHONE, text=TEXT, **options):
    """Open the tab with a sentence that the fake model has aligned."""
    page = visit(
        path=f"?tab=align&photo=3&q={text.replace(' ', '+')}", viewport=viewport, **options
    )
    expect(rows(page)).to_have_count(len(alignment(text).content_fragments))
    expect(page.locator("#figure canvas")).to_have_count(1)
    return page


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_best_phrase_is_in_colour_and_all_else_is_grey(visit, scheme):
    page = aligned(visit, viewport=DESKTOP, color_scheme=scheme)
    example = alignment(TEXT)
    best = example.best_fragment
    region = example.best_region(best)
    row = page.locator(f"[data-fragment='{best}']")
    expect(row).to_have_attribute("aria-pressed", "true")
    words = sorted(set(example.fragments[best].words))
    check_coloured(page, [marks(example)[region].colour], words)
    figure = page.locator(f"#figure [data-region='{region}']")
    for number in (*page.locator("#parts .related [data-number-of]").all(), figure.locator("text")):
        assert number.text_content() == str(marks(example)[region].number)
    expect(page.locator("#parts .status")).to_contain_text(phrase(example, best))


def test_an_arrow_key_moves_the_colour_to_another_phrase(visit):
    page = aligned(visit)
    example = alignment(TEXT)
    first, second = example.content_fragments[:2]
    rows(page).first.focus()  # which is selected already
    seen = []
    for fragment in (first, second):
        colour = marks(example)[example.best_region(fragment)].colour
        words = sorted(set(example.fragments[fragment].words))
        expect(page.locator(f"[data-fragment='{fragment}']")).to_have_class(re.compile("related"))
        check_coloured(page, [colour], words)
        seen.append(colour)
        page.keyboard.press("ArrowDown")
    assert len(set(seen)) == 2
    page.keyboard.press("Escape")
    number = example.fragments[example.content_fragments[-1]].words[1]
    page.locator(f".words [data-word='{number}']").click()  # its best phrase
    best = example.fragment_of_word(number)
    colour = marks(example)[example.best_region(best)].colour
    check_coloured(page, [colour], sorted(set(example.fragments[best].words)))
    page.keyboard.press("Escape")
    expect(page.locator("#align .related")).to_have_count(0)
    check_coloured(page, [], [])


def test_a_word_that_the_model_does_not_know_is_never_in_colour(visit):
    text = TEXT.replace("dog", "zorp")
    page = aligned(visit, viewport=DESKTOP, text=text)
    zorp, example = text.split().index("zorp"), alignment(text)
    page.locator(f"#parts .words [data-word='{zorp}']").click()
    expect(page.locator("#parts .status")).to_contain_text("unknown word")
    check_coloured(page, [], [])
    phrases = [
        m
        for m in example.content_fragments
        if zorp in example.fragments[m].words and example.best_region(m) is not None
    ]
    assert phrases
    page.locator(f"#parts .fragments [data-fragment='{phrases[0]}']").click()
    (other,) = {*example.fragments[phrases[0]].words} - {zorp}
    mark = marks(example)[example.best_region(phrases[0])]
    check_coloured(page, [mark.colour], [other])


def test_function_words_are_text_and_no_stop_of_the_keyboard(visit):
    text = "a small dog runs after a red ball"
    page = aligned(visit, text=text)
    words = page.locator("#parts .words")
    expect(words.get_by_text("a", exact=True)).to_have_count(2)
    buttons = words.get_by_role("button").evaluate_all(
        "all => all.map(b => b.lastChild.textContent)"
    )
    assert buttons == [word for word in text.split() if word != "a"]
    words.get_by_role("button").first.focus()
    page.keyboard.press("Shift+Tab")
    assert not page.evaluate("document.activeElement.closest('.words')")
    expect(page.locator("#parts .part.function")).to_contain_text("function words: a")
    expect(page.locator("#parts .deptree .function")).to_have_count(2)
    expect(page.locator("#parts .deptree .function [role=button]")).to_have_count(0)


@pytest.mark.parametrize("width", [320, pytest.param(390, marks=pytest.mark.long), 1440])
def test_nothing_is_cut_off_and_no_labels_overlap(visit, width):
    page = aligned(visit, viewport={"width": width, "height": 844})
    assert not page.evaluate("document.documentElement.scrollWidth > window.innerWidth")
    boxes = page.evaluate(
        """() => [...document.querySelectorAll(
            "#figure text, .words .word, .part > :not(.bar), #parts .total, #parts .status"
        )].filter((element) => element.offsetParent !== null || element.ownerSVGElement)
          .map((element) => [element.textContent.trim(), element.getBoundingClientRect()])
          .filter(([text, box]) => text && box.width)
          .map(([text, {left, top, right, bottom}]) => ({text, left, top, right, bottom}))"""
    )
    assert len(boxes) > 20
    for i, a in enumerate(boxes):
        assert a["left"] >= 0, a
        assert a["right"] <= width, a
        for b in boxes[i + 1 :]:
            beside = a["right"] <= b["left"] + 0.5 or b["right"] <= a["left"] + 0.5
            assert beside or a["bottom"] <= b["top"] + 0.5 or b["bottom"] <= a["top"] + 0.5, (a, b)


def test_words_and_regions_are_selected_with_the_keyboard(visit):
    page = visit(path=f"?tab=align&photo=3&q={TEXT.replace(' ', '+')}", viewport=PHONE)
    expect(rows(page)).to_have_count(len(alignment(TEXT).content_fragments))
    assert not page.evaluate("document.documentElement.scrollWidth > window.innerWidth")
    word = page.get_by_role("button", name=re.compile("^small, region 1$"))
    word.focus()
    page.keyboard.press("Enter")
    expect(word).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#parts .status")).to_contain_text("“small”")
    expect(page.locator("#figure g[role=button].related")).to_have_count(1)
    page.keyboard.press("ArrowRight")
    expect(page.locator(".words .word[aria-pressed=true]")).to_contain_text("dog")
    page.keyboard.press("Escape")
    expect(page.locator("#align .related")).to_have_count(0)
    page.locator("#figure g[role=button]").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#parts .status")).to_contain_text("Region")
    rows(page).first.click()
    expect(page.locator("#parts .search-text")).to_have_text("“small dog”")
    page.locator("#parts .region-search button").click()
    expect(page.locator("#region-results .card")).to_have_count(3)
    page.locator("#region-results button.frame").first.click()
    expect(page.locator("#region-results .card")).to_have_count(0)
    expect(page.get_by_label("Sentence to align")).to_have_value(TEXT)


def test_search_and_describe_pass_photo_and_sentence_to_align(visit):
    page = visit(path="?q=one+yellow+bar")
    chosen = page.locator("#grid button.frame").nth(2)
    chosen.click()
    number = chosen.get_attribute("data-number")
    large = page.locator("#detail .large img")
    expect(large).to_have_attribute("src", re.compile(f"/{number}/large$"))
    page.locator("#detail").get_by_role("button", name="Align").click()
    expect(page).to_have_url(re.compile(f"tab=align&q=one\\+yellow\\+bar.*photo={number}$"))
    expect(rows(page).first).to_be_visible()
    page.get_by_role("tab", name="Describe").click()
    sentence = page.locator("#sentences button.sentence").nth(3)
    text = sentence.text_content()
    page.locator("#sentences button.text-button").nth(3).click()
    expect(page.get_by_label("Sentence to align")).to_have_value(text)
    expect(page).to_have_url(re.compile(f"tab=align&q=.*photo={number}$"))  # it came along
    page = visit(path=page.url.split("/")[-1])  # as a shared link
    expect(page.get_by_label("Sentence to align")).to_have_value(text)
    expect(page.locator("#figure img")).to_have_attribute("src", re.compile(f"/{number}/large$"))
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download PNG").click()
    assert saved.value.suggested_filename == "alignment.png"
