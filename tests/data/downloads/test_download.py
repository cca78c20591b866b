"""One file from a server on this machine, which does all that servers and networks do."""

import subprocess
import sys
import time
from threading import Event

import pytest

from vsdemo.core.errors import Cancelled, UserError
from vsdemo.data.downloads import download
from vsdemo.data.downloads.download import format_size, here

NAME = "photos.zip"
CUT = (60_000, 0, 0, 0)  # one try that breaks, and three that bring nothing


@pytest.fixture
def path(tmp_path):
    return tmp_path / "new" / NAME


@pytest.fixture
def bring(web, path):
    """Downloads the file; gives what was told, which never goes back unless it began anew."""

    def bring(url=f"/{NAME}", cancel=None, stop=None):
        told = []

        def progress(done, of):
            told.append((done, of))
            if stop and done >= stop:
                cancel.set()

        cancel = cancel or Event()
        download.download(url if "://" in url else web.url + url, path, progress, cancel)
        return told

    return bring


def ranges(web):
    return [asked for _, asked in web.asked]


def test_a_file_comes_and_nothing_else_stays(bring, web, path):
    told = bring()
    size = len(web.files[NAME])
    assert size > 100_000
    assert path.read_bytes() == web.files[NAME]
    assert [p.name for p in path.parent.iterdir()] == [NAME]
    assert told[0] == (0, size)
    assert told[-1] == (size, size)
    assert told == sorted(told)
    assert here(path) == size


def test_a_broken_connection_goes_on_where_it_broke(bring, web, path):
    web.ends_after = [50_000, 30_000, 0, 0]
    told = bring()
    assert ranges(web) == [None, "bytes=50000-", "bytes=80000-", "bytes=80000-", "bytes=80000-"]
    assert path.read_bytes() == web.files[NAME]
    assert told == sorted(told)


def test_a_connection_that_keeps_breaking_is_told_and_what_came_stays(bring, web, path):
    web.ends_after = list(CUT)
    with pytest.raises(UserError, match=r"127.0.0.1 \(the connection ended early\); the 60 kB"):
        bring()
    assert not path.exists()
    assert here(path) == 60_000
    bring()
    assert ranges(web)[-1] == "bytes=60000-"
    assert path.read_bytes() == web.files[NAME]


def test_the_first_bytes_of_an_older_file_are_not_kept(bring, web, path):
    web.ends_after = list(CUT)
    with pytest.raises(UserError):
        bring()
    web.files[NAME] = web.files[NAME][::-1]
    bring()
    assert ranges(web)[-1] == "bytes=60000-"  # asked for, and answered with all of it
    assert path.read_bytes() == web.files[NAME]


def test_a_server_that_ignores_if_range_mixes_nothing(bring, web, path):
    web.ends_after = list(CUT)
    with pytest.raises(UserError):
        bring()
    web.files[NAME], web.careful = web.files[NAME][::-1], False
    bring()
    assert ranges(web)[-2:] == ["bytes=60000-", None]
    assert path.read_bytes() == web.files[NAME]


@pytest.mark.parametrize("lacking", ["ranges", "tags"])
def test_without_ranges_or_versions_it_begins_anew(bring, web, path, lacking):
    setattr(web, lacking, False)
    web.ends_after = [60_000]
    told = bring()
    assert told.count((0, len(web.files[NAME]))) == 2
    assert path.read_bytes() == web.files[NAME]


def test_a_file_whose_last_byte_had_come_is_not_asked_for_again(bring, web, path):
    web.ends_after = list(CUT)
    with pytest.raises(UserError):
        bring()
    (path.parent / f"{NAME}.part").write_bytes(web.files[NAME])
    assert bring() == []
    assert path.read_bytes() == web.files[NAME]


