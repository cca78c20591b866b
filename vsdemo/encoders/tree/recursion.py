"""The recursion as the papers write it, a node at a time: what the tests hold level batching
against, and what `vsdemo bench` times it against."""

from __future__ import annotations

import torch
from torch import Tensor

from vsdemo.core.sentences import Sentence
from vsdemo.encoders.tree.lstm import TreeLSTM
from vsdemo.encoders.tree.rnn import TreeRNN
from vsdemo.encoders.tree.shapes import Nodes


def rnn(tower: TreeRNN, sentence: Sentence) -> Tensor:
    """The state of the root (D,), Socher 2014, Eq. 1 to 4."""
    nodes = tower.shape(sentence, tower.vocab)
    children, root = _children(nodes)
    words = tower.table(torch.tensor(nodes.words, device=tower.weights.device))

    def visit(i: int) -> tuple[Tensor, int]:
        """The state of node i and its size."""
        total, size = tower.word(words[i]), 1
        for j in children[i]:
            h, below = visit(j)
            group = nodes.groups[j]
            if group < len(tower.weights):
                h = tower.weights[group] @ h
            total = total + (below * h if tower.weighted else h)
            size += below
        total = total / size if tower.weighted else total
        return tower.f.apply_(total.clone()), size

    return visit(root)[0]


def lstm(tower: TreeLSTM, sentence: Sentence) -> Tensor:
    """h of the root (units,), Dufour 2015, Eq. 2 to 9."""
    nodes = tower.shape(sentence, tower.vocab)
    children, root = _children(nodes)
    words = tower.table(torch.tensor(nodes.words, device=tower.weights.device))
    d = tower.weights.shape[2]

    def visit(i: int) -> tuple[Tensor, Tensor]:
        """h and c of node i."""
        below = [(nodes.groups[j], *visit(j)) for j in children[i]]
        x = tower.word(words[i])
        x = torch.cat([x, x[3 * d :].repeat(len(tower.weights) - 1)])
        gates = x + sum(tower.weights[group] @ h for group, h, _ in below)
        i_gate, o, u, *forget = gates.split(d)
        c = i_gate.sigmoid() * u.tanh()
        for group, _, c_child in below:
            c = c + forget[group].sigmoid() * c_child
        return o.sigmoid() * c.tanh(), c

    return visit(root)[0]


def _children(nodes: Nodes) -> tuple[list[list[int]], int]:
    """(the children of each node, the root)."""
    children: list[list[int]] = [[] for _ in nodes.words]
    root = 0
    for node, parent in enumerate(nodes.parents):
        if node == parent:
            root = node
        else:
            children[parent].append(node)
    return children, root
