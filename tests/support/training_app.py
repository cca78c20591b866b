"""The app with its own folder of runs, and actions of a visitor in the tab Train."""

import json
import re
from contextlib import contextmanager
from pathlib import Path

import psutil
from playwright.sync_api import expect

from tests.ui.conftest import start, wait_for

SLOW = 60_000  # milliseconds; a trainer takes seconds to start


class App:
    """The app as a process with its own folder of runs."""

    def __init__(self, home: Path, checkpoints: Path, **variables: str) -> None:
        self.home, self.runs = home, home / "runs"
        self.variables = {
            "VSDEMO_HOME": str(home),
            "VSDEMO_CHECKPOINTS": str(checkpoints),
            **variables,
        }

    def begin(self) -> None:
        self.log = (self.home / "app.log").open("a+")
        self.process, self.url = start(self.log, **self.variables)
        wait_for(self.process, self.url, self.log)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def end(self) -> None:
        self.process.terminate()
        self.process.wait(20)
        if trainer := self.trainer():
            trainer.kill()
            trainer.wait(20)
        self.log.seek(0)
        assert "Traceback" not in self.log.read()
        self.log.close()

    def trainer(self) -> psutil.Process | None:
        try:
            return psutil.Process(json.loads((self.runs / ".job.json").read_text())["pid"])
        except (OSError, psutil.NoSuchProcess):
            return None


@contextmanager
def serving(home, checkpoints, **variables):
    app = App(home, checkpoints, **variables)
    app.begin()
    try:
        yield app
    finally:
        app.end()


def choose(page, label, option):
    page.get_by_label(label, exact=True).click()
    page.get_by_role("option", name=option, exact=True).click()


def ready(page, **settings):
    """Choose the data set `toy`, and change these settings."""
    expect(page.locator("#command")).to_contain_text("python -m vsdemo train")  # the page is set
    choose(page, "Data", "toy")
    expect(page.locator("#command")).to_contain_text("--data toy")
    if settings:
        page.get_by_text("Settings and requirements").click()
        expect(page.locator("#set-epochs")).to_be_visible()
    for name, value in settings.items():
        field = page.locator(f"#set-{name}")
        if not field.is_visible():
            page.locator("details", has=field).locator("summary").click()
        field.fill(str(value))
        field.press("Tab")
        expect(page.locator("#command")).to_contain_text(f"--set {name}={value}")


def train(page):
    page.get_by_role("button", name="Train", exact=True).click()


def expect_state(page, state, name=""):
    title = page.locator("#status .name")
    expect(title).to_contain_text(re.compile(f"{name}.*{state}"), timeout=SLOW)
