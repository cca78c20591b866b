"""Named downloads, from a local server to where vsdemo finds them."""

import hashlib
from dataclasses import replace
from threading import Event, Thread

import pytest
import torch

from tests.support import fake_web
from vsdemo.core import paths
from vsdemo.core.errors import Cancelled, UserError
from vsdemo.data import datasets
from vsdemo.data.downloads import fetch, hub, unpack
from vsdemo.data.overview import overview
from vsdemo.vision.backbones import find_weights


def run_fetch(cancel=None, after=None):
    """Fetch and return the calls of `progress`; set `cancel` after so many of them."""
    calls, cancel = [], cancel or Event()

    def progress(*words):
        calls.append(words)
        if len(calls) == after:
            cancel.set()

    fetch.fetch("flickr8k", progress, cancel)
    return calls


def files(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def one_sentence(caught):
    message = str(caught.value)
    return message.endswith(".") and "\n" not in message and "Traceback" not in message


def test_flickr8k_is_available_after_a_fetch(no_data):
    assert "missing  flickr8k" in "\n".join(overview())
    run_fetch()
    assert [p.name for p in datasets.load("flickr8k", "train").photos] == ["a.jpg", "b.jpg"]
    assert datasets.load("flickr8k", "all").captions[5] == "A caption of b ."
    assert files(no_data / ".fetch") == ["flickr8k.lock"]
    folders = {p.name for p in (no_data / "flickr8k").iterdir()}
    assert folders == {"Flickr8k_text", "Flicker8k_Dataset"}
    assert "found    flickr8k: 4 photos" in "\n".join(overview())


def test_progress_counts_the_bytes_of_all_files_and_never_decreases(no_data, web):
    web.ends_after = [1000, 50_000]
    calls = run_fetch()
    size = sum(map(len, web.files.values()))
    fetching = [words[1:] for words in calls if words[0] == "Fetching"]
    assert calls[: len(fetching)] == [("Fetching", *words) for words in fetching]
    assert {of for _, of in fetching} == {size}
    assert fetching == sorted(fetching)
    assert fetching[-1] == (size, size)
    unpacking = calls[len(fetching) :]
    assert {words[0] for words in unpacking} == {"Unpacking"}
    assert unpacking[-1][1] == unpacking[-1][2]


def test_available_data_are_not_requested(no_data, web):
    run_fetch()
    web.requests.clear()
    (no_data / ".fetch" / "photos.zip.part").write_bytes(b"of an earlier attempt")
    assert run_fetch() == []
    assert web.requests == []
    assert files(no_data / ".fetch") == ["flickr8k.lock"]


def test_only_missing_files_are_requested(no_data, web):
    (no_data / "flickr8k" / "Flickr8k_text").mkdir(parents=True)
    run_fetch()
    assert [path for path, _ in web.requests] == ["/photos.zip"]
    assert list((no_data / "flickr8k" / "Flickr8k_text").iterdir()) == []


def test_without_vsdemo_data_downloads_go_below_vsdemo_home(no_data, tmp_path, monkeypatch):
    monkeypatch.delenv("VSDEMO_DATA")
    monkeypatch.setenv("VSDEMO_HOME", str(tmp_path / "home"))
    assert paths.data_root() is None
    assert overview()[0] == "VSDEMO_DATA is not set, and no data have been fetched."
    run_fetch()
    assert paths.data_root() == tmp_path / "home" / "data"
    assert len(datasets.load("flickr8k", "all").photos) == 4
    assert overview()[0].startswith("VSDEMO_DATA is not set; data were fetched into")
    assert not no_data.exists()


def test_a_cancelled_fetch_resumes(no_data, web):
    with pytest.raises(Cancelled):
        run_fetch(after=3)
    received = fetch.DOWNLOADS["flickr8k"].received
    assert 0 < received < fetch.DOWNLOADS["flickr8k"].size
    web.requests.clear()
    run_fetch()
    assert sum(1 for _, requested in web.requests if requested is None) < 2
    assert len(datasets.load("flickr8k", "all").photos) == 4
    assert fetch.DOWNLOADS["flickr8k"].received == 0


def test_a_cancel_while_unpacking_downloads_nothing_again(no_data, web):
    cancel = Event()

    def progress(what, *_):
        if what == "Unpacking":
            cancel.set()

    with pytest.raises(Cancelled):
        fetch.fetch("flickr8k", progress, cancel)
    web.requests.clear()
    run_fetch()
    assert web.requests == []
    assert len(datasets.load("flickr8k", "all").photos) == 4


def test_an_unexpected_file_is_deleted(no_data, web):
    whole = web.files["photos.zip"]
    web.files["photos.zip"] = whole[:-1] + b"x"
    with pytest.raises(
        UserError, match=r"/photos.zip is not the expected file \(its MD5 is"
    ) as caught:
        run_fetch()
    assert one_sentence(caught)
    assert "photos.zip" not in str(files(no_data))
    web.files["photos.zip"] = whole
    run_fetch()
    assert [path for path, _ in web.requests].count("/texts.zip") == 1


def test_a_damaged_archive_is_fetched_again(no_data, web, monkeypatch):
    cut = {**web.files, "photos.zip": web.files["photos.zip"][:2000]}
    with monkeypatch.context() as patch:
        patch.setitem(fetch.DOWNLOADS, "flickr8k", fake_web.small_download(web.url, cut))
        patch.setattr(web, "files", cut)
        with pytest.raises(UserError, match=r"photos.zip was damaged and has been deleted"):
            run_fetch()
    run_fetch()
    assert len(datasets.load("flickr8k", "all").photos) == 4


def test_the_same_download_cannot_run_twice_at_once(no_data, web):
    started, done = Event(), []
    web.hold = 20_000

    def first():
        fetch.fetch("flickr8k", lambda *_: started.set(), Event())
        done.append(True)

    thread = Thread(target=first)
    thread.start()
    assert started.wait(20)
    with pytest.raises(UserError, match="Flickr8k is being fetched already"):
        run_fetch()
    web.go.set()
    thread.join()
    assert done
    assert run_fetch() == []


def test_unknown_names_list_the_valid_ones():
    problem = "no 'coco' to fetch; valid names are flickr8k, densenet169"
    with pytest.raises(UserError, match=problem):
        fetch.fetch("coco", lambda *_: None, Event())


def test_sizes_and_terms_are_stated():
    flickr8k, densenet169 = fetch.DOWNLOADS["flickr8k"], fetch.DOWNLOADS["densenet169"]
    assert str(flickr8k) == "Flickr8k: 8,091 photos, 1.1 GB, for research and education only"
    assert str(densenet169) == "DenseNet-169: the full image network, 57 MB, BSD-3-Clause"


def test_the_full_image_network_is_available_after_a_fetch(web, tmp_path, monkeypatch):
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path))
    with pytest.raises(UserError, match=r"densenet169 is missing; .*vsdemo fetch densenet169"):
        find_weights("torchvision/densenet169")
    torch.save({"features.conv0.weight": torch.ones(2, 3)}, tmp_path / "net.pth")
    web.files["net.pth"] = (tmp_path / "net.pth").read_bytes()
    begin = hashlib.sha256(web.files["net.pth"]).hexdigest()[:8]
    net = fetch.DOWNLOADS["densenet169"]
    (file,) = net.files
    for digest in ("sha256:00000000", f"sha256:{begin}"):
        served = replace(
            file,
            url=f"{web.url}/net.pth",
            size=len(web.files["net.pth"]),
            digest=digest,
            unpack=unpack.convert_weights,
        )
        own = replace(net, files=(served,))
        monkeypatch.setitem(fetch.DOWNLOADS, "densenet169", own)
        if digest.endswith("0" * 8):
            with pytest.raises(UserError, match=f"its SHA256 is {begin}..., not 00000000"):
                fetch.fetch("densenet169", lambda *_: None, Event())
    fetch.fetch("densenet169", lambda *_: None, Event())
    assert find_weights("torchvision/densenet169").path == tmp_path / file.destination


def test_downloads_are_stored_where_vsdemo_looks_for_them():
    tokenizer = ("special_tokens_map.json", "tokenizer_config.json", "tokenizer.json")
    models = {
        "laion--CLIP-ViT-B-32-laion2B-s34B-b79K": (hub.CONFIG, hub.WEIGHTS),
        "timm--PE-Core-S-16-384": (hub.CONFIG, hub.WEIGHTS),
        "timm--ViT-B-16-SigLIP2": (hub.CONFIG, *tokenizer, hub.WEIGHTS),
    }
    files = [file for download in fetch.DOWNLOADS.values() for file in download.files]
    places = {f.destination: getattr(f.unpack, "func", f.unpack) for f in files}
    assert places == {
        "flickr8k/Flickr8k_text": unpack.unpack_archive,
        "flickr8k/Flicker8k_Dataset": unpack.unpack_archive,
        "models/densenet169_imagenet.fp16.safetensors": unpack.convert_weights,
        **{f"clip/{model}/{name}": hub.keep for model, names in models.items() for name in names},
    }
    assert all(f.url.startswith("https://") for t in fetch.DOWNLOADS.values() for f in t.files)
