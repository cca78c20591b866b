"""Which words and fragments are aligned with a region."""

import json
from dataclasses import replace

import pytest

from vsdemo.core.alignment import Alignment, Fragment, Link
from vsdemo.core.sentences import Tree

WORDS = ("A", "dog", "sits", "down", "on", "the", "mat", ".")
HEADS = (2, 3, 0, 3, 7, 7, 3, 3)
LABELS = ("det", "nsubj", "root", "compound:prt", "case", "det", "obl", "punct")
TAGS = ("DET", "NOUN", "VERB", "ADP", "ADP", "DET", "NOUN", "PUNCT")
TREE = Tree(WORDS, HEADS, LABELS, TAGS)
HALVES = ((0.0, 0.0, 0.5, 1.0), (0.5, 0.0, 1.0, 1.0))


def aligned(scores: dict[str, tuple[float, float]], tree: Tree | None = TREE) -> Alignment:
    """Return the alignment of all edges of the tree but punctuation, by their dependents."""
    edges = [(2, 2), *((HEADS[i] - 1, i) for i in range(7) if HEADS[i])]
    fragments = tuple(
        Fragment("root" if head == word else LABELS[word], (head, word)) for head, word in edges
    )
    rows = tuple(scores.get(WORDS[word], (-1.0, -1.0)) for _, word in edges)
    parts = tuple(max(0.0, *row) / 10 for row in rows)
    return Alignment(WORDS, tree, fragments, HALVES, rows, parts, sum(parts))


@pytest.mark.parametrize(
    ("tags", "labels", "expected"),
    [
        (TAGS, LABELS, {"A", "down", "on", "the", "."}),
        ((), LABELS, {"A", "on", "the", "."}),  # without tags, by the relations alone
        (TAGS, ("dep", "dep", "root", *["dep"] * 5), {"A", "down", "on", "the", "."}),
        (
            ("X",) * 8,
            ("det:predet", "expl", "root", "aux:pass", "cc:preconj", "cop", "obl", "mark"),
            {"A", "dog", "down", "on", "the", "."},
        ),
    ],
)
def test_function_words_have_such_a_tag_or_relation(tags, labels, expected):
    tree = Tree(WORDS, HEADS, labels, tags)
    assert {WORDS[i] for i in tree.function_words} == expected


def test_there_is_shows_nothing():
    tree = Tree(
        ("There", "is", "snow"),
        (2, 0, 2),
        ("expl", "root", "nsubj"),
        ("PRON", "VERB", "NOUN"),
    )
    assert {tree.words[i] for i in tree.function_words} == {"There", "is"}


def test_function_words_get_no_region_however_high_their_scores():
    example = aligned({"A": (9.0, 0.0), "the": (9.0, 0.0), "on": (0.0, 9.0), "dog": (0.2, 0.7)})
    words = {WORDS[i]: m for i in range(8) if (m := example.fragment_of_word(i)) is not None}
    (dog,) = {example.fragments[m].words[1] for m in words.values()}
    assert WORDS[dog] == "dog"
    assert set(words) == {"dog", "sits"}
    named = {example.fragments[m].relation for m in example.rest_fragments}
    assert named == {"det", "case"}
    assert all(example.best_region(m) is None for m in example.rest_fragments)
    assert example.best_region(example.best_fragment) == 1


def test_the_noun_of_a_preposition_is_a_function_word():
    words = ("Dogs", "in", "front", "of", "a", "house")
    tree = Tree(
        words, (0, 3, 1, 6, 6, 3), ("root", "case", "nmod", "case", "det", "nmod"), TAGS[:6]
    )
    example = replace(aligned({}), words=words, tree=replace(tree, tags=("NOUN",) * 6))
    assert {2} == {i for i in example.function_words if words[i] not in ("in", "of", "a")}


def test_a_word_of_hardly_any_score_points_at_nothing():
    example = aligned({"dog": (0.1, 2.0), "sits": (0.0, 0.019), "mat": (0.021, 0.0)})
    of_relation = {f.relation: example.best_region(m) for m, f in enumerate(example.fragments)}
    assert (of_relation["nsubj"], of_relation["root"], of_relation["obl"]) == (1, None, 0)
    nothing = aligned({})  # no score is positive
    assert {nothing.best_region(m) for m in range(len(nothing.fragments))} == {None}


def test_a_word_that_the_model_does_not_know_points_at_nothing():
    scores = {"dog": (0.2, 0.7), "sits": (0.9, 0.1), "mat": (0.3, 0.1)}
    example = replace(aligned(scores), unknown=(WORDS.index("sits"),))
    of_word = {word: example.fragment_of_word(i) for i, word in enumerate(WORDS)}
    assert of_word["sits"] is None
    root = next(m for m, f in enumerate(example.fragments) if f.relation == "root")
    assert example.best_region(root) is None  # all of its words are unknown
    assert example.best_region(of_word["dog"]) == 1  # a dependent of "sits"
    assert example.best_region(of_word["mat"]) == 0
    assert example.to_json()["unknown"] == (2,)


