"""Photos of one's own in the tab Search: filters, mixed queries, all results, selection, labels."""

import csv
import re
import shutil
from dataclasses import replace
from threading import Event
from types import SimpleNamespace

import httpx2
import numpy as np
import pytest
import torch
from playwright.sync_api import expect

from tests.support.pages import PAGE, merged, tab_of
from tests.support.serving import served_here
from vsdemo.data.catalog.annotations import Annotations
from vsdemo.data.catalog.catalog import Catalog
from vsdemo.search import indexing
from vsdemo.ui.components.templates import render
from vsdemo.ui.library import Library
from vsdemo.ui.search.refinement import Refinement
from vsdemo.ui.search.results import RESULTS, Results
from vsdemo.ui.search.tab import SearchTab

NAME, GALLERY, MODEL = "mine", "mine-all", "gru"
TEXT = "a red circle"


@pytest.fixture
def mine(request, checkpoints, own_home, toy_root, toy_checkpoint, tmp_path, monkeypatch):
    """An index of photos in two folders, with the date of one."""
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(checkpoints))
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path / "data"))
    shutil.copytree(toy_root / "models", tmp_path / "data" / "models")
    photos = tmp_path / "own"
    count = getattr(request, "param", 8)  # as many are read without worker processes
    images = sorted((toy_root / "toy" / "images").iterdir())[:count]
    for number, image in enumerate(images):
        album = photos / ("a" if number % 2 else "b")
        album.mkdir(parents=True, exist_ok=True)
        shutil.copy(image, album)
    folder = next(iter((photos / "a").iterdir()))
    folder.with_name(f"{folder.name}.xmp").write_text(
        '<x xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description '
        'xmlns:exif="http://ns.adobe.com/exif/1.0/" exif:DateTimeOriginal="2024-05-31T10:00:00"/>'
        "</x>"
    )
    caches = indexing.feature_caches([toy_checkpoint])
    catalog = Catalog.create(NAME, photos)
    indexing.index_folder(catalog, caches, lambda *a: None, Event())
    return catalog


@pytest.fixture
def tab(mine):
    return tab_of(SearchTab, Library(NAME))


def run(tab, callback, *inputs, note=None, channel=None):
    guard = tab.context.guard(tab, note=note, channel=channel)
    return merged(guard(callback)(PAGE, *inputs))


def search(tab, text=TEXT, state=None, **filters):
    """Return the update of a search with some of the filters."""
    names = [*filter_values(tab)]
    values = {**filter_values(tab), **filters}
    return run(tab, tab.run, text, MODEL, GALLERY, 4, state, *(values[name] for name in names))


def filter_values(tab):
    names = ("folder", "camera", "since", "until", "orientation", "megapixels", "order", "copies")
    defaults = ("", "", "", "", "", 0, "fit", False)
    return {**dict(zip(names, defaults, strict=True)), "weight": 1.0}


def result_of(update, tab):
    return RESULTS.get(re.search(r'data-results="([^"]+)"', update[tab.grid])[1])


def use_picks(tab, state, event):
    return run(tab, tab.own.use_picks, state, event, note=tab.own.picks_note, channel="picks")


def event(**data):
    return SimpleNamespace(_data=data)


def test_filters_narrow_a_search_and_are_part_of_the_address(tab):
    update = search(tab, folder="a")
    state, result = update[tab.state], result_of(update, tab)
    names = [hit.item for hit in result.ranking.hits(0, 100)]
    assert names
    assert all(name.startswith("a/") for name in names)
    assert state.address["folder"] == "a"
    assert "with these filters" in update[tab.grid]
    restored = Refinement.from_address(state.address.get)
    assert restored == state.refinement
    cleared = run(tab, tab.clear_filters, state)
    assert len(result_of(cleared, tab).ranking) == len(tab.library.galleries[GALLERY].photos)


def test_a_filter_that_is_changed_during_a_search_narrows_this_search(tab):
    before = search(tab, "a blue square")[tab.state]
    values = filter_values(tab)
    updates = tab.run(TEXT, MODEL, GALLERY, 4, before, *values.values())
    early = next(updates)
    assert tab.state not in early  # the page shows the results of before
    values["folder"] = "a"
    narrowed = run(tab, tab.refine, early[tab.latest], *values.values())
    assert narrowed[tab.state].text == TEXT
    assert narrowed[tab.state].address["folder"] == "a"
    assert narrowed[tab.latest] == narrowed[tab.state]