def test_a_part_that_is_too_long_begins_anew(bring, web, path):
    web.ends_after = list(CUT)
    with pytest.raises(UserError):
        bring()
    (path.parent / f"{NAME}.part").write_bytes(web.files[NAME] * 2)
    bring()
    assert path.read_bytes() == web.files[NAME]


def test_no_such_file_is_told_at_once(bring, web):
    with pytest.raises(UserError, match=r"/gone.zip cannot be fetched; its server answers 404"):
        bring("/gone.zip")
    assert len(web.asked) == 1


def test_a_busy_server_is_asked_again(bring, web, path):
    web.statuses = [503, 500, 429]
    bring()
    assert len(web.asked) == 4
    web.statuses = [503] * 4
    path.unlink()
    with pytest.raises(UserError, match=r"\(it answers 503 Service Unavailable\); fetch again"):
        bring()


def test_offline_is_one_sentence(bring, path):
    with pytest.raises(UserError) as caught:
        bring("http://127.0.0.1:9/photos.zip")  # nobody listens there
    told = str(caught.value)
    assert told == (
        "photos.zip could not be fetched from 127.0.0.1 (Connection refused); "
        "fetch again when it can be reached."
    )


def test_a_server_that_falls_silent_is_not_waited_for(bring, web, monkeypatch):
    monkeypatch.setattr(download, "TIMEOUT", 0.1)
    web.pause = 0.5
    with pytest.raises(UserError, match="timed out"):
        bring()


def test_a_cancel_keeps_what_has_come(bring, web, path):
    with pytest.raises(Cancelled):
        bring(cancel=Event(), stop=40_000)
    came = here(path)
    assert came >= 40_000
    bring()
    assert ranges(web)[-1] == f"bytes={came}-"
    assert path.read_bytes() == web.files[NAME]


def test_a_cancel_ends_the_wait_for_another_try(bring, web, monkeypatch):
    monkeypatch.setattr(download, "PAUSES", (60,))
    web.ends_after = [40_000]
    begun = time.monotonic()
    with pytest.raises(Cancelled):
        bring(cancel=Event(), stop=40_000)
    assert time.monotonic() - begun < 30


def test_a_redirected_download_goes_on_too(bring, web, path):
    web.ends_after = [60_000]
    bring(f"/moved/{NAME}")
    assert web.asked[-1] == (f"/{NAME}", "bytes=60000-")
    assert path.read_bytes() == web.files[NAME]


def test_proxies_are_those_of_the_environment(bring, web, path, monkeypatch):
    monkeypatch.setenv("http_proxy", web.url)
    monkeypatch.delenv("no_proxy", raising=False)
    bring(f"http://nowhere.invalid/{NAME}")
    assert web.asked == [(f"http://nowhere.invalid/{NAME}", None)]
    assert path.read_bytes() == web.files[NAME]


def test_a_killed_download_goes_on(bring, web, path):
    web.pause = 0.2
    code = (
        "import sys; from pathlib import Path; from threading import Event;"
        "from vsdemo.data.downloads.download import download;"
        "download(sys.argv[1], Path(sys.argv[2]), lambda *_: None, Event())"
    )
    killed = subprocess.Popen([sys.executable, "-c", code, f"{web.url}/{NAME}", str(path)])
    while here(path) < 20_000:
        assert killed.poll() is None
        time.sleep(0.02)
    killed.kill()
    killed.wait()
    came, web.pause = here(path), 0
    assert came < len(web.files[NAME])
    bring()
    assert ranges(web)[-1] == f"bytes={came}-"
    assert path.read_bytes() == web.files[NAME]


@pytest.mark.parametrize(
    ("size", "said"),
    [(0, "0 kB"), (3400, "3 kB"), (999_499, "999 kB"), (999_500, "1 MB"), (57_365_526, "57 MB"),
     (999_400_000, "999 MB"), (999_500_000, "1.0 GB"), (1_115_419_746, "1.1 GB")],
)  # fmt: skip
def test_amounts_as_people_say_them(size, said):
    assert format_size(size) == said
