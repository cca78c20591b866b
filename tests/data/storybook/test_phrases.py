"""Phrases: their trees, and the links to their groups."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vsdemo.data.storybook import phrases
from vsdemo.data.storybook.phrases import Phrase


def rows(phrase: Phrase) -> str:
    """word/tag/head/relation of every word."""
    tree = phrase.tree
    columns = zip(tree.words, tree.tags, tree.heads, tree.labels, strict=True)
    return " ".join("/".join(map(str, row)) for row in columns)


@pytest.mark.parametrize(
    ("noun", "before", "expected"),
    [
        ("dog", ("a",), "a/DET/2/det dog/NOUN/0/root"),
        ("owl", ("a",), "an/DET/2/det owl/NOUN/0/root"),
        ("owl", ("a", "brown"), "a/DET/3/det brown/ADJ/3/amod owl/NOUN/0/root"),
        ("box", ("a", "orange"), "an/DET/3/det orange/ADJ/3/amod box/NOUN/0/root"),
        ("dogs", ("two", "small"), "two/NUM/3/nummod small/ADJ/3/amod dogs/NOUN/0/root"),
        ("teddy bear", ("the",), "the/DET/3/det teddy/NOUN/3/compound bear/NOUN/0/root"),
        (
            "hot air balloon",
            (),
            "hot/ADJ/2/amod air/NOUN/3/compound balloon/NOUN/0/root",
        ),
        (
            "loaves of bread",
            ("three",),
            "three/NUM/2/nummod loaves/NOUN/0/root of/ADP/4/case bread/NOUN/2/nmod",
        ),
    ],
)
def test_noun_phrases(noun, before, expected):
    assert rows(phrases.noun_phrase(noun, before)) == expected


@pytest.mark.parametrize(
    ("preposition", "after_verb", "expected"),
    [
        ("under", True, "under/ADP/2/case it/NOUN/0/root"),
        ("next to", False, "next/ADP/3/case to/ADP/3/case it/NOUN/0/root"),
        ("next to", True, "next/ADV/0/root to/ADP/3/case it/NOUN/1/obl"),
        ("in front of", True, "in/ADP/2/case front/NOUN/0/root of/ADP/4/case it/NOUN/2/nmod"),
        (
            "to the left of",
            False,
            "to/ADP/3/case the/DET/3/det left/NOUN/0/root of/ADP/5/case it/NOUN/3/nmod",
        ),
    ],
)
def test_prepositions(preposition, after_verb, expected):
    it = phrases.word("it", "NOUN")
    phrase = phrases.prepositional(preposition, it, after_verb=after_verb)
    assert rows(phrase) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("outside", "outside/ADV/0/root"),
        ("at night", "at/ADP/2/case night/NOUN/0/root"),
        (
            "in the living room",
            "in/ADP/4/case the/DET/4/det living/NOUN/4/compound room/NOUN/0/root",
        ),
        (
            "under a cloudy sky",
            "under/ADP/4/case a/DET/4/det cloudy/ADJ/4/amod sky/NOUN/0/root",
        ),
        (
            "in the falling snow",
            "in/ADP/4/case the/DET/4/det falling/VERB/4/amod snow/NOUN/0/root",
        ),
    ],
)
def test_adverbials(text, expected):
    assert rows(phrases.adverbial(text)) == expected


def test_links_move_with_their_words():
    dog = phrases.link_to_group(phrases.noun_phrase("dog", ("a", "small")), 1)
    cat = phrases.link_to_group(phrases.noun_phrase("cat", ("a",)), 0)
    predicate = phrases.join(phrases.word("chasing", "VERB"), after=[("obj", cat)])
    clause = phrases.finite_clause(dog, predicate, ["is"], passive=False)
    result = phrases.sentence(clause)
    assert phrases.to_text(result.tree.words) == "A small dog is chasing a cat."
    linked = {group: [result.tree.words[i] for i in indices] for indices, group in result.links}
    assert linked == {1: ["A", "small", "dog"], 0: ["a", "cat"]}
    assert result.tree.heads == (3, 3, 5, 5, 0, 7, 5, 5)
    assert result.tree.labels == ("det", "amod", "nsubj", "aux", "root", "det", "obj", "punct")


PHRASES = st.recursive(
    st.sampled_from(["dog", "owl", "teddy bear", "loaf of bread"]).map(phrases.noun_phrase),
    lambda inner: st.tuples(
        inner,
        st.lists(st.tuples(st.just("amod"), inner)),
        st.lists(st.tuples(st.just("nmod"), inner)),
    ).map(lambda parts: phrases.link_to_group(phrases.join(*parts), 7)),
    max_leaves=8,
)


@given(PHRASES)
def test_joined_phrases_are_trees_and_their_links_are_contiguous(phrase):
    n = len(phrase.tree.words)
    assert len(phrase.tree.bottom_up()) == n
    for indices, group in phrase.links:
        assert group == 7
        assert indices == tuple(range(indices[0], indices[-1] + 1))
        assert indices[-1] < n


def test_a_phrase_joined_with_an_equal_phrase():
    dog = phrases.noun_phrase("dog", ("a",))
    assert rows(phrases.coordinate(dog, dog)) == (
        "a/DET/2/det dog/NOUN/0/root and/CCONJ/5/cc a/DET/5/det dog/NOUN/2/conj"
    )
    assert phrases.join(dog, after=[("conj", dog)]).tree.heads == (2, 0, 4, 2)


@given(PHRASES, PHRASES)
def test_a_dependent_keeps_its_own_tree(head, dependent):
    joined = phrases.join(head, after=[("nmod", dependent)]).tree
    n = len(head.tree.words)
    assert joined.heads[:n] == head.tree.heads
    assert joined.heads[n + dependent.tree.root] == head.tree.root + 1
    assert joined.labels[n + dependent.tree.root] == "nmod"
    inner = [h and h + n for h in dependent.tree.heads]
    inner[dependent.tree.root] = head.tree.root + 1
    assert list(joined.heads[n:]) == inner
