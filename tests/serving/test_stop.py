"""SIGTERM: the server finishes the requests that it has, and takes no more."""

import os
import signal
import subprocess
import sys
import threading
import time

import httpx
import pytest

from tests.support.serving import free_port
from vsdemo.core.paths import ROOT
from vsdemo.serving import upkeep
from vsdemo.serving.upkeep import Upkeep

# The app with an endpoint that takes two seconds.
SLOW = """
import asyncio, runpy
from vsdemo.ui.api.endpoints import Endpoints
models = Endpoints.models
async def slow(self, request):
    await asyncio.sleep(2)
    return await models(self, request)
Endpoints.models = slow
runpy.run_path("app.py", run_name="__main__")
"""


@pytest.mark.long
def test_sigterm_finishes_what_has_begun(tmp_path, app_home):
    port = free_port()
    env = {**os.environ, "GRADIO_SERVER_PORT": str(port), **app_home}
    with (tmp_path / "log").open("wb") as log:
        app = subprocess.Popen(
            [sys.executable, "-c", SLOW], cwd=ROOT, env=env, stdout=log, stderr=log
        )
    url = f"http://127.0.0.1:{port}"
    until = time.monotonic() + 120
    while time.monotonic() < until and app.poll() is None:
        try:
            if httpx.get(f"{url}/ready").is_success:
                break
            time.sleep(0.2)
        except httpx.HTTPError:
            time.sleep(0.2)
    answers = []

    def ask():
        answers.append(httpx.get(f"{url}/api/models", timeout=60))

    asking = threading.Thread(target=ask)
    asking.start()
    time.sleep(0.5)
    app.send_signal(signal.SIGTERM)
    until = time.monotonic() + 10
    while (refused := httpx.get(f"{url}/api/galleries", timeout=60)).is_success:
        assert time.monotonic() < until
    assert refused.status_code == 503
    assert refused.json()["error"]["code"] == "restarting"
    asking.join(60)
    assert [answer.status_code for answer in answers] == [200]
    assert app.wait(30) == 0
    assert "Traceback" not in (tmp_path / "log").read_text()


@pytest.fixture
def app_home(tmp_path, toy_root, toy_checkpoint):
    """The environment of an app over the toy data, with a home of its own."""
    return {
        "VSDEMO_HOME": str(tmp_path / "home"),
        "VSDEMO_DATA": str(toy_root),
        "VSDEMO_CHECKPOINTS": str(toy_checkpoint.parent),
    }


def test_chores_are_done_again_and_again_also_after_an_error():
    done = []
    ready = threading.Event()

    def fail():
        raise ValueError("a chore that fails")

    def count():
        done.append(1)
        if len(done) == 3:
            ready.set()

    chores = Upkeep(fail, count, every=0.01)
    chores.start()
    assert ready.wait(10)
    chores.stop()
    time.sleep(0.05)
    stopped = len(done)
    time.sleep(0.05)
    assert len(done) == stopped


def test_draining_waits_for_requests_up_to_a_limit(monkeypatch):
    ends, closed = [], []
    monkeypatch.setattr(upkeep.os, "_exit", ends.append)
    monkeypatch.setattr(upkeep.logging, "shutdown", lambda: None)
    monkeypatch.setattr(upkeep, "DRAIN", 0.2)
    left = iter([2, 1, 0])
    upkeep._drain(lambda: closed.append(1), lambda: next(left))
    assert (closed, ends) == ([1], [0])
    began = time.monotonic()
    upkeep._drain(lambda: None, lambda: 1)
    assert 0.2 <= time.monotonic() - began < 5
