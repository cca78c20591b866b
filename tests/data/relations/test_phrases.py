"""Marked noun phrases as phrases of their own."""

import pytest

from vsdemo.data.relations.phrases import clean, is_shown


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [
        ("A brown dog", "a brown dog"),
        ("his orange hat", "an orange hat"),
        ("man", "a man"),
        ("two dogs", "two dogs"),
        ("their arms", "arms"),
        ("her hair", "hair"),
        ("the water", "the water"),
        ("another dog", "a dog"),
        ("group of people", "a group of people"),
        ("each other", ""),
        ("it", ""),
        ("another", ""),
        ("a pants", ""),
        ("a", ""),
        ("the right of the frame", ""),
        ("red", ""),
        ("dirtbikers race", ""),
        ("worn clothes", "worn clothes"),
        ("a worn clothes", ""),
    ],
)
def test_clean(phrase, expected):
    assert clean(phrase.split()) == expected


def test_a_name_within_a_sentence_is_no_phrase():
    assert clean(["India"], is_first=False) == ""
    assert clean(["Boys"], is_first=True) == "boys"


def test_what_is_only_compared_or_painted_is_not_shown():
    assert not is_shown(["a", "man", "dressed", "like"])
    assert not is_shown(["a", "picture", "of"])
    assert is_shown(["a", "group", "of"])
    assert not is_shown(["a"], ["colored", "hat"])
    assert is_shown([])