def test_a_particle_is_aligned_with_its_verb_only():
    example = aligned({"down": (0.1, 0.8)})
    assert example.fragments[example.fragment_of_word(2)].relation == "compound:prt"
    assert example.fragment_of_word(3) is None


def test_the_parts_of_function_words_count_all_the_same():
    example = aligned({"A": (9.0, 0.0), "mat": (0.0, 2.0), "sits": (1.0, 0.0)})
    content = sum(example.parts[m] for m in example.content_fragments)
    assert content + example.rest_part == pytest.approx(example.total)
    assert example.rest_part == pytest.approx(0.9)


def test_the_best_fragment_has_the_highest_score_that_a_region_shows():
    example = aligned({"A": (9.0, 0.0), "mat": (0.0, 2.0), "sits": (1.0, 0.0)})
    assert example.fragments[example.best_fragment].relation == "obl"
    assert aligned({}).best_fragment is None


def test_without_a_tree_the_relations_of_fragments_count():
    example = aligned({"A": (9.0, 0.0), "dog": (0.0, 1.0)}, tree=None)
    assert {example.fragments[m].relation for m in example.rest_fragments} == {"det", "case"}
    assert example.fragment_of_word(1) == example.best_fragment


def test_the_record_for_files_says_what_is_aligned():
    example = aligned({"A": (9.0, 0.0), "dog": (0.2, 0.7)})
    record = json.loads(json.dumps(example.to_json()))
    assert record["function_words"] == [0, 3, 4, 5, 7]
    assert record["regions"] == [example.best_region(m) for m in range(len(example.fragments))]
    assert record["scores"] == [list(row) for row in example.scores]


CHASE = Tree(  # "A dog chews a bone and it sleeps"
    ("A", "dog", "chews", "a", "bone", "and", "it", "sleeps"),
    (2, 3, 0, 5, 3, 8, 8, 3),
    ("det", "nsubj", "root", "det", "obj", "cc", "nsubj", "conj"),
    ("DET", "NOUN", "VERB", "DET", "NOUN", "CCONJ", "PRON", "VERB"),
)
DOG, BONE, IT = 1, 4, 6


def chase(**changes) -> Alignment:
    """Return the alignment of phrases and verbs with two halves; "it" alone fits the right one."""
    fragments = (
        Fragment("phrase", (0, 1)),
        Fragment("word", (2,)),
        Fragment("phrase", (3, 4)),
        Fragment("phrase", (6,)),
    )
    scores = ((0.6, 0.3), (0.5, 0.4), (0.1, 0.4), (0.2, 0.5))
    fields = {
        "words": CHASE.words,
        "tree": CHASE,
        "fragments": fragments,
        "boxes": HALVES,
        "scores": scores,
        "parts": (0.6, 0.5, 0.4, 0.5),
        "total": 2.0,
        "links": (Link((2,), DOG, BONE),),
        "referents": ((IT, DOG),),
    }
    return Alignment(**{**fields, **changes})


def test_a_pronoun_has_the_region_of_what_it_stands_for():
    assert chase().region_of_word(IT) == chase().region_of_word(DOG) == 0
    assert chase().best_score(3) == chase().best_score(0) == 0.6
    assert chase(limit=0.9).best_score(3) is None


def test_a_pronoun_that_stands_for_nothing_is_a_function_word():
    example = chase(referents=())
    assert IT in example.function_words
    assert example.region_of_word(IT) is None
    assert example.best_region(3) is None
    assert IT not in chase().function_words


def with_word(word: str, tag: str) -> Alignment:
    """Return `chase` with another word in the place of "it"."""
    words, tags = (*CHASE.words[:IT], word, "sleeps"), (*CHASE.tags[:IT], tag, "VERB")
    return chase(words=words, tree=replace(CHASE, words=words, tags=tags), referents=())


def test_someone_is_a_person():
    assert with_word("Someone", "PRON").region_of_word(IT) == 1
    assert with_word("something", "PRON").region_of_word(IT) is None


def test_some_adverbs_and_to_have_are_function_words():
    for word, tag in (("next", "ADV"), ("Very", "ADV"), ("has", "VERB")):
        assert with_word(word, tag).region_of_word(IT) is None
    assert with_word("together", "ADV").region_of_word(IT) == 1
    assert with_word("back", "NOUN").region_of_word(IT) == 1


def test_a_phrase_below_the_limit_is_not_in_the_picture():
    example = chase(limit=0.45)
    assert [example.best_region(m) for m in range(4)] == [0, 0, None, 0]
    assert example.region_of_word(BONE) is None


def test_things_in_different_regions_are_linked():
    ((link, one, other),) = chase().visible_links
    assert (link.words, one, other) == ((2,), 0, 1)
    assert chase(limit=0.45).visible_links == []  # there is no bone
    same = chase(scores=((0.6, 0.3), (0.5, 0.4), (0.4, 0.1), (0.2, 0.5)))
    assert same.visible_links == []
