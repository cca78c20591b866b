"""Optimizers, which weights they change when, and moving averages of weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor, nn
from torch.optim import Adagrad, Adam, AdamW, Optimizer
from torch.optim.swa_utils import AveragedModel

from vsdemo.core.config import Config
from vsdemo.encoders.dropout import DropoutSchedule
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.models.losses import check_finite
from vsdemo.training.schedule import learning_rate

FACTOR = "factor"  # of the learning rate, in a group of weights
INITIAL_SUM = 1.0  # AdaGrad's sums of squares start, and restart, here (Socher 2014, section 5)


def build(
    config: Config, model: nn.Module, slow: nn.Module | None = None, factor: float = 1.0
) -> Optimizer:
    """Return an optimizer of all trainable weights, with the penalty decay / 2 |weights|^2.

    AdamW takes the decay from the weights themselves (Loshchilov & Hutter 2019).

    Args:
        config: The configuration.
        model: The model.
        slow: A part of the model with a learning rate of its own.
        factor: What the learning rate of that part is multiplied by.
    """
    of_slow = list(slow.parameters()) if slow else []
    apart = set(of_slow)
    weights: Any = [p for p in model.parameters() if p.requires_grad and p not in apart]
    if of_slow:
        weights = [{"params": weights}, {"params": of_slow, FACTOR: factor}]
    if config.optimizer == "adagrad":
        return Adagrad(
            weights, weight_decay=config.weight_decay, initial_accumulator_value=INITIAL_SUM
        )
    kind = AdamW if config.optimizer == "adamw" else Adam
    return kind(weights, lr=0.0, weight_decay=config.weight_decay, fused=True)


def moving_average(
    model: nn.Module,
    optimizer: Optimizer,
    decay: Callable[[int], float],
    *,
    average_buffers: bool = False,
) -> AveragedModel:
    """Return an exponential moving average of a model, updated after each optimizer step.

        average <- decay(n) average + (1 - decay(n)) weights,  after n updates; weights at first

    Args:
        model: The model.
        optimizer: Its optimizer.
        decay: The decay after a number of updates.
        average_buffers: Whether floating-point buffers are averaged too, and not copied.
    """

    def mean(before: Tensor, now: Tensor, updates: Tensor | int) -> Tensor:
        if not before.is_floating_point():
            return now
        return before.lerp(now, 1 - decay(int(updates)))

    averaged = AveragedModel(model, avg_fn=mean, use_buffers=average_buffers)
    optimizer.register_step_post_hook(lambda *_: averaged.update_parameters(model))
    return averaged


def average(
    config: Config, model: nn.Module, optimizer: Optimizer, steps_per_epoch: int
) -> AveragedModel | None:
    """Return the moving average that a configuration asks for; None for none.

    It follows the weights without averaging during the first `average_start` epochs.
    """
    if not config.average_decay:
        return None
    start = config.average_start * steps_per_epoch

    def decay(updates: int) -> float:
        return 0.0 if updates < start else config.average_decay

    return moving_average(model, optimizer, decay)


def begin_step(optimizer: Optimizer, config: Config, step: int, steps_per_epoch: int) -> float:
    """Set and return the learning rate of a step; restart AdaGrad every `adagrad_reset` epochs."""
    rate = learning_rate(config, step, steps_per_epoch)
    for group in optimizer.param_groups:
        group["lr"] = rate * group.get(FACTOR, 1.0)
    if config.optimizer == "adagrad" and step % (config.adagrad_reset * steps_per_epoch) == 0:
        for state in optimizer.state.values():
            state["sum"].fill_(INITIAL_SUM)
    return rate


def begin_dropout(model: nn.Module, config: Config, step: int, steps_per_epoch: int) -> None:
    """Let each `DropoutSchedule` reach its full rate after the first `average_start` epochs."""
    for module in model.modules():
        if isinstance(module, DropoutSchedule):
            module.is_late = step >= config.average_start * steps_per_epoch


def freeze_resting_tower(
    model: DualEncoder, config: Config, step: int, steps_per_epoch: int
) -> None:
    """Drop the gradient of the encoder whose turn it is not.

    The image encoder learns for `alternate_epochs` epochs, then the text encoder, and so on
    (alternating minimization, Socher 2014, section 5).
    """
    if config.alternate_epochs:
        turn = step // (config.alternate_epochs * steps_per_epoch) % 2
        resting = (model.text, model.image)[turn]
        if resting is not None:
            for weights in resting.parameters():
                weights.grad = None


def clip_gradients(model: nn.Module, limit: float) -> dict[str, Tensor]:
    """Clip the norm of the gradient of a model, and return what it was, as `grad_norm`.

    Raises:
        FloatingPointError: If it is not finite.
    """
    norm = nn.utils.clip_grad_norm_(model.parameters(), limit)
    check_finite({"gradient": norm})
    return {"grad_norm": norm}
