"""The page in the language of its browser."""

import re

import httpx2
from playwright.sync_api import expect

TABS = ["Suchen", "Beschreiben", "Zuordnen", "Sätze", "Vergleichen", "Hierarchie", "Trainieren"]
SEARCH = "?tab=search&gallery=toy-test&model=gru&q=a+red+bar"


def names(page):
    return [tab.inner_text() for tab in page.get_by_role("tab").all()]


def test_a_german_browser_gets_a_german_page(visit):
    page = visit(path=SEARCH, locale="de-AT")
    expect(page.locator("#grid .summary")).to_have_text("Die besten 8 von 8 Fotos nach gru.")
    assert names(page) == TABS
    assert page.evaluate("document.documentElement.lang") == "de"
    expect(page.locator("#grid .number").first).to_have_text(re.compile(r"^\d,\d\d$"))
    page.get_by_role("textbox").first.fill("qwrtz")
    page.get_by_role("button", name="Fotos finden").click()
    expect(page.get_by_role("alert").filter(has_text="kennt kein Wort des Satzes")).to_be_visible()
    page.get_by_role("tab", name="Hierarchie").click()
    expect(page.locator("#here h2").first).to_contain_text("Hier:")
    expect(page.locator(".scale")).to_have_text(re.compile("allgemein .*speziell"))


def test_the_language_is_that_of_each_page(visit):
    """Both find what the app has prepared once."""
    german, english = visit(path=SEARCH, locale="de-DE"), visit(path=SEARCH, locale="en-GB")
    expect(german.locator("#grid .summary")).to_contain_text("Die besten")
    expect(english.locator("#grid .summary")).to_have_text("Best 8 of 8 photos by gru.")
    assert names(german) == TABS
    assert names(english)[0] == "Search"


def test_other_languages_get_english(visit):
    page = visit(path=SEARCH, locale="fr-FR")
    expect(page.locator("#grid .summary")).to_have_text("Best 8 of 8 photos by gru.")
    expect(page.get_by_role("tab", name="Search")).to_be_visible()
    expect(page.get_by_role("button", name="Find photos")).to_be_visible()


def test_the_guide_is_in_german_too(visit, apps):
    page = visit(path="?tab=search&learn=lesson-1-1", locale="de-DE")
    expect(page.locator(".guide-page h2")).to_have_text("Suchen ohne Stichwörter")
    with httpx2.Client(base_url=apps["toy"], headers={"Accept-Language": "de"}) as http:
        assert '<html lang="de">' in http.get("guide/teacher").text
        assert http.get("guide/glossary").headers["Vary"] == "Accept-Language"


def test_programs_get_english_answers(apps):
    answers = []
    for language in ("en", "de"):
        headers = {"Accept-Language": language}
        with httpx2.Client(base_url=apps["toy"], headers=headers) as http:
            answer = http.post("api/search", json={"sentence": "a red bar", "gallery": "toy-test"})
            assert answer.status_code == 200, answer.text
            refusal = http.post("api/search", json={"sentence": "", "gallery": "toy-test"})
            answers.append((answer.json(), refusal.json()))
    assert answers[0] == answers[1]
    assert "The sentence is empty" in str(answers[0])
