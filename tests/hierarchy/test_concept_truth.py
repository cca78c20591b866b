"""What is true of concepts, by a taxonomy."""

import pytest

from tests.support import small_concepts
from vsdemo.data.pairs import wordnet
from vsdemo.hierarchy.concept_truth import ConceptTruth


@pytest.fixture(scope="module")
def truth():
    return ConceptTruth(wordnet.from_pairs(small_concepts.THINGS))


@pytest.mark.parametrize(
    ("general", "specific", "expected"),
    [
        ("dog", "puppy", True),
        ("thing", "puppy", True),
        ("toy", "robot dog", True),
        ("animal", "robot dog", True),
        ("puppy", "dog", False),
        ("cat", "puppy", False),
        ("dog", "dog", False),
        ("dog", "unicorn", None),
        ("unicorn", "dog", None),
    ],
)
def test_hypernyms_lie_above_directly_or_not(truth, general, specific, expected):
    assert truth.follows(general, specific) is expected


def test_nothing_is_known_of_photos(truth):
    assert truth.describes("dog", 0) is None
