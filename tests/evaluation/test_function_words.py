"""Function words that are shown in a photo."""

import pytest

from vsdemo.core.alignment import Alignment, Fragment
from vsdemo.core.sentences import Tree
from vsdemo.evaluation.function_words import shows_function_word


def example(words: str, high: str, **changes) -> Alignment:
    """Return an alignment of single words; only one of them has a score above 0.

    The tree says that all are nouns, as a bad parser may.
    """
    names = tuple(words.split())
    count = len(names)
    tree = Tree(names, (0, *[1] * (count - 1)), ("root", *["obj"] * (count - 1)), ("NOUN",) * count)
    fields = {
        "words": names,
        "tree": tree,
        "fragments": tuple(Fragment("word", (i,)) for i in range(count)),
        "boxes": ((0.0, 0.0, 1.0, 1.0),),
        "scores": tuple((float(word == high),) for word in names),
        "parts": (0.0,) * count,
        "total": 0.0,
    }
    return Alignment(**{**fields, **changes})


@pytest.mark.parametrize("high", ["There", "of", "which", "next"])
def test_a_function_word_with_a_region_counts(high):
    assert shows_function_word(example("There dog of which next", high))


def test_a_content_word_with_a_region_does_not():
    assert not shows_function_word(example("There dog of which next", "dog"))


def test_nor_does_a_pronoun_with_the_region_of_its_noun():
    assert shows_function_word(example("dog which", "which"))
    assert not shows_function_word(example("dog which", "dog", referents=((1, 0),)))


def test_nor_does_a_function_word_below_the_limit():
    assert not shows_function_word(example("There dog", "There", limit=1.0))
