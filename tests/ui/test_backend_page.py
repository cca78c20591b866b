"""The page of an app whose backend is the app over the toy data."""

import re

import httpx
import pytest
from playwright.sync_api import expect

from tests.support.serving import free_port, served_here
from vsdemo import ui
from vsdemo.core.errors import UserError
from vsdemo.ui.backend.page import LOST


def start(apps, name, monkeypatch, address):
    """Serve a page that opens no models of its own."""
    monkeypatch.setattr(ui, "Library", lambda *_: pytest.fail("it opens models"))
    return served_here(apps, name, backend=address)


@pytest.fixture
def front(apps, monkeypatch):
    with start(apps, "front", monkeypatch, apps["toy"]):
        yield "front"


@pytest.fixture
def lost(apps, monkeypatch):
    """A page whose other app is gone."""
    with start(apps, "lost", monkeypatch, f"http://127.0.0.1:{free_port()}"):
        yield "lost"


def search(page, text):
    page.locator("#query input, #query textarea").fill(text)
    page.locator("#find").click()


def hits(apps, **parameters):
    """Return the photos that the other app finds itself."""
    answer = httpx.post(f"{apps['toy']}api/search", json=parameters).json()
    return answer["hits"]


def test_the_photos_are_those_that_the_other_app_finds(front, apps, visit):
    page = visit(front)
    expect(page.get_by_label("Gallery")).to_have_value(re.compile("^toy test"))
    search(page, "a red circle")
    photos = page.locator("#grid button.frame img")
    expected = hits(apps, sentence="a red circle", gallery=gallery_of(page, apps), k=8)
    expect(photos).to_have_count(len(expected))
    assert [photo.get_attribute("alt") for photo in photos.all()] == [h["photo"] for h in expected]
    photos.nth(2).click()
    expect(page.locator("#detail img")).to_have_attribute("alt", expected[2]["photo"])
    assert page.locator("#detail img").evaluate("image => image.decode().then(() => true)")


def gallery_of(page, apps):
    """Return the key of the gallery that a page has chosen."""
    label = page.get_by_label("Gallery").input_value()
    galleries = httpx.get(f"{apps['toy']}api/galleries").json()
    return next(gallery["gallery"] for gallery in galleries if gallery["label"] == label)


def test_unknown_words_are_corrected(front, visit):
    page = visit(front)
    search(page, "a red circel")
    page.locator("#unread-words button", has_text="circle").first.click()
    expect(page.locator("#query input, #query textarea")).to_have_value("a red circle")
    expect(page.locator("#grid button.frame").first).to_be_visible()


def test_what_the_other_app_refuses_is_said_on_the_page(front, visit):
    page = visit(front)
    search(page, "")
    expect(page.get_by_text("The sentence is empty")).to_be_visible()


def test_a_visitors_photo_is_described(front, visit, toy_root):
    page = visit(front)
    page.get_by_role("tab", name="Describe").click()
    photo = sorted((toy_root / "toy" / "images").iterdir())[-1]
    page.locator("#photo input[type=file]").set_input_files(photo)
    expect(page.locator("#sentences li")).to_have_count(10)


def test_tabs_that_are_not_served_say_so(front, visit):
    page = visit(front)
    for title in ("Align", "Sentences", "Hierarchy", "Train"):
        page.get_by_role("tab", name=title, exact=True).click()
        expect(page.get_by_text(f"{title} is not available on this page")).to_be_visible()


def test_photos_are_passed_on_and_nothing_else(front, apps):
    (hit,) = hits(apps, sentence="a red circle", k=1)
    passed, own = (httpx.get(apps[name] + hit["url"]) for name in (front, "toy"))
    assert (passed.content, passed.headers["content-type"]) == (
        own.content,
        own.headers["content-type"],
    )
    token = hit["url"].split("/")[1]
    for path in (f"photo/{token}/999/small", f"photo/{token}/0/huge", "photo/..%2Fapi/0/small"):
        assert httpx.get(apps[front] + path).status_code == httpx.codes.NOT_FOUND
    assert httpx.get(f"{apps[front]}api/models").status_code == httpx.codes.NOT_FOUND
    assert httpx.get(f"{apps[front]}ready").is_success


def test_a_lost_app_is_one_sentence_without_its_address(lost, apps, visit):
    page = visit(lost)
    expect(page.get_by_text(LOST).first).to_be_visible()
    search(page, "a red circle")
    expect(page.get_by_text(LOST)).to_have_count(2)
    assert "http" not in page.locator(".notes").first.inner_text()
    ready = httpx.get(f"{apps[lost]}ready")
    assert (ready.status_code, ready.json()["problem"]) == (503, LOST)


@pytest.mark.parametrize("options", [{"backend": "7860"}, {"backend": "http://a", "gallery": "b"}])
def test_a_mistake_at_the_start(options, is_one_sentence):
    with pytest.raises(UserError) as caught:
        ui.launch(free_port(), **options)
    assert is_one_sentence(caught)