def test_a_search_that_ends_the_opening_of_a_gallery_shows_its_panels(tab):
    update = search(tab)
    assert update[tab.filters.known]["visible"]
    assert update[tab.own.panel]["visible"]
    again = search(tab, state=update[tab.state])
    assert tab.filters.known not in again


def test_days(tab):
    update = search(tab, text="", since="2024-05-01", until="2024-06-01")
    assert len(result_of(update, tab).ranking) == 1
    wrong = search(tab, since="yesterday")
    assert "write it like 2024-05-31" in wrong[tab.note]
    nothing = search(tab, since="2030-01-01")
    assert "No photo with these filters" in nothing[tab.grid]
    assert nothing[tab.state].photo is None


def test_photos_say_how_many_copies_are_left_out(tab):
    result = result_of(search(tab), tab)
    copies = torch.zeros(len(result.ranking), dtype=torch.int64)
    copies[1] = 3
    grouped = replace(result, ranking=replace(result.ranking, copies=copies))
    page = render("components/photo_cards.html", cards=grouped.cards(0, 3), kind="", can_pick=False)
    assert page.count("nearly the same") == 1
    assert ">+3<" in page


def test_a_photo_and_a_sentence_together(tab):
    state = search(tab)[tab.state]
    alike = run(tab, tab.search_similar, state)[tab.state]
    mixed = search(tab, "a green bar", alike)
    state = mixed[tab.state]
    assert (state.text, state.similar_to) == ("a green bar", alike.similar_to)
    assert "Remove this photo" in mixed[tab.grid]
    assert state.similar_to not in [hit.number for hit in state.hits]
    alone = run(tab, tab.drop_photo, state)[tab.state]
    assert (alone.text, alone.similar_to) == ("a green bar", None)


def test_a_wrong_query_is_one_sentence(tab):
    assert "only excludes things" in search(tab, "-people")[tab.note]
    assert "weight" in search(tab, "a bar^99")[tab.note]


def test_a_region_of_the_map_is_searched(tab):
    state = search(tab)[tab.state]
    update = run(tab, tab.show_region, state, (1, 3))
    assert {hit.number for hit in update[tab.state].hits} == {1, 3}
    later = search(tab, "a green bar", update[tab.state])[tab.state]
    assert {hit.number for hit in later.hits} == {1, 3}
    assert later.call is None


def test_selected_photos_become_a_table(tab, mine):
    state = search(tab)[tab.state]
    numbers = [hit.number for hit in state.hits[:2]]
    update = use_picks(tab, state, event(action="csv", numbers=numbers))
    path = re.search(r"exported to (\S+\.csv)", update[tab.own.picks_note])[1]
    with open(path, encoding="utf-8") as file:
        rows = [*csv.DictReader(file)]
    assert [row["file"] for row in rows] == [hit.item for hit in state.hits[:2]]
    assert [row["rank"] for row in rows] == ["1", "2"]


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"action": "csv"},
        {"action": "csv", "numbers": []},
        {"action": "csv", "numbers": [10_000]},
        {"action": "csv", "numbers": ["../x"]},
        {"action": "format c:", "numbers": [0]},
    ],
)
def test_a_page_that_sends_nonsense_gets_one_sentence(tab, data):
    state = search(tab)[tab.state]
    update = use_picks(tab, state, event(**data))
    assert "problem" in update[tab.own.picks_note]


def test_strangers_cannot_use_files(tab, monkeypatch):
    state = search(tab)[tab.state]
    monkeypatch.setenv("GRADIO_SERVER_NAME", "0.0.0.0")
    update = use_picks(tab, state, event(action="csv", numbers=[0]))
    assert "problem" in update[tab.own.picks_note]
    assert "data-pick" not in search(tab)[tab.grid]


def test_a_label_finds_others(tab):
    state = search(tab)[tab.state]
    for action, numbers in (("fits", [0, 1]), ("not", [2])):
        update = use_picks(tab, state, event(action=action, name="dots", numbers=numbers))
        assert "“dots”" in update[tab.own.picks_note]
    assert update[tab.own.label]["choices"] == [("dots (2 + 1)", "dots")]
    found = run(tab, tab._label_search(False), state, "dots")
    assert "dots" in found[tab.grid]
    numbers = [hit.number for hit in found[tab.state].hits]
    assert numbers
    assert not {0, 1, 2} & set(numbers)
    scores = [hit.score for hit in found[tab.state].hits]
    assert scores == sorted(scores, reverse=True)
    gone = run(tab, tab.own.delete_label, found[tab.state], "dots", note=tab.own.note, channel="")
    assert Annotations(NAME).labels() == []
    assert "deleted" in gone[tab.own.note]


