"""Rewritten captions: examples, and invariants of any tree."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.random_trees import random_trees
from vsdemo.core.sentences import Sentence, Tree
from vsdemo.data.text import rewrites
from vsdemo.data.text.clauses import Clause
from vsdemo.data.text.participles import past_participle

RULES = (rewrites.to_passive, rewrites.front_place, rewrites.swap_conjuncts, rewrites.reverse_roles)


def caption(rows: str, text: str | None = None) -> Sentence:
    """Return the sentence of rows `word/TAG/head/relation`; its text defaults to the words."""
    words, tags, heads, labels = zip(*(row.split("/") for row in rows.split()), strict=True)
    return Sentence(text or " ".join(words), Tree(words, tuple(map(int, heads)), labels, tags))


CHASES = caption(
    "A/DET/2/det dog/NOUN/3/nsubj chases/VERB/0/root a/DET/5/det ball/NOUN/3/obj "
    "in/ADP/8/case the/DET/8/det park/NOUN/3/obl ./PUNCT/3/punct",
    "A dog chases a ball in the park.",
)
PLAYING = caption(
    "Two/NUM/2/nummod men/NOUN/4/nsubj are/AUX/4/aux playing/VERB/0/root football/NOUN/4/obj "
    "./PUNCT/4/punct"
)
SIT = caption(
    "a/DET/2/det man/NOUN/6/nsubj and/CCONJ/5/cc a/DET/5/det woman/NOUN/2/conj sit/VERB/0/root "
    "on/ADP/8/case grass/NOUN/6/obl"
)


@pytest.mark.parametrize(
    ("sentence", "rewritten"),
    [
        (
            CHASES,
            (
                "A ball is chased by a dog in the park.",
                "In the park a dog chases a ball.",
                None,
                "A ball chases a dog in the park.",
            ),
        ),
        # The verb does not agree with football, so its roles cannot be exchanged.
        (PLAYING, ("Football is being played by two men .", None, None, None)),
        (SIT, (None, "on grass a man and a woman sit", "a woman and a man sit on grass", None)),
    ],
)
def test_rules_on_examples(sentence, rewritten):
    assert tuple(rule(sentence) for rule in RULES) == rewritten


@pytest.mark.parametrize(
    ("word", "replacement", "rewritten"),
    [
        ("dog/NOUN", "he/PRON", None),
        ("chases", "chased", None),
        ("chases", "has", None),
        ("chases", "chasing", None),
        ("ball/NOUN", "it/PRON", None),
        ("ball", "balls", None),
        ("a/DET/5/det ball", "some/DET/5/det balls", "Some balls are chased by a dog ."),
    ],
)
def test_to_passive_of_other_words(word, replacement, rewritten):
    rows = (
        "A/DET/2/det dog/NOUN/3/nsubj chases/VERB/0/root a/DET/5/det ball/NOUN/3/obj "
        "./PUNCT/3/punct"
    )
    assert rewrites.to_passive(caption(rows)) == "A ball is chased by a dog ."
    assert rewrites.to_passive(caption(rows.replace(word, replacement))) == rewritten


@pytest.mark.parametrize(
    "rows",
    [
        "Men/NOUN/5/nsubj and/CCONJ/4/cc a/DET/4/det dog/NOUN/1/conj run/VERB/0/root",
        "both/CCONJ/3/cc the/DET/3/det man/NOUN/7/nsubj and/CCONJ/6/cc the/DET/6/det "
        "dog/NOUN/3/conj run/VERB/0/root",
        "a/DET/2/det man/NOUN/8/nsubj and/CCONJ/5/cc a/DET/5/det girl/NOUN/2/conj in/ADP/7/case "
        "hats/NOUN/5/nmod run/VERB/0/root",
    ],
)
def test_conjuncts_with_a_shared_modifier_are_not_swapped(rows):
    assert rewrites.swap_conjuncts(caption(rows)) is None


@pytest.mark.parametrize(
    ("rows", "plural"),
    [
        ("dogs/NOUN/0/root", True),
        ("grass/NOUN/0/root", False),
        ("two/NUM/2/nummod bus/NOUN/0/root", True),
        ("a/DET/2/det glasses/NOUN/0/root", None),
        ("sheep/NOUN/0/root", None),
        ("hat/NOUN/0/root and/CCONJ/3/cc coat/NOUN/1/conj", True),
        ("hat/NOUN/0/root or/CCONJ/3/cc coat/NOUN/1/conj", None),
    ],
)
def test_is_plural(rows, plural):
    sentence = caption(rows)
    assert Clause.from_sentence(sentence).is_plural(sentence.tree.root) is plural


@pytest.mark.parametrize(
    ("verbs", "participle"),
    [
        ("throw throws throwing", "thrown"),
        ("swims swimming", "swum"),
        ("chase chases chasing", "chased"),
        ("catch catches catching", "caught"),
        ("touch touches touching", "touched"),
        ("carry carries carrying", "carried"),
        ("plays playing", "played"),
        ("hug hugs hugging", "hugged"),
        ("toss tosses tossing", "tossed"),
        ("ties tying", "tied"),
        ("agrees agreeing", "agreed"),
        ("Throws", "thrown"),
        ("kicked threw has having gets lies sees", None),
    ],
)
def test_past_participle(verbs, participle):
    assert {past_participle(verb) for verb in verbs.split()} == {participle}


@given(random_trees())
def test_rewriting_any_tree_keeps_its_words(tree):
    sentence = Sentence(" ".join(tree.words), tree)
    rewrites.to_passive(sentence)
    for rule in RULES[1:]:
        if rewritten := rule(sentence):
            assert sorted(rewritten.casefold().split()) == sorted(sentence.text.casefold().split())


NAMES = st.sampled_from(["dog", "boy", "cat", "girl"])


@given(NAMES, NAMES, NAMES, st.sampled_from(["pulls", "bites", "hugs"]))
def test_rewriting_a_clause_keeps_its_words(one, two, place, verb):
    sentence = caption(
        f"The/DET/2/det {one}/NOUN/6/nsubj and/CCONJ/5/cc the/DET/5/det {two}/NOUN/2/conj "
        f"{verb}/VERB/0/root a/DET/8/det {two}/NOUN/6/obj near/ADP/11/case a/DET/11/det "
        f"{place}/NOUN/6/obl ./PUNCT/6/punct"
    )
    for rule in RULES[1:]:
        rewritten = rule(sentence)
        assert sorted(rewritten.casefold().split()) == sorted(sentence.text.casefold().split())
        assert rewritten[0] == rewritten[0].upper()
        assert rewritten[-2:] == " ."


def test_sentences_without_tags_or_with_other_words_are_not_rewritten():
    tree = CHASES.tree
    untagged = Sentence(CHASES.text, Tree(tree.words, tree.heads, tree.labels))
    for sentence in (Sentence(CHASES.text), untagged, Sentence("other words", tree)):
        assert [rule(sentence) for rule in RULES] == [None] * 4
