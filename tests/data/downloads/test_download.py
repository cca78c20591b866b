"""Downloads from a local server with all kinds of failures."""

import subprocess
import sys
import time
from threading import Event

import pytest

from vsdemo.core.errors import Cancelled, UserError
from vsdemo.data.downloads import download
from vsdemo.data.downloads.download import bytes_on_disk, format_size

NAME = "photos.zip"
LIMIT = 10_000_000  # bytes
CUT = (60_000, 0, 0, 0)  # one attempt that breaks and three without any data


@pytest.fixture
def path(tmp_path):
    return tmp_path / "new" / NAME


@pytest.fixture
def fetch_file(web, path):
    """Return a function that downloads the file and returns the calls of `progress`."""

    def fetch_file(url=f"/{NAME}", cancel=None, stop=None, limit=LIMIT):
        calls = []

        def progress(done, of):
            calls.append((done, of))
            if stop and done >= stop:
                cancel.set()

        cancel = cancel or Event()
        full = url if "://" in url else web.url + url
        download.download(full, path, progress, cancel, limit=limit)
        return calls

    return fetch_file


def ranges(web):
    return [requested for _, requested in web.requests]


def test_download_leaves_only_the_file(fetch_file, web, path):
    calls = fetch_file()
    size = len(web.files[NAME])
    assert size > 100_000
    assert path.read_bytes() == web.files[NAME]
    assert [p.name for p in path.parent.iterdir()] == [NAME]
    assert calls[0] == (0, size)
    assert calls[-1] == (size, size)
    assert calls == sorted(calls)
    assert bytes_on_disk(path) == size


def test_a_broken_connection_is_resumed(fetch_file, web, path):
    web.ends_after = [50_000, 30_000, 0, 0]
    calls = fetch_file()
    assert ranges(web) == [None, "bytes=50000-", "bytes=80000-", "bytes=80000-", "bytes=80000-"]
    assert path.read_bytes() == web.files[NAME]
    assert calls == sorted(calls)


def test_a_connection_that_keeps_breaking_is_a_user_error_and_keeps_the_part(fetch_file, web, path):
    web.ends_after = list(CUT)
    with pytest.raises(UserError, match=r"127.0.0.1 \(the connection ended early\); the 60 kB"):
        fetch_file()
    assert not path.exists()
    assert bytes_on_disk(path) == 60_000
    fetch_file()
    assert ranges(web)[-1] == "bytes=60000-"
    assert path.read_bytes() == web.files[NAME]


def test_the_part_of_an_older_file_is_discarded(fetch_file, web, path):
    web.ends_after = list(CUT)
    with pytest.raises(UserError):
        fetch_file()
    web.files[NAME] = web.files[NAME][::-1]
    fetch_file()
    assert ranges(web)[-1] == "bytes=60000-"  # the server answers with the whole file
    assert path.read_bytes() == web.files[NAME]


def test_versions_are_not_mixed_if_a_server_ignores_if_range(fetch_file, web, path):
    web.ends_after = list(CUT)
    with pytest.raises(UserError):
        fetch_file()
    web.files[NAME], web.careful = web.files[NAME][::-1], False
    fetch_file()
    assert ranges(web)[-2:] == ["bytes=60000-", None]
    assert path.read_bytes() == web.files[NAME]


@pytest.mark.parametrize("lacking", ["ranges", "tags"])
def test_without_ranges_or_versions_a_download_restarts(fetch_file, web, path, lacking):
    setattr(web, lacking, False)
    web.ends_after = [60_000]
    calls = fetch_file()
    assert calls.count((0, len(web.files[NAME]))) == 2
    assert path.read_bytes() == web.files[NAME]


def test_a_completely_received_file_is_not_requested_again(fetch_file, web, path):
    web.ends_after = list(CUT)
    with pytest.raises(UserError):
        fetch_file()
    (path.parent / f"{NAME}.part").write_bytes(web.files[NAME])
    assert fetch_file() == []
    assert path.read_bytes() == web.files[NAME]


def test_a_part_that_is_too_long_is_downloaded_again(fetch_file, web, path):
    web.ends_after = list(CUT)
    with pytest.raises(UserError):
        fetch_file()
    (path.parent / f"{NAME}.part").write_bytes(web.files[NAME] * 2)
    fetch_file()
    assert path.read_bytes() == web.files[NAME]


@pytest.mark.parametrize("names_size", [True, False])
def test_a_file_that_is_too_large_is_stopped_and_deleted(fetch_file, web, path, names_size):
    web.names_size = names_size
    web.files[NAME] = bytes(5_000_000)
    web.hold = 2_000_000  # the server would wait for the reader to want more
    with pytest.raises(UserError, match=r"photos.zip is larger than the expected 1 MB, so"):
        fetch_file(limit=1_000_000)
    assert list(path.parent.iterdir()) == []
    assert len(web.requests) == 1
    web.go.set()


