"""What Pocket starts from: DenseNet-169 without the parts that matter least.

A part, which is a layer or a channel, matters as much as the teacher's view of crops changes, to
first order, when the output of the part is replaced by its mean. Molchanov et al. (2017, "Pruning
convolutional neural networks for resource efficient inference") use the change of a loss instead,
but the loss of the teacher itself is 0.

The layers that stay are fitted one after another, by least squares, to what they compute in the
whole network, given what the pruned network computes up to there (He et al. 2017, "Channel pruning
for accelerating very deep neural networks").
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from tqdm import tqdm

from vsdemo.core.device import autocast
from vsdemo.vision.backbones.pocket import FEATURES, STAGES, DenseLayer, Pocket

CHUNK = 32  # crops that a network reads at a time
RIDGE = 3e-3  # of least squares, as a fraction of the mean square of the inputs
PATCHES = 150_000  # places at which a 3 x 3 convolution is fitted, at most

Layer = tuple[int, int]  # number of a block, and of a layer in it


@dataclass
class Importance:
    """How much the parts of the teacher matter.

    Attributes:
        layers: Each layer.
        bottlenecks: Each channel within a layer, (C,).
        transitions: Each channel after a block, (C,), by the number of the block.
    """

    layers: dict[Layer, float] = field(default_factory=dict)
    bottlenecks: dict[Layer, Tensor] = field(default_factory=dict)
    transitions: dict[int, Tensor] = field(default_factory=dict)

    def kept_layers(self, block: int) -> list[int]:
        """Return the numbers of the layers of a block that Pocket keeps."""
        importance = {i: value for (b, i), value in self.layers.items() if b == block}
        best = sorted(importance, key=lambda i: -importance[i])
        return sorted(best[: STAGES[block].layers])


@dataclass
class Outputs:
    """What a DenseNet computes of crops.

    Attributes:
        bottlenecks: Within each layer, after its second norm and ReLU, (B, C, h, w).
        layers: The channels that each layer adds, (B, GROWTH, h, w).
        transitions: The map after each block but the last, halved, (B, C, h, w).
        last: The last map, after its ReLU, (B, C, h, w).
    """

    bottlenecks: dict[Layer, Tensor]
    layers: dict[Layer, Tensor]
    transitions: dict[int, Tensor]
    last: Tensor


def prune(
    net: nn.Module, crops: Tensor, mean: Tensor, directions: Tensor
) -> tuple[Pocket, nn.Conv2d]:
    """Prune the teacher.

    Args:
        net: The `features` of torchvision's DenseNet-169 in evaluation mode, with its norms folded
            into convolutions where possible, as `load_backbone` returns it.
        crops: Normalised crops (B, 3, s, s), of which all outputs of a layer fit into memory.
        mean: The mean of a cell of the teacher's map, (C,).
        directions: What counts in the teacher's map, (C, K).

    Returns:
        A Pocket in evaluation mode, and a 1 x 1 convolution of its map that computes what counts,
        (B, FEATURES, h, w) -> (B, K, h, w).
    """
    importance = measure(net, crops, directions)
    with torch.no_grad():
        return _Pruning(net, crops, importance).fit(mean, directions)


def measure(net: nn.Module, crops: Tensor, directions: Tensor) -> Importance:
    """Measure how much the parts of the teacher matter.

    With a the output of a part, that is the sum over crops of

        (sum over places and channels of (a - mean of a) * df/da)^2,

    where f is the sum of the teacher's view over places and directions, with random signs. The mean
    is that over CHUNK of the crops.

    Args:
        net: As for `prune`.
        crops: As for `prune`.
        directions: As for `prune`.
    """
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        some = outputs(net, crops[:: math.ceil(len(crops) / CHUNK)])
    result = Importance()
    for chunk in tqdm(crops.split(CHUNK), desc="importance"):
        computed = outputs(net, chunk, gradients=True)
        view = torch.einsum("bchw,ck->bkhw", computed.last, directions)
        signs = 2 * torch.randint(2, view.shape, generator=generator) - 1
        (signs.to(view) * view).sum().backward()
        for layer, x in computed.layers.items():
            effect = float(_effects(x, some.layers[layer]).sum(1).square().sum())
            result.layers[layer] = result.layers.get(layer, 0.0) + effect
        for layer, x in computed.bottlenecks.items():
            effects = _effects(x, some.bottlenecks[layer]).square().sum(0)
            result.bottlenecks[layer] = result.bottlenecks.get(layer, 0) + effects
        for block, x in computed.transitions.items():
            effects = _effects(x, some.transitions[block]).square().sum(0)
            result.transitions[block] = result.transitions.get(block, 0) + effects
    return result


def outputs(net: Any, crops: Tensor, *, gradients: bool = False) -> Outputs:
    """Return what the parts of a DenseNet compute of crops.

    Args:
        net: As for `prune`.
        crops: As for `prune`.
        gradients: Whether a backward pass from the last map stores the gradients of all outputs.
    """
    stem, blocks, transitions = _parts(net)
    result = Outputs({}, {}, {}, last=crops)
    x = stem(crops).requires_grad_(gradients)
    for number, block in enumerate(blocks):
        for i, layer in enumerate(block):
            reduced = F.relu(layer.norm2(layer.conv1(F.relu(layer.norm1(x)))))
            result.bottlenecks[number, i] = reduced
            result.layers[number, i] = layer.conv2(reduced)
            x = torch.cat([x, result.layers[number, i]], 1)
        if number < len(transitions):
            result.transitions[number] = x = transitions[number](x)
    result.last = F.relu(net.norm5(x))
    if gradients:
        for of in (result.bottlenecks, result.layers, result.transitions):
            for output in of.values():
                output.retain_grad()
    return result


def _effects(x: Tensor, some: Tensor) -> Tensor:
    """Return how f changes if a channel of x is replaced by its mean over `some`, (B, C)."""
    assert x.grad is not None
    return ((x.detach() - some.mean((0, 2, 3), keepdim=True)) * x.grad).sum((2, 3))


def _parts(net: Any) -> tuple[nn.Module, list[list[Any]], list[Any]]:
    """Return the stem of a DenseNet, the layers of each block, and its transitions."""
    stem = nn.Sequential(net.conv0, net.norm0, net.relu0, net.pool0)
    blocks = [list(net.get_submodule(f"denseblock{k}").children()) for k in (1, 2, 3, 4)]
    return stem, blocks, [net.get_submodule(f"transition{k}") for k in (1, 2, 3)]


class _Pruning:
    """The fit of a Pocket to a DenseNet, part by part.

    Attributes:
        teacher_map: The map of the teacher up to the current part, (B, C, h, w).
        student_map: That of the student, with fewer channels.
        kept: The numbers of those channels of the teacher's map that the student has.

    Args:
        net: As for `prune`.
        crops: As for `prune`.
        importance: How much the parts of `net` matter.
    """

    def __init__(self, net: Any, crops: Tensor, importance: Importance) -> None:
        self.net, self.importance = net, importance
        self.pocket = Pocket().eval().to(crops.device)
        stem, self.blocks, self.transitions = _parts(net)
        self.teacher_map = _in_chunks(stem, crops)
        convolution, norm = cast(Any, self.pocket.stem[:2])
        convolution.weight.copy_(net.conv0.weight)
        x = _in_chunks(convolution, crops)
        _set_norm(norm, x, torch.ones_like(net.conv0.bias), net.conv0.bias)
        self.student_map = _in_chunks(self.pocket.stem[1:], x)
        self.kept = torch.arange(self.student_map.shape[1])

    def fit(self, mean: Tensor, directions: Tensor) -> tuple[Pocket, nn.Conv2d]:
        """Fit all parts; see `prune`."""
        for number, block in enumerate(self.pocket.blocks):
            kept_layers = self.importance.kept_layers(number)
            students = iter(cast(Any, block))
            for i, teacher in enumerate(tqdm(self.blocks[number], desc=f"block {number + 1}")):
                self._layer(teacher, next(students) if i in kept_layers else None, (number, i))
            if number < len(self.transitions):
                self._transition(number)
        return self.pocket, self._last(mean, directions)

    def _layer(self, teacher: Any, student: DenseLayer | None, number: Layer) -> None:
        """Fit a layer, or only go past it if the student has none."""
        reduced = _in_chunks(
            lambda x: teacher.norm2(teacher.conv1(F.relu(teacher.norm1(x)))), self.teacher_map
        )
        grown = _in_chunks(lambda x: teacher.conv2(F.relu(x)), reduced)
        if student:
            self._norm(student.norm, teacher.norm1)
            x = F.relu(student.norm(self.student_map))
            width = STAGES[number[0]].bottleneck
            channels = _largest(self.importance.bottlenecks[number], width)
            _fit_with_norm(student.reduce, student.reduced_norm, x, reduced[:, channels])
            x = F.relu(student.reduced_norm(student.reduce(x)))
            step = math.ceil(x[:, 0].numel() / PATCHES)
            patches = F.unfold(x[::step], 3, padding=1)  # (B, 9 C, h w)
            weight, _ = _least_squares(patches, grown[::step].flatten(2), constant=False)
            student.grow.weight.copy_(weight.unflatten(1, (-1, 3, 3)))
            self.student_map = torch.cat([self.student_map, student.grow(x)], 1)
            first = self.teacher_map.shape[1]
            self.kept = torch.cat([self.kept, torch.arange(first, first + grown.shape[1])])
        self.teacher_map = torch.cat([self.teacher_map, grown], 1)

    def _transition(self, number: int) -> None:
        """Fit the end of a block."""
        teacher = self.transitions[number]
        norm, _, convolution = cast(Any, self.pocket.transitions[number])
        self._norm(norm, teacher.norm)
        x = F.relu(norm(self.student_map))
        target = _in_chunks(lambda y: teacher.conv(F.relu(teacher.norm(y))), self.teacher_map)
        width = STAGES[number + 1].inputs
        self.kept = _largest(self.importance.transitions[number], width)
        weight, _ = _least_squares(x, target[:, self.kept], constant=False)
        convolution.weight.copy_(weight[:, :, None, None])
        self.student_map = F.avg_pool2d(convolution(x), 2)
        self.teacher_map = F.avg_pool2d(target, 2)

    def _last(self, mean: Tensor, directions: Tensor) -> nn.Conv2d:
        """Fit the last layers to the channels of the last map that count most."""
        norm, _, convolution, last_norm, _ = cast(Any, self.pocket.last)
        self._norm(norm, self.net.norm5)
        x = F.relu(norm(self.student_map))
        last = F.relu(self.net.norm5(self.teacher_map))
        channels = _largest(directions.square().sum(1) * last.var((0, 2, 3)), FEATURES)
        _fit_with_norm(convolution, last_norm, x, last[:, channels])
        view = torch.einsum("bchw,ck->bkhw", last - mean[:, None, None], directions)
        weight, bias = _least_squares(F.relu(last_norm(convolution(x))), view)
        layer = nn.Conv2d(FEATURES, len(weight), 1)
        layer.weight, layer.bias = nn.Parameter(weight[:, :, None, None]), nn.Parameter(bias)
        return layer

    def _norm(self, student: nn.BatchNorm2d, teacher: nn.BatchNorm2d) -> None:
        """Make a norm compute what the teacher's does, for the channels that are kept."""
        assert teacher.running_mean is not None
        assert teacher.running_var is not None
        scale = teacher.weight / (teacher.running_var + teacher.eps).sqrt()
        shift = teacher.bias - teacher.running_mean * scale
        _set_norm(student, self.student_map, scale[self.kept], shift[self.kept])


