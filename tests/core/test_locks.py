"""Files that a process holds until it ends."""

import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from vsdemo.core import locks
from vsdemo.core.errors import Cancelled

HOLDER = "import sys, time; print('ready', flush=True); time.sleep(60)"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "pid"


def start_holder(file):
    """Return a process that has inherited a held file."""
    holder = subprocess.Popen(
        [sys.executable, "-ISc", HOLDER],
        stdout=subprocess.PIPE,
        pass_fds=[file.descriptor],
        env=locks.inheritance([file]),
    )
    holder.stdout.readline()
    return holder


def test_a_held_file_has_content_and_keeps_others_out(path):
    assert locks.read_held(path) is None
    file = locks.hold(path)
    for text in ("a longer text\n", "12\n", ""):
        file.write(text)
        assert (locks.read_held(path), path.read_text()) == (text, text)
    with pytest.raises(locks.HeldError):
        locks.hold(path)
    file.close()
    assert locks.read_held(path) is None
    locks.hold(path).remove()
    assert not path.exists()


def test_an_inherited_file_is_held_until_the_process_is_killed(path):
    with locks.holding(path) as file, start_holder(file) as holder:
        file.write("5")
        file.close()
        file.descriptor = os.open(os.devnull, os.O_RDONLY)
        assert locks.read_held(path) == "5"
        moved = path.with_name("moved")
        path.rename(moved)
        copy = shutil.copy(moved, path.with_name("copy"))
        assert [locks.read_held(p) for p in (path, moved, copy)] == [None, "5", None]
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        assert locks.read_held(moved) is None


def test_a_process_knows_what_it_has_inherited(path, monkeypatch):
    assert not locks.is_inherited(path)
    with locks.holding(path) as file:
        for name, value in locks.inheritance([file]).items():
            monkeypatch.setenv(name, value)
        assert locks.is_inherited(path)
        assert not locks.is_inherited(path.with_name("other"))
        path.unlink()
        path.touch()
        assert not locks.is_inherited(path)  # another file of the same name
    monkeypatch.setenv(locks.INHERITED, "x,99999,-1,")
    assert not locks.is_inherited(path)


def test_a_reader_does_not_keep_others_from_holding(path):
    path.touch()
    with ThreadPoolExecutor(2) as pool:
        reads = pool.map(lambda _: locks.read_held(path), range(2000))
        for _ in range(200):
            locks.hold(path).close()
        assert set(reads) <= {None, ""}


def test_odd_paths_are_not_held(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for name in ("pipe", "loop", "absent", ".", "a\0b"):
        assert locks.read_held(tmp_path / name) is None


WRITER = """
import sys, time
from pathlib import Path
from vsdemo.core import locks
path = Path(sys.argv[1])
with locks.turn(path):
    print("ready", flush=True)
    time.sleep(60)
"""


def test_who_holds_a_turn_is_waited_for_also_after_kill_9(tmp_path):
    path = tmp_path / "cache" / "entry"
    command = [sys.executable, "-c", WRITER, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as writer:
        writer.stdout.readline()
        waits = []

        def wait():
            waits.append(1)
            if len(waits) == 3:
                writer.send_signal(signal.SIGKILL)
            assert len(waits) < 50

        with locks.turn(path, wait):
            assert writer.wait(0) == -signal.SIGKILL
        assert len(waits) >= 3


def test_waiting_for_a_turn_can_be_cancelled(tmp_path):
    waits = []

    def wait():
        waits.append(1)
        if len(waits) > 1:
            raise Cancelled

    with (
        locks.turn(tmp_path / "entry"),
        pytest.raises(Cancelled),
        locks.turn(tmp_path / "entry", wait),
    ):
        pytest.fail("two have the turn")
    with locks.turn(tmp_path / "entry"):
        pass


def test_threads_take_turns(tmp_path):
    """Each makes what is missing, and only the first finds it missing."""
    made = []

    def make(_):
        with locks.turn(tmp_path / "entry"):
            if not made:
                time.sleep(0.05)
                made.append(1)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(make, range(8)))
    assert made == [1]
