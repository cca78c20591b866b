"""Speed of indexing and searching, compared with rclip, another photo search in the terminal.

rclip (github.com/yurijmikhalevich/rclip) is not needed otherwise: `pip install rclip` into a
separate environment. Both read the same photos with ViT-B-32-256 of open_clip, which is rclip's
model, with random weights; these change the ranking, but not the speed.
"""

from __future__ import annotations

import os
import shutil
import socket
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import as_file, files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from vsdemo.core import cores
from vsdemo.core.errors import UserError
from vsdemo.core.paths import ROOT, AnyPath, to_path
from vsdemo.core.progress import StageProgress
from vsdemo.models import pretrained
from vsdemo.search.engine import Engine
from vsdemo.search.index_bench import draw_pictures, temporary_home, write_large
from vsdemo.vision.backbones.clip import load_clip

MODEL, SIDE = "ViT-B-32-256", 256
RCLIP_MODELS = f"{MODEL}-datacomp_s34b_b86k"  # folder of rclip's networks below its data
VOCABULARY = "bpe_simple_vocab_16e6.txt.gz"  # of open_clip and rclip
QUERY, RESULTS = "a red car on a beach", 10
QUERIES = 20  # within one process, or of one app
PATIENCE = 120  # seconds until an app must answer
PAUSE = 0.5  # seconds between two looks at whether the app answers
GALLERY = "bench"
RCLIP_QUERIES = f"""
import os, time
from rclip.main import init_rclip

rclip = init_rclip(os.getcwd(), 8, no_indexing=True)[0]
rclip.search({QUERY!r}, os.getcwd(), {RESULTS})
for _ in range({QUERIES}):
    started = time.perf_counter()
    rclip.search({QUERY!r}, os.getcwd(), {RESULTS})
    print(time.perf_counter() - started)
"""


@dataclass
class Program:
    """A program that is measured.

    Attributes:
        index: The command that indexes the photos.
        search: The command that searches them.
        stored: Files and folders that the index consists of.
        folder: Where the commands run.
        environment: Variables for them.
        index_seconds: How long each indexing took.
        search_seconds: How long each search took.
    """

    index: Sequence[str]
    search: Sequence[str]
    stored: Sequence[Path]
    folder: Path
    environment: Mapping[str, str]
    index_seconds: list[float] = field(default_factory=list)
    search_seconds: list[float] = field(default_factory=list)

    def measure(self) -> None:
        """Index the photos from scratch, and search them."""
        for path in self.stored:
            shutil.rmtree(path, ignore_errors=True)
            path.unlink(missing_ok=True)
        self.index_seconds.append(self.seconds(self.index))
        self.search_seconds.append(self.seconds(self.search))

    def run(self, command: Sequence[str]) -> str:
        """Run a command, and return what it prints.

        Raises:
            UserError: It fails.
        """
        result = subprocess.run(
            command,
            cwd=self.folder,
            env={**os.environ, **self.environment},
            capture_output=True,
            text=True,
            check=False,
        )
        if result.returncode:
            lines = result.stderr.strip().splitlines() or ["no message"]
            raise UserError(f"{command[0]} has failed ({lines[-1].rstrip('.')}).")
        return result.stdout

    def seconds(self, command: Sequence[str]) -> float:
        """Run a command, and return how long that takes."""
        started = time.monotonic()
        self.run(command)
        return time.monotonic() - started


def measure(rclip: AnyPath, photos: int, rounds: int, progress: StageProgress) -> dict[str, Any]:
    """Index and search generated photos of 12 megapixels with vsdemo and with rclip, in turns.

    Args:
        rclip: The executable of rclip 3.
        photos: Number of photos, each about 2.5 MB on disk meanwhile.
        rounds: How often to index and search; medians are returned.
        progress: Called with a stage, photos or rounds done, and all of them.

    Returns:
        For each program the photos `indexed` a second and the seconds of a `search`, both as whole
        processes, and the milliseconds of a `query` in one that runs already. rclip cannot index
        without a search, so the time of a search is subtracted. `index_ratio`, `search_ratio` and
        `query_ratio` say how many times as fast vsdemo is, `app_ratio` the same for a search that
        asks a running app, which takes `app_search` seconds, and `loads` how busy the machine was
        at the start of each round.

    Raises:
        UserError: rclip is missing or fails, or onnxscript is missing.
    """
    executable = to_path(rclip).absolute()
    if not (executable.is_file() and os.access(executable, os.X_OK)):
        raise UserError(
            f"There is no rclip at {executable}; run `pip install rclip` in a separate "
            "environment, and give the path of the program there."
        )
    if find_spec("onnxscript") is None:
        raise UserError("--rclip needs onnxscript: run `pip install onnxscript`, then try again.")
    pictures = draw_pictures()
    with temporary_home() as folder:
        write_large(folder / "photos", pictures, photos, progress)
        checkpoint = pretrained.folder_of(f"{MODEL}/random")
        _write_for_rclip(folder / "rclip")
        ours, theirs = _vsdemo(folder, checkpoint), _rclip(folder, executable)
        loads = []
        for number in range(rounds):
            progress("Indexing and searching", number, rounds)
            loads.append(round(os.getloadavg()[0], 1))
            ours.measure()
            theirs.measure()
        python = str(executable.with_name("python"))
        their_query = [float(line) for line in theirs.run([python, "-c", RCLIP_QUERIES]).split()]
        our_query = _query_seconds(Engine(checkpoint, GALLERY))
        asking = _app_seconds(ours)
    searches = [statistics.median(program.search_seconds) for program in (ours, theirs)]
    indexing = [statistics.median(program.index_seconds) for program in (ours, theirs)]
    indexing[1] -= searches[1]
    queries = [statistics.median(seconds) for seconds in (our_query, their_query)]
    programs = {
        name: {
            "indexed": round(photos / indexing[number], 2),
            "search": round(searches[number], 2),
            "query": round(1000 * queries[number], 1),
        }
        for number, name in enumerate(("vsdemo", "rclip"))
    }
    return {
        "model": MODEL,
        "photos": photos,
        "rounds": rounds,
        "programs": programs,
        "index_ratio": round(indexing[1] / indexing[0], 2),
        "search_ratio": round(searches[1] / searches[0], 2),
        "query_ratio": round(queries[1] / queries[0], 2),
        "app_search": round(asking, 2),
        "app_ratio": round(searches[1] / asking, 2),
        "cores": cores.available(),
        "loads": loads,
    }


