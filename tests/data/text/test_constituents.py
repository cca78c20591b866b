from types import SimpleNamespace

from hypothesis import given

from tests.support.random_trees import random_trees
from vsdemo.core.sentences import Tree
from vsdemo.data.text.constituents import from_dependencies, from_phrases


def brackets(tree) -> str:
    parts = list(tree.words)
    for left, right in tree.merges:
        parts.append(f"({parts[left]} {parts[right]})")
    return parts[-1]


def phrase(*children):
    return SimpleNamespace(
        label="X" if children else None,
        children=[
            c if not isinstance(c, str) else SimpleNamespace(label=c, children=[]) for c in children
        ],
    )


def test_a_head_is_joined_with_its_object_before_its_subject():
    tree = Tree(
        ("a", "dog", "chases", "red", "balls", "."),
        (2, 3, 0, 5, 3, 3),
        ("det", "nsubj", "root", "amod", "obj", "punct"),
    )
    binary = from_dependencies(tree)
    assert brackets(binary) == "((a dog) ((chases (red balls)) .))"
    assert binary.source == "dependencies"


@given(random_trees())
def test_each_node_has_one_parent_with_a_higher_number(tree):
    binary = from_dependencies(tree)
    n = len(tree.words)
    assert len(binary.merges) == n - 1
    assert sorted(c for pair in binary.merges for c in pair) == list(range(2 * n - 2))
    assert all(max(pair) < n + i for i, pair in enumerate(binary.merges))


@given(random_trees())
def test_projective_trees_keep_the_order_of_words(tree):
    arcs = [tuple(sorted((i + 1, h))) for i, h in enumerate(tree.heads)]
    if any(a < c < b < d for a, b in arcs for c, d in arcs):
        return
    spans = [[i] for i in range(len(tree.words))]
    for left, right in from_dependencies(tree).merges:
        spans.append(spans[left] + spans[right])
    assert spans[-1] == list(range(len(tree.words)))


def test_phrases_are_binarized_from_the_right_without_unary_nodes():
    tree = phrase(phrase(phrase("a"), phrase("big"), phrase(phrase("dog"))), phrase("runs"))
    binary = from_phrases([tree])
    assert brackets(binary) == "((a (big dog)) runs)"
    assert binary.source == "constituency parser"
    assert brackets(from_phrases([tree, phrase("wow")])) == "(((a (big dog)) runs) wow)"
