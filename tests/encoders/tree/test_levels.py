"""The order of the nodes in a batch of trees."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.support.random_trees import random_trees
from vsdemo.core.sentences import Sentence
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.tree.levels import collate, flatten, multiply, weight_gradient
from vsdemo.encoders.tree.shapes import Nodes, Relations

SHAPE = Relations(("det", "obj", "nsubj"))
batches = st.lists(random_trees(), min_size=1, max_size=5)


def batch_of(trees):
    sentences = [Sentence("", tree) for tree in trees]
    vocab = Vocab.build(sentences)
    return collate([flatten(SHAPE(sentence, vocab)) for sentence in sentences]), vocab


@given(batches)
def test_children_come_a_level_before_their_parents(trees):
    batch, vocab = batch_of(trees)
    words = sorted(n for tree in trees for n in vocab.ids(tree.words))
    assert sorted(batch.words.tolist()) == words
    stops = [level.rows.stop for level in batch.levels]
    assert [level.rows.start for level in batch.levels] == [0, *stops[:-1]]
    assert stops[-1] == len(words)
    for below, above in zip(batch.levels, batch.levels[1:], strict=False):
        parents = batch.parents[below.rows]
        assert ((parents >= above.rows.start) & (parents < above.rows.stop)).all()


@given(batches)
def test_levels_are_ordered_by_group(trees):
    batch, _ = batch_of(trees)
    for rows, segments in batch.levels[:-1]:
        groups = [group for group, _ in segments]
        assert groups == sorted(set(groups))
        assert [s.rows.stop for s in segments][-1] == rows.stop
        for group, part in segments:
            assert (batch.groups[part] == group).all()
    for group, part in batch.group_segments:
        assert (batch.groups[batch.by_group[part]] == group).all()
    assert sorted(batch.by_group.tolist()) == list(range(len(batch.parents)))


@given(batches)
def test_roots_come_last_in_the_order_of_their_trees(trees):
    batch, vocab = batch_of(trees)
    roots = vocab.ids([tree.words[tree.root] for tree in trees])
    assert batch.words[batch.roots].tolist() == roots
    assert batch.sizes[batch.roots].tolist() == [len(tree.words) for tree in trees]
    sizes = torch.ones_like(batch.sizes)
    for edge, parent in enumerate(batch.parents.tolist()):
        sizes[parent] += sizes[edge]  # a child's row comes before its parent's
    assert torch.equal(sizes, batch.sizes)


@given(batches)
def test_products_agree_with_those_of_single_nodes(trees):
    batch, _ = batch_of(trees)
    x, weights = torch.randn(len(batch.words), 3), torch.randn(2, 3, 3)  # of two groups of four
    out = torch.empty(len(batch.parents), 3)
    for level in batch.levels:
        multiply(level.segments, x, weights, out)
    matrices = torch.cat([weights, torch.eye(3).expand(2, 3, 3)])[batch.groups]
    torch.testing.assert_close(out, torch.einsum("ei,eio->eo", x[: len(out)], matrices))

    grad = torch.randn_like(out)
    every = torch.einsum("ei,eo->eio", x[: len(out)], grad)
    expected = torch.zeros(4, 3, 3).index_add_(0, batch.groups, every)[:2]
    torch.testing.assert_close(weight_gradient(batch, x, grad, weights), expected)


def test_batch_moves_to_a_device():
    trees = [flatten(Nodes([3, 4], [1, 1], [0, 0])), flatten(Nodes([5], [0], [0]))]
    batch = collate(trees)
    moved = batch.to("meta")
    assert {x.device.type for x in moved if isinstance(x, torch.Tensor)} == {"meta"}
    assert (moved.levels, moved.group_segments) == (batch.levels, batch.group_segments)
    alone = collate(trees[1:])
    assert (len(alone.levels), alone.group_segments) == (1, ())
