"""CIDEr of equal, similar and other captions; things that nobody named."""

import pytest

from vsdemo.data.pairs.wordnet import Nouns, from_pairs
from vsdemo.evaluation.metrics.caption_quality import Supported, cider

GOLD = [
    ["A dog runs on the beach .", "A brown dog on a beach ."],
    ["Two men play football .", "Men with a ball on grass ."],
]
CONCEPTS = ("animal.n.01", "dog.n.01", "person.n.01", "child.n.01")


def test_cider_prefers_what_people_say():
    same, other = (
        cider([text, "Two men play football ."], GOLD)[0]
        for text in ("a dog runs on the beach", "a man rides a bicycle")
    )
    assert same > 100
    assert other < 10


def wordnet():
    taxonomy = from_pairs([("dog.n.01", "animal.n.01"), ("child.n.01", "person.n.01")])
    names = taxonomy.names
    words = tuple((name.split(".")[0],) for name in names)
    words = tuple((*own, "kid") if own == ("child",) else own for own in words)
    senses = {word: (n,) for n, own in enumerate(words) for word in own}
    return Nouns(taxonomy, words, senses, (0,) * len(names), {})


@pytest.mark.parametrize(
    ("noun", "is_supported"),
    [
        ("child", True),  # the same word
        ("kid", True),  # a synonym
        ("person", True),  # above it
        ("animal", False),
        ("unicorn", False),  # unknown
    ],
)
def test_gold_nouns_support_synonyms_and_what_lies_above(noun, is_supported):
    unsupported = Supported(wordnet()).unsupported([noun], ["child"])
    assert unsupported == ([] if is_supported else [noun])


def test_what_lies_below_is_not_supported():
    assert Supported(wordnet()).unsupported(["dog"], ["animal"]) == ["dog"]
