"""One app over the toy data set for all page tests, and pages in a browser."""

import os
import shutil
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
from gradio_client import Client
from playwright.sync_api import expect

from tests.support.serving import collect_sockets, free_port, served_here
from tests.support.small_runs import trainer
from vsdemo.core.paths import ROOT
from vsdemo.data.storybook import store
from vsdemo.evaluation import cards
from vsdemo.ui import theme
from vsdemo.ui.components import labels

HERE = Path(__file__).parent
# app.py as it is, with fewer pictures of Storybook, and a fake web if there is one.
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
OFFLINE = {"https_proxy": "http://127.0.0.1:9", "no_proxy": "127.0.0.1"}  # a closed port
START_SECONDS = 180  # for an app as a process, on a busy machine
PATIENCE = 240_000  # milliseconds for the app as it ships, which draws its pictures first
DESKTOP = {"width": 1440, "height": 900}
expect.set_options(timeout=20_000)  # milliseconds; for machines with much else to do


def pytest_collection_modifyitems(items):
    """Gradio, its client and Playwright leave sockets to the garbage collector."""
    for item in items:
        if item.path.parent == HERE:
            item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))


@pytest.fixture(scope="session", autouse=True)
def sockets():
    """Collect what the apps left, so that no later test is blamed for it."""
    yield
    collect_sockets()


@pytest.fixture(scope="module", autouse=True)
def sockets_of_module():
    """Collect what the tests of a file left: another file may follow in this process."""
    yield
    collect_sockets()


def start(log, **variables):
    """Start the app as a process, and return it with its address."""
    port = free_port()
    env = {**os.environ, "OMP_NUM_THREADS": "1", "GRADIO_SERVER_PORT": str(port), **variables}
    env = {k: v for k, v in env.items() if v is not None}
    process = subprocess.Popen(
        [sys.executable, "-c", APP], cwd=ROOT, env=env, stdout=log, stderr=subprocess.STDOUT
    )
    return process, f"http://127.0.0.1:{port}/"


@contextmanager
def served_page(make, **options):
    """Serve a page that a test makes in this process, in the theme of the app."""
    port = free_port()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        demo = make()
        demo.launch(
            server_port=port,
            prevent_thread_lock=True,
            quiet=True,
            ssr_mode=False,
            theme=theme.theme(),
            css=theme.css(),
            footer_links=[],
            **{"i18n": labels.translations(), "head": theme.head(), **options},
        )
    try:
        yield f"http://127.0.0.1:{port}/"
    finally:
        demo.close()


def wait_for(process, url, log):
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.poll() is None:
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
def several(checkpoints, own_folders, tmp_path_factory):
    """A folder with `gru`, `order`, `char_gru` and a damaged checkpoint."""
    root = tmp_path_factory.mktemp("several")
    shutil.copytree(checkpoints / "toy" / "gru", root / "toy" / "gru")
    for name in ("order", "char_gru"):
        trainer(root / "toy" / name, "epochs=1", preset=name).run()
        cards.finish(root / "toy" / name)
    shutil.copytree(checkpoints / "toy" / "gru", root / "toy" / "broken")
    (root / "toy" / "broken" / "model.safetensors").write_bytes(b"nothing")
    return root


@pytest.fixture(scope="session")
def app_checkpoints(checkpoints, toy_order, toy_concepts, tmp_path_factory):
    """The checkpoints of the app: `gru`, then `order`, and a table of concepts."""
    root = tmp_path_factory.mktemp("app_checkpoints")
    for folder in (checkpoints / "toy" / "gru", toy_order, toy_concepts):
        shutil.copytree(folder, root / "toy" / folder.name)
    return root


@pytest.fixture(scope="session")
def apps(sockets, app_checkpoints):
    """Addresses of apps by name; `toy` is the one over the toy data, in this process."""
    addresses = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VSDEMO_CHECKPOINTS", str(app_checkpoints))
        server = served_here(addresses, "toy")
        server.__enter__()
        # Wait until the first engine is loaded, so that pages open with search results.
        client = Client(addresses["toy"], verbose=False)
        client.predict("a bar", "gru", "toy-test", 1, api_name="/search")
    yield addresses
    server.__exit__(None, None, None)


