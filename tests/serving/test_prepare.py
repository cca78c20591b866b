"""Downloads that an owner wants at the start."""

import runpy
from threading import Event

import pytest
from filelock import FileLock

from vsdemo import ui
from vsdemo.core import cores
from vsdemo.core.paths import ROOT
from vsdemo.data.downloads import fetch
from vsdemo.serving import prepare
from vsdemo.ui.library import Library


@pytest.mark.parametrize(
    ("value", "names"),
    [
        ("", ()),
        ("flickr8k", ("flickr8k",)),
        (" densenet169, flickr8k,", ("densenet169", "flickr8k")),
    ],
)
def test_names_of_downloads(monkeypatch, value, names):
    monkeypatch.setenv("VSDEMO_PREPARE", value)
    assert prepare.downloads() == names


def test_an_unknown_name_ends_the_start_with_one_sentence(monkeypatch, capsys):
    monkeypatch.setattr(cores, "limit_threads", lambda: None)
    monkeypatch.setenv("VSDEMO_PREPARE", "flickr8k,flickr9k")
    with pytest.raises(SystemExit) as end:
        runpy.run_path(str(ROOT / "app.py"), run_name="__main__")
    assert end.value.code == 2
    assert capsys.readouterr().err.splitlines() == [
        "vsdemo: VSDEMO_PREPARE: There is no 'flickr9k' to fetch; valid names are "
        f"{', '.join(fetch.DOWNLOADS)}."
    ]


def test_what_is_missing_is_fetched_and_the_log_says_so(no_data, capsys):
    ready = Event()
    prepare.start(["flickr8k"], on_ready=ready.set).join()
    assert ready.is_set()
    assert not fetch.find_download("flickr8k").missing
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("vsdemo: Flickr8k: 4 photos, ")
    assert any(line.startswith("vsdemo: Fetching Flickr8k: ") for line in lines)
    assert any(line.startswith("vsdemo: Unpacking Flickr8k: ") for line in lines)
    assert lines[-1] == "vsdemo: Flickr8k is available."


def test_what_is_there_is_not_fetched_again(no_data, web, capsys):
    prepare.start(["flickr8k"], on_ready=lambda: None).join()
    web.requests.clear()
    capsys.readouterr()
    ready = Event()
    prepare.start(["flickr8k"], on_ready=ready.set).join()
    assert (web.requests, ready.is_set(), capsys.readouterr().err) == ([], False, "")


def test_without_a_network_the_app_goes_on(no_data, web, capsys):
    web.statuses = [503] * 20
    ready = Event()
    prepare.start(["flickr8k"], on_ready=ready.set).join()
    assert not ready.is_set()
    *_, last = capsys.readouterr().err.splitlines()
    assert last.startswith("vsdemo: ")
    assert last.endswith(".")


def test_what_another_process_fetches_is_waited_for(no_data, monkeypatch, capsys):
    monkeypatch.setattr(prepare, "POLL", 0.05)
    ready = Event()
    (no_data / ".fetch").mkdir(parents=True)
    with FileLock(no_data / ".fetch" / "flickr8k.lock"):
        fetching = prepare.start(["flickr8k"], on_ready=ready.set)
        fetching.join(0.3)
        assert fetching.is_alive()
    fetching.join(60)
    assert ready.is_set()
    assert not fetch.find_download("flickr8k").missing
    assert capsys.readouterr().err.endswith("vsdemo: Flickr8k is available.\n")


def test_the_gallery_of_an_owner(monkeypatch):
    monkeypatch.delenv("VSDEMO_GALLERY", raising=False)
    assert prepare.gallery() is None
    monkeypatch.setenv("VSDEMO_GALLERY", "/photos")
    assert prepare.gallery() == "/photos"


def test_a_fetched_gallery_is_the_first_and_is_prepared(no_data, toy_checkpoint, monkeypatch):
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(toy_checkpoint.parent))
    library, prepared = Library(), []
    assert "flickr8k-test" not in library.galleries
    monkeypatch.setattr(library, "engine", lambda model, key, keep: prepared.append((key, keep)))
    prepare.start(["flickr8k"], on_ready=lambda: ui._open_fetched(library)).join()
    assert next(iter(library.galleries)) == "flickr8k-test"
    assert prepared == [("flickr8k-test", True)]
