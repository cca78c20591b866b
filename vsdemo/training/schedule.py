"""Learning-rate schedules and the batches of an epoch: pure functions of the step and the seed."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from vsdemo.core.config import Config

LOWEST = 1e-3  # lowest rate as a fraction of the highest (Merckx 2019: 1e-6 of 1e-3)


def learning_rate(config: Config, step: int, steps_per_epoch: int) -> float:
    """Return the learning rate of optimizer step `step`, counted from 0.

    During warmup the rate rises linearly to `config.learning_rate`. Then it follows the schedule:

    - constant: the rate stays the same.
    - cosine: the rate falls along half a cosine wave over all epochs.
    - cyclic: the rate rises and falls along a cosine wave in each cycle, beginning at the lowest
      rate (Merckx & Frank 2019, Eq. 6).
    - step: the rate is divided by 10 after each cycle.

    Raises:
        ValueError: If the schedule is unknown.
    """
    highest = config.learning_rate
    if step < config.warmup:
        return highest * (step + 1) / config.warmup
    lowest = LOWEST * highest
    cycle = config.cycle_epochs * steps_per_epoch
    match config.schedule:
        case "constant":
            return highest
        case "cosine":
            share = min(1.0, step / max(1, config.epochs * steps_per_epoch))
            return lowest + (highest - lowest) * (1 + math.cos(math.pi * share)) / 2
        case "cyclic":
            return (
                lowest
                + (highest - lowest) * (1 + math.cos(math.pi + 2 * math.pi * step / cycle)) / 2
            )
        case "step":
            return highest * 0.1 ** (step // cycle)
    raise ValueError(f"unknown schedule {config.schedule!r}")


def epoch_batches(
    config: Config,
    captions_of: Sequence[Sequence[int]],
    epoch: int,
    lengths: Sequence[int] = (),
) -> list[Tensor]:
    """Return the caption indices of each batch of an epoch, each of shape (B,).

    The result depends only on the arguments, so a resumed run gets the same batches.

    With sampling `one`, one caption is drawn per photo, so no photo occurs twice in a batch; with
    `all`, every caption is used. A short last batch is dropped unless it is the only one. If
    `config.bucket` is more than 1, that many batches at a time are sorted by caption length to
    reduce padding, and the order of the batches is then shuffled.

    Args:
        config: Gives the seed, the sampling, the batch size and the bucket.
        captions_of: The caption indices of each photo.
        epoch: The epoch, counted from 0.
        lengths: The length of each caption; needed only if `config.bucket` is more than 1.
    """
    draw = torch.Generator().manual_seed(config.seed * 1_000_003 + epoch)
    described = [torch.tensor(c) for c in captions_of if c]
    if config.sampling == "one":
        which = torch.rand(len(described), generator=draw)
        chosen = torch.stack([c[int(w * len(c))] for c, w in zip(described, which, strict=True)])
    else:
        chosen = torch.cat(described)
    chosen = chosen[torch.randperm(len(chosen), generator=draw)]
    if len(chosen) > config.batch_size:
        chosen = chosen[: len(chosen) - len(chosen) % config.batch_size]
    if config.bucket == 1:
        return list(chosen.split(config.batch_size))
    length = torch.tensor(lengths)
    pools = chosen.split(config.bucket * config.batch_size)
    pools = [pool[length[pool].argsort(stable=True)] for pool in pools]
    batches = torch.cat(pools).split(config.batch_size)
    return [batches[i] for i in torch.randperm(len(batches), generator=draw)]
