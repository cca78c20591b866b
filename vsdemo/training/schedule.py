"""Learning-rate schedules and the order of batches: pure functions of the step."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from vsdemo.core.config import Config

LOWEST = 1e-3  # of a cosine or a cycle, as a share of its highest (Merckx 2019: 1e-6 of 1e-3)


def learning_rate(config: Config, step: int, steps_per_epoch: int) -> float:
    """The rate of optimiser step `step`, from 0.

    constant; cosine: one half wave over all epochs; cyclic: one full wave a cycle, starting low
    (Merckx & Frank 2019, Eq. 6); step: divided by 10 after each cycle.
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
    """Caption numbers of each batch of an epoch, a function of the seed and the epoch alone.

    sampling `one` draws one caption a photo, so that no photo stands twice in a batch; `all` goes
    over every caption. A last short batch is dropped unless it is the only one. With a `bucket` of
    more than one batch, so many at a time are sorted by the `lengths` of their captions, and the
    batches of all buckets come by lot: little is padded, and whoever is dropped is so by lot.
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
