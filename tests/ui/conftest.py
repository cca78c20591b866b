"""The real app, started as a visitor would start it, over the toy data set; and a browser."""

import gc
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import warnings
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from vsdemo import ui
from vsdemo.core.paths import ROOT

HERE = Path(__file__).parent
# app.py as it is, but for the number of pictures that Storybook draws, and for what stands in for
# the web where there is something.
APP = """
import os, runpy
from tests.support import fake_web
from vsdemo.data.downloads import fetch
from vsdemo.data.storybook import store
store.SPLITS["test"] = range(4500, 4516)
if url := os.environ.get("TEST_WEB"):
    fetch.DOWNLOADS["flickr8k"] = fake_web.small_download(url, fake_web.small_flickr8k())
runpy.run_path("app.py", run_name="__main__")
"""
OFFLINE = {"https_proxy": "http://127.0.0.1:9", "no_proxy": "127.0.0.1"}  # nobody listens there
DESKTOP = {"width": 1440, "height": 900}
expect.set_options(timeout=20_000)  # milliseconds; for machines with much else to do


def pytest_collection_modifyitems(items):
    """Gradio, its client and Playwright leave sockets to the garbage collector."""
    for item in items:
        if item.path.parent == HERE:
            item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))


@pytest.fixture(scope="session", autouse=True)
def sockets():
    """Collects what these tests left, so that no later test is blamed for it."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start(log, **variables):
    """The app as a process, and its address."""
    port = free_port()
    env = {**os.environ, "OMP_NUM_THREADS": "1", "GRADIO_SERVER_PORT": str(port), **variables}
    env = {k: v for k, v in env.items() if v is not None}
    process = subprocess.Popen(
        [sys.executable, "-c", APP], cwd=ROOT, env=env, stdout=log, stderr=subprocess.STDOUT
    )
    return process, f"http://127.0.0.1:{port}/"


@contextmanager
def served_here(apps, name):
    """The app in this process, where fakes are; `visit` knows it by the name."""
    port = free_port()
    demo = ui.launch(port, prevent_thread_lock=True, quiet=True)
    apps[name] = f"http://127.0.0.1:{port}/"
    try:
        yield
    finally:
        del apps[name]
        demo.close()


def wait_for(process, url, log):
    for _ in range(300):
        if process.poll() is not None:
            break
        try:
            urllib.request.urlopen(url, timeout=5).close()
            return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    log.seek(0)
    pytest.fail(f"the app did not start:\n{log.read()}")


@pytest.fixture(scope="session")
def checkpoints(toy_checkpoint, tmp_path_factory):
    """A folder of checkpoints with one model, `gru`."""
    root = tmp_path_factory.mktemp("checkpoints")
    shutil.copytree(toy_checkpoint, root / "toy" / "gru")
    return root


@pytest.fixture(scope="session")
def apps(sockets, checkpoints, tmp_path_factory):
    """Addresses of the app over the toy data, on a fresh machine (with a model that cannot look
    at photos there, and with those that ship) and without a model."""
    nothing = tmp_path_factory.mktemp("nothing")
    variables = {
        "toy": {"VSDEMO_CHECKPOINTS": str(checkpoints)},
        "fresh": {"VSDEMO_CHECKPOINTS": str(checkpoints), "VSDEMO_DATA": None, **OFFLINE}
        | {"VSDEMO_HOME": str(nothing / "home")},
        "shipped": {"VSDEMO_CHECKPOINTS": None, "VSDEMO_DATA": None, **OFFLINE}
        | {"VSDEMO_HOME": str(nothing / "shipped home")},
        "no model": {"VSDEMO_CHECKPOINTS": str(nothing)},
    }
    logs = {name: (nothing / name).open("w+") for name in variables}
    started = {name: start(logs[name], **variables[name]) for name in variables}
    try:
        for name, (process, url) in started.items():
            wait_for(process, url, logs[name])
        yield {name: url for name, (_, url) in started.items()}
    finally:
        for process, _ in started.values():
            process.terminate()
        for name, (process, _) in started.items():
            process.wait(20)
            logs[name].seek(0)
            assert "Traceback" not in logs[name].read(), name
            logs[name].close()


@pytest.fixture
def visit(browser, apps):
    """Opens a page of an app; afterwards no other host was asked and no script failed."""
    contexts, asked, failed = [], [], []

    def visit(app="toy", path="", viewport=DESKTOP, **options):
        context = browser.new_context(viewport=viewport, **options)
        context.set_default_timeout(20_000)
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: failed.append(str(error)))
        page.on("console", lambda told: failed.append(told.text) if told.type == "error" else None)
        page.goto(apps[app] + path)
        return page

    yield visit
    for context in contexts:
        context.close()
    assert asked
    hosts = {urlsplit(url).hostname for url in asked if not url.startswith(("data:", "blob:"))}
    assert hosts == {"127.0.0.1"}
    assert failed == []
