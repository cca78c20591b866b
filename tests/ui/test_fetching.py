"""Downloads in the app: start, progress on every page, cancel, resume and use."""

import re
import threading
import time

import gradio as gr
import pytest
from playwright.sync_api import expect

from tests.support import fake_web
from tests.ui.conftest import start, wait_for
from vsdemo.data.downloads import fetch
from vsdemo.ui import build
from vsdemo.ui.downloads import DownloadPanel, Downloads
from vsdemo.ui.library import Library


@pytest.fixture
def library(web, checkpoints, monkeypatch, tmp_path):
    """Return a library without data, with a local server in place of the web."""
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(checkpoints))
    monkeypatch.setenv("VSDEMO_HOME", str(tmp_path))
    monkeypatch.delenv("VSDEMO_DATA")
    monkeypatch.setitem(fetch.DOWNLOADS, "flickr8k", fake_web.small_download(web.url, web.files))
    return Library()


def wait_until_done(fetching):
    for _ in range(400):
        if not fetching.busy:
            return fetching.states["flickr8k"]
        time.sleep(0.05)
    return pytest.fail("the download did not end")


def test_a_completed_download_is_added_to_the_library(library):
    before = library.galleries["storybook-test"]
    fetching = Downloads(library)
    fetching.start("flickr8k")
    assert wait_until_done(fetching).problem == ""
    assert fetching.completed() == ("flickr8k",)  # and it is in the library
    assert [label for label, _ in library.labels] == [
        *("Flickr8k test (1)", "Flickr8k all (4)", "Storybook test (500)")
    ]
    assert library.galleries["storybook-test"] is before
    assert len(library.photos("flickr8k-all").result().photos) == 4


def test_two_visitors_share_one_download_and_either_cancels_it(library, web):
    web.hold = 40_000
    fetching = Downloads(library)
    fetching.start("flickr8k")
    state = fetching.states["flickr8k"]
    fetching.start("flickr8k")
    assert fetching.states["flickr8k"] is state
    while state.done < 20_000:
        time.sleep(0.02)
    fetching.stop("flickr8k")
    web.pause = 0.3  # so that the rest does not arrive at once
    web.go.set()
    assert wait_until_done(fetching).problem == ""
    assert fetching.completed() == ()
    assert fetch.DOWNLOADS["flickr8k"].received >= 20_000
    fetching.start("flickr8k")
    wait_until_done(fetching)
    assert any(byte_range and byte_range.startswith("bytes=") for _, byte_range in web.requests)
    assert fetching.completed() == ("flickr8k",)


def test_failures_are_reported_in_one_sentence(library, web, monkeypatch):
    web.files = {}
    fetching = Downloads(library)
    fetching.start("flickr8k")
    assert "its server answers 404" in wait_until_done(fetching).problem
    monkeypatch.setattr(fetch, "fetch", lambda *_: 1 / 0)
    fetching.start("flickr8k")
    assert "Something went wrong" in wait_until_done(fetching).problem


def test_a_public_server_offers_no_downloads(library, monkeypatch):
    monkeypatch.setenv("SPACE_ID", "somebody/vsdemo")
    assert Downloads(library).names == ()
    assert '"Fetch"' not in str(build(library)[0].config)
    monkeypatch.delenv("SPACE_ID")
    assert '"Fetch"' in str(build(library)[0].config)


def test_available_data_have_no_button(library):
    fetch.fetch("flickr8k", lambda *_: None, threading.Event())
    assert "flickr8k" not in Downloads(library).names
    assert {"densenet169", "clip"} < {*Downloads(library).names}


def test_downloads_by_another_program_are_added_too(library):
    with gr.Blocks() as demo, gr.Accordion() as around:
        panel = DownloadPanel(Downloads(library), gr.Dropdown())
        panel.connect(demo, around)
    assert panel.update(True, None)[panel.seen] == ()
    fetch.fetch("flickr8k", lambda *_: None, threading.Event())
    update = panel.update(True, ())
    assert update[panel.seen] == ("flickr8k",)
    assert update[panel.gallery]["choices"] == library.labels
    assert "Flickr8k is available." in update[panel.lines["flickr8k"]]
    assert update[panel.start_buttons["flickr8k"]]["visible"] is False
    assert panel.gallery not in panel.update(True, ("flickr8k",))


