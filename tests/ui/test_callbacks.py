"""Helpers of callbacks, shared HTML, the library, photos by number and the endpoint."""

import inspect
import io
import json
import os
import urllib.error
import urllib.request
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError
from PIL import Image
from starlette.applications import Starlette
from starlette.testclient import TestClient

from tests.support.pages import PAGE, merged, tab_of
from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError
from vsdemo.core.hits import BarScale, Hit
from vsdemo.data.galleries import Gallery
from vsdemo.models.scores import SCORES
from vsdemo.ui import TABS, build, callbacks, images
from vsdemo.ui.components import html as page
from vsdemo.ui.components.html import Bar
from vsdemo.ui.library import Library
from vsdemo.ui.search.state import SearchState
from vsdemo.ui.search.tab import SearchTab
from vsdemo.ui.tabs import Visit

FILE = {"meta": {"_type": "gradio.FileData"}}


@pytest.fixture
def library(checkpoints, monkeypatch):
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(checkpoints))
    return Library()


def test_a_bar_states_number_unit_and_meaning():
    score = SCORES["order"]
    html = page.ranked_sentences([Hit(1, 0, "x", -0.25, 0.75)], score, [])
    assert "width:75.0%" in html
    assert ">0.75<" in html
    assert score.unit in html
    assert f'title="{score.meaning[:20]}' in html


def test_a_bar_has_the_length_on_its_scale_and_the_number_of_the_score():
    score = SCORES["cosine"]
    scale = BarScale(empty=0.4, full=0.6)
    hits = [Hit(1, 0, "x", 0.55, 0.55, scale), Hit(2, 1, "y", 0.45, 0.45, scale)]
    html = page.ranked_sentences(hits, score, [])
    for text in ("width:75.0%", ">0.55<", "width:25.0%", ">0.45<", "empty at 0.40", "full at 0.60"):
        assert text in html, text
    assert 'title="Cosine' in html
    for value, share in ((0.1, 0.0), (0.4, 0.0), (0.6, 1.0), (0.9, 1.0)):
        assert Bar.of(value, "cosine", "", scale).share == pytest.approx(share)


def test_bars_of_a_narrow_scale_have_numbers_that_differ():
    scale = BarScale(empty=0.9951, full=0.9982)
    assert [Bar.of(v, "alignment", "", scale).number for v in (0.9962, 0.9957)] == [
        "0.9962",
        "0.9957",
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("beach_2019.jpg", "beach 2019, photo 2 of 3"),
        ("IMG-0042.large.png", "IMG 0042 large, photo 2 of 3"),
        ("__.png", "photo 2 of 3"),
    ],
)
def test_a_photo_without_captions_is_named_in_words(name, text):
    photos = (Path("a.png"), Path("folder") / name, Path("b.png"))
    assert page.photo_text(CaptionSet("own", "all", photos))(1) == text


def test_a_photo_with_captions_has_its_first_caption_as_text():
    photos = CaptionSet("toy", "all", (Path("a.png"),), ("A dog .", "A cat ."), (0, 0))
    assert page.photo_text(photos)(0) == "A dog."


def test_a_photo_of_a_visitor_has_the_sentence_that_describes_it():
    assert page.upload_text("A dog runs .") == "Your photo: A dog runs."
    assert page.upload_text() == "Your photo"


def test_punctuation_of_data_sets_is_tidied():
    assert page.tidy("A dog , wet , runs .") == "A dog, wet, runs."


@pytest.mark.parametrize(
    "data", [None, {}, [0], *({"number": n} for n in (-1, 3, "0", True, 1.0, None, "../etc"))]
)
def test_a_click_on_an_unknown_number_is_refused(data):
    with pytest.raises(UserError, match="no longer on the page"):
        callbacks.clicked_number(SimpleNamespace(_data=data), 3)


def test_a_click_gives_its_number():
    assert callbacks.clicked_number(SimpleNamespace(_data={"number": 2}), 3) == 2


@pytest.mark.parametrize(
    ("error", "message"),
    [(UserError("Mind the gap."), "Mind the gap."), (KeyError("secret"), "Something went wrong")],
)
def test_errors_become_one_sentence(error, message, monkeypatch):
    toasts = []
    for name in ("Warning", "Info"):
        monkeypatch.setattr(callbacks.gr, name, lambda text, **_: toasts.append(text))

    def callback():
        yield {"a": 1}
        raise error

    last = merged(callbacks.report_errors("note")(callback)(PAGE))
    assert last["a"] == 1
    assert message in last["note"]
    assert 'role="alert"' in last["note"]
    assert toasts == []
    assert "secret" not in last["note"]


