"""The app in a browser: search, describe, errors and layout."""

import re

import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.ui.conftest import DESKTOP, served_here

PHONE = {"width": 390, "height": 844}
SENTENCE = "a red circle on a blue ground"


def photos(page):
    return page.locator("#grid button.frame")


def search(page, text):
    page.get_by_label("Sentence", exact=True).fill(text)
    page.get_by_role("button", name="Find photos", exact=True).click()


def numbers(page):
    return photos(page).evaluate_all("all => all.map(b => b.dataset.number)")


def in_view(page, locator):
    box = locator.bounding_box()
    return box["y"] >= 0 and box["y"] + box["height"] <= page.viewport_size["height"]


@pytest.fixture
def opened(visit):
    """Open the app and wait for the first photos."""
    page = visit()
    expect(photos(page).first).to_be_visible()
    return page


def test_the_first_page_shows_photos_that_load(opened):
    expect(photos(opened)).to_have_count(8)  # the toy's test split
    expect(opened.locator("#detail .large img")).to_be_visible()
    opened.wait_for_function(
        "[...document.querySelectorAll('#grid img')].every(i => i.naturalWidth)"
    )
    alt = photos(opened).first.locator("img").get_attribute("alt")
    assert len(alt.split()) >= 3
    score = opened.locator("#grid .score-bar").first
    expect(score).to_have_text(re.compile(r"^0\.\d\d cosine$|^1\.00 cosine$"))
    assert "angle" in score.get_attribute("title")


def test_a_typed_sentence_changes_the_photos_and_the_address(opened):
    before = numbers(opened)
    opened.get_by_label("Sentence", exact=True).fill("The square is green, the ground is red.")
    opened.keyboard.press("Enter")
    expect(opened).to_have_url(re.compile(r"\?q=The\+square\+is\+green"))
    assert sorted(numbers(opened)) == sorted(before)
    assert numbers(opened) != before
    bars = opened.locator("#grid .score-bar .number").all_text_contents()
    assert bars == sorted(bars, reverse=True)


def test_a_click_on_an_example_finds_its_photo(opened):
    example = opened.locator(".examples button.chip").nth(1)
    expect(example).not_to_have_text("")
    text = example.text_content().strip()
    example.click()
    expect(opened.get_by_label("Sentence", exact=True)).to_have_value(text)
    expect(opened).to_have_url(re.compile(r"q=" + text.replace(" ", r"\+")))
    expect(opened.locator("#detail .written")).to_contain_text(text)


def test_a_misspelt_word_is_marked_and_corrected_by_a_click(opened):
    search(opened, "a red trianlge")
    marked = opened.locator(".unread-words")
    expect(marked.locator("mark")).to_have_text("trianlge")
    opened.get_by_role("button", name="triangle, in place of trianlge").click()
    expect(opened.get_by_label("Sentence", exact=True)).to_have_value("a red triangle")
    expect(opened).to_have_url(re.compile(r"q=a\+red\+triangle"))
    expect(marked).to_have_count(0)


def test_the_address_restores_the_page(visit):
    page = visit(path="?q=one+yellow+bar&gallery=toy-all&photo=3")
    expect(page.get_by_label("Sentence", exact=True)).to_have_value("one yellow bar")
    expect(page.get_by_label("Gallery")).to_have_value("toy all (40)")
    expect(photos(page)).to_have_count(12)
    expect(page.locator("#detail .large img")).to_have_attribute("src", re.compile("/3/large$"))
    page.get_by_role("button", name="Show more").first.click()
    expect(photos(page)).to_have_count(24)


def test_captions_and_neighbours_of_a_photo_can_be_clicked(opened):
    chosen = photos(opened).nth(2)
    number = chosen.get_attribute("data-number")
    chosen.click()
    large = opened.locator("#detail .large img")
    expect(large).to_have_attribute("src", re.compile(f"/{number}/large$"))
    expect(chosen).to_have_attribute("aria-current", "true")
    expect(opened.locator("#detail .written button")).to_have_count(5)
    near = opened.locator("#detail .strip button")
    expect(near).to_have_count(6)
    other = near.first.get_attribute("data-number")
    near.first.click()
    expect(large).to_have_attribute("src", re.compile(f"/{other}/large$"))
    caption = opened.locator("#detail .written button").nth(2)
    text = caption.text_content()
    caption.click()
    expect(opened.get_by_label("Sentence", exact=True)).to_have_value(text)
    expect(opened).to_have_url(re.compile("q=" + text.replace(" ", r"\+")))