def _fit_with_norm(convolution: nn.Conv2d, norm: nn.BatchNorm2d, x: Tensor, target: Tensor) -> None:
    """Fit a 1 x 1 convolution and the norm after it."""
    weight, bias = _least_squares(x, target)
    convolution.weight.copy_(weight[:, :, None, None])
    _set_norm(norm, convolution(x), torch.ones_like(bias), bias)


def _in_chunks(part: Any, x: Tensor) -> Tensor:
    with autocast():
        return torch.cat([part(chunk).float() for chunk in x.split(CHUNK)])


def _largest(values: Tensor, count: int) -> Tensor:
    """Return the indices of the largest values, in their order, on the CPU."""
    return values.argsort(descending=True)[:count].sort().values.cpu()


def _set_norm(norm: nn.BatchNorm2d, x: Tensor, scale: Tensor, shift: Tensor) -> None:
    """Make a norm compute scale * x + shift, in training mode as in evaluation mode."""
    assert norm.running_mean is not None
    assert norm.running_var is not None
    mean, variance = x.mean((0, 2, 3)), x.var((0, 2, 3))
    norm.running_mean.copy_(mean)
    norm.running_var.copy_(variance)
    norm.weight.copy_(scale * (variance + norm.eps).sqrt())
    norm.bias.copy_(shift + scale * mean)


def _least_squares(x: Tensor, y: Tensor, *, constant: bool = True) -> tuple[Tensor, Tensor]:
    """Return W (Q, P) and b (Q,) for which W x + b is closest to y over crops and places.

    Args:
        x: (B, P, ...).
        y: (B, Q, ...).
        constant: Whether b may differ from 0.
    """
    x, y = (z.flatten(2).transpose(1, 2).flatten(0, 1) for z in (x, y))  # (N, P) and (N, Q)
    x_mean, y_mean = x.mean(0), y.mean(0)
    squares, products = (x.T @ x).double() / len(x), (x.T @ y).double() / len(x)
    if constant:
        squares -= x_mean[:, None] * x_mean
        products -= x_mean[:, None] * y_mean
    squares.diagonal().add_(RIDGE * squares.diagonal().mean())
    weight = torch.linalg.solve(squares, products).T.float()
    return weight, y_mean - weight @ x_mean if constant else torch.zeros_like(y_mean)
