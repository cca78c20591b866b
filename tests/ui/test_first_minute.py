"""The first minute on a new machine: photos are shown and searched while others are prepared."""

import os
import shutil
import subprocess
import sys
import time
from threading import Event
from types import SimpleNamespace

import pytest
from playwright.sync_api import expect
from starlette.applications import Starlette
from starlette.testclient import TestClient

from tests.support.pages import tab_of
from tests.support.pages import visit as visit_of
from tests.ui.conftest import free_port, wait_for
from vsdemo.core.errors import Cancelled
from vsdemo.core.paths import ROOT
from vsdemo.data import datasets
from vsdemo.data.storybook import painters, store
from vsdemo.search.engine import Engine
from vsdemo.ui import callbacks, images
from vsdemo.ui.library import Library, drawn, pending
from vsdemo.ui.search.tab import SearchTab
from vsdemo.vision import features

KEY = ("gru", "storybook-test")
QUERY = "a red ball"
DRAWN, TOTAL = 8, 24
SECONDS = 15  # until the first search is answered on a quiet machine


def wait_until(condition, seconds=60):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


class Gate:
    """A drawing that stops after some pictures until it may go on."""

    def __init__(self, monkeypatch):
        self.go_on, self.drawn = Event(), 0
        monkeypatch.setattr(store.cores, "available", lambda: 2)
        monkeypatch.setattr(painters, "draw", self.draw)

    def draw(self, numbers, processes):
        for number in numbers:
            if self.drawn == DRAWN:
                assert self.go_on.wait(60)
            store.draw_picture(number)
            self.drawn += 1
            yield number


@pytest.fixture
def machine(checkpoints, monkeypatch, tmp_path):
    """A new machine on which Storybook has 24 pictures."""
    monkeypatch.setitem(store.SPLITS, "test", range(4500, 4500 + TOTAL))
    monkeypatch.setenv("VSDEMO_HOME", str(tmp_path))
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(checkpoints))
    monkeypatch.setattr(drawn, "FIRST", 4)
    monkeypatch.setattr(features, "FIRST_SHARD", 4)
    monkeypatch.setattr(pending, "GRACE", 0.1)
    monkeypatch.setattr(pending, "POLL", 0.02)
    monkeypatch.setattr(drawn, "POLL", 0.02)
    monkeypatch.setattr(callbacks, "TICK", 0.02)


@pytest.fixture
def gate(machine, monkeypatch):
    gate = Gate(monkeypatch)
    yield gate
    gate.go_on.set()


def partial_of(pending, count):
    """Wait for a partial value of so many photos, and return it."""
    wait_until(lambda: pending.partial is not None and len(pending.partial.photos) == count)
    return pending.partial


def clicked(number):
    return SimpleNamespace(_data={"number": number})


def test_drawn_photos_are_offered_and_searched_while_others_are_drawn(gate):
    library = Library()
    engine, photos = library.engine(*KEY), library.photos(KEY[1])
    shown, first = partial_of(photos, DRAWN), partial_of(engine, DRAWN)
    assert photos.newest is shown
    assert engine.newest is first
    assert not engine.future.done()
    numbers = [hit.number for hit in first.search(QUERY, TOTAL)]
    assert sorted(numbers) == list(range(DRAWN))
    gate.go_on.set()
    complete = engine.result()
    assert engine.partial is None
    assert engine.newest is complete
    assert shown == photos.result().first(DRAWN)
    assert [n for n in hit_numbers(complete) if n < DRAWN] == numbers
    fresh = Engine(library.models[KEY[0]], "storybook", "test")
    assert complete.search(QUERY, TOTAL) == fresh.search(QUERY, TOTAL)
    assert complete.gallery == fresh.gallery == datasets.load("storybook", "test")


def hit_numbers(engine):
    return [hit.number for hit in engine.search(QUERY, TOTAL)]


def test_photos_are_served_while_others_are_drawn(gate):
    library = Library()
    library.engine(*KEY)
    partial_of(library.photos(KEY[1]), DRAWN)
    token = library.galleries[KEY[1]].token
    with TestClient(Starlette(routes=[images.route(library.gallery_of)])) as client:
        there = client.get(f"/photo/{token}/{DRAWN - 1}/small")
        missing = client.get(f"/photo/{token}/{DRAWN + 1}/small")
        assert (there.status_code, there.headers["content-type"]) == (200, "image/png")
        assert missing.status_code == 404
        assert missing.headers["cache-control"] == "no-store"  # the browser asks again
        gate.go_on.set()
        library.engine(*KEY).result()
        assert client.get(f"/photo/{token}/{DRAWN + 1}/small").status_code == 200


def test_a_cancelled_preparation_continues_where_it_stopped(gate):
    library = Library()
    engine = library.engine(*KEY)
    with engine.wanted():
        partial_of(engine, DRAWN)
    wait_until(lambda: engine.status.cancelled.is_set())
    with pytest.raises(Cancelled):
        engine.result()
    before = [store.photo(4500 + i).stat().st_mtime_ns for i in range(DRAWN)]
    gate.go_on.set()
    again = library.engine(*KEY)
    assert again is not engine
    assert len(again.result().photos) == TOTAL
    assert [store.photo(4500 + i).stat().st_mtime_ns for i in range(DRAWN)] == before