def test_a_photo_is_described_and_its_sentences_searched(opened):
    number = photos(opened).nth(1).get_attribute("data-number")
    photos(opened).nth(1).click()
    large = opened.locator("#detail .large img")
    expect(large).to_have_attribute("src", re.compile(f"/{number}/large$"))
    opened.get_by_role("button", name="Describe", exact=True).click()
    expect(opened.get_by_role("tab", name="Describe")).to_have_attribute("aria-selected", "true")
    sentences = opened.locator("#sentences button.sentence")
    expect(sentences).to_have_count(10)
    expect(opened.locator("#photo img")).to_be_visible()
    expect(opened.locator("#picks button")).to_have_count(8)
    expect(opened).to_have_url(re.compile(f"tab=describe.*photo={number}"))
    text = sentences.nth(3).text_content()
    sentences.nth(3).click()
    expect(opened.get_by_role("tab", name="Search")).to_have_attribute("aria-selected", "true")
    expect(opened.get_by_label("Sentence", exact=True)).to_have_value(text)
    expect(photos(opened).first).to_be_visible()


def test_describe_starts_with_a_photo_and_accepts_others(opened, tmp_path):
    opened.get_by_role("tab", name="Describe").click()
    sentences = opened.locator("#sentences button.sentence")
    expect(sentences).to_have_count(10)
    pick = opened.locator("#picks button").nth(4)
    pick.click()
    expect(opened).to_have_url(re.compile(f"photo={pick.get_attribute('data-number')}$"))
    Image.new("RGB", (90, 60), "red").save(tmp_path / "red.png")
    opened.locator("#photo button[aria-label='Remove Image']").click()
    opened.locator("#photo input[type=file]").set_input_files(tmp_path / "red.png")
    expect(opened).not_to_have_url(re.compile("photo="))
    expect(opened.locator("#sentences .mark")).to_have_count(0)  # captions of the photo before
    expect(sentences).to_have_count(10)
    opened.get_by_role("button", name="Show more").last.click()
    expect(sentences).to_have_count(20)


def check_place(page, fault, cause):
    """Check that an error is said once, in view, near its cause, and covers nothing."""
    assert in_view(page, fault)
    assert page.locator(".toast-body, .toast-wrap > *").count() == 0
    is_floating = """element => {
        for (; element; element = element.parentElement)
            if (["fixed", "absolute"].includes(getComputedStyle(element).position)) return true;
        return false;
    }"""
    assert not fault.evaluate(is_floating)
    box, beside = fault.bounding_box(), cause.bounding_box()
    above, below = sorted((box, beside), key=lambda each: each["y"])
    side_by_side = box["x"] >= beside["x"] + beside["width"]
    assert side_by_side or 0 <= below["y"] - above["y"] - above["height"] < 120


def test_a_fault_out_of_sight_is_brought_into_view(visit):
    page = visit(viewport=PHONE)
    expect(photos(page).first).to_be_visible()
    page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    page.evaluate("""() => {
        const box = document.querySelector("#query textarea, #query input");
        box.value = "";
        box.dispatchEvent(new Event("input", {bubbles: true}));
        document.querySelector("#find").click();
    }""")
    fault = page.get_by_role("alert").filter(has_text="The sentence is empty")
    expect(fault).to_be_in_viewport()


def test_the_photo_to_describe_says_what_is_in_it(opened, tmp_path):
    opened.get_by_role("tab", name="Describe").click()
    pick = opened.locator("#picks button").nth(4)
    pick.click()
    image = opened.locator("#photo img")
    expect(image).to_have_attribute("alt", pick.locator("img").get_attribute("alt"))
    Image.new("RGB", (90, 60), "red").save(tmp_path / "red.png")
    opened.locator("#photo button[aria-label='Remove Image']").click()
    opened.locator("#photo input[type=file]").set_input_files(tmp_path / "red.png")
    expect(image).to_have_attribute("alt", re.compile("^Your photo: ."))
    best = image.get_attribute("alt").removeprefix("Your photo: ")
    expect(opened.locator("#sentences button.sentence").first).to_have_text(best)


