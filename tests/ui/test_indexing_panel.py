"""Folders are indexed in the app: in a process of its own, once at a time, on one's own machine."""

import json
import re
import shutil
import sys
import time
import urllib.error
import urllib.request

import pytest
from playwright.sync_api import expect

from tests.conftest import draw
from tests.support.serving import served_here
from vsdemo.core.errors import UserError
from vsdemo.data.catalog.catalog import Catalog, list_catalogs
from vsdemo.data.storybook import store
from vsdemo.ui import build
from vsdemo.ui.api.endpoints import Endpoints
from vsdemo.ui.indexing import view
from vsdemo.ui.indexing.indexes import Indexing, known_indexes
from vsdemo.ui.library import Library

SECONDS = 120  # for a run, whose process imports torch first


@pytest.fixture
def photos(own_home, tmp_path, monkeypatch, checkpoints):
    """A folder of three photos and a file that is none."""
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(checkpoints))
    monkeypatch.setitem(store.SPLITS, "test", range(4500, 4504))
    folder = tmp_path / "My Photos"
    folder.mkdir()
    for colour in ("red", "green", "blue"):
        draw("circle", colour, "white").save(folder / f"{colour}.png")
    (folder / "damaged.jpg").write_bytes(b"no photo")
    return folder


@pytest.fixture
def indexing(photos):
    indexing = Indexing(Library())
    yield indexing
    indexing.stop()
    wait_for_end(indexing)


def wait_for_end(indexing):
    until = time.monotonic() + SECONDS
    while indexing.busy and time.monotonic() < until:
        time.sleep(0.05)
    assert not indexing.busy
    return indexing.job


def test_a_folder_is_indexed_again_and_removed(indexing, photos):
    library = indexing.library
    indexing.start(photos, "mine")
    assert view.title(indexing.job) == "Indexing …"
    with pytest.raises(UserError, match="is being indexed"):
        indexing.start(photos, "other")
    job = wait_for_end(indexing)
    assert job.problem == ""
    assert indexing.key() == "mine-all"
    assert ("mine (3)", "mine-all") in library.labels
    shown = view.status(job)
    assert "3 photos (4 new, 1 unreadable)" in shown
    assert '<span class="path">damaged.jpg</span> is not a readable photo' in shown
    engine = library.engine("gru", "mine-all").result()
    assert len(engine.photos) == 3

    draw("bar", "red", "blue").save(photos / "new.png")
    indexing.start_again("mine")
    assert wait_for_end(indexing).summary.new == 1
    assert ("mine (4)", "mine-all") in library.labels
    assert len(library.engine("gru", "mine-all").result().photos) == 4
    (known,) = known_indexes()
    assert (known.name, known.photos, known.unreadable) == ("mine", 4, 1)

    indexing.remove("mine")
    assert list_catalogs() == []
    assert "mine-all" not in library.galleries
    assert len(list(photos.iterdir())) == 5


def test_a_stopped_run_says_so_and_keeps_what_is_done(indexing, photos):
    indexing.start(photos, "mine")
    indexing.stop()
    job = wait_for_end(indexing)
    assert (job.problem, job.summary) == ("", None)
    assert "Stopped." in view.status(job)
    indexing.start_again("mine")
    assert wait_for_end(indexing).summary.photos == 3


def test_what_is_wrong_is_said_before_or_after_the_run(indexing, photos, tmp_path):
    for folder, name, reason in (
        (tmp_path / "gone", "mine", "There is no folder"),
        (photos, "A B", "cannot be the name"),
        (photos, "storybook", "name of a data set"),
    ):
        with pytest.raises(UserError, match=reason):
            indexing.start(folder, name)
    assert indexing.job is None
    (tmp_path / "empty").mkdir()
    indexing.start(tmp_path / "empty", "mine")
    assert "contains no photos" in wait_for_end(indexing).problem
    assert list_catalogs() == []


