"""Optimizers, compared with their definitions step by step."""

import pytest
import torch
from torch import nn

from vsdemo.core.config import Config
from vsdemo.encoders.dropout import LateDropout
from vsdemo.training import optim

EPOCH = 3  # steps
ADAGRAD = Config(optimizer="adagrad", learning_rate=0.1, weight_decay=0.5, adagrad_reset=2)


def run(config: Config, steps: int) -> list[float]:
    """Train a model with one weight w and the loss 2 w; return w after each step."""
    model = nn.Linear(1, 1, bias=False)
    nn.init.ones_(model.weight)
    optimizer, weights = optim.build(config, model), []
    for step in range(steps):
        optim.begin_step(optimizer, config, step, EPOCH)
        optimizer.zero_grad()
        (2 * model.weight).sum().backward()
        optimizer.step()
        weights.append(model.weight.item())
    return weights


def test_adagrad_starts_at_1_and_is_reset_after_some_epochs():
    weight, squares, expected = 1.0, 1.0, []
    for step in range(4 * EPOCH):
        if step == 2 * EPOCH:
            squares = 1.0
        gradient = 2 + 0.5 * weight  # includes the weight decay
        squares += gradient**2
        weight -= 0.1 * gradient / squares**0.5
        expected.append(weight)
    assert run(ADAGRAD, 4 * EPOCH) == pytest.approx(expected, rel=1e-5)


def test_weight_decay_bounds_the_weights_of_adam():
    weights = run(Config(learning_rate=0.1, weight_decay=10), 200)
    assert weights[-1] == pytest.approx(-0.2, abs=0.02)  # the minimum of 2 w + 10 / 2 w^2
    assert run(Config(learning_rate=0.1), 200)[-1] < -10


def test_the_decay_of_adamw_is_apart_from_the_gradient():
    """A constant gradient moves a weight by the learning rate, however large it is."""
    weight, expected = 1.0, []
    for _ in range(20):
        weight = weight * (1 - 0.1 * 0.5) - 0.1
        expected.append(weight)
    decayed = Config(optimizer="adamw", learning_rate=0.1, weight_decay=0.5)
    assert run(decayed, 20) == pytest.approx(expected, rel=1e-5)
    plain = {"learning_rate": 0.1, "weight_decay": 0.0}
    adamw, adam = (run(Config(optimizer=name, **plain), 20) for name in ("adamw", "adam"))
    assert adamw == adam
    in_gradient = run(decayed.model_copy(update={"optimizer": "adam"}), 20)
    assert in_gradient != pytest.approx(expected, rel=1e-2)


@pytest.mark.parametrize("average_start", [0, 1])
def test_the_average_of_weights_follows_its_definition(average_start):
    model = nn.Linear(1, 1, bias=False)
    nn.init.constant_(model.weight, 10.0)  # near 0, single precision would not be enough
    config = Config(learning_rate=0.1, average_decay=0.75, average_start=average_start)
    optimizer = optim.build(config, model)
    average = optim.average(config, model, optimizer, EPOCH)
    expected = None
    for step in range(3 * EPOCH):
        optim.begin_step(optimizer, config, step, EPOCH)
        model(torch.ones(1, 1)).sum().backward()
        optimizer.step()
        now = model.weight.item()
        early = expected is None or step < average_start * EPOCH
        expected = now if early else 0.75 * expected + 0.25 * now
        assert average.module.weight.item() == pytest.approx(expected)
    assert expected != pytest.approx(now)
    assert optim.average(Config(), model, optimizer, EPOCH) is None


def test_late_dropout_begins_with_the_average():
    model = nn.Sequential(LateDropout(0.1, 0.5), nn.Dropout(0.2))
    late = []
    for step in range(3 * EPOCH):
        optim.begin_dropout(model, Config(average_start=2), step, EPOCH)
        late.append(model[0].is_late)
    assert late == [False] * 2 * EPOCH + [True] * EPOCH


def test_fixed_weights_are_not_optimized():
    model = nn.Linear(2, 1)
    model.weight.requires_grad_(False)
    for config in (Config(), ADAGRAD):
        (group,) = optim.build(config, model).param_groups
        assert [p is model.bias for p in group["params"]] == [True]


@pytest.mark.parametrize("epochs", [0, 1, 2])
def test_encoders_are_trained_in_turn(epochs):
    model = nn.ModuleDict({"text": nn.Linear(1, 1), "image": nn.Linear(1, 1)})
    model.text, model.image = model["text"], model["image"]
    trained = []
    for step in range(4 * EPOCH):
        (model.text.weight + model.image.weight).sum().backward()
        optim.freeze_resting_tower(model, Config(alternate_epochs=epochs), step, EPOCH)
        encoders = {"image": model.image, "text": model.text}
        trained.append([name for name, e in encoders.items() if e.weight.grad is not None])
    if not epochs:
        assert trained == [["image", "text"]] * 4 * EPOCH
    else:
        turns = [["image"]] * epochs * EPOCH + [["text"]] * epochs * EPOCH
        assert trained == (turns * 2)[: 4 * EPOCH]


def test_begin_step_returns_the_learning_rate():
    optimizer = optim.build(Config(), nn.Linear(1, 1))
    rate = optim.begin_step(optimizer, Config(warmup=4, learning_rate=1.0), 1, EPOCH)
    assert rate == optimizer.param_groups[0]["lr"] == 0.5
