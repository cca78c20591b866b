"""How much faster two processes train than one, with one thread each."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from vsdemo.core import cores
from vsdemo.core.errors import UserError
from vsdemo.core.events import read
from vsdemo.core.progress import StageProgress
from vsdemo.training.jobs.spec import JobSpec

BATCH, STEPS = 512, 10  # a batch large enough to keep a core busy
PHOTOS = BATCH * (STEPS + 1) // 5  # with five captions each
SETTINGS = {
    "backbone": "pocket",
    "crops": "whole",
    "epochs": 1,
    "batch_size": BATCH,
    "photos": PHOTOS,
}
PREFIX = "vsdemo: "  # of the sentence that says why a command failed
RANKS = {1: "One process", 2: "Two processes"}


def measure(rounds: int, progress: StageProgress) -> dict[str, Any]:
    """Train `gru` on Storybook with one process and with two, alternately.

    Args:
        rounds: How often both train. The best round counts, as others may use the machine too.
        progress: Called with (stage, trainings done, all trainings).

    Returns:
        `pairs_per_second`: of one process and of two, in the best round; `rounds`: in all rounds;
        `two_ranks_vs_one`: the ratio of the best.

    Raises:
        UserError: If a training fails.
    """
    rates: dict[int, list[float]] = {ranks: [] for ranks in RANKS}
    progress("Features", 0, 1)
    _train(1)  # draws the pictures and computes their features
    for number in range(rounds):
        for turn, (ranks, stage) in enumerate(RANKS.items()):
            progress(stage, len(RANKS) * number + turn, len(RANKS) * rounds)
            rates[ranks].append(_train(ranks))
    one, two = (max(rates[ranks]) for ranks in RANKS)
    return {
        "pairs_per_second": {"1": round(one, 1), "2": round(two, 1)},
        "rounds": {str(ranks): [round(rate, 1) for rate in of] for ranks, of in rates.items()},
        "two_ranks_vs_one": round(two / one, 2),
        "cores": cores.available(),
    }


def train_command(job: JobSpec, out: Path, ranks: int = 0) -> list[str]:
    """Return the command that trains into the folder `out`.

    Args:
        job: What to train.
        out: The folder.
        ranks: How many processes `torchrun` starts; 0 for one process without it.
    """
    torchrun = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}"]
    return [sys.executable, *(torchrun if ranks else ()), "-m", "vsdemo", *job.arguments(out)]


def failure(errors: str) -> UserError:
    """Return the error of a training that failed, by what it wrote to stderr."""
    reason = next((line for line in errors.splitlines() if line.startswith(PREFIX)), "")
    return UserError(reason.removeprefix(PREFIX) or "A training failed.")


def _train(ranks: int) -> float:
    """Return how many pairs per second this number of processes learns from."""
    settings = tuple(f"{name}={value}" for name, value in SETTINGS.items())
    with TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        command = train_command(JobSpec("gru", "storybook", settings), out, ranks)
        environment = os.environ | dict.fromkeys(cores.VARIABLES, "1")
        ended = subprocess.run(command, capture_output=True, text=True, env=environment)
        if ended.returncode:
            raise failure(ended.stderr)
        steps = [event for event in read(out / "events.jsonl") if event["kind"] == "step"]
    first, last = steps[0], steps[-1]
    return float(BATCH * (last["step"] - first["step"]) / (last["time"] - first["time"]))
