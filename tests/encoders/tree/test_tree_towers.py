"""What holds for every tower over trees: batched, they are the plain recursion."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.func import functional_call

from tests.support.random_trees import random_trees
from vsdemo.core.sentences import Sentence, Tree
from vsdemo.data.text.constituents import from_dependencies
from vsdemo.data.text.vocab import PAD, Vocab
from vsdemo.encoders.heads import Twin
from vsdemo.encoders.tree import recursion
from vsdemo.encoders.tree.lstm import TreeLSTM
from vsdemo.encoders.tree.rnn import NONLINEARITIES, TreeRNN
from vsdemo.encoders.tree.shapes import Chain, Constituents, Positions, Relations

SHAPES = {
    "chain": Chain(),
    "constituents": Constituents(),
    "positions": Positions(2, 1, beyond=True),
    "relations": Relations(("det", "obj", "nsubj")),
}
FORMS = {
    **{f"rnn-{name}": ("rnn", shape, {}) for name, shape in SHAPES.items()},
    **{f"rnn-{f}": ("rnn", SHAPES["relations"], {"nonlinearity": f}) for f in NONLINEARITIES},
    "rnn-weighted": ("rnn", SHAPES["positions"], {"weighted": True}),
    "lstm-positions": ("lstm", Positions(2, 2), {}),
    "lstm-relations": ("lstm", SHAPES["relations"], {}),
    "lstm-chain": ("lstm", Chain(), {}),
}


def sentence_of(tree: Tree) -> Sentence:
    return Sentence(" ".join(tree.words), tree, from_dependencies(tree))


def tower_of(form: str, vocab: Vocab) -> TreeRNN | TreeLSTM:
    torch.manual_seed(0)
    kind, shape, options = FORMS[form]
    if kind == "rnn":
        return TreeRNN(vocab, shape, word_dim=4, dim=5, noise=0.3, **options)
    return TreeLSTM(vocab, shape, word_dim=4, units=5, dim=6, layer=Twin(5, 6))


def recursive(tower, sentence):
    return (recursion.rnn if isinstance(tower, TreeRNN) else recursion.lstm)(tower, sentence)


def wide(children: int) -> Tree:
    """A root with children on both sides."""
    middle = children // 2
    heads = tuple(0 if i == middle else middle + 1 for i in range(children + 1))
    labels = tuple("det" if i % 3 else "odd" for i in range(children + 1))
    return Tree(tuple(f"w{i % 7}" for i in range(children + 1)), heads, labels)


def deep(words: int) -> Tree:
    """A chain: every word hangs on the next."""
    heads = (*range(2, words + 1), 0)
    return Tree(tuple(f"w{i % 5}" for i in range(words)), heads, ("obj",) * words)


def assert_is_the_recursion(form: str, sentences: list[Sentence]) -> None:
    """Equal states of the roots, and equal gradients of every parameter, to 1e-6 in float64."""
    tower = tower_of(form, Vocab.build(sentences)).double()
    batch = tower.collate(tower.prepare(sentences))
    batched = tower.states(batch)[batch.roots]
    single = torch.stack([recursive(tower, sentence) for sentence in sentences])
    torch.testing.assert_close(batched, single, atol=1e-6, rtol=1e-6)
    direction = torch.randn_like(single)
    parameters = [tower.table.weight, *tower.word.parameters(), tower.weights]
    grads = [
        torch.autograd.grad(x, parameters, direction, allow_unused=True) for x in (batched, single)
    ]
    for ours, plain in zip(*grads, strict=True):
        expected = torch.zeros_like(ours) if plain is None else plain
        torch.testing.assert_close(ours, expected, atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=15)
@given(trees=st.lists(random_trees(), min_size=1, max_size=6))
def test_level_batching_is_the_plain_recursion(form, trees):
    assert_is_the_recursion(form, [sentence_of(tree) for tree in trees])


@pytest.mark.parametrize("form", FORMS)
def test_odd_trees_beside_plain_ones(form):
    trees = [wide(30), deep(200), deep(1), wide(3), wide(1), deep(2)]
    assert_is_the_recursion(form, [sentence_of(tree) for tree in trees])
    assert_is_the_recursion(form, [sentence_of(deep(1))])


@pytest.fixture(params=FORMS)
def tower(request, vocab):
    return tower_of(request.param, vocab).eval()


@pytest.fixture
def trees(fake_parser, sentences):
    """The sentences that have words, with their trees."""
    return [sentence_of(tree) for tree in fake_parser.parse([s.text for s in sentences if s.text])]


@torch.no_grad()
def test_batch_composition_never_changes_an_embedding(tower, trees, embed):
    alone = torch.cat([embed(tower, [s]) for s in trees])
    torch.testing.assert_close(embed(tower, trees), alone, atol=1e-6, rtol=0)
    order = torch.randperm(len(trees))
    shuffled = embed(tower, [trees[i] for i in order])
    torch.testing.assert_close(shuffled, alone[order], atol=1e-6, rtol=0)
    assert torch.pdist(alone).min() > 1e-4  # nor are they all the same


@torch.no_grad()
def test_a_label_never_seen_counts_as_other(vocab, embed):
    tower = tower_of("rnn-relations", vocab)
    new, other = (
        Sentence("", Tree(("a", "dog"), (2, 0), (label, "root"))) for label in ("vocative", "other")
    )
    assert torch.equal(embed(tower, [new]), embed(tower, [other]))


def test_every_parameter_learns_but_the_padding(tower, trees, embed):
    embed(tower, trees)[:, 0].sum().backward()
    for name, parameter in tower.named_parameters():
        assert parameter.grad.abs().sum() > 0, name
    assert (tower.table.weight.grad[PAD] == 0).all()


@torch.no_grad()
def test_matrices_start_as_the_identity_plus_noise(vocab):
    tower = TreeRNN(vocab, Relations(("det",)), word_dim=30, dim=40, noise=0.02)
    for matrix in (tower.word.weight, *tower.weights):
        noise = matrix - torch.eye(*matrix.shape)
        assert noise.std() == pytest.approx(0.02, rel=0.1)
    exact = TreeRNN(vocab, Relations(("det",)), word_dim=4, dim=4, noise=0)
    assert torch.equal(exact.weights[1], torch.eye(4))


@pytest.mark.parametrize("form", [f for f in FORMS if f != "rnn-relu"])  # which has a kink
def test_gradients_are_those_of_differences(form, vocab, trees):
    tower = tower_of(form, vocab).double()
    batch = tower.collate(tower.prepare(trees[:2]))
    tower.head = nn.Identity()  # the head computes in float32
    parameters = [(name, p) for name, p in tower.named_parameters() if "table" not in name]
    names, values = zip(*parameters, strict=True)  # the table's padding keeps still

    def run(*weights: torch.Tensor) -> torch.Tensor:
        found = dict(zip(names, weights, strict=True))
        return functional_call(tower, found, (batch,)).x[:, :2]

    assert torch.autograd.gradcheck(run, tuple(v.detach().requires_grad_() for v in values))


@torch.no_grad()
def test_half_precision_stays_close(tower, trees, embed):
    full = embed(tower, trees)
    with torch.autocast("cpu", torch.bfloat16):
        half = embed(tower, trees)
    assert half.dtype == torch.float32
    assert not torch.equal(half, full)
    assert (half * full).sum(1).min() > 0.99


def test_dropout_acts_in_training_only(vocab, trees, embed):
    for tower in (
        TreeRNN(vocab, Positions(2, 2), word_dim=6, dim=8, dropout=0.5),
        TreeLSTM(
            vocab,
            Positions(2, 2),
            word_dim=6,
            units=8,
            dim=8,
            layer=nn.Identity(),
            dropout=0.5,
        ),
    ):
        assert not torch.equal(embed(tower, trees), embed(tower, trees))
        tower.eval()
        assert torch.equal(embed(tower, trees), embed(tower, trees))