def test_a_callback_without_updates_changes_nothing():
    def callback():
        yield from ()

    (update,) = callbacks.report_errors("note")(callback)(PAGE)
    assert update["note"] == {"__type__": "update"}


def test_a_library_says_what_is_missing(library, monkeypatch, tmp_path):
    assert library.problem is None
    assert list(library.models) == ["gru"]
    labels = [g.label for g in library.galleries.values()]
    assert labels == ["toy test (8)", "toy all (40)", "Storybook test (500)"]
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(tmp_path))
    assert "no model yet" in Library().problem
    with pytest.raises(UserError):
        Library("nowhere")


def test_an_engine_loads_once_and_again_after_a_failure(library, checkpoints, monkeypatch):
    first = library.engine("gru", "toy-test")
    assert library.engine("gru", "toy-test") is first
    assert len(first.result().search("a red circle", 3)) == 3
    with pytest.raises(UserError, match="no 'x' here"):
        library.engine("x", "toy-test")
    monkeypatch.setitem(library.models, "gru", checkpoints / "absent")
    failed = library.engine("gru", "toy-all")
    with pytest.raises(UserError):
        failed.result()
    monkeypatch.setitem(library.models, "gru", checkpoints / "toy" / "gru")
    assert library.engine("gru", "toy-all").result()


def test_unreadable_photos_are_left_out_of_the_gallery(library, tmp_path):
    for i, colour in enumerate(("red", "green", "blue")):
        Image.new("RGB", (64, 48), colour).save(tmp_path / f"{i}.png")
    (tmp_path / "1.png").write_bytes(b"no photo")
    own = Library(str(tmp_path))
    key = next(iter(own.galleries))
    engine = own.engine("gru", key).result()
    assert own.galleries[key].photos == engine.gallery.photos
    assert own.galleries[key].names == ("0.png", "2.png")
    assert [p.name for p in own.gallery_of(own.galleries[key].token).photos] == ["0.png", "2.png"]


def test_photos_are_served_by_number_and_size(tmp_path):
    Image.new("RGB", (3000, 1500), "red").save(tmp_path / "large.png")
    Image.new("RGB", (200, 100), "red").save(tmp_path / "small.png")
    (tmp_path / "broken.png").write_bytes(b"no photo")
    photos = tuple(tmp_path / f"{n}.png" for n in ("large", "small", "broken", "gone"))
    gallery = Gallery("key", "label", str(tmp_path), "all", photos)
    app = Starlette(routes=[images.route(lambda token: gallery if token == "abc" else None)])
    client = TestClient(app)
    for size, side in (("small", 480), ("large", 1280)):
        answer = client.get(images.address("abc", 0, size))
        assert Image.open(io.BytesIO(answer.content)).size == (side, side // 2)
        assert answer.headers["content-type"] == "image/jpeg"
    assert client.get("photo/abc/1/small").content == photos[1].read_bytes()
    for path in ("abc/2/small", "abc/3/small", "abc/4/small", "abc/0/huge", "abc/-1/small",
                 "abc/..%2f..%2fetc/small"):  # fmt: skip
        assert client.get(f"photo/{path}").status_code == 404, path
    assert client.get("photo/xyz/0/small").status_code == 404


def test_a_photo_is_written_once(tmp_path):
    photo = Image.new("RGB", (3000, 1500), "red")
    path = images.save_jpeg(photo, 1280, tmp_path)
    before = os.stat(path).st_mtime_ns
    assert images.save_jpeg(photo, 1280, tmp_path) == path
    assert os.stat(path).st_mtime_ns == before
    assert Image.open(path).size == (1280, 640)
    assert photo.size == (3000, 1500)


def test_an_unknown_gallery_has_no_photos(library):
    assert library.gallery_of("abc") is None


def test_search_shows_hits_and_more_hits(library):
    assert build(library)[0].config["title"] == "vsdemo"
    tab = tab_of(SearchTab, library)
    updates = list(tab.search(SearchState("one red bar", "gru", "toy-test", 4)))
    state = updates[-1][tab.state]
    assert [h.rank for h in state.hits] == [1, 2, 3, 4]
    assert state.address == {"q": "one red bar", "model": "gru", "gallery": "toy-test"}
    more = list(tab.show_more(state))[-1][tab.state]
    assert len(more.hits) == 8
    assert more.hits[:4] == state.hits


def test_every_callback_can_show_its_errors(library):
    demo, _ = build(library)
    count = 0
    for listener in demo.fns.values():
        if inspect.isfunction(listener.fn):
            names = inspect.getclosurevars(listener.fn).nonlocals
            if "ended_by" in names:  # of `report_errors`
                assert names["note"] in listener.outputs, listener.fn.__qualname__
                count += 1
    assert count > 50


@pytest.mark.parametrize("key", [tab.key for tab in TABS])
def test_a_tab_begins_to_load_what_can_be_loaded(app_checkpoints, monkeypatch, key):
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(app_checkpoints))
    _, whole = build(Library())
    for pending in whole.tabs[key].begin_loading(Visit("order", "toy-test")):
        assert pending.result()


