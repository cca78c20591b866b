"""The tab Align in a browser, with a fake model."""

import re

import pytest
from playwright.sync_api import expect

from tests.support.fake_alignment import alignment, install

TEXT = "a small dog runs after one red ball"
PHONE = {"width": 390, "height": 844}


@pytest.fixture(autouse=True)
def aligning_models(monkeypatch, fake_parser):
    """Let every model align."""
    install(monkeypatch)


def rows(page):
    return page.locator("#parts .fragments button")


def test_words_and_regions_are_selected_with_the_keyboard(visit):
    page = visit(path=f"?tab=align&photo=3&q={TEXT.replace(' ', '+')}", viewport=PHONE)
    expect(rows(page)).to_have_count(len(alignment(TEXT).fragments))
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
    rows(page).nth(1).click()
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
    expect(page).to_have_url(re.compile("tab=align&q=.*photo=0$"))
    page = visit(path=page.url.split("/")[-1])  # as a shared link
    expect(page.get_by_label("Sentence to align")).to_have_value(text)
    expect(page.locator("#figure img")).to_have_attribute("src", re.compile("/0/large$"))
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download PNG").click()
    assert saved.value.suggested_filename == "alignment.png"
