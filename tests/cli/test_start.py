"""The programs start, or say in one sentence why they cannot; Ctrl-C ends them quietly."""

import os
import signal
import socket
import subprocess
import sys
import time

import pytest

from vsdemo.core.paths import ROOT


@pytest.fixture
def start(tmp_path):
    """Start `python app.py` or `python -m vsdemo ...`."""
    processes = []

    def start(*words, **variables):
        home = {"VSDEMO_HOME": str(tmp_path / "home"), "VSDEMO_OPEN_BROWSER": "0"}
        process = subprocess.Popen(
            [sys.executable, *words],
            cwd=ROOT,
            env=os.environ | home | variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def wait_for_import(process, library):
    """Wait until a process has mapped the files of a library that takes seconds to import."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with open(f"/proc/{process.pid}/maps") as maps:
            if library in maps.read():
                return
        time.sleep(0.005)
    pytest.fail(f"{library} was not imported")


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc")
@pytest.mark.parametrize(
    ("words", "library"),
    [
        (["app.py"], "libtorch_cpu"),
        (["-m", "vsdemo", "app"], "pydantic_core"),
        (["-m", "vsdemo", "app"], "numpy"),
    ],
)
def test_ctrl_c_while_importing_ends_the_program_quietly(start, words, library):
    process = start(*words)
    wait_for_import(process, library)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60) == ("", "")
    assert process.returncode == 130


def test_ctrl_c_in_a_command_ends_it_quietly(run, monkeypatch):
    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr("vsdemo.data.overview.overview", interrupted)
    code, printed, error = run("data")
    assert (code, printed, error.strip()) == (130, "", "")


def test_app_py_refuses_a_port_in_use_before_anything_is_loaded(start, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        process = start("app.py", GRADIO_SERVER_PORT=str(server.getsockname()[1]))
        printed, error = process.communicate(timeout=120)
    assert (process.returncode, printed, error.count("\n")) == (2, "", 1)
    assert error.startswith("vsdemo: Port ")
    assert not (tmp_path / "home").exists()


def test_the_command_refuses_a_port_in_use(run):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code, printed, error = run("app", "--port", port)
    assert (code, printed, error.count("\n")) == (2, "", 1)
    assert error.startswith(f"vsdemo: Port {port} of 127.0.0.1 cannot be used (Address already in")
    assert "--port NUMBER" in error
    assert "GRADIO_SERVER_PORT" in error


def test_a_file_in_the_place_of_the_cache_folder_is_refused(run, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("VSDEMO_HOME", str(tmp_path / "file"))
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    code, printed, error = run("app", "--port", port)
    assert (code, printed, error.count("\n")) == (2, "", 1)
    assert error.startswith(f"vsdemo: The cache folder {tmp_path / 'file'} cannot be written")
    assert error.endswith("set VSDEMO_HOME to a folder that you can write to.\n")
