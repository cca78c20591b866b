"""Trainings by several processes, as torchrun starts them.

As a program, it trains presets in double precision for some steps, one after the other, and writes
the loss of each step and the weights to a file, and what it measures on dev to another.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from tests.support.fake_parser import FakeParser
from tests.support.small_runs import preset_trainer
from vsdemo.core.errors import UserError
from vsdemo.core.paths import ROOT
from vsdemo.core.sentences import Sentence
from vsdemo.data.text import parser
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.training import distributed, trainer

SECONDS = 200  # after which processes hang
OTHER_DATA = "OTHER_DATA"  # variable: rank 1 learns from other data


class Run(NamedTuple):
    """What a training of some steps has left.

    Args:
        losses: (steps,).
        weights: By name.
        metrics: On dev.
        embedded: Texts that rank 0 has embedded to measure them.
    """

    losses: Tensor
    weights: dict[str, Tensor]
    metrics: dict
    embedded: int


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


def train(ranks: int, folder: Path, runs: list[tuple[str, ...]], steps: int) -> list[Run]:
    """Train presets by some ranks."""
    code, errors = end(start(program(ranks, folder, runs, steps)))
    assert code == 0, errors
    return [_read(folder / str(number)) for number in range(len(runs))]


def _read(out: Path) -> Run:
    tensors = load_file(out.with_suffix(".safetensors"))
    return Run(tensors.pop("losses"), tensors, **json.loads(out.with_suffix(".json").read_text()))


def _train(out: Path, steps: int, preset: str, data: str | None, *settings: str) -> None:
    run = preset_trainer(out, preset, *settings, data=data)
    if data is not None and isinstance(run.material.photos, Tensor):
        run.material.photos = run.material.photos.double()
        if OTHER_DATA in os.environ and not distributed.is_main():
            run.material.photos[0, 0] += 1
    run.material.join_ranks()
    batches = chain.from_iterable(map(run.material.batches, range(steps)))
    losses = [run._train_step(batch)["loss"].detach() for batch in islice(batches, steps)]
    embedded = _count_texts(run.evaluated)
    metrics = run.material.measure(run.evaluated)
    if distributed.is_main():
        measured = {"metrics": metrics, "embedded": sum(embedded)}
        out.with_suffix(".json").write_text(json.dumps(measured))
        weights = {
            k: t.clone(memory_format=torch.contiguous_format)
            for k, t in run.model.state_dict().items()
        }
        save_file(weights | {"losses": torch.stack(losses)}, out.with_suffix(".safetensors"))


def _count_texts(model: DualEncoder) -> list[int]:
    """Return a list that grows by the number of texts whenever some are embedded."""
    counts: list[int] = []
    prepare = model.text.prepare

    def count_and_prepare(sentences: Sequence[Sentence]) -> list:
        counts.append(len(sentences))
        return prepare(sentences)

    model.text.prepare = count_and_prepare
    return counts


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
