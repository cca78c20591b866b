"""Every encoder over trees agrees with the plain recursion."""

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


def build(form: str, vocab: Vocab) -> TreeRNN | TreeLSTM:
    torch.manual_seed(0)
    kind, shape, options = FORMS[form]
    if kind == "rnn":
        return TreeRNN(vocab, shape, word_dim=4, dim=5, noise=0.3, **options)
    return TreeLSTM(vocab, shape, word_dim=4, units=5, dim=6, layer=Twin(5, 6, signed=False))


def recursive(encoder, sentence):
    return (recursion.rnn if isinstance(encoder, TreeRNN) else recursion.lstm)(encoder, sentence)


def wide(children: int) -> Tree:
    """A root with children on both sides."""
    middle = children // 2
    heads = tuple(0 if i == middle else middle + 1 for i in range(children + 1))
    labels = tuple("det" if i % 3 else "odd" for i in range(children + 1))
    return Tree(tuple(f"w{i % 7}" for i in range(children + 1)), heads, labels)


def deep(words: int) -> Tree:
    """A chain: the head of each word is the next."""
    heads = (*range(2, words + 1), 0)
    return Tree(tuple(f"w{i % 5}" for i in range(words)), heads, ("obj",) * words)


def assert_agrees_with_recursion(form: str, sentences: list[Sentence]) -> None:
    """Equal states of the roots, and equal gradients of every parameter, to 1e-6 in float64."""
    encoder = build(form, Vocab.build(sentences)).double()
    batch = encoder.collate(encoder.prepare(sentences))
    batched = encoder.states(batch)[batch.roots]
    single = torch.stack([recursive(encoder, sentence) for sentence in sentences])
    torch.testing.assert_close(batched, single, atol=1e-6, rtol=1e-6)
    direction = torch.randn_like(single)
    parameters = [encoder.table.weight, *encoder.word.parameters(), encoder.weights]
    grads = [
        torch.autograd.grad(x, parameters, direction, allow_unused=True) for x in (batched, single)
    ]
    for ours, plain in zip(*grads, strict=True):
        expected = torch.zeros_like(ours) if plain is None else plain
        torch.testing.assert_close(ours, expected, atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=15)
@given(trees=st.lists(random_trees(), min_size=1, max_size=6))
def test_level_batching_agrees_with_the_recursion(form, trees):
    assert_agrees_with_recursion(form, [sentence_of(tree) for tree in trees])


@pytest.mark.parametrize("form", FORMS)
def test_wide_and_deep_trees_agree_with_the_recursion(form):
    trees = [wide(30), deep(200), deep(1), wide(3), wide(1), deep(2)]
    assert_agrees_with_recursion(form, [sentence_of(tree) for tree in trees])
    assert_agrees_with_recursion(form, [sentence_of(deep(1))])


@pytest.fixture(params=FORMS)
def encoder(request, vocab):
    return build(request.param, vocab).eval()


@pytest.fixture
def trees(fake_parser, sentences):
    """The sentences with words, and their trees."""
    return [sentence_of(tree) for tree in fake_parser.parse([s.text for s in sentences if s.text])]


@torch.no_grad()
def test_embedding_does_not_depend_on_the_batch(encoder, trees, embed):
    alone = torch.cat([embed(encoder, [s]) for s in trees])
    torch.testing.assert_close(embed(encoder, trees), alone, atol=1e-6, rtol=0)
    order = torch.randperm(len(trees))
    shuffled = embed(encoder, [trees[i] for i in order])
    torch.testing.assert_close(shuffled, alone[order], atol=1e-6, rtol=0)
    assert torch.pdist(alone).min() > 1e-4  # and they differ


@torch.no_grad()
def test_unseen_relation_counts_as_other(vocab, embed):
    encoder = build("rnn-relations", vocab)
    new, other = (
        Sentence("", Tree(("a", "dog"), (2, 0), (label, "root"))) for label in ("vocative", "other")
    )
    assert torch.equal(embed(encoder, [new]), embed(encoder, [other]))


def test_every_parameter_but_the_padding_gets_a_gradient(encoder, trees, embed):
    embed(encoder, trees)[:, 0].sum().backward()
    for name, parameter in encoder.named_parameters():
        assert parameter.grad.abs().sum() > 0, name
    assert (encoder.table.weight.grad[PAD] == 0).all()