@pytest.fixture(scope="session")
def shipped(tmp_path_factory):
    """The address of the app as it ships, on a machine without data and network."""
    home, port = tmp_path_factory.mktemp("home"), free_port()
    own = {"VSDEMO_HOME": str(home), "GRADIO_SERVER_PORT": str(port), "VSDEMO_OPEN_BROWSER": "0"}
    env = {**os.environ, **OFFLINE, **own}
    for name in ("VSDEMO_DATA", "VSDEMO_CHECKPOINTS"):
        env.pop(name, None)
    with (home / "log.txt").open("w+") as log:
        app = [sys.executable, "app.py"]
        process = subprocess.Popen(app, cwd=ROOT, env=env, stdout=log, stderr=subprocess.STDOUT)
        url = f"http://127.0.0.1:{port}/"
        wait_for(process, url, log)
        yield url
        process.terminate()
        process.wait(60)


@pytest.fixture
def fresh_machine(monkeypatch, tmp_path):
    """A machine without data and internet, on which Storybook has 16 pictures."""
    monkeypatch.delenv("VSDEMO_DATA")
    monkeypatch.setenv("VSDEMO_HOME", str(tmp_path))
    for name, value in OFFLINE.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(urllib.request, "_opener", None)  # which keeps the proxies of its start
    monkeypatch.setitem(store.SPLITS, "test", range(4500, 4516))


@pytest.fixture
def fresh_app(apps, fresh_machine, checkpoints, monkeypatch):
    """The app on a fresh machine, with a model whose image network is missing."""
    monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(checkpoints))
    with served_here(apps, "fresh"):
        yield "fresh"


class Desktop:
    """A browser on a desktop that has opened pages of the app before.

    Its tabs are used again, which compiles the scripts of the page once and not for each test.
    """

    def __init__(self, browser):
        self.context = browser.new_context(viewport=DESKTOP)
        self._idle = []

    def tab(self):
        return self._idle.pop() if self._idle else self.context.new_page()

    def leave(self, page):
        page.evaluate("sessionStorage.clear()")
        page.goto("about:blank")
        page.set_viewport_size(DESKTOP)
        self._idle.append(page)


@pytest.fixture(scope="session")
def desktop(browser):
    """The browser of visitors with a desktop."""
    desktop = Desktop(browser)
    yield desktop
    desktop.context.close()


@pytest.fixture
def visit(browser, desktop, apps, app_checkpoints, monkeypatch, capfd):
    """Open a page of an app; for a new visitor, or with options, in a browser of its own.

    Afterwards no other host was contacted, no script failed, and the app logged no traceback.
    """
    pages, requests, errors = [], [], []
    listeners = {
        "request": lambda request: requests.append(request.url),
        "pageerror": lambda error: errors.append(str(error)),
        "console": lambda line: errors.append(line.text) if line.type == "error" else None,
    }

    def visit(app="toy", path="", viewport=DESKTOP, script="", *, is_new=False, **options):
        if app == "toy":
            monkeypatch.setenv("VSDEMO_CHECKPOINTS", str(app_checkpoints))
        if is_new or options or script or viewport != DESKTOP:
            page = browser.new_context(viewport=viewport, **options).new_page()
            page.add_init_script(script)
        else:
            page = desktop.tab()
        page.set_default_timeout(20_000)
        pages.append(page)
        for event, listener in listeners.items():
            page.on(event, listener)
        page.goto(apps[app] + path)
        return page

    yield visit
    for page in pages:
        for event, listener in listeners.items():
            page.remove_listener(event, listener)
        if page.context is desktop.context and not page.is_closed():
            desktop.leave(page)
        elif page.context is not desktop.context:
            page.context.close()
    assert requests
    hosts = {urlsplit(url).hostname for url in requests if not url.startswith(("data:", "blob:"))}
    assert hosts == {"127.0.0.1"}
    assert errors == []
    assert "Traceback" not in capfd.readouterr().err
