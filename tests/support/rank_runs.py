"""Trainings by several processes, as torchrun starts them.

As a program, it trains presets in double precision for some steps, one after the other, and writes
the loss of each step and the weights to a file.
"""

import json
import os
import subprocess
import sys
from contextlib import nullcontext
from itertools import chain, islice
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from tests.support.fake_parser import FakeParser
from tests.support.small_runs import preset_trainer
from vsdemo.core.errors import UserError
from vsdemo.core.paths import ROOT
from vsdemo.data.text import parser
from vsdemo.training import distributed, trainer

SECONDS = 200  # after which processes hang
OTHER_DATA = "OTHER_DATA"  # variable: rank 1 learns from other data


def command(ranks: int, *words: object) -> list[str]:
    """Return a Python command, by torchrun for several ranks."""
    torchrun = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}"]
    return [sys.executable, *(torchrun if ranks > 1 else ()), *map(str, words)]


def start(command: list[str], **variables: str) -> subprocess.Popen:
    """Start a command with one thread a process."""
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)} | variables,
    )


def end(process: subprocess.Popen) -> tuple[int, str]:
    """Wait for a command; return its exit code and what it wrote to stderr."""
    try:
        _, errors = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        process.terminate()  # torchrun ends its processes
        process.communicate()
        raise
    return process.returncode, errors


def program(ranks: int, folder: Path, runs: list[tuple[str, ...]], steps: int) -> list[str]:
    """Return the command that trains presets, each with its settings."""
    return command(ranks, __file__, folder, steps, json.dumps(runs))


def losses_and_weights(ranks: int, folder: Path, runs: list[tuple[str, ...]], steps: int) -> list:
    """Train presets by some ranks; return losses (steps,) and weights by name of each."""
    code, errors = end(start(program(ranks, folder, runs, steps)))
    assert code == 0, errors
    files = [load_file(folder / f"{number}.safetensors") for number in range(len(runs))]
    return [(file.pop("losses"), file) for file in files]


def _train(out: Path, steps: int, preset: str, data: str | None, *settings: str) -> None:
    run = preset_trainer(out, preset, *settings, data=data)
    if data is not None:
        run.material.photos = run.material.photos.double()
        if OTHER_DATA in os.environ and not distributed.is_main():
            run.material.photos[0, 0] += 1
    run.material.join_ranks()
    batches = chain.from_iterable(map(run.material.batches, range(steps)))
    losses = [run._train_step(batch)["loss"].detach() for batch in islice(batches, steps)]
    if distributed.is_main():
        weights = {k: t.clone() for k, t in run.model.state_dict().items()}
        save_file(weights | {"losses": torch.stack(losses)}, out.with_suffix(".safetensors"))


def main() -> None:
    folder, steps, runs = Path(sys.argv[1]), int(sys.argv[2]), json.loads(sys.argv[3])
    parser.load = lambda name="shipped": FakeParser()
    torch.set_default_dtype(torch.float64)
    torch.Tensor.float = torch.Tensor.double  # embeddings would be in single precision
    trainer.autocast = nullcontext
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with distributed.session():
            for number, run in enumerate(runs):
                _train(folder / str(number), steps, *run)
    except UserError as error:
        sys.exit(f"vsdemo: {error}")


if __name__ == "__main__":
    main()
