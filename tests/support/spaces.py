"""The app as a process of its own on a simulated Space, which must not reach another host."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path

from vsdemo.core.paths import ROOT

START_SECONDS = 180  # on a busy machine
# Imported at the start of each process; writes down other hosts, and lets nothing reach them.
GUARD = """
import os, socket

def refuse(host):
    with open(os.environ["TEST_HOSTS"], "a") as file:
        file.write(f"{host}\\n")
    raise OSError(f"{host} is another host")

def is_here(host):
    host = host.decode() if isinstance(host, bytes) else str(host)
    return host in ("", "None", "localhost", "::1", "0.0.0.0", "::") or host.startswith("127.")

def guarded(method):
    def connect(self, address):
        if self.family in (socket.AF_INET, socket.AF_INET6) and not is_here(address[0]):
            refuse(address[0])
        return method(self, address)
    return connect

look_up = socket.getaddrinfo

def getaddrinfo(host, *args, **options):
    if not is_here(host):
        refuse(host)
    return look_up(host, *args, **options)

socket.getaddrinfo = getaddrinfo
socket.socket.connect = guarded(socket.socket.connect)
socket.socket.connect_ex = guarded(socket.socket.connect_ex)
"""
# Of the machine that runs the tests, and not of a Space.
# Variables of this process that a Space does not have; an app in it sets the folder of uploads.
FOREIGN = (
    *("VSDEMO_DATA", "VSDEMO_CHECKPOINTS", "OMP_NUM_THREADS", "HF_HUB_OFFLINE", "CI"),
    "GRADIO_TEMP_DIR",
)


# An event loop that Gradio has dropped, collected after its sockets.
EVENT_LOOP = r"Exception ignored in: <function BaseEventLoop\.__del__.*?Invalid file descriptor: -1"


class Space:
    """A running app.

    Attributes:
        url: Its address.
        started: When the process was started, as `time.monotonic`.
        pid: The id of its process.
    """

    def __init__(self, process, url, folder):
        self._process, self._folder = process, folder
        self.url = url
        self.started = time.monotonic()
        self.pid = process.pid

    @property
    def log(self):
        """What the processes printed, without what Gradio leaves to the garbage collector."""
        text = (self._folder / "log.txt").read_text(encoding="utf-8")
        return re.sub(EVENT_LOOP, "", text, flags=re.DOTALL)

    @property
    def other_hosts(self):
        """The other hosts that any process of the app wanted to reach."""
        file = self._folder / "hosts.txt"
        return file.read_text().split() if file.exists() else []

    def wait(self):
        """Wait until the app answers."""
        while time.monotonic() - self.started < START_SECONDS:
            try:
                urllib.request.urlopen(self.url, timeout=5).close()
                return
            except (urllib.error.URLError, OSError):
                assert self._process.poll() is None, self.log
                time.sleep(0.1)
        raise AssertionError(f"the app did not start:\n{self.log}")


@contextmanager
def running(folder, code=None, *, cwd=ROOT, start=(), **variables):
    """Run app.py, or code in its place, as a process in a folder of the test; yield a Space.

    Args:
        folder: For its log, and for VSDEMO_HOME.
        code: Python code.
        cwd: Where app.py is.
        start: A command that starts the process, for instance as another user.
        variables: Variables that the Space sets; None removes one.
    """
    guard = folder / "guard"
    guard.mkdir()
    (guard / "sitecustomize.py").write_text(GUARD)
    (folder / "hosts.txt").touch()
    (folder / "hosts.txt").chmod(0o666)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    env = {
        **{name: value for name, value in os.environ.items() if name not in FOREIGN},
        "PYTHONPATH": os.pathsep.join([str(guard), str(cwd)]),
        "TEST_HOSTS": str(folder / "hosts.txt"),
        "GRADIO_SERVER_PORT": str(port),
        "VSDEMO_HOME": str(folder / "home"),
        **variables,
    }
    program = [sys.executable, *(["-c", code] if code else ["app.py"])]
    with (folder / "log.txt").open("w") as log:
        process = subprocess.Popen(
            [*start, *program],
            cwd=cwd,
            env={name: value for name, value in env.items() if value is not None},
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            yield Space(process, f"http://127.0.0.1:{port}/", Path(folder))
        finally:
            os.killpg(process.pid, signal.SIGKILL)  # with the process that had the GPU
            process.wait()
