"""Noun phrases of a tree, what relates them, and what pronouns stand for."""

import pytest
from hypothesis import given

from tests.support.random_trees import random_trees
from vsdemo.core.sentences import Tree
from vsdemo.data.text.noun_phrases import antecedents, named_things, noun_phrases, relations


def tree(rows: str) -> Tree:
    """Return a tree from `word tag head relation` of each word, separated by semicolons."""
    words, tags, heads, labels = zip(*(row.split() for row in rows.split(";")), strict=True)
    return Tree(words, tuple(map(int, heads)), labels, tags)


BOAT = tree(
    "A DET 2 det; lady NOUN 7 nsubj; in ADP 6 case; a DET 6 det; straw NOUN 6 compound; "
    "hat NOUN 2 nmod; rows VERB 0 root; her PRON 9 nmod:poss; boat NOUN 7 obj; over ADP 11 case; "
    "it PRON 7 obl; . PUNCT 7 punct"
)
GROUP = tree(
    "There PRON 2 expl; is VERB 0 root; a DET 4 det; group NOUN 2 nsubj; of ADP 8 case; "
    "two NUM 8 nummod; young ADJ 8 amod; men NOUN 4 nmod; who PRON 10 nsubj; "
    "jump VERB 4 acl:relcl; down ADV 10 advmod; and CCONJ 14 cc; black ADJ 14 amod; "
    "dogs NOUN 4 conj"
)


def text(example: Tree, words: tuple[int, ...]) -> str:
    return " ".join(example.words[word] for word in words)


def phrases(example: Tree) -> list[str]:
    return [text(example, phrase.words) for phrase in noun_phrases(example)]


@pytest.mark.parametrize(
    ("example", "expected"),
    [
        (BOAT, ["A lady", "a straw hat", "her boat", "it"]),
        (GROUP, ["a group of two young men", "who", "black dogs"]),
        (
            tree(
                "A DET 6 det; very ADV 3 advmod; black ADJ 6 amod; and CCONJ 5 cc; "
                "white ADJ 3 conj; dog NOUN 0 root; in ADP 8 case; blue ADJ 6 nmod"
            ),
            ["A very black and white dog", "blue"],
        ),
        (tree("Run VERB 0 root; fast ADV 1 advmod"), []),
    ],
)
def test_phrases_have_their_determiners_and_modifiers(example, expected):
    assert phrases(example) == expected


@given(random_trees())
def test_phrases_share_no_word_and_have_no_gap(example):
    tags = tuple(["NOUN", "ADJ", "DET", "PRON", "VERB"][head % 5] for head in example.heads)
    tagged = Tree(example.words, example.heads, example.labels, tags)
    words = [word for phrase in noun_phrases(tagged) for word in phrase.words]
    assert len(words) == len(set(words))
    for phrase in noun_phrases(tagged):
        assert phrase.head in phrase.words
        assert list(phrase.words) == list(range(phrase.words[0], phrase.words[-1] + 1))
    relations(tagged, noun_phrases(tagged))  # never fails, whatever the tree
    for pronoun, meant in antecedents(tagged, noun_phrases(tagged)).items():
        assert pronoun != meant


def test_verbs_and_prepositions_relate_phrases():
    own = noun_phrases(BOAT)
    assert [
        (text(BOAT, own[r.subject].words), text(BOAT, r.words), text(BOAT, own[r.object].words))
        for r in relations(BOAT, own)
    ] == [
        ("A lady", "in", "a straw hat"),
        ("A lady", "rows", "her boat"),
        ("A lady", "rows over", "it"),
    ]


def test_a_verb_in_a_chain_has_the_subject_of_the_first():
    example = tree(
        "Dogs NOUN 2 nsubj; run VERB 0 root; and CCONJ 4 cc; chase VERB 2 conj; cats NOUN 4 obj"
    )
    (relation,) = relations(example, noun_phrases(example))
    assert (relation.subject, relation.object, text(example, relation.words)) == (0, 1, "chase")


@pytest.mark.parametrize(
    ("example", "pronoun", "meant"),
    [
        (BOAT, "it", "her boat"),
        (GROUP, "who", "a group of two young men"),
        (
            tree(
                "A DET 2 det; man NOUN 0 root; with ADP 5 case; a DET 5 det; dog NOUN 2 nmod; "
                "behind ADP 7 case; him PRON 5 nmod"
            ),
            "him",
            "A man",
        ),
    ],
)
def test_pronouns_stand_for_the_last_phrase_that_fits(example, pronoun, meant):
    own = noun_phrases(example)
    (number,) = (n for n, phrase in enumerate(own) if text(example, phrase.words) == pronoun)
    assert text(example, own[antecedents(example, own)[number]].words) == meant


def test_a_pronoun_without_a_fitting_phrase_stands_for_none():
    example = tree("A DET 2 det; log NOUN 0 root; behind ADP 4 case; her PRON 2 nmod")
    assert antecedents(example, noun_phrases(example)) == {}


def test_a_tree_without_tags_has_no_phrases():
    assert noun_phrases(Tree(("dogs", "run"), (2, 0), ("nsubj", "root"))) == []


def test_things_are_the_heads_of_noun_phrases():
    example = Tree(
        ("Two", "brown", "dogs", "chase", "him"),
        (3, 3, 4, 0, 4),
        ("nummod", "amod", "nsubj", "root", "obj"),
        ("NUM", "ADJ", "NOUN", "VERB", "PRON"),
    )
    assert list(named_things(example).values()) == ["dog"]
    assert list(named_things(example)) == [2]


def test_a_group_names_what_it_consists_of_and_a_preposition_nothing():
    assert list(named_things(GROUP).values()) == ["man", "dog"]
    example = tree(
        "Dogs NOUN 2 nsubj; sit VERB 0 root; In ADP 4 case; front NOUN 2 obl; of ADP 7 case; "
        "a DET 7 det; house NOUN 4 nmod"
    )
    assert example.preposition_nouns == {3}
    assert named_things(example) == {0: "dog", 6: "house"}
