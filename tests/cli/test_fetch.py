"""`python -m vsdemo fetch`."""

import pytest

from vsdemo.data.downloads import download, fetch, hub


def test_fetch_lists_downloads_without_a_request(run, no_data, web):
    code, printed, _ = run("fetch")
    assert code == 0
    assert printed.startswith(f"`python -m vsdemo fetch NAME` downloads into {no_data}:\n")
    line = f"  missing  flickr8k        Flickr8k: 4 photos, {size()}, for tests only\n"
    assert line in printed
    assert (
        "  missing  densenet169     DenseNet-169: the full image network, 57 MB, BSD-3-Clause\n"
        in printed
    )
    for name, facts in (
        ("clip", "605 MB, MIT"),
        ("clip-pe-core-s", "349 MB, Apache-2.0"),
        ("clip-siglip2", "1.5 GB, Apache-2.0, needs the package transformers"),
    ):
        (offer,) = [words for words in printed.splitlines() if words.split()[1] == name]
        assert offer.endswith(f", {facts}")
    assert web.requests == []
    run("fetch", "flickr8k")
    line = line.replace("missing  ", "available  ")
    assert line in run("fetch")[1]


def size():
    return download.format_size(fetch.DOWNLOADS["flickr8k"].size)


def test_fetch_prints_the_terms_and_downloads(run, no_data, web):
    code, printed, _ = run("fetch", "flickr8k")
    first, last = printed.splitlines()
    assert code == 0
    assert first == f"Flickr8k: 4 photos, {size()}, for tests only"
    assert last == f"Flickr8k is in {no_data}"
    assert "found    flickr8k: 4 photos" in run("data")[1]
    web.requests.clear()
    assert run("fetch", "flickr8k") == (0, f"{last}\n", "")
    assert web.requests == []


def test_a_missing_package_is_named_before_the_download(run, no_data, web, monkeypatch):
    monkeypatch.setattr(fetch, "find_spec", {"transformers": None}.get)
    monkeypatch.setattr(hub, "HOST", web.url)
    code, printed, error = run("fetch", "clip-siglip2")
    assert code == 2
    assert printed.endswith(", 1.5 GB, Apache-2.0, needs the package transformers\n")
    assert error == (
        "vsdemo: SigLIP 2 B/16 needs the package transformers; run `pip install transformers`, "
        "then fetch it again.\n"
    )
    assert web.requests == []


def test_fetch_resumes_after_ctrl_c(run, no_data, web, monkeypatch):
    def press(name, progress, cancel):
        def pressed(*args):
            if args[1] > 60_000:
                raise KeyboardInterrupt
            progress(*args)

        before(name, pressed, cancel)

    before = fetch.fetch
    with monkeypatch.context() as patch:
        patch.setattr("vsdemo.data.downloads.download.CHUNK", 20_000)
        patch.setattr(fetch, "fetch", press)
        code, printed, error = run("fetch", "flickr8k")
    assert code == 130
    assert printed.endswith("; the same command resumes.\n")
    assert error == ""
    assert "kB downloaded" in run("fetch")[1]
    assert run("fetch", "flickr8k")[0] == 0
    assert web.requests[-1][1].startswith("bytes=")


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        (("coco",), "There is no 'coco' to fetch; valid names are flickr8k, densenet169, clip, "),
        (("flickr8k", "now"), "unexpected extra argument"),
        (("flickr8k",), "its server answers 404 Not Found."),
    ],
)
def test_failed_downloads_are_reported_in_one_sentence(run, no_data, web, words, printed):
    web.files = {}
    code, _, error = run("fetch", *words)
    assert code == 2
    assert error.startswith("vsdemo: ")
    assert error.count("\n") == 1
    assert printed in error
