"""The edges of each shape, and their groups."""

import pytest
from hypothesis import given

from tests.support.random_trees import random_trees
from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence, Tree
from vsdemo.data.text.constituents import from_dependencies
from vsdemo.data.text.vocab import EOS, PAD, UNK, Vocab
from vsdemo.encoders.tree.shapes import Chain, Constituents, Positions, Relations

# Students ride bikes at night: the running example of Socher 2014, section 3.2
STUDENTS = Tree(
    ("Students", "ride", "bikes", "at", "night"),
    (2, 0, 2, 2, 4),
    ("nsubj", "root", "obj", "prep", "pobj"),
)
SENTENCE = Sentence("Students ride bikes at night", STUDENTS, from_dependencies(STUDENTS))
VOCAB = Vocab.build([SENTENCE])
NUMBERS = VOCAB.ids(STUDENTS.words)


def names(shape, tree):
    """The name of each word's group, None for the root."""
    nodes = shape(Sentence("", tree), VOCAB)
    named = [*shape.names, "beyond"]
    return [
        None if parent == node else named[group]
        for node, (parent, group) in enumerate(zip(nodes.parents, nodes.groups, strict=True))
    ]


def test_example_of_the_paper():
    nodes = Positions(1, 2)(SENTENCE, VOCAB)
    assert nodes.words == NUMBERS
    assert nodes.parents == [1, 1, 1, 1, 3]
    assert names(Positions(1, 2), STUDENTS) == ["l1", None, "r1", "r2", "r1"]
    assert names(Relations(("nsubj", "obj")), STUDENTS) == ["nsubj", None, "obj", "other", "other"]


def test_children_are_counted_from_their_head():
    tree = Tree(tuple("abcdefg"), (4, 4, 4, 0, 4, 4, 4), ("root",) * 7)
    assert names(Positions(3, 3), tree) == ["l3", "l2", "l1", None, "r1", "r2", "r3"]
    assert names(Positions(2, 1), tree) == ["l2", "l2", "l1", None, "r1", "r1", "r1"]
    beyond = names(Positions(2, 1, beyond=True), tree)
    assert beyond == ["beyond", "l2", "l1", None, "r1", "beyond", "beyond"]
    assert names(Positions(0, 0, beyond=True), tree).count("beyond") == 6


def test_chain_ends_with_the_end_mark():
    nodes = Chain()(Sentence("students ZEBRA"), VOCAB)
    assert nodes.words == [VOCAB.words.index("students"), UNK, EOS]
    assert nodes.parents == [1, 2, 2]
    assert Chain()(Sentence(""), VOCAB).words == [EOS]


def test_inner_nodes_have_no_word():
    nodes = Constituents()(SENTENCE, VOCAB)
    merges = SENTENCE.constituents.merges
    assert nodes.words == NUMBERS + [PAD] * len(merges)
    for node, (left, right) in enumerate(merges, start=5):
        assert nodes.parents[left] == nodes.parents[right] == node
        assert (nodes.groups[left], nodes.groups[right]) == (0, 1)
    assert nodes.parents[-1] == len(nodes.parents) - 1


@given(random_trees())
def test_every_word_but_the_root_owns_one_edge(tree):
    left, right = Vocab.build([Sentence("", tree)]).children
    positions = Positions(left, right, beyond=True)
    for shape in (positions, Relations(("det", "obj"))):
        groups = names(shape, tree)
        assert [word for word, name in enumerate(groups) if name is None] == [tree.root]
        assert "beyond" not in groups  # there is a place for every child seen
    places = list(zip(tree.heads, names(positions, tree), strict=True))
    assert len(set(places)) == len(places)  # no two children share a place


@pytest.mark.parametrize(
    ("shape", "kind"),
    [(Positions(2, 2), "dependency"), (Relations(()), "dependency"), (Constituents(), "constit")],
)
def test_sentence_without_its_tree_is_refused(shape, kind):
    with pytest.raises(UserError, match=f"'a dog runs' has no {kind}.* parse it"):
        shape(Sentence("a dog runs"), VOCAB)


@pytest.mark.parametrize(
    ("heads", "problem"),
    [((2, 1, 0), "cycle"), ((2, 3, 2), "one root"), ((0, 0, 1), "one root"), ((0, 4, 1), "head 4")],
)
def test_invalid_trees_are_refused(heads, problem):
    with pytest.raises(UserError, match=problem):
        Tree(("a", "b", "c"), heads, ("dep",) * 3)