def test_own_photos_are_searched_while_others_are_encoded(machine, toy_root, tmp_path, monkeypatch):
    folder = tmp_path / "own"
    shutil.copytree(toy_root / "toy" / "images", folder)
    photos, go_on = sorted(folder.iterdir()), Event()
    monkeypatch.setattr(features, "SHARD", 4)
    monkeypatch.setattr(features, "BATCH_VIEWS", 4)
    opening = features.open_photo

    def slow(path):
        if path in photos[10:]:
            assert go_on.wait(60)
        return opening(path)

    monkeypatch.setattr(features, "open_photo", slow)
    library = Library(str(folder))
    engine = library.engine("gru", "own-all")
    first = partial_of(engine, DRAWN)
    assert engine.status.label == "Encoding photos"
    assert (engine.status.done, engine.status.total) == (8, 40)
    numbers = [hit.number for hit in first.search(QUERY, 40)]
    assert sorted(numbers) == list(range(DRAWN))
    go_on.set()
    assert [n for n in (h.number for h in engine.result().search(QUERY, 40)) if n < 8] == numbers


def test_the_page_searches_the_first_photos_and_says_so(gate):
    tab = tab_of(SearchTab, Library())
    partial_of(tab.library.engine(*KEY), DRAWN)
    updates = tab.run(QUERY, *KEY, 4)
    first = next(update for update in updates if tab.grid in update)
    assert "Best 4 of the first 8 photos by gru." in first[tab.grid]
    assert "Preparing the other photos: 8 of 24" in first[tab.note]
    assert 'data-event="stop"' in first[tab.note]
    assert first[tab.grid].count("<img") == 4
    waiting = next(updates)
    assert "Preparing the other photos: 8 of 24" in waiting[tab.note]
    assert tab.grid not in waiting
    gate.go_on.set()
    last = [update for update in updates if tab.grid in update][-1]
    assert "Best 4 of 24 photos by gru." in last[tab.grid]
    hits = tab.library.engine(*KEY).result().search(QUERY, 4)
    assert last[tab.state].hits == tuple(hits)
    assert last[tab.state].photo == hits[0].number


def test_a_clicked_photo_stays_large_while_more_results_come(gate):
    tab = tab_of(SearchTab, Library())
    partial_of(tab.library.engine(*KEY), DRAWN)
    updates = tab.run(QUERY, *KEY, 4)
    state = next(update for update in updates if tab.grid in update)[tab.state]
    second = state.hits[1]
    chosen = list(tab.select(state, clicked(second.number)))[-1]
    assert f"/{second.number}/large" in chosen[tab.detail]
    assert f"{second.unit_score:.2f}" in chosen[tab.detail]
    gate.go_on.set()
    last = [update for update in updates if tab.grid in update][-1]
    assert "of 24 photos by gru." in last[tab.grid]
    assert tab.detail not in last
    assert tab.state not in last
    hits = tab.library.engine(*KEY).result().search(QUERY, 8)
    more = list(tab.show_more(chosen[tab.state]))[-1]
    assert more[tab.state].hits == tuple(hits)


def test_more_of_the_first_photos_and_then_of_all(gate):
    tab = tab_of(SearchTab, Library())
    partial_of(tab.library.engine(*KEY), DRAWN)
    state = next(u for u in tab.run(QUERY, *KEY, 4) if tab.grid in u)[tab.state]
    updates = tab.show_more(state)
    first = next(update for update in updates if tab.grid in update)
    assert first[tab.grid].count("<img") == 8
    assert first[tab.more]["interactive"] is False
    gate.go_on.set()
    last = [update for update in updates if tab.grid in update][-1]
    assert "Best 8 of 24 photos by gru." in last[tab.grid]
    assert last[tab.more]["interactive"] is True


def test_the_page_shows_photos_as_they_are_drawn(gate, monkeypatch):
    monkeypatch.setattr(callbacks, "is_ready_soon", lambda *_, **__: False)
    tab = tab_of(SearchTab, Library())
    updates, grids = tab.show(visit_of(*KEY), None, ""), []
    while not grids or grids[-1] < DRAWN:
        grids += [u[tab.grid].count("<img") for u in [next(updates)] if tab.grid in u]
    assert grids == sorted(set(grids))
    gate.go_on.set()
    rest = list(updates)
    assert [u[tab.grid].count("<img") for u in rest if tab.grid in u][-1] == 12
    assert "24 photos. Type a sentence" in rest[-1][tab.note]


@pytest.mark.long
def test_the_first_search_is_answered_in_15_seconds(apps, visit, tmp_path, monkeypatch):
    """On a quiet machine with two cores, from `python app.py` to results among the first photos."""
    visit().close()  # a browser that is open already
    for variable in ("VSDEMO_DATA", "VSDEMO_CHECKPOINTS"):
        monkeypatch.delenv(variable, raising=False)
    port = free_port()
    variables = {"VSDEMO_HOME": str(tmp_path), "GRADIO_SERVER_PORT": str(port)}
    apps["new"] = f"http://127.0.0.1:{port}/"
    with (tmp_path / "log.txt").open("w+") as log:
        started = time.monotonic()
        app = subprocess.Popen(
            [sys.executable, "app.py"],
            cwd=ROOT,
            env={**os.environ, **variables},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            wait_for(app, apps["new"], log)
            page = visit("new")
            expect(page.locator("#grid button.frame").first).to_be_visible(timeout=60_000)
            seen = time.monotonic() - started
            page.get_by_label("Sentence").first.fill("an animal in the snow")
            page.get_by_role("button", name="Find photos").click()
            expect(page.locator("#grid .score-bar").first).to_be_visible(timeout=60_000)
            searched = time.monotonic() - started
            expect(page.locator("#grid .note")).to_contain_text("of the first")
            expect(page.locator("#grid .note")).to_contain_text("of 500 photos", timeout=60_000)
            page.close()  # it would report that the app has ended
        finally:
            app.kill()
            app.wait()
            del apps["new"]
    print(f"photos after {seen:.1f} s, results after {searched:.1f} s")
    assert searched < SECONDS
