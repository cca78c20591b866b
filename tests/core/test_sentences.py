import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.random_trees import random_trees
from vsdemo.core.errors import UserError
from vsdemo.core.sentences import MAX_CHARACTERS, Sentence, Tree


@pytest.mark.parametrize(
    "text", ["", "   \t\n", " " * 5000, "a" * 100_000, "a\0b", "a \ud800 b", "\x7f", "\x1b[31mred"]
)
def test_from_user_rejects_blank_long_and_control_characters(text):
    with pytest.raises(UserError, match=r"The sentence .*\.$"):
        Sentence.from_user(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a dog", "a dog"),
        ("  a\tdog\n runs ", "a dog runs"),
        ("a 🐕 runs", "a 🐕 runs"),
        ("ein Hund läuft", "ein Hund läuft"),
        ("a" * MAX_CHARACTERS, "a" * MAX_CHARACTERS),
    ],
)
def test_from_user_normalizes_spaces(text, expected):
    assert Sentence.from_user(text).text == expected


@given(st.text(st.characters(), max_size=2 * MAX_CHARACTERS))
def test_from_user_accepts_or_rejects_any_text(text):
    try:
        sentence = Sentence.from_user(text)
    except UserError:
        return
    assert sentence.text == " ".join(text.split())
    assert 0 < len(sentence.text) <= MAX_CHARACTERS
    sentence.text.encode("utf-8")


@pytest.mark.parametrize(
    ("heads", "message"),
    [
        ((2, 1, 0), "cycle"),
        ((0, 3, 2), "cycle"),
        ((1, 0, 2), "cycle"),
        ((2, 3, 1), "one root; this one has 0"),
        ((0, 0, 1), "one root; this one has 2"),
        ((0, 1, 4), "cannot have the head 4"),
        ((0, 1, -1), "cannot have the head -1"),
        ((0, 1), "for each of its words"),
    ],
)
def test_invalid_heads_are_a_user_error(heads, message):
    with pytest.raises(UserError, match=f"{message}.*\\.$"):
        Tree(("a", "b", "c"), heads, ("x", "x", "x"))


@given(random_trees())
def test_bottom_up_lists_dependents_before_heads(tree):
    order = tree.bottom_up()
    assert sorted(order) == list(range(len(tree.words)))
    assert order[-1] == tree.root
    for word, head in enumerate(tree.heads):
        if head:
            assert order.index(word) < order.index(head - 1)
            assert word in tree.children()[head - 1]