@pytest.mark.parametrize(("code", "reason"), [("exit 3", "code 3"), ("kill -9 $$", "signal 9")])
def test_a_run_that_breaks_down_is_one_sentence(
    indexing, photos, tmp_path, monkeypatch, code, reason
):
    program = tmp_path / "python"
    program.write_text(f"#!/bin/sh\necho a traceback\n{code}\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    indexing.start(photos, "mine")
    problem = wait_for_end(indexing).problem
    assert problem.startswith(f"Indexing ended unexpectedly ({reason}")
    assert problem.endswith("index again, which continues from there.")


def test_a_damaged_index_can_only_be_removed(indexing, photos):
    Catalog.create("mine", photos).file.write_bytes(b"damaged" * 1000)
    (known,) = known_indexes()
    shown = view.indexes([known])
    assert "is damaged" in shown
    assert "Index again" not in shown
    indexing.remove("mine")
    assert known_indexes() == []


def test_only_the_first_unreadable_files_are_named(indexing, photos):
    for number in range(view.MAX_PROBLEMS + 20):
        (photos / f"{number}.jpg").write_bytes(b"no photo")
    indexing.start(photos, "mine")
    shown = view.status(wait_for_end(indexing))
    assert shown.count('class="path"') == view.MAX_PROBLEMS
    assert "and 21 more" in shown


def button(page, name):
    return page.get_by_role("button", name=name, exact=True)


def open_panel(page):
    page.locator(".add-photos > button").click()
    expect(page.locator("#index-folders button").first).to_be_visible()


def test_a_double_click_on_a_folder_goes_no_further(apps, visit, tmp_path):
    (tmp_path / "outer" / "inner" / "innermost").mkdir(parents=True)
    with served_here(apps, "indexing"):
        page = visit("indexing")
        open_panel(page)
        page.get_by_label("Folder", exact=True).fill(str(tmp_path))
        page.keyboard.press("Enter")
        page.locator("#index-folders button", has_text="outer").dblclick()
        expect(page.locator("#index-folders button", has_text="inner")).to_have_count(1)
        page.wait_for_timeout(1000)
        expect(page.get_by_label("Folder", exact=True)).to_have_value(str(tmp_path / "outer"))
        page.close()


def test_a_visitor_adds_photos_and_removes_the_index(apps, visit, photos, tmp_path):
    with served_here(apps, "indexing"):
        page = visit("indexing")
        open_panel(page)
        page.get_by_label("Folder", exact=True).fill(str(tmp_path))
        page.keyboard.press("Enter")
        entry = page.locator("#index-folders button", has_text="My Photos")
        expect(entry).to_contain_text("4 photos")
        entry.focus()
        page.keyboard.press("Enter")
        expect(page.get_by_label("Name", exact=True)).to_have_value("my-photos")
        expect(page.locator("#index-folders button.above")).to_be_focused()
        button(page, "Index").click()
        expect(page.locator(".add-photos > button")).to_contain_text("Indexing")
        expect(button(page, "Cancel").last).to_be_visible()
        later = visit("indexing")  # as after the page was closed
        expect(later.locator(".add-photos > button")).to_contain_text("Indexing")
        for opened in (page, later):
            expect(opened.get_by_label("Gallery")).to_have_value("my-photos (3)", timeout=120_000)
            expect(opened.locator("#grid button.frame")).to_have_count(3)
        expect(page.locator("#index-status")).to_contain_text("3 photos (4 new, 1 unreadable)")
        page.locator("#index-status summary").click()
        expect(page.locator("#index-status li")).to_contain_text("damaged.jpg is not a readable")
        button(page, "Remove this index: my-photos").click()
        expect(page.locator("#indexes")).to_contain_text("Your photos, labels and saved")
        button(page, "Keep the index my-photos").click()
        button(page, "Remove this index: my-photos").click()
        button(page, "Remove the index my-photos").click()
        expect(page.locator("#indexes")).to_be_empty()
        expect(page.get_by_label("Gallery")).not_to_have_value(re.compile("my-photos"))
        expect(page.locator("#grid button.frame").first).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.locator("#index-folders")).to_be_hidden()
        for opened in (page, later):
            opened.close()  # they would report that the app has ended
    assert len(list(photos.iterdir())) == 4


def requested(url, path, values=None):
    """Return the status and the text of an answer."""
    data = None if values is None else json.dumps(values).encode()
    request = urllib.request.Request(url + path, data, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def callbacks():
    """Return what a page of this machine can call, by number."""
    library = Library()
    return [str(fn.fn) for fn in build(library, endpoints=Endpoints(library))[0].fns.values()]


def test_a_public_server_lists_no_folders(apps, photos, monkeypatch):
    own = callbacks()
    assert any("IndexPanel" in name for name in own)
    monkeypatch.setenv("GRADIO_SERVER_NAME", "127.0.0.1")  # which makes the server a public one
    public = callbacks()
    assert not any("IndexPanel" in name or "choose_indexed" in name for name in public)
    assert len(public) < len(own)
    with served_here(apps, "public"):
        url = apps["public"]
        _, config = requested(url, "config")
        widgets = str([part["props"] for part in json.loads(config)["components"]])
        assert "Find photos" in widgets
        assert "Add photos" not in widgets
        assert "index-folder" not in widgets
        (photos / "a secret name").mkdir()
        for number in range(len(public), len(own) + 5):  # callbacks of one's own machine
            join = {"data": [str(photos), None], "fn_index": number, "session_hash": "a"}
            status, text = requested(url, "gradio_api/queue/join", join)
            assert status >= 400
            assert "a secret name" not in text
        for name in ("find", "enter", "list_folder"):
            status, text = requested(url, f"gradio_api/call/{name}", {"data": [str(photos)]})
            assert status >= 400
            assert "a secret name" not in text


def test_the_index_of_a_folder_that_is_gone_can_be_removed(indexing, photos):
    indexing.start(photos, "mine")
    wait_for_end(indexing)
    shutil.rmtree(photos)
    with pytest.raises(UserError, match="connect"):
        indexing.start_again("mine")
    indexing.remove("mine")
    assert known_indexes() == []
