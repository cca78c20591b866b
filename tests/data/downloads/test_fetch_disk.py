"""Downloads to disks that are full, become full, or cannot be written to."""

import errno
import io
import shutil
from collections import namedtuple
from pathlib import Path
from threading import Event

import pytest

from vsdemo.core.errors import Cancelled, UserError
from vsdemo.data import datasets
from vsdemo.data.downloads import fetch

Disk = namedtuple("Disk", "total used free")


def run_fetch(cancel=None):
    """Fetch Flickr8k; set `cancel`, if given, at the third call of `progress`."""
    calls = []

    def progress(*words):
        calls.append(words)
        if cancel and len(calls) == 3:
            cancel.set()

    fetch.fetch("flickr8k", progress, cancel or Event())


def one_sentence(caught):
    message = str(caught.value)
    return message.endswith(".") and "\n" not in message


def test_too_little_space_is_a_user_error_before_any_request(no_data, web, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Disk(10**9, 10**9 - 5000, 5000))
    with pytest.raises(
        UserError, match=r"Flickr8k needs \d+ kB in .*data, where only 5 kB"
    ) as caught:
        run_fetch()
    assert one_sentence(caught)
    assert web.requests == []


def test_space_of_received_bytes_is_not_required_again(no_data, monkeypatch):
    required = sum(f.required_space for f in fetch.DOWNLOADS["flickr8k"].files)
    assert required == sum(f.size + f.unpacked_size for f in fetch.DOWNLOADS["flickr8k"].files)
    with pytest.raises(Cancelled):
        run_fetch(Event())
    received = fetch.DOWNLOADS["flickr8k"].received
    free = required - received
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Disk(10**9, 10**9 - free, free))
    run_fetch()


class FullDisk(io.FileIO):
    """A file on a disk with room for `room` bytes."""

    room = 30_000

    def write(self, written):
        if self.tell() + len(written) > self.room:
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().write(written)


@pytest.mark.parametrize("mode", ["ab", "wb"], ids=["fetching", "unpacking"])
def test_a_full_disk_is_a_user_error_and_the_fetch_resumes(no_data, web, monkeypatch, mode):
    original_open = Path.open

    def opened(self, *modes, **options):
        full = modes == (mode,) and self.name.endswith(".part")
        return FullDisk(self, mode) if full else original_open(self, *modes, **options)

    with monkeypatch.context() as patch:
        patch.setattr("vsdemo.data.downloads.download.CHUNK", 10_000)
        patch.setattr(Path, "open", opened)
        with pytest.raises(
            UserError, match=r"disk with .*data is full; make room for \d"
        ) as caught:
            run_fetch()
    assert one_sentence(caught)
    assert fetch.DOWNLOADS["flickr8k"].received > 0
    web.requests.clear()
    run_fetch()
    assert all(requested for _, requested in web.requests)  # parts only
    assert len(datasets.load("flickr8k", "all").photos) == 4


def test_a_read_only_folder_is_a_user_error(no_data):
    no_data.write_text("no folder")
    with pytest.raises(UserError, match=r"data.*cannot be written \(") as caught:
        run_fetch()
    assert one_sentence(caught)