@pytest.fixture(scope="module")
def slow_web():
    with fake_web.serving() as web:
        yield web


@pytest.fixture(scope="module")
def fetching_app(apps, slow_web, checkpoints, tmp_path_factory):
    """Start an app without data that downloads from `slow_web`."""
    folder = tmp_path_factory.mktemp("fetching")
    with (folder / "log").open("w+") as log:
        process, url = start(
            log, VSDEMO_CHECKPOINTS=str(checkpoints), VSDEMO_DATA=None,
            VSDEMO_HOME=str(folder / "home"), TEST_WEB=slow_web.url,
        )  # fmt: skip
        try:
            wait_for(process, url, log)
            apps["fetching"] = url
            yield "fetching"
        finally:
            process.terminate()
            process.wait(20)
            log.seek(0)
            assert "Traceback" not in log.read()


def more(page):
    """Open the panel "More" and return its row of Flickr8k."""
    page.locator(".more-settings > button").click()
    row = page.locator(".fetch").filter(has_text="Flickr8k")
    expect(row).to_be_visible()
    return row


def button(row, name):
    return row.get_by_role("button", name=name, exact=True)


def test_a_visitor_downloads_cancels_resumes_and_searches(visit, fetching_app, slow_web):
    slow_web.hold = 40_000
    page, other = visit(fetching_app), visit(fetching_app)
    row, same = more(page), more(other)
    expect(row).to_contain_text("Flickr8k: 4 photos, ")
    expect(row).to_contain_text("for tests only")
    assert slow_web.requests == []  # nothing is downloaded before the click
    button(row, "Fetch").click()
    for download_row in (row, same):
        expect(download_row).to_contain_text(re.compile(r"Fetching Flickr8k: \d{2,} kB of \d+ kB"))
        expect(download_row.locator("progress")).to_be_visible()
    button(same, "Cancel").click()
    expect(row).to_contain_text("Stopping")
    slow_web.pause = 0.05  # so that the rest takes a moment, and there is something to resume
    slow_web.go.set()
    expect(row).to_contain_text(re.compile(r"; \d+ kB downloaded"))
    expect(button(row, "Fetch")).to_be_visible()
    slow_web.go.clear()  # the download waits until the page has shown that it continues
    button(row, "Fetch").click()
    expect(button(row, "Cancel")).to_be_visible()
    page.keyboard.press("Escape")  # closes "More"; the download continues
    expect(row).to_be_hidden()
    slow_web.go.set()
    expect(page.locator(".toast-body")).to_contain_text("Flickr8k is available")
    page.locator(".toast-close").click()  # else it covers the drop-downs for ten seconds
    assert slow_web.requests[-1][1].startswith("bytes=")
    expect(same).to_contain_text("Flickr8k is available.")
    expect(button(same, "Fetch")).to_have_count(0)
    page.get_by_label("Gallery").click()
    page.get_by_role("option", name="Flickr8k all (4)").click()
    expect(page.locator("#grid button.frame")).to_have_count(4)
    expect(page.locator("#detail .written button")).to_have_count(5)
    later = visit(fetching_app, "?gallery=flickr8k-all")
    expect(later.get_by_label("Gallery")).to_have_value("Flickr8k all (4)")
    expect(later.locator("#grid button.frame")).to_have_count(4)


def test_a_failed_download_is_reported(fresh_app, visit):
    page = visit(fresh_app)
    page.locator(".more-settings > button").click()
    row = page.locator(".fetch").filter(has_text="DenseNet-169")
    expect(row).to_contain_text("the full image network, 57 MB, BSD-3-Clause.")
    button(row, "Fetch").click()
    expect(row.get_by_role("alert")).to_contain_text("could not be fetched from download.pytorch")
    expect(button(row, "Fetch")).to_be_visible()
