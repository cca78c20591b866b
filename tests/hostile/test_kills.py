"""`kill -9` at random moments: nothing that was done is lost, and the next start is fine."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from PIL import Image

from tests.conftest import draw
from tests.support import fake_web
from vsdemo.core.paths import ROOT
from vsdemo.data import datasets
from vsdemo.data.downloads.download import bytes_on_disk

pytestmark = pytest.mark.long

MOMENTS = 8
FIRST_SEARCH = """
import json
from vsdemo.core.paths import ROOT
from vsdemo.data.storybook import store
from vsdemo.search.engine import Engine
from vsdemo.vision import features

features.FIRST_SHARD = features.SHARD = 8
store.SPLITS["test"] = range(4500, 4560)
engine = Engine(ROOT / "checkpoints" / "storybook" / "gru", "storybook", "test")
print(json.dumps([[hit.item, hit.score] for hit in engine.search("a red ball", 60)]))
"""
OWN_FOLDER = """
import json, sys
from pathlib import Path
from vsdemo.search.engine import Engine
from vsdemo.vision import features

features.FIRST_SHARD = features.SHARD = 8
engine = Engine(Path(sys.argv[1]), sys.argv[2])
hits = engine.search("a red circle", 400)
sentences = engine.describe_photo(0, 5).hits
print(json.dumps([[hit.item, hit.score] for hit in [*hits, *sentences]]))
"""
FETCH = """
import sys
from threading import Event
from tests.support import fake_web
from vsdemo.data.downloads import fetch

files = fake_web.small_flickr8k()
fetch.DOWNLOADS["flickr8k"] = fake_web.small_download(sys.argv[1], files)
fetch.fetch("flickr8k", lambda *_: None, Event())
print("[]")
"""


class Program:
    """A Python program that is started again and again with the same VSDEMO_HOME."""

    def __init__(self, home: Path, code: str, *words: str) -> None:
        self.home = home
        self.command = [sys.executable, "-c", code, *words]
        self.log = home.with_suffix(".log")

    def start(self) -> subprocess.Popen:
        with self.log.open("a") as log:
            return subprocess.Popen(
                self.command,
                cwd=ROOT,
                env=os.environ | {"VSDEMO_HOME": str(self.home), "PYTHONPATH": str(ROOT)},
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )

    def result(self) -> list:
        """Run the program to its end."""
        process = self.start()
        printed, _ = process.communicate(timeout=240)
        assert process.returncode == 0, self.log.read_text()[-3000:]
        return json.loads(printed)

    def kill_after(self, seconds: float, has_begun) -> None:
        """Start the program, and kill it so many seconds after it has begun to work."""
        process = self.start()
        until = time.monotonic() + 120
        while not has_begun() and process.poll() is None:
            assert time.monotonic() < until, self.log.read_text()[-3000:]
            time.sleep(0.005)
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        process.communicate()


def contents(folder: Path, pattern: str) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.glob(pattern)}


def kills(program, patterns, work, seed):
    """Kill a program at random moments, and check that its files are kept as they are.

    Args:
        program: The program.
        patterns: Of finished files below its home.
        work: Seconds that it works, about.
        seed: Of the moments.
    """
    moments = random.Random(seed)
    for _ in range(MOMENTS):
        before = {p: c for pattern in patterns for p, c in contents(program.home, pattern).items()}
        started = time.time()

        def has_begun(started=started):
            return any(
                path.stat().st_mtime > started
                for pattern in patterns
                for path in program.home.glob(pattern)
            )

        program.kill_after(moments.uniform(0, work), has_begun)
        after = {p: c for pattern in patterns for p, c in contents(program.home, pattern).items()}
        assert before.items() <= after.items()


def test_a_first_search_is_killed(tmp_path):
    whole = Program(tmp_path / "whole", FIRST_SEARCH).result()
    program = Program(tmp_path / "killed", FIRST_SEARCH)
    kills(program, ["storybook-*/[0-9]*.png", "features/*/*/[0-9a-f]*.safetensors"], 1.5, seed=1)
    assert program.result() == whole
    assert len(whole) == 60


def test_the_index_of_an_own_folder_is_killed(tmp_path, toy_checkpoint):
    folder = tmp_path / "photos"
    folder.mkdir()
    for number in range(400):
        photo = draw("circle", "red", "blue").rotate(number % 360)
        photo.putpixel((0, 0), (number % 256, number // 256, 7))
        photo.resize((480, 360), Image.Resampling.BICUBIC).save(folder / f"{number:03}.png")
    words = (str(toy_checkpoint), str(folder))
    whole = Program(tmp_path / "whole", OWN_FOLDER, *words).result()
    program = Program(tmp_path / "killed", OWN_FOLDER, *words)
    patterns = ["features/*/*/[0-9a-f]*.safetensors", "captions/[0-9a-f]*.safetensors"]
    kills(program, patterns, 0.6, seed=2)
    assert program.result() == whole
    assert len(whole) == 405


def test_a_fetch_is_killed(tmp_path, web, monkeypatch):
    root = tmp_path / "data"
    monkeypatch.setenv("VSDEMO_DATA", str(root))
    web.pause = 0.08  # for each 20 kB of the photos' 160 kB
    program = Program(tmp_path / "home", FETCH, web.url)
    (photos,) = [f for f in fake_web.small_download(web.url, web.files).files if "photos" in f.url]
    received, moments = 0, random.Random(3)
    for _ in range(MOMENTS):
        requests = len(web.requests)
        program.kill_after(
            moments.uniform(0, 0.4), lambda requests=requests: len(web.requests) > requests
        )
        assert photos.target.exists() or bytes_on_disk(photos.path) >= received
        received = bytes_on_disk(photos.path)
    program.result()
    assert len(datasets.load("flickr8k", "all").photos) == 4
    assert list((root / ".fetch").glob("*.part")) == []