def test_a_part_that_is_larger_than_the_limit_is_deleted(fetch_file, web, path):
    web.ends_after = [100_000, 0, 0, 0]
    with pytest.raises(UserError):
        fetch_file()
    web.ends_after = []
    with pytest.raises(UserError, match="is larger than the expected 60 kB"):
        fetch_file(limit=60_000)
    assert list(path.parent.iterdir()) == []


def test_a_file_of_unknown_size_may_have_the_expected_one(fetch_file, web, path):
    web.names_size = False
    fetch_file(limit=len(web.files[NAME]))
    assert path.read_bytes() == web.files[NAME]


def test_a_missing_file_is_not_retried(fetch_file, web):
    with pytest.raises(UserError, match=r"/gone.zip cannot be fetched; its server answers 404"):
        fetch_file("/gone.zip")
    assert len(web.requests) == 1


def test_a_busy_server_is_retried(fetch_file, web, path):
    web.statuses = [503, 500, 429]
    fetch_file()
    assert len(web.requests) == 4
    web.statuses = [503] * 4
    path.unlink()
    with pytest.raises(UserError, match=r"\(it answers 503 Service Unavailable\); fetch again"):
        fetch_file()


def test_being_offline_is_a_user_error(fetch_file, path):
    with pytest.raises(UserError) as caught:
        fetch_file("http://127.0.0.1:9/photos.zip")  # nothing listens there
    assert str(caught.value) == (
        "photos.zip could not be fetched from 127.0.0.1 (Connection refused); "
        "fetch again when it can be reached."
    )


def test_a_silent_server_times_out(fetch_file, web, monkeypatch):
    monkeypatch.setattr(download, "TIMEOUT", 0.1)
    web.pause = 0.5
    with pytest.raises(UserError, match="timed out"):
        fetch_file()


def test_a_cancelled_download_keeps_its_part(fetch_file, web, path):
    with pytest.raises(Cancelled):
        fetch_file(cancel=Event(), stop=40_000)
    received = bytes_on_disk(path)
    assert received >= 40_000
    fetch_file()
    assert ranges(web)[-1] == f"bytes={received}-"
    assert path.read_bytes() == web.files[NAME]


def test_a_cancel_ends_the_pause_before_a_retry(fetch_file, web, monkeypatch):
    monkeypatch.setattr(download, "PAUSES", (60,))
    web.ends_after = [40_000]
    start = time.monotonic()
    with pytest.raises(Cancelled):
        fetch_file(cancel=Event(), stop=40_000)
    assert time.monotonic() - start < 30


def test_a_redirected_download_resumes(fetch_file, web, path):
    web.ends_after = [60_000]
    fetch_file(f"/moved/{NAME}")
    assert web.requests[-1] == (f"/{NAME}", "bytes=60000-")
    assert path.read_bytes() == web.files[NAME]


def test_proxies_are_those_of_the_environment(fetch_file, web, path, monkeypatch):
    monkeypatch.setenv("http_proxy", web.url)
    monkeypatch.delenv("no_proxy", raising=False)
    fetch_file(f"http://nowhere.invalid/{NAME}")
    assert web.requests == [(f"http://nowhere.invalid/{NAME}", None)]
    assert path.read_bytes() == web.files[NAME]


def test_a_killed_download_resumes(fetch_file, web, path):
    web.pause = 0.2
    code = (
        "import sys; from pathlib import Path; from threading import Event;"
        "from vsdemo.data.downloads.download import download;"
        "download(sys.argv[1], Path(sys.argv[2]), lambda *_: None, Event(), limit=10**9)"
    )
    killed = subprocess.Popen([sys.executable, "-c", code, f"{web.url}/{NAME}", str(path)])
    while bytes_on_disk(path) < 20_000:
        assert killed.poll() is None
        time.sleep(0.02)
    killed.kill()
    killed.wait()
    received, web.pause = bytes_on_disk(path), 0
    assert received < len(web.files[NAME])
    fetch_file()
    assert ranges(web)[-1] == f"bytes={received}-"
    assert path.read_bytes() == web.files[NAME]


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 kB"), (3400, "3 kB"), (999_499, "999 kB"), (999_500, "1 MB"), (57_365_526, "57 MB"),
     (999_400_000, "999 MB"), (999_500_000, "1.0 GB"), (1_115_419_746, "1.1 GB")],
)  # fmt: skip
def test_format_size(size, text):
    assert format_size(size) == text
