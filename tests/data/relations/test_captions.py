"""Relations of captions: labels by plain loops, cases by hand, and what is stored."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from tests.data.text.test_rewrites import caption as parsed
from tests.support import small_concepts
from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Tree
from vsdemo.data import relations
from vsdemo.data.pairs import wordnet
from vsdemo.data.relations import FALSE, TRUE, UNKNOWN, captions, generalize, meaning
from vsdemo.data.relations.caption_nouns import CaptionNouns
from vsdemo.data.text.inflection import article, conjugate, plural, singular, stem

TREES = [
    parsed(text).tree
    for text in (
        "A/DET/3/det brown/ADJ/3/amod dog/NOUN/4/nsubj runs/VERB/0/root in/ADP/7/case "
        "the/DET/7/det park/NOUN/4/obl ./PUNCT/4/punct",
        "A/DET/2/det dog/NOUN/3/nsubj runs/VERB/0/root",
        "Two/NUM/2/nummod dogs/NOUN/3/nsubj chase/VERB/0/root a/DET/5/det cat/NOUN/3/obj",
        "A/DET/2/det cat/NOUN/3/nsubj sleeps/VERB/0/root in/ADP/6/case the/DET/6/det "
        "park/NOUN/3/obl",
        "A/DET/2/det cat/NOUN/0/root without/ADP/5/case a/DET/5/det dog/NOUN/2/nmod",
        "A/DET/2/det dog/NOUN/3/nsubj runs/VERB/0/root",
        "A/DET/2/det dog/NOUN/3/nsubj chases/VERB/0/root a/DET/5/det cat/NOUN/3/obj",
        "A/DET/2/det beast/NOUN/3/nsubj runs/VERB/0/root",
    )
]
TEXTS = tuple(" ".join(tree.words) for tree in TREES)
PHOTO_OF = (0, 0, 1, 2, 2, 3, 1, 3)
COMMON = ("a dog runs", "a cat", "two cats", "a cat is sleeping")  # a caption, a concept, new ones
COMMON_TREES = [
    TREES[1],
    parsed("A/DET/2/det cat/NOUN/0/root").tree,
    parsed("Two/NUM/2/nummod cats/NOUN/0/root").tree,
    parsed("A/DET/2/det cat/NOUN/4/nsubj is/AUX/4/aux sleeping/VERB/0/root").tree,
]
SPLIT = CaptionSet("small", "train", tuple(map(Path, "abcd")), TEXTS, PHOTO_OF)
DATA = """\
00000001 03 n 01 entity 0 001 ~ 00000002 n 0000 | all
00000002 03 n 01 physical_entity 0 001 @ 00000001 n 0000 | all that is somewhere
00000003 05 n 02 beast 0 brute 0 001 @ 00000002 n 0000 | alive
00000004 05 n 01 dog 0 001 @ 00000003 n 0000 | barks
00000005 05 n 01 cat 0 001 @ 00000003 n 0000 | purrs
00000006 15 n 01 park 0 001 @ 00000002 n 0000 | green
00000007 18 n 01 dog 1 001 @ 00000001 n 0000 | an idea
"""
INDEX = """\
beast n 1 1 @ 1 1 00000003
brute n 1 1 @ 1 1 00000003
cat n 1 1 @ 1 1 00000005
dog n 2 1 @ 2 1 00000007 00000004
entity n 1 1 ~ 1 1 00000001
park n 1 1 @ 1 1 00000006
physical_entity n 1 1 @ 1 1 00000002
"""


class Parser:
    """Returns the trees of `TREES` and `COMMON_TREES`."""

    class parser:
        version = "by hand"

    def get(self, texts):
        known = dict(zip((*TEXTS, *COMMON), (*TREES, *COMMON_TREES), strict=True))
        return [known.get(text) or noun_phrase(text) for text in texts]


def noun_phrase(text: str) -> Tree:
    """Return the tree of a concept, such as "a physical entity"."""
    words = tuple(text.split())
    last = len(words)
    return Tree(
        words=words,
        heads=(*[last] * (last - 1), 0),
        labels=(*["det"] * min(1, last - 1), *["amod"] * (last - 2), "root"),
        tags=(*["DET"] * min(1, last - 1), *["ADJ"] * (last - 2), "NOUN"),
    )


@pytest.fixture
def small_wordnet(tmp_path, monkeypatch):
    """A VSDEMO_DATA with a few nouns, and a VSDEMO_HOME of its own."""
    small_concepts.write_nouns(tmp_path / "data" / "wordnet", DATA, INDEX)
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("VSDEMO_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(captions, "TreeCache", Parser)
    monkeypatch.setattr(meaning, "TreeCache", Parser)
    monkeypatch.setattr(captions.common_sentences, "sentences", lambda: COMMON)
    wordnet.load_nouns.cache_clear()
    yield tmp_path
    wordnet.load_nouns.cache_clear()


@pytest.fixture
def known(small_wordnet):
    return relations.load(SPLIT)


def row(known, text: str) -> int:
    return known.texts.index(text)


def label(known, general: str, specific: str) -> int:
    rows = np.array([row(known, general)]), np.array([row(known, specific)])
    return int(known.among_texts(*rows)[0, 0])


def test_texts_are_captions_then_sentences_then_concepts(known):
    assert known.texts[: len(TEXTS)] == TEXTS
    others = known.texts[len(TEXTS) :]
    assert len(set(others)) == len(others)
    assert {"a brown dog", "a dog", "a cat", "a beast", "a physical entity", "an entity"} <= {
        *others
    }
    assert "a park" not in others  # too few captions name one
    concepts = [known.texts[row] for row in known.concepts]
    assert {"a dog", "a beast", "an entity"} <= set(concepts)
    assert "a brown dog" not in concepts
    assert [known.texts[row] for row in known.common] == ["a dog runs", "two cats", COMMON[3]]


def test_labels_are_those_of_plain_loops(known):
    nouns = CaptionNouns(wordnet.load_nouns(), TREES, PHOTO_OF)
    above = {}
    for tree in (*TREES, *COMMON_TREES):
        for key, general in generalize.closure([tree], nouns).items():
            above.setdefault(key, set()).update(general, [key])
    for phrase, general in nouns.phrases.items():
        above.setdefault(phrase, set()).update(general, [phrase])
    for _ in range(5):
        for general in above.values():
            general.update(*(above[key] for key in tuple(general)))
    keys = [generalize.key(text) for text in known.texts]
    assert set(keys) == set(above)
    rows = np.arange(len(keys))
    among = known.among_texts(rows, rows)
    for general, specific in product(rows, rows):
        assert (among[general, specific] == TRUE) == (keys[general] in above[keys[specific]])
    photos = known.above_photos(rows, np.array([3, 0, 1]))
    every = known.above_photos(rows, np.arange(4)) == TRUE
    np.testing.assert_allclose(known.photo_shares, every.mean(1))
    for column, photo in enumerate((3, 0, 1)):
        own = set().union(*(above[keys[c]] for c in SPLIT.captions_of[photo]))
        for general in rows:
            assert (photos[general, column] == TRUE) == (keys[general] in own)


def test_a_photo_offers_the_words_of_all_its_captions(known):
    rows = np.arange(len(known.texts))
    among, photos = known.among_texts(rows, rows), known.above_photos(rows, np.arange(4))
    for photo, own in enumerate(SPLIT.captions_of):
        assert (photos[:, photo] != FALSE).tolist() >= (among[:, own] != FALSE).any(1).tolist()


@pytest.mark.parametrize(
    ("general", "specific", "expected"),
    [
        ("a dog", TEXTS[0], TRUE),
        ("an entity", TEXTS[0], TRUE),
        ("a brown dog runs", TEXTS[0], TRUE),
        (TEXTS[1], TEXTS[0], TRUE),  # the caption is one of the more general sentences
        (TEXTS[1], TEXTS[5], TRUE),  # equal captions
        (TEXTS[5], TEXTS[1], TRUE),
        ("a dog", "dogs chase a cat", TRUE),
        ("a beast", "a dog", TRUE),
        ("a dog", "a beast", FALSE),
        (TEXTS[7], TEXTS[1], UNKNOWN),  # too few captions mention beasts to put one for a dog
        (TEXTS[6], TEXTS[2], UNKNOWN),  # "two" is more than "a"
        (TEXTS[2], TEXTS[6], FALSE),
        ("a dog", TEXTS[4], UNKNOWN),  # a negation
        ("a cat", TEXTS[0], FALSE),
        (TEXTS[0], TEXTS[1], FALSE),
        ("a cat", COMMON[3], TRUE),
        ("a beast", "two cats", TRUE),
        (COMMON[3], "two cats", FALSE),
        ("two cats", TEXTS[0], FALSE),
    ],
)
def test_labels_of_pairs(known, general, specific, expected):
    assert label(known, general, specific) == expected


def test_others_lie_above_the_captions_or_beside(known):
    own = np.array([0])
    rows = known.others(own, 6, np.random.default_rng(0))
    assert len(set(rows.tolist())) == len(rows) == 6
    assert rows.min() >= len(TEXTS)
    assert (known.among_texts(rows, own) == TRUE).sum() >= 3
    again = known.others(own, 6, np.random.default_rng(0))
    assert rows.tolist() == again.tolist()
    every = known.others(own, 10_000, np.random.default_rng(0))
    assert set(every.tolist()) <= set(range(len(TEXTS), len(known.texts)))


def test_relations_are_stored_by_content(known, small_wordnet, monkeypatch):
    (path,) = (small_wordnet / "home" / "relations").glob("*.safetensors")
    monkeypatch.setattr(captions, "_prepare", None)
    again = relations.load(SPLIT)
    rows = np.arange(len(known.texts))
    assert again.texts == known.texts
    assert np.array_equal(again.among_texts(rows, rows), known.among_texts(rows, rows))
    with pytest.raises(TypeError):  # there is nothing stored for other captions
        relations.load(SPLIT.first(2))
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(TypeError):
        relations.load(SPLIT)


def test_captions_need_wordnet(tmp_path, monkeypatch):
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path))
    monkeypatch.setattr(wordnet, "DEBIAN", tmp_path)
    wordnet.load_nouns.cache_clear()
    assert relations.has_relations("flickr8k")
    assert not relations.is_available("flickr8k")
    with pytest.raises(UserError, match="WordNet is missing; get https://wordnetcode"):
        relations.load(SPLIT)


def test_the_sense_is_what_other_captions_name(small_wordnet):
    nouns = CaptionNouns(wordnet.load_nouns(), TREES, PHOTO_OF)
    names = wordnet.load_nouns().taxonomy.names
    assert names[nouns.senses["dog"]] == "dog.n.02"  # the first sense is nothing physical


def test_nouns_of_wordnet_have_all_their_ancestors(real_data):
    wordnet.load_nouns.cache_clear()
    known = wordnet.load_nouns()
    nouns = CaptionNouns(known, TREES, PHOTO_OF)
    above = nouns.phrases["a dog"]
    assert {"a canine", "a carnivore", "an organism", "a living thing", "an entity"} <= above
    for phrase, above in nouns.phrases.items():
        assert phrase not in above
        for general in above:
            assert nouns.phrases[general] - {phrase} <= above
    wordnet.load_nouns.cache_clear()


@pytest.mark.parametrize(
    ("one", "many"),
    [
        *(("dog", "dogs"), ("bus", "buses"), ("child", "children"), ("fireman", "firemen")),
        *(("house", "houses"), ("berry", "berries"), ("knife", "knives"), ("dress", "dresses")),
        *(("horse", "horses"), ("beach", "beaches"), ("toy", "toys"), ("cookie", "cookies")),
    ],
)
def test_plurals(one, many):
    assert plural(one) == many
    assert singular(many) == singular(one) == one


def test_forms_of_a_verb_share_a_stem():
    for forms in (
        "run runs running ran",
        "ride rides riding rode ridden",
        "carry carries carried carrying",
        "jump jumps jumped jumping",
        "lie lies lying",
    ):
        assert len({stem(form) for form in forms.split()}) == 1, forms
    assert stem("ride") != stem("run")


def test_verbs_have_four_forms():
    assert conjugate("run") == ("run", "runs", "running", "ran")
    assert conjugate("gaze") == ("gaze", "gazes", "gazing", "gazed")
    assert conjugate("hop") == ("hop", "hops", "hopping", "hopped")
    assert conjugate("gallop") == ("gallop", "gallops", "galloping", "galloped")
    assert conjugate("tie") == ("tie", "ties", "tying", "tied")
    assert conjugate("hurry") == ("hurry", "hurries", "hurrying", "hurried")


def test_articles_follow_the_sound():
    words = ("unicycle", "umbrella", "hour", "dog", "x-ray", "one")
    assert [article("a", word) for word in words] == ["a", "an", "an", "a", "an", "a"]
    assert article("the", "owl") == "the"
