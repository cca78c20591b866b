"""Several app processes over one VSDEMO_HOME: one cache, and visitors whom all of them know."""

import time
from itertools import chain

import httpx
import pytest
from PIL import Image
from safetensors import safe_open

from tests.conftest import draw
from tests.support.app_processes import PATIENCE, started

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]

PHOTOS = 300
SENTENCE = "a red circle"


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    """A folder of photos whose features take some seconds."""
    folder = tmp_path_factory.mktemp("photos")
    for number in range(PHOTOS):
        photo = draw("circle", "red", "blue").rotate(number)
        photo.resize((480, 360), Image.Resampling.BICUBIC).save(folder / f"{number:03}.png")
    return folder


@pytest.fixture
def variables(tmp_path, photos, toy_root, toy_checkpoint):
    return {
        "VSDEMO_HOME": str(tmp_path / "home"),
        "VSDEMO_DATA": str(toy_root),
        "VSDEMO_CHECKPOINTS": str(toy_checkpoint.parent),
        "VSDEMO_GALLERY": str(photos),
    }


def feature_files(home):
    return [*home.glob("features/*/*/[0-9a-f]*.safetensors")]


def keys_of(file):
    """Return the keys of the photos in a file of features."""
    with safe_open(file, "pt") as opened:
        return opened.metadata()["keys"].split()


def test_two_processes_share_a_cold_cache(tmp_path, variables):
    with started(2, tmp_path, variables) as apps:
        for app in apps:
            app.wait_until("/ready")
        first, second = (app.search(SENTENCE, PHOTOS) for app in apps)
        assert first == second
        assert len(first) == PHOTOS
        keys = [*chain.from_iterable(map(keys_of, feature_files(tmp_path / "home")))]
        assert len(keys) == len(set(keys)) == PHOTOS  # each photo was computed once
        for app in apps:
            assert "Traceback" not in app.log


def test_a_process_that_is_killed_while_it_writes_leaves_the_other_right(tmp_path, variables):
    home = tmp_path / "home"
    with started(2, tmp_path, variables) as apps:
        until = time.monotonic() + PATIENCE
        while not feature_files(home):
            assert time.monotonic() < until, apps[0].log
            time.sleep(0.01)
        killed, other = apps
        killed.process.kill()
        before = sum(len(keys_of(file)) for file in feature_files(home))
        assert before < PHOTOS
        other.wait_until("/ready")
        answer = other.search(SENTENCE, PHOTOS)
        assert "Traceback" not in other.log
    with started(1, tmp_path, {**variables, "VSDEMO_HOME": str(tmp_path / "fresh")}) as (app,):
        app.wait_until("/ready")
        assert app.search(SENTENCE, PHOTOS) == answer


def test_a_visitors_files_are_theirs_in_every_process(tmp_path, variables, photos):
    with started(2, tmp_path, variables) as (first, second):
        for app in (first, second):
            app.wait_until("/health")
        with httpx.Client(timeout=PATIENCE) as ann, httpx.Client(timeout=PATIENCE) as bob:
            for visitor in (ann, bob):
                visitor.get(first.url)  # the page sets the cookie; one host has one for all ports
            with (photos / "000.png").open("rb") as photo:
                uploaded = ann.post(f"{first.url}/gradio_api/upload", files={"files": photo})
            (path,) = uploaded.json()
            for app in (first, second):
                file, describe = f"{app.url}/gradio_api/file={path}", f"{app.url}/api/describe"
                request = {"photo": {"path": path, "meta": {"_type": "gradio.FileData"}}}
                assert ann.get(file).status_code == httpx.codes.OK
                assert ann.post(describe, json=request).status_code == httpx.codes.OK
                assert bob.get(file).status_code == httpx.codes.FORBIDDEN
                refused = bob.post(describe, json=request)
                assert refused.status_code == httpx.codes.FORBIDDEN
                assert refused.json()["error"]["code"] == "not_uploaded"
