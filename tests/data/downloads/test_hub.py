"""Models on the Hugging Face Hub, from a local server to where vsdemo finds them."""

import hashlib
import json
from threading import Event

import pytest

from tests.support.clips import write_clip
from vsdemo.core.errors import Cancelled, UserError
from vsdemo.data.downloads import fetch, hub
from vsdemo.models import checkpoint, pretrained
from vsdemo.vision.backbones import find_weights, is_available, repository_of

REPOSITORY = "laion/CLIP-ViT-B-32-laion2B-s34B-b79K"
NAME = "clip:ViT-B-32/laion2b_s34b_b79k"


def blob(content):
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def entry(name, content, *, large):
    result = {"type": "file", "path": name, "size": len(content), "oid": blob(content)}
    if large:
        digest = hashlib.sha256(content).hexdigest()
        result["lfs"] = {"oid": digest, "size": len(content)}
    return result


@pytest.fixture
def served(web, own_home, tmp_path, monkeypatch):
    """A server in the place of the Hub, with a tiny model and a file that nobody needs."""
    folder = write_clip(tmp_path / "source")
    config, weights = (folder / name for name in (hub.CONFIG, hub.WEIGHTS))
    web.files = {hub.CONFIG: config.read_bytes(), hub.WEIGHTS: weights.read_bytes()}
    listing = [
        entry(hub.CONFIG, web.files[hub.CONFIG], large=False),
        entry(hub.WEIGHTS, web.files[hub.WEIGHTS], large=True),
        entry("open_clip_pytorch_model.bin", b"x" * 10, large=True),
        {"type": "directory", "path": "images"},
    ]
    web.files["main"] = json.dumps(listing).encode()
    monkeypatch.setattr(hub, "HOST", web.url)
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    return web


def run(name=REPOSITORY, cancel=None):
    calls = []
    fetch.fetch(name, lambda *call: calls.append(call), cancel or Event())
    return calls


def test_a_model_is_available_after_a_fetch(served):
    assert not is_available(NAME)
    assert repository_of(NAME) == REPOSITORY
    calls = run()
    weights = find_weights(NAME)
    assert weights.path.read_bytes() == served.files[hub.WEIGHTS]
    assert find_weights(f"clip:hf-hub:{REPOSITORY}").hash == weights.hash
    total = len(served.files[hub.CONFIG]) + len(served.files[hub.WEIGHTS])
    assert calls[-1] == ("Fetching", total, total)
    assert not [path for path, _ in served.requests if "pytorch_model" in path]
    assert sum("/tree/" in path for path, _ in served.requests) == 1
    served.requests.clear()
    run()
    assert not [path for path, _ in served.requests if "resolve" in path]


def test_the_download_of_the_app_is_the_same(served, monkeypatch):
    for name in (hub.CONFIG, hub.WEIGHTS):
        assert any(file.target.name == name for file in fetch.DOWNLOADS["clip"].files)
    files = (hub.hub_file(REPOSITORY, name, size=1) for name in (hub.CONFIG, hub.WEIGHTS))
    own = fetch.Download(title="CLIP", about="", files=tuple(files))
    monkeypatch.setitem(fetch.DOWNLOADS, "clip", own)
    run("clip")
    assert is_available(NAME)
    assert not own.missing
    assert not pretrained.known()
    pretrained.make_fetched(own)
    (folder,) = pretrained.known()
    assert checkpoint.load(folder)[1].config.backbone == f"clip:hf-hub:{REPOSITORY}"
    own.files[1].target.unlink()
    assert not pretrained.known()  # the weights were deleted


def test_a_fetch_resumes(served):
    cancel, half = Event(), len(served.files[hub.WEIGHTS]) // 2

    def stop(what, done, total):
        if done > half:
            cancel.set()

    with pytest.raises(Cancelled):
        fetch.fetch(REPOSITORY, stop, cancel)
    served.requests.clear()
    run()
    assert any(begin for path, begin in served.requests if hub.WEIGHTS in path)
    assert is_available(NAME)


@pytest.mark.parametrize("name", [hub.CONFIG, hub.WEIGHTS])
def test_another_file_than_the_hub_states_is_deleted(served, name, is_one_sentence):
    served.files[name] = served.files[name][:-1] + b"?"
    with pytest.raises(UserError, match="not the expected file") as caught:
        run()
    assert is_one_sentence(caught)
    assert not is_available(NAME)


@pytest.mark.parametrize(
    ("listing", "message"),
    [
        (b"<html>", "not what the Hugging Face Hub should send"),
        (b'{"error": "Repository not found"}', "not what the Hugging Face Hub should send"),
        (b"[]", "has no open_clip_config.json"),
    ],
)
def test_what_is_no_model_of_open_clip_is_refused(served, listing, message, is_one_sentence):
    served.files["main"] = listing
    with pytest.raises(UserError, match=message) as caught:
        run()
    assert is_one_sentence(caught)


def test_an_unknown_repository_is_one_sentence(served, is_one_sentence):
    del served.files["main"]
    with pytest.raises(UserError, match="404 Not Found") as caught:
        run("nobody/nothing")
    assert is_one_sentence(caught)


@pytest.mark.parametrize(
    "name", ["clip:hf-hub:../etc", "clip:hf-hub:a", "clip:local-dir:x", "clip:"]
)
def test_what_is_not_on_the_hub_is_refused(name, is_one_sentence):
    with pytest.raises(UserError) as caught:
        repository_of(name)
    assert is_one_sentence(caught)


def test_nothing_is_asked_of_the_hub_without_a_fetch(served):
    with pytest.raises(UserError, match=r"`python -m vsdemo fetch clip:ViT-B-32/laion2b"):
        find_weights(NAME)
    assert not served.requests