def test_a_search_is_saved_and_opened_again(tab):
    state = search(tab, folder="b")[tab.state]
    run(tab, tab.own.save_search, state, "Dots", note=tab.own.note, channel="")
    opened = run(tab, tab.open_saved, "Dots", MODEL, GALLERY, 4)
    assert opened[tab.query] == TEXT
    assert opened[tab.filters.folder] == "b"
    assert opened[tab.state].hits == state.hits
    run(tab, tab.own.delete_saved, state, "Dots", note=tab.own.note, channel="")
    assert Annotations(NAME).searches() == []


def test_the_oldest_results_are_dropped(monkeypatch):
    monkeypatch.setattr("vsdemo.ui.search.results.MAX_PHOTOS", 25)
    results = Results()
    names = [results.add(SimpleNamespace(ranking=range(10))) for _ in range(4)]
    assert [results.get(name) is not None for name in names] == [False, False, True, True]
    large = results.add(SimpleNamespace(ranking=range(100)))
    assert results.get(large)
    assert not results.get(names[-1])


def test_results_over_http(apps, mine):
    library_name = "results"
    with served_here(apps, library_name, gallery=NAME), httpx2.Client() as client:
        tab = tab_of(SearchTab, Library(NAME))
        update = search(tab)
        name = re.search(r'data-results="([^"]+)"', update[tab.grid])[1]
        numbers = RESULTS.get(name).ranking.numbers.tolist()
        base = f"{apps[library_name]}results/{name}"
        cards = client.get(f"{base}/cards?start=4&count=3").text
        assert re.findall(r'data-pick="(\d+)"', cards) == [str(n) for n in numbers[4:7]]
        assert np.frombuffer(client.get(f"{base}/numbers").content, "<i4").tolist() == numbers
        paths = client.post(f"{base}/paths", content=np.array([0, 10**6], "<i4").tobytes()).text
        assert paths == str(tab.library.galleries[GALLERY].photos[0])
        assert client.get(f"{base}/cards?start=-1&count=x").status_code == 200
        assert client.get(f"{apps[library_name]}results/unknown/cards").status_code == 404


def test_paths_are_not_told_to_strangers(apps, mine, monkeypatch):
    tab = tab_of(SearchTab, Library(NAME))
    name = re.search(r'data-results="([^"]+)"', search(tab)[tab.grid])[1]
    monkeypatch.setenv("GRADIO_SERVER_NAME", "127.0.0.1")
    with served_here(apps, "public", gallery=NAME), httpx2.Client() as client:
        base = f"{apps['public']}results/{name}"
        for path in ("paths", "show?number=0"):
            answer = client.post(f"{base}/{path}", content=np.zeros(1, "<i4").tobytes())
            assert answer.status_code == 404
        assert client.get(f"{base}/cards?count=3").status_code == 200


@pytest.mark.parametrize("mine", [24], indirect=True)
def test_a_visitor_scrolls_to_the_end_and_selects(apps, visit, mine):
    with served_here(apps, "mine", gallery=NAME):
        page = visit("mine", "?q=a+red+circle")
        total = len(Catalog(NAME).photos()[0])
        page.get_by_role("button", name=f"Show all {total}", exact=True).click()
        page.locator(".all-photos").evaluate("box => (box.scrollTop = box.scrollHeight)")
        last = page.locator(f'[data-place="{total - 1}"]')
        expect(last).to_be_visible()
        last.locator(".frame").focus()
        page.keyboard.press("x")
        expect(page.locator(".picked-count")).to_have_text("1 selected")
        page.keyboard.press("Home")
        first = page.locator('[data-place="0"] .frame')
        expect(first).to_be_focused()
        page.keyboard.press("ArrowRight")
        expect(page.locator('[data-place="1"] .frame')).to_be_focused()
        page.get_by_role("button", name="Select all results").click()
        expect(page.locator(".picked-count")).to_have_text(f"{total} selected")
        page.locator(".picked-bar").get_by_role("button", name="Clear", exact=True).click()
        expect(page.locator(".picked-bar")).to_be_hidden()
        page.get_by_role("button", name="Filters").click()
        page.get_by_label("Order", exact=True).click()
        page.get_by_role("option", name="Newest first").click()
        expect(page).to_have_url(re.compile("order=newest"))
        page.close()
        page = visit("mine", "?q=a+red+circle&order=newest")
        expect(page.get_by_label("Order", exact=True)).to_have_value("Newest first")
        expect(page.get_by_label("Order", exact=True)).to_be_visible()  # the panel is open
        page.close()
