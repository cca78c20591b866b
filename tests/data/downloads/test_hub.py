"""Models on the Hugging Face Hub, from a local server to where vsdemo finds them."""

from threading import Event

import open_clip
import pytest
import torch
from open_clip.model import CLIP, CustomTextCLIP

from tests.support import fake_hub
from vsdemo.core.errors import Cancelled, UserError
from vsdemo.data.downloads import fetch, hub
from vsdemo.models import checkpoint, pretrained
from vsdemo.vision.backbones import find_weights, is_available, repository_of

REPOSITORY = "laion/CLIP-ViT-B-32-laion2B-s34B-b79K"
NAME = "clip:ViT-B-32/laion2b_s34b_b79k"


@pytest.fixture
def served(web, own_home, tmp_path, monkeypatch):
    """A server in the place of the Hub, with a tiny model and a file that nobody needs."""
    fake_hub.serve_model(web, tmp_path / "source")
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
    own = hub.HubModel(title="CLIP", about="", files=tuple(files))
    monkeypatch.setitem(fetch.DOWNLOADS, "clip", own)
    run("clip")
    assert sum("/tree/" in path for path, _ in served.requests) == 1
    assert is_available(NAME)
    assert not own.missing
    assert not pretrained.known()
    pretrained.make_fetched(own)
    (folder,) = pretrained.known()
    assert folder == pretrained.fetched_folder(own)
    assert folder.name == "CLIP-ViT-B-32-laion2B-s34B-b79K"
    assert checkpoint.load(folder)[1].config.backbone == f"clip:hf-hub:{REPOSITORY}"
    own.files[1].target.unlink()
    assert not pretrained.known()  # the weights were deleted


def test_a_file_that_the_repository_lacks_is_one_sentence(served, monkeypatch, is_one_sentence):
    own = hub.HubModel("CLIP", "", (hub.hub_file(REPOSITORY, "tokenizer.json", size=1),))
    monkeypatch.setitem(fetch.DOWNLOADS, "clip", own)
    with pytest.raises(UserError, match=r"has no tokenizer.json any more") as caught:
        run("clip")
    assert is_one_sentence(caught)


@pytest.mark.parametrize(
    ("name", "architecture", "tag"),
    [
        ("clip", "ViT-B-32", "laion2b_s34b_b79k"),
        ("clip-pe-core-s", "PE-Core-S-16-384", "meta"),
        ("clip-siglip2", "ViT-B-16-SigLIP2", "webli"),
    ],
)
def test_models_that_are_named_are_those_of_open_clip(name, architecture, tag):
    named = fetch.DOWNLOADS[name]
    assert named.repository == repository_of(f"clip:{architecture}/{tag}")
    config = open_clip.get_model_config(architecture)
    kind = CustomTextCLIP if config.pop("custom_text", False) else CLIP
    with torch.device("meta"):
        parameters = sum(weights.numel() for weights in kind(**config).parameters())
    (size,) = (file.size for file in named.files if file.target.name == hub.WEIGHTS)
    assert size == pytest.approx(4 * parameters, rel=1e-3)
    has_tokenizer = any(file.target.name == "tokenizer.json" for file in named.files)
    assert has_tokenizer == bool(named.package) == ("hf_tokenizer_name" in config["text_cfg"])


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
        (b"<html>", "The Hugging Face Hub sent an unexpected answer"),
        (b'{"error": "Repository not found"}', "The Hugging Face Hub sent an unexpected answer"),
        (b"[]", "has no open_clip_config.json"),
    ],
)
def test_what_is_no_model_of_open_clip_is_refused(served, listing, message, is_one_sentence):
    served.files["main"] = listing
    with pytest.raises(UserError, match=message) as caught:
        run()
    assert is_one_sentence(caught)


def test_nothing_is_asked_for_what_is_no_repository(served, is_one_sentence):
    with pytest.raises(UserError, match="is not an OWNER/NAME") as caught:
        run("../etc")
    assert is_one_sentence(caught)
    assert served.requests == []


def test_without_the_hub_the_model_is_named_in_one_sentence(served, monkeypatch, is_one_sentence):
    monkeypatch.setattr(hub, "HOST", "http://127.0.0.1:9")  # a closed port
    message = r"^CLIP-ViT-B-32-laion2B-s34B-b79K could not be fetched from 127.0.0.1 \(.*refused"
    with pytest.raises(UserError, match=message) as caught:
        run("clip")
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