def test_a_page_prepares_for_an_address_that_names_nothing_known(library, monkeypatch):
    visits = []
    monkeypatch.setattr(SearchTab, "begin_loading", lambda tab, visit: visits.append(visit) or ())
    _, whole = build(library)
    whole.prepare({"q": "one red bar", "model": "gone", "gallery": "gone", "tab": "gone"})
    (visit,) = visits
    assert (visit.model, visit.gallery) == ("gru", "toy-test")
    assert visit.selection.text == "one red bar"


@pytest.fixture(scope="module")
def client(apps):
    return Client(apps["toy"], verbose=False)


def test_the_endpoint_returns_hits(client):
    hits = client.predict("a red circle", "gru", "toy-test", 3, api_name="/search")["hits"]
    assert [h["rank"] for h in hits] == [1, 2, 3]
    assert hits[0]["photo"].endswith(".png")


@pytest.mark.parametrize(
    ("sentence", "model", "gallery", "k", "message"),
    [
        *(("a bar", "gru", "toy-test", k, "whole number") for k in (0, -1, 1e9, 2.5, "NaN", None)),
        ("", "gru", "toy-test", 3, "empty"),
        (" \n", "gru", "toy-test", 3, "empty"),
        ("a\0b", "gru", "toy-test", 3, "control characters"),
        ("a" * 100_000, "gru", "toy-test", 3, "limit is 1,000"),
        ("🙈", "gru", "toy-test", 3, "knows no word"),
        ("a bar", "../gru", "toy-test", 3, "choose one of"),
        ("a bar", "gru", "/etc", 3, "choose one of"),
    ],
)
def test_the_endpoint_refuses_bad_input(client, sentence, model, gallery, k, message):
    with pytest.raises(AppError, match=message):
        client.predict(sentence, model, gallery, k, api_name="/search")


@pytest.mark.parametrize("path", ["/etc/passwd", "app.py", "tests/conftest.py"])
def test_files_are_not_served_by_path(apps, path):
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(f"{apps['toy']}gradio_api/file={path}")
    assert refused.value.code in (403, 404)


@pytest.mark.parametrize("meta", [{}, {"meta": {}}, FILE])
def test_only_uploaded_photos_can_be_described(apps, toy_root, meta):
    (server,) = (toy_root / "toy" / "images").glob("00_*.png")
    with httpx.Client(base_url=apps["toy"] + "gradio_api/", timeout=30) as client:
        answer = describe_file(client, {"path": str(server), **meta})
        assert not answer["success"]
        assert "file=" not in str(answer)
        files = {"files": ("own.png", server.read_bytes())}
        (uploaded,) = client.post("upload", files=files).json()
        assert describe_file(client, {"path": uploaded, **FILE})["success"]


def describe_file(client, file):
    """Ask the tab Describe for sentences about a file, as its page does; return the answer."""
    config = client.get("../config").json()
    photo = next(c["id"] for c in config["components"] if c["props"].get("elem_id") == "photo")
    (event,) = (d for d in config["dependencies"] if [photo, "upload"] in d["targets"])
    request = {"data": [file, None, "gru", "toy-test"], "fn_index": event["id"]}
    client.post("queue/join", json={**request, "session_hash": "hostile"})
    with client.stream("GET", "queue/data", params={"session_hash": "hostile"}) as lines:
        for line in lines.iter_lines():
            message = json.loads(line.removeprefix("data: ") or "{}")
            if message.get("msg") == "process_completed":
                return message
    return None