def _vsdemo(folder: Path, checkpoint: Path) -> Program:
    command, home = [sys.executable, "-m", "vsdemo"], folder / "home"
    of_model = [str(folder / "photos"), "--name", GALLERY, "--model", str(checkpoint)]
    of_query = [str(checkpoint), QUERY, "--gallery", GALLERY, "-k", str(RESULTS)]
    return Program(
        index=[*command, "index", *of_model],
        search=[*command, "search", *of_query],
        stored=[home / "catalogs", home / "features"],
        folder=ROOT,
        environment={},
    )


def _rclip(folder: Path, executable: Path) -> Program:
    data = folder / "rclip"
    command = [str(executable), QUERY, "--top", str(RESULTS)]
    return Program(
        index=command,
        search=[*command, "--no-indexing"],
        stored=[data / f"db.sqlite3{end}" for end in ("", "-wal", "-shm")],
        folder=folder / "photos",
        environment={"RCLIP_DATADIR": str(data), "HF_HUB_OFFLINE": "1"},
    )


class _Tower(nn.Module):
    """A tower as a separate module.

    Args:
        encode: Its forward pass.
        weights: The module whose weights it uses.
    """

    def __init__(self, encode: Callable[[Tensor], Tensor], weights: nn.Module) -> None:
        super().__init__()
        self.encode, self.weights = encode, weights

    def forward(self, batch: Tensor) -> Tensor:
        return self.encode(batch)


def _write_for_rclip(data: Path) -> None:
    """Write the networks and the vocabulary that rclip would download."""
    clip = load_clip(f"{MODEL}/random", None)
    folder = data / RCLIP_MODELS
    folder.mkdir(parents=True)
    towers = {
        "visual": (clip.model.encode_image, torch.zeros(2, 3, SIDE, SIDE)),
        "textual": (clip.model.encode_text, clip.tokenizer([QUERY, QUERY])),
    }
    for name, (encode, example) in towers.items():
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they are about the exporter's own code
            torch.onnx.export(
                _Tower(encode, clip.model).eval().to("cpu"),
                (example,),
                folder / f"{name}.onnx",
                input_names=["input"],
                output_names=["output"],
                dynamic_shapes=({0: "batch"},),
                dynamo=True,
                verbose=False,
            )
    vocabulary = data / "tokenizer" / VOCABULARY
    vocabulary.parent.mkdir()
    with as_file(files("open_clip") / VOCABULARY) as file:
        shutil.copy(file, vocabulary)


def _query_seconds(engine: Engine) -> list[float]:
    """Return how long searches take in a process that runs already."""
    engine.search(QUERY, RESULTS)
    seconds = []
    for _ in range(QUERIES):
        started = time.perf_counter()
        engine.search(QUERY, RESULTS)
        seconds.append(time.perf_counter() - started)
    return seconds


def _app_seconds(program: Program) -> float:
    """Return how long a command takes that asks a running app, which has loaded the model."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    app = subprocess.Popen(
        [sys.executable, "-m", "vsdemo", "app", "--gallery", GALLERY, "--port", str(port)],
        cwd=program.folder,
        env={**os.environ, "VSDEMO_OPEN_BROWSER": "0"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    command = [*program.search, "--app", address]
    until = time.monotonic() + PATIENCE
    try:
        while True:
            try:
                program.run(command)
                break
            except UserError:  # it does not answer yet
                if app.poll() is not None or time.monotonic() > until:
                    raise
                time.sleep(PAUSE)
        return statistics.median(program.seconds(command) for _ in range(QUERIES))
    finally:
        app.kill()
        app.wait()
