"""Merged embeddings as files, as `merge-embeddings` writes them, and a server of Milvus."""

import json
import socket
import subprocess
import sys
from datetime import datetime

import numpy as np
import pyarrow as pa
import pytest
import torch
from pyarrow import parquet
from torch.nn.functional import normalize

from tests.support.fake_trainer import wait_for
from tests.support.serving import free_port
from vsdemo.search.stores import opening

COUNT, DIM = 600, 16
TAKEN = [None, datetime(2024, 5, 31, 23, 59, 59), datetime(2024, 6, 1), datetime(2025, 1, 2, 3)]
CAMERAS = [None, "Canon EOS 5D", "NIKON D80", "100%_real"]
FOLDERS = ["", "2024", "2024/june", "2024_old", "it's"]
SIDES = [(4000, 3000), (3000, 4000), (1000, 1000)]


def vectors(count: int, seed: int = 0) -> torch.Tensor:
    """Return vectors of length 1 without negative numbers, (count, DIM)."""
    x = torch.rand(count, DIM, generator=torch.Generator().manual_seed(seed))
    return normalize(x, dim=1)


def path_of(number: int) -> str:
    folder = FOLDERS[number % len(FOLDERS)]
    return f"{folder}/{number}.jpg" if folder else f"{number}.jpg"


def write_folder(folder, x, *, columns=True, files=2, **about):
    """Write embeddings (N, DIM) in some files; `about` replaces values of embeddings.json."""
    (folder / "img_emb").mkdir(parents=True)
    (folder / "metadata").mkdir()
    count = len(x)
    for file, numbers in enumerate(np.array_split(np.arange(count), files)):
        np.save(folder / "img_emb" / f"img_emb_{file}.npy", x[numbers].half().numpy())
        table = {"image_path": [path_of(number) for number in numbers]}
        if columns:
            table |= {
                "taken": pa.array([TAKEN[n % len(TAKEN)] for n in numbers], pa.timestamp("s")),
                "camera": pa.array([CAMERAS[n % len(CAMERAS)] for n in numbers], pa.string()),
                "width": [SIDES[n % len(SIDES)][0] for n in numbers],
                "height": [SIDES[n % len(SIDES)][1] for n in numbers],
            }
        path = folder / "metadata" / f"metadata_{file}.parquet"
        parquet.write_table(pa.table(table), path, row_group_size=70)
    values = {"checkpoint": "a/b", "content_hash": "abc", "dim": DIM, "photos": count} | about
    (folder / "embeddings.json").write_text(json.dumps(values))
    return folder


@pytest.fixture
def tmp_path(tmp_path_factory):
    """Return a folder with a name of its own, as Milvus remembers a database by its path."""
    return tmp_path_factory.mktemp("store")


@pytest.fixture
def embeddings(tmp_path):
    return write_folder(tmp_path / "embeddings", vectors(COUNT))


@pytest.fixture(scope="session")
def milvus_server(tmp_path_factory):
    """The address of a server of milvus-lite on this machine."""
    port = free_port()
    command = [sys.executable, "-m", "milvus_lite", "server", "--host", "127.0.0.1"]
    command += ["--port", str(port), "--data-dir", str(tmp_path_factory.mktemp("milvus"))]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        wait_for(lambda: is_open(port))
        yield f"http://127.0.0.1:{port}"
        process.kill()


@pytest.fixture(params=["folder", "usearch", "milvus", "milvus server"])
def make_store(request, tmp_path):
    """A function that puts a folder of embeddings into a store by a score, and returns it."""
    server = request.getfixturevalue("milvus_server") if "server" in request.param else ""

    def make(folder, score):
        match request.param:
            case "folder":
                return opening.open_store(str(folder))
            case "usearch":
                return opening.open_store(opening.build(folder, "usearch", score, progress))
            case "milvus":
                to = f"milvus:{tmp_path / 'photos.db'}"
            case _:
                to = f"milvus:{server}#photos_{tmp_path.name.replace('-', '_')}"
        return opening.open_store(opening.build(folder, to, score, progress, "FLAT"))

    return make


def is_open(port: int) -> bool:
    with socket.socket() as connection:
        return connection.connect_ex(("127.0.0.1", port)) == 0


def progress(done: int, total: int) -> None:
    assert 0 <= done <= total
