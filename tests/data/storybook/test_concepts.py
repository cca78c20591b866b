"""Concepts as phrases."""

from vsdemo.data.storybook.concepts import concept_phrases


def test_concept_phrases_have_articles():
    phrases = concept_phrases()
    assert {"a dog", "an animal", "furniture"} <= set(phrases)
    assert len(set(phrases)) == len(phrases)
