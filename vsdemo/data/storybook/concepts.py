"""The concepts of the lexicon as phrases."""

from __future__ import annotations

from vsdemo.data.storybook.lexicon import load_lexicon
from vsdemo.data.storybook.phrases import article


def concept_phrases() -> dict[str, str]:
    """Return the nouns of the lexicon with their articles, such as `a dog`, and their concepts."""
    concepts = load_lexicon().concepts
    return {_phrase(c.nouns[0], mass=c.mass): name for name, c in concepts.items() if c.nouns}


def _phrase(noun: str, *, mass: bool) -> str:
    return noun if mass else f"{article('a', noun)} {noun}"
