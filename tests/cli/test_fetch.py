"""`python -m vsdemo fetch`, as it is typed."""

import pytest

from vsdemo.data.downloads import fetch


def test_the_list_says_what_is_here_how_large_the_rest_is_and_asks_nobody(run, no_data, web):
    code, told, _ = run("fetch")
    assert code == 0
    assert f"Into {no_data}, by `python -m vsdemo fetch NAME`:" in told
    line = f"  missing  flickr8k     Flickr8k: 4 photos, {size()}, for tests only\n"
    assert line in told
    assert (
        "  missing  densenet169  DenseNet-169: the full image network, 57 MB, BSD-3-Clause\n"
        in told
    )
    assert web.asked == []
    run("fetch", "flickr8k")
    assert line.replace("missing", "here   ") in run("fetch")[1]


def size():
    return fetch.amount(fetch.THINGS["flickr8k"].size)


def test_fetch_tells_the_terms_first_and_then_the_data_are_here(run, no_data, web):
    code, told, _ = run("fetch", "flickr8k")
    first, last = told.splitlines()
    assert code == 0
    assert first == f"Flickr8k: 4 photos, {size()}, for tests only"
    assert last == f"Flickr8k is here: {no_data}"
    assert "found    flickr8k: 4 photos" in run("data")[1]
    web.asked.clear()
    assert run("fetch", "flickr8k") == (0, f"{last}\n", "")
    assert web.asked == []


def test_ctrl_c_keeps_what_has_come_and_the_same_command_goes_on(run, no_data, web, monkeypatch):
    def press(name, progress, cancel):
        def pressed(*told):
            if told[1] > 60_000:
                raise KeyboardInterrupt
            progress(*told)

        before(name, pressed, cancel)

    before = fetch.fetch
    with monkeypatch.context() as patch:
        patch.setattr("vsdemo.data.downloads.download.CHUNK", 20_000)
        patch.setattr(fetch, "fetch", press)
        code, told, wrong = run("fetch", "flickr8k")
    assert code == 130
    assert told.endswith("are here, the same command goes on.\n")
    assert wrong == ""
    assert "kB have come" in run("fetch")[1]
    assert run("fetch", "flickr8k")[0] == 0
    assert web.asked[-1][1].startswith("bytes=")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("coco",), "There is no 'coco' to fetch; valid are flickr8k, densenet169."),
        (("flickr8k", "now"), "unexpected extra argument"),
        (("flickr8k",), "its server answers 404 Not Found."),
    ],
)
def test_what_cannot_be_fetched_is_one_sentence(run, no_data, web, words, told):
    web.files = {}
    code, _, wrong = run("fetch", *words)
    assert code == 2
    assert wrong.startswith("vsdemo: ")
    assert wrong.count("\n") == 1
    assert told in wrong
