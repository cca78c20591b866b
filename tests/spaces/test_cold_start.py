"""A cold start on each kind of Space and in Docker, as processes on this machine.

Where the tests run as root, the app runs as the user 1000, who can read everything, as the tests'
Python may be in a folder of root, but writes to its own folders only.
"""

import compileall
import os
import re
import shutil
import time
from contextlib import nullcontext
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import torch
from playwright.sync_api import expect

from tests.support import space_upload, spaces, stand_in_gpu
from vsdemo.core.paths import ROOT

pytestmark = [
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # sockets of Playwright
]

USER = 1000
VISITORS = 8
SECONDS = 15  # on a quiet machine with two cores
AS_USER = (
    *("setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"),
    *("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"),
)
# What Hugging Face sets on every Space with the Gradio SDK.
SPACE = {
    "SYSTEM": "spaces",
    "SPACE_ID": "someone/vsdemo",
    "SPACE_HOST": "someone-vsdemo.hf.space",
    "SPACE_AUTHOR_NAME": "someone",
    "GRADIO_SERVER_NAME": "0.0.0.0",
    "GRADIO_ALLOW_FLAGGING": "never",
    "GRADIO_NUM_PORTS": "1",
    "GRADIO_THEME": "huggingface",
    "CPU_CORES": "2",
}
ZERO_APP = """
import runpy
from tests.support import stand_in_gpu
stand_in_gpu.install()
runpy.run_path("app.py", run_name="__main__")
"""
NO_GPU = "there is no GPU"
KINDS = [
    "cpu",
    pytest.param("gpu", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason=NO_GPU)),
    "zero",
    "docker",
]


def docker_variables(data):
    """Return the variables of the image, with a folder in place of /data."""
    text = (ROOT / ".docker/Dockerfile").read_text(encoding="utf-8")
    pairs = dict(re.findall(r"(\w+)=(\S+)", re.search(r"^ENV (.+)$", text, re.MULTILINE)[1]))
    return {name: value.replace("/data", str(data)) for name, value in pairs.items()}


@pytest.fixture
def own_folder(tmp_path):
    """A folder of the user, who can reach it."""
    for parent in [tmp_path, *tmp_path.parents]:
        if parent.owner() == Path.home().owner() and parent != Path("/"):
            parent.chmod(parent.stat().st_mode | 0o055)
    if os.getuid() == 0:
        os.chown(tmp_path, USER, USER)
    return tmp_path


@pytest.fixture
def code(own_folder):
    """What a Space or an image has of the code."""
    folder = own_folder / "app"
    for name in space_upload.uploaded(ROOT):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, folder / name)
    return folder


def own(folder):
    """Give a folder to the user."""
    folder.mkdir(exist_ok=True)
    if os.getuid() == 0:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, USER, USER)


@pytest.fixture(params=KINDS)
def space(request, own_folder, code):
    """A Space that starts for the first time."""
    data = own_folder / "home"
    own(data)
    start = AS_USER if os.getuid() == 0 else ()
    variables, program, lending = {**SPACE, "HOME": str(data)}, None, nullcontext((None, {}))
    if request.param == "docker":
        (data / "tmp").mkdir()
        own(data)
        compileall.compile_dir(code, quiet=1)  # a step of the image
        for path in (code, *code.rglob("*")):
            path.chmod(0o555 if path.is_dir() else 0o444)
        variables = docker_variables(data)
    else:
        own(code)
    if request.param == "zero":
        shutil.copytree(ROOT / "tests/support", code / "tests/support")
        program, lending = ZERO_APP, stand_in_gpu.lending()
    with lending as (lender, lent):
        running = spaces.running(own_folder, program, cwd=code, start=start, **variables, **lent)
        with running as space:
            space.lender = lender
            yield space


class Visitor:
    """A page in a browser of its own, which writes down hosts and refusals."""

    def __init__(self, browser, url):
        self.context = browser.new_context()
        self.page = self.context.new_page()
        self.hosts, self.refusals = set(), []
        self.page.on("request", self._see_request)
        self.page.on("response", self._see_response)
        self.page.goto(url, wait_until="commit", timeout=60_000)

    def _see_request(self, request):
        if not request.url.startswith(("data:", "blob:")):
            self.hosts.add(urlsplit(request.url).hostname)

    def _see_response(self, response):
        if response.status >= 400:
            self.refusals.append((response.status, response.url))

    @property
    def first_photo(self):
        return self.page.locator("#grid button.frame").first


def test_the_first_visitor_and_eight_at_once(space, browser):
    browser.new_context().close()  # the browser has started
    space.wait()
    answered = time.monotonic() - space.started
    visitors = [Visitor(browser, space.url)]
    expect(visitors[0].first_photo).to_be_visible(timeout=60_000)
    seen = time.monotonic() - space.started
    print(f"answered after {answered:.1f} s, first photo after {seen:.1f} s")
    visitors += [Visitor(browser, space.url) for _ in range(VISITORS)]
    for visitor in visitors:
        expect(visitor.first_photo).to_be_visible(timeout=120_000)
    first = visitors[1].page
    first.get_by_label("Sentence").first.fill("an animal in the snow")
    first.get_by_role("button", name="Find photos").click()
    expect(first.locator("#grid .score-bar").first).to_be_visible(timeout=60_000)
    for visitor in visitors:
        assert visitor.hosts == {"127.0.0.1"}
        assert visitor.refusals == []
        visitor.context.close()
    assert space.other_hosts == []
    assert "Traceback" not in space.log, space.log
    assert "Low-level CUDA init" not in space.log
    if space.lender:  # the GPU was used, if at all, by another process
        assert space.lender.requests[0] == ("/startup-report", {})
        assert space.pid not in space.lender.processes()
    assert seen < SECONDS
