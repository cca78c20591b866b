"""Optimisers, what of a model they move when, and the average of where it has been."""

from __future__ import annotations

from torch import Tensor, nn
from torch.optim import Adagrad, Adam, Optimizer
from torch.optim.swa_utils import AveragedModel

from vsdemo.core.config import Config
from vsdemo.encoders.dropout import DropoutSchedule
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.training.schedule import learning_rate

START = 1.0  # of AdaGrad's sums of squares, and what they are reset to (Socher 2014, section 5)


def build(config: Config, model: nn.Module) -> Optimizer:
    """An optimiser of all weights that are not fixed, with the penalty decay / 2 |weights|^2."""
    weights = [p for p in model.parameters() if p.requires_grad]
    if config.optimizer == "adagrad":
        return Adagrad(weights, weight_decay=config.decay, initial_accumulator_value=START)
    return Adam(weights, lr=0.0, weight_decay=config.decay, fused=True)


def average(
    config: Config, model: nn.Module, optimizer: Optimizer, steps_per_epoch: int
) -> AveragedModel | None:
    """The moving average of a model's weights over its optimiser's steps, where a configuration
    asks for it; for the `gentle` epochs the weights as they are. A model that is solved at once
    takes none."""
    if not config.average or hasattr(model, "fit"):
        return None
    gentle = config.gentle * steps_per_epoch

    def mean(before: Tensor, now: Tensor, steps: Tensor | int) -> Tensor:
        return before.lerp(now, 1.0 if steps < gentle else 1 - config.average)

    averaged = AveragedModel(model, avg_fn=mean)
    optimizer.register_step_post_hook(lambda *_: averaged.update_parameters(model))
    return averaged


def begin_step(optimizer: Optimizer, config: Config, step: int, steps_per_epoch: int) -> float:
    """Sets and returns the learning rate of a step; every `reset` epochs AdaGrad starts anew."""
    rate = learning_rate(config, step, steps_per_epoch)
    for group in optimizer.param_groups:
        group["lr"] = rate
    if config.optimizer == "adagrad" and step % (config.reset * steps_per_epoch) == 0:
        for state in optimizer.state.values():
            state["sum"].fill_(START)
    return rate


def begin_dropout(model: nn.Module, config: Config, step: int, steps_per_epoch: int) -> None:
    """After the `gentle` epochs a `DropoutSchedule` takes its full share."""
    for module in model.modules():
        if isinstance(module, DropoutSchedule):
            module.is_late = step >= config.gentle * steps_per_epoch


def hold_still(model: DualEncoder, config: Config, step: int, steps_per_epoch: int) -> None:
    """Drops the gradient of the tower whose turn it is not.

    With `alternate` epochs a turn, the photos' tower learns first, then the sentences', and so on
    (alternating minimisation, Socher 2014, section 5).
    """
    if config.alternate:
        turn = step // (config.alternate * steps_per_epoch) % 2
        resting = (model.text, model.image)[turn]
        for weights in resting.parameters():
            weights.grad = None
