"""Apps as processes of their own, several of them over one VSDEMO_HOME."""

import os
import subprocess
import sys
import time
from contextlib import contextmanager

import httpx

from tests.support.serving import free_port
from vsdemo.core.paths import ROOT

PATIENCE = 180  # seconds, on a busy machine


class AppProcess:
    """A running app for strangers.

    Attributes:
        url: Its address.
        process: The process.
    """

    def __init__(self, folder, variables):
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self._log = folder / f"{port}.log"
        own = {"GRADIO_SERVER_NAME": "127.0.0.1", "GRADIO_SERVER_PORT": str(port)}
        env = {**os.environ, **own, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", **variables}
        env.pop("GRADIO_TEMP_DIR", None)  # of an app in this process
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "app.py"], cwd=ROOT, env=env, stdout=log, stderr=log
            )

    def wait_until(self, path):
        """Wait until the app answers at a path, such as /ready."""
        until = time.monotonic() + PATIENCE
        while True:
            assert self.process.poll() is None, self.log
            assert time.monotonic() < until, self.log
            try:
                if httpx.get(f"{self.url}{path}").is_success:
                    return
            except httpx.HTTPError:
                pass
            time.sleep(0.1)

    def search(self, sentence, k):
        """Return the names and scores of the photos that the app finds."""
        request = {"sentence": sentence, "k": k}
        answer = httpx.post(f"{self.url}/api/search", json=request, timeout=PATIENCE)
        assert answer.status_code == httpx.codes.OK, answer.text
        return [(hit["photo"], hit["score"]) for hit in answer.json()["hits"]]

    @property
    def log(self):
        """What the app has printed."""
        return self._log.read_text(encoding="utf-8")


@contextmanager
def started(count, folder, variables):
    """Start apps at the same time, and kill those that still run at the end."""
    apps = [AppProcess(folder, variables) for _ in range(count)]
    try:
        yield apps
    finally:
        for app in apps:
            app.process.kill()
            app.process.wait()
