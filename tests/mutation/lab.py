"""Runs tests against mutants: in a copy of the checkout, in processes forked from a warm one."""

from __future__ import annotations

import importlib
import os
import re
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

PRELOADED = (  # slow to import; vsdemo and its tests are imported anew for each mutant
    "torch",
    "torch._dynamo",
    "torchvision",
    "numpy",
    "scipy.stats",
    "PIL.Image",
    "hypothesis",
    "safetensors.torch",
    "playwright.sync_api",
    "typer",
    "psutil",
    "pydantic",
    "gradio",
)
OPTIONS = "-x -n 0 -p no:cacheprovider --import-mode=importlib -o addopts= -q --tb=no --no-header"
OPTIONS += " -W ignore::pytest.PytestAssertRewriteWarning"  # hypothesis is imported already
IGNORED = (".git", "__pycache__", ".hypothesis", ".pytest_cache", ".ruff_cache", ".mypy_cache")


class Outcome(NamedTuple):
    """How a run of tests ended: "passed", "failed" or "timeout"; and the test that failed first."""

    status: str
    seconds: float
    failed_test: str


class Lab:
    """A copy of a checkout in which tests are run.

    Args:
        root: The checkout.
        folder: An empty folder for the copy.
    """

    def __init__(self, root: Path, folder: Path) -> None:
        self.root = folder / "checkout"
        self.folder = folder
        shutil.copytree(root, self.root, symlinks=True, ignore=shutil.ignore_patterns(*IGNORED))
        for name in PRELOADED:
            importlib.import_module(name)

    def run(self, tests: Sequence[str], limit: float) -> Outcome:
        """Run test files in a forked process, for at most `limit` seconds."""
        log = self.folder / "log.txt"
        started = time.monotonic()
        child = os.fork()
        if not child:
            self._test(tests, log)
        while (ended := os.waitpid(child, os.WNOHANG))[0] == 0:
            seconds = time.monotonic() - started
            if seconds > limit:  # first let the tests end the processes that they started
                os.kill(child, signal.SIGKILL if seconds > limit + 5 else signal.SIGINT)
                time.sleep(1)
            time.sleep(0.02)
        self._kill_leftovers()
        seconds = time.monotonic() - started
        if seconds > limit:
            return Outcome("timeout", seconds, "")
        if not ended[1]:
            return Outcome("passed", seconds, "")
        output = log.read_text(errors="replace")
        match = re.search(r"^(?:FAILED|ERROR) (\S+)", output, re.MULTILINE)
        return Outcome("failed", seconds, match[1] if match else output.strip()[-400:])

    def _test(self, tests: Sequence[str], log: Path) -> None:
        """Run the tests in the forked process, and leave it."""
        status = 1
        try:
            os.chdir(self.root)
            sys.path[0] = str(self.root)
            for name in [n for n in sys.modules if n.split(".")[0] == "tests"]:
                del sys.modules[name]
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND), 1)
            os.dup2(1, 2)
            status = pytest.main(
                [*OPTIONS.split(), "-m", "not long", f"--basetemp={self.folder / 'tmp'}", *tests]
            )
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)

    def _kill_leftovers(self) -> None:
        """Kill processes that the tests left; this folder is among their arguments."""
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                if str(self.folder).encode() in path.read_bytes():
                    os.kill(int(path.parent.name), signal.SIGKILL)
            except OSError:
                continue

    @contextmanager
    def mutated(self, file: str, change: Callable[[str], str]) -> Iterator[None]:
        """Change a file of the copy while the block runs."""
        path = self.root / file
        original = path.read_text(encoding="utf-8")
        try:
            _write(path, change(original))
            yield
        finally:
            _write(path, original)


def _write(path: Path, text: str) -> None:
    """Write a module and remove its bytecode, which may look as new as the text."""
    path.write_text(text, encoding="utf-8")
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
        compiled.unlink()