def test_a_bad_sentence_is_reported_and_results_are_kept(opened):
    before = numbers(opened)
    for text, message in (
        ("", "The sentence is empty"),
        ("qwrtz <img src=x onerror=alert(1)>", "knows no word of the sentence ('qwrtz'"),
        ("🙈🙉", "knows no word of the sentence ('🙈🙉'"),
        ("dog " * 25_000, "limit is 1,000"),
    ):
        search(opened, text)
        fault = opened.get_by_role("alert").filter(has_text=message)
        expect(fault).to_have_count(1)
        check_place(opened, fault, opened.locator("#query"))
        assert fault.locator("img").count() == 0
        assert numbers(opened) == before
    search(opened, SENTENCE)
    expect(opened).to_have_url(re.compile("q=a\\+red"))


def bad_photo(path):
    if path.name == "cut.jpg":
        Image.effect_noise((200, 200), 50).save(path)
        path.write_bytes(path.read_bytes()[:3000])
    elif path.name == "thin.png":
        Image.new("L", (1, 20_000)).save(path)
    else:
        path.write_bytes(b"no photo" if path.name == "text.png" else b"")
    return path


def test_a_bad_photo_is_reported_and_results_are_kept(opened, tmp_path):
    opened.get_by_role("tab", name="Describe").click()
    sentences = opened.locator("#sentences button.sentence")
    expect(sentences).to_have_count(10)
    before = sentences.all_text_contents()
    for name in ("text.png", "empty.jpg", "cut.jpg", "thin.png"):
        opened.locator("#photo button[aria-label='Remove Image']").click()
        opened.locator("#photo input[type=file]").set_input_files(bad_photo(tmp_path / name))
        fault = opened.get_by_role("alert").filter(has_text=name)
        expect(fault).to_have_count(1)
        check_place(opened, fault, opened.locator("#photo"))
        expect(opened.locator("#photo img")).to_be_visible()  # the previous one
        assert sentences.all_text_contents() == before


def test_without_a_model_the_page_says_what_to_do(visit, apps, monkeypatch, tmp_path):
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(tmp_path))
    with served_here(apps, "no model"):
        page = visit("no model")
        expect(page.locator(".message")).to_contain_text("train one with")
        assert page.locator(".message p").count() == 1
        page.close()


@pytest.mark.parametrize(
    ("viewport", "scheme"),
    [
        pytest.param(DESKTOP, "light", id="desktop-light"),
        pytest.param(DESKTOP, "dark", id="desktop-dark", marks=pytest.mark.long),
        pytest.param(PHONE, "light", id="phone-light", marks=pytest.mark.long),
        pytest.param(PHONE, "dark", id="phone-dark"),
    ],
)
def test_query_and_photos_are_in_view_without_horizontal_scrolling(visit, viewport, scheme):
    page = visit(viewport=viewport, color_scheme=scheme)
    expect(photos(page).first).to_be_visible()
    for first in (page.locator("#query"), page.locator("#find"), photos(page).nth(1)):
        assert in_view(page, first)
    wide = "document.documentElement.scrollWidth > window.innerWidth"
    assert not page.evaluate(wide)
    page.get_by_role("button", name="Describe", exact=True).click()
    expect(page.locator("#sentences button.sentence").first).to_be_visible()
    assert not page.evaluate(wide)


def test_the_keyboard_reaches_every_control(opened):
    example = opened.locator(".examples button.chip").first.text_content().strip()
    opened.get_by_label("Sentence", exact=True).focus()
    reached = []
    for _ in range(12):
        opened.keyboard.press("Tab")
        reached.append(opened.evaluate("document.activeElement.textContent.trim()"))
    assert "Find photos" in reached
    assert example in reached
    chosen = opened.evaluate("document.activeElement.dataset.number")
    assert chosen is not None  # a photo has the focus
    opened.keyboard.press("Enter")
    large = opened.locator("#detail .large img")
    expect(large).to_have_attribute("src", re.compile(f"/{chosen}/large$"))
