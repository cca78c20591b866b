"""What is true of texts and photos, by the relations of a gallery."""

import numpy as np
import pytest

from vsdemo.hierarchy.truth import FactTable, Truth


class Three:
    """Three texts, of which each follows from the next, and a photo that the first two describe."""

    texts = ("An animal.", "A dog .", "a dog runs")

    def among_texts(self, general, specific):
        return (general[:, None] <= specific).astype(np.int8)

    def above_photos(self, texts, photos):
        assert photos.tolist() == [7]
        return (texts[:, None] < 2).astype(np.int8)


def test_texts_are_known_by_their_words():
    truth = Truth(Three)
    assert truth.follows("an animal", "A dog runs.") is True
    assert truth.follows("A dog runs.", "a dog") is False
    assert truth.follows("a cat", "a dog") is None
    assert truth.follows("a dog", "a cat") is None
    assert truth.describes("A DOG", 7) is True
    assert truth.describes("a dog runs", 7) is False
    assert truth.describes("a cat", 7) is None


def test_nothing_is_known_before_the_relations_are():
    relations = []
    truth = Truth(lambda: relations[0] if relations else None)
    assert truth.follows("an animal", "a dog") is None
    assert truth.describes("a dog", 7) is None
    relations.append(Three())
    assert truth.follows("an animal", "a dog") is True
    relations.clear()
    assert truth.describes("a dog", 7) is True


def test_a_table_of_facts_says_the_same():
    class EightPhotos(Three):
        def above_photos(self, texts, photos):
            return np.repeat(super().above_photos(texts, np.array([7])), len(photos), axis=1)

    texts = ["a dog runs", "An animal."]
    truth = Truth(lambda: FactTable.of(EightPhotos(), texts, photos=8))
    assert truth.follows("an animal", "a dog runs") is True
    assert truth.follows("a dog runs", "an animal") is False
    assert truth.follows("a dog", "a dog runs") is None
    assert truth.describes("an animal", 7) is True
    assert truth.describes("a dog runs", 7) is False
    with pytest.raises(KeyError):
        FactTable.of(EightPhotos(), ["a cat"], photos=8)