@torch.no_grad()
def test_matrices_start_as_the_identity_plus_noise(vocab):
    encoder = TreeRNN(vocab, Relations(("det",)), word_dim=30, dim=40, noise=0.02)
    for matrix in (encoder.word.weight, *encoder.weights):
        noise = matrix - torch.eye(*matrix.shape)
        assert noise.std() == pytest.approx(0.02, rel=0.1)
    exact = TreeRNN(vocab, Relations(("det",)), word_dim=4, dim=4, noise=0)
    assert torch.equal(exact.weights[1], torch.eye(4))


@pytest.mark.parametrize("form", [f for f in FORMS if f != "rnn-relu"])  # not differentiable at 0
def test_gradients_agree_with_differences(form, vocab, trees):
    encoder = build(form, vocab).double()
    batch = encoder.collate(encoder.prepare(trees[:2]))
    encoder.head = nn.Identity()  # the head computes in float32
    parameters = [(name, p) for name, p in encoder.named_parameters() if "table" not in name]
    names, values = zip(*parameters, strict=True)  # the padding's vector is fixed

    def run(*weights: torch.Tensor) -> torch.Tensor:
        named = dict(zip(names, weights, strict=True))
        return functional_call(encoder, named, (batch,)).x[:, :2]

    assert torch.autograd.gradcheck(run, tuple(v.detach().requires_grad_() for v in values))


@torch.no_grad()
def test_half_precision_stays_close(encoder, trees, embed):
    full = embed(encoder, trees)
    with torch.autocast("cpu", torch.bfloat16):
        half = embed(encoder, trees)
    assert half.dtype == torch.float32
    assert not torch.equal(half, full)
    assert (half * full).sum(1).min() > 0.99


@torch.no_grad()
@pytest.mark.parametrize("encoder", ["lstm-relations", "rnn-relations"], indirect=True)
def test_the_recursion_is_computed_in_full_precision(encoder, trees, monkeypatch):
    """Half precision only rounds what enters the recursion, the words."""
    batch = encoder.collate(encoder.prepare(trees))
    with torch.autocast("cpu", torch.bfloat16):
        mixed = encoder.states(batch)
        words = encoder.word(encoder.table(batch.words)).float()
    monkeypatch.setattr(encoder.word, "forward", lambda _: words)
    torch.testing.assert_close(mixed, encoder.states(batch), atol=1e-6, rtol=0)


def test_the_lstm_trains_in_half_precision_with_close_gradients(vocab, trees):
    encoder = build("lstm-relations", vocab)
    batch = encoder.collate(encoder.prepare(trees))
    gradients = []
    for is_half in (False, True):
        with torch.autocast("cpu", torch.bfloat16, enabled=is_half):
            roots = encoder.states(batch)[batch.roots]
        assert roots.dtype == (torch.bfloat16 if is_half else torch.float32)
        (gradient,) = torch.autograd.grad(roots.float().square().sum(), encoder.weights)
        gradients.append(gradient)
    full, half = gradients
    assert half.dtype == full.dtype == torch.float32
    assert torch.cosine_similarity(half.flatten(), full.flatten(), dim=0) > 0.999
    torch.testing.assert_close(half.norm(), full.norm(), atol=0, rtol=0.02)


def test_dropout_acts_in_training_only(vocab, trees, embed):
    for encoder in (
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
        assert not torch.equal(embed(encoder, trees), embed(encoder, trees))
        encoder.eval()
        assert torch.equal(embed(encoder, trees), embed(encoder, trees))


@pytest.mark.parametrize("form", FORMS)
@given(tree=random_trees())
@settings(max_examples=15)
def test_the_parts_are_the_states_of_the_nodes(form, tree):
    sentence = sentence_of(tree)
    encoder = build(form, Vocab.build([sentence])).eval()
    parts = encoder.reading_parts(sentence)
    states = encoder.states(encoder.collate(encoder.prepare([sentence])))
    layer = getattr(encoder, "layer", nn.Identity())
    expected = encoder.head(layer(states))
    embedded = encoder(encoder.collate([part.prepared for part in parts])).x
    assert len(parts) == len(expected)
    distances = torch.cdist(embedded, expected)
    assert distances.min(0).values.max() < 1e-5
    assert distances.min(1).values.max() < 1e-5
    torch.testing.assert_close(
        embedded[-1:], encoder(encoder.collate(encoder.prepare([sentence]))).x
    )
