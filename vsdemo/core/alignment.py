"""The alignment of a sentence's fragments with a photo's regions."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from vsdemo.core.sentences import (
    FUNCTION_ADVERBS,
    TO_HAVE,
    Tree,
    is_function_relation,
)

WHOLE = "sentence"  # relation of the fragment that is the whole sentence
PRONOUNS_FOR_PEOPLE = frozenset({"everybody", "everyone", "somebody", "someone"})
NEGLIGIBLE = 0.01  # scores up to this share of the highest one say nothing about a region


@dataclass(frozen=True)
class Fragment:
    """A part of a sentence that can be aligned with a region.

    Args:
        relation: The label of a dependency, `word`, `bigram`, `phrase` or `WHOLE`.
        words: Indices of its words. Those of a dependency are its head and its dependent; the same
            index twice for the root.
    """

    relation: str
    words: tuple[int, ...]


@dataclass(frozen=True)
class Link:
    """What a sentence says of two things, such as "jumps over".

    Args:
        words: Indices of the words that say it.
        subject: Index of the noun or pronoun that names the first thing.
        object: Index of the one that names the second thing.
    """

    words: tuple[int, ...]
    subject: int
    object: int


@dataclass(frozen=True)
class Alignment:
    """The scores of a sentence's M fragments with a photo's K regions.

    Function words such as "the" and "of" are not aligned with any region, and neither are fragments
    that only attach one to its head, nor the sentence as a whole. Their parts still count towards
    the total, and so do those of words that the model does not know. A pronoun is aligned with the
    region of what it stands for.

    Args:
        words: The words of the sentence, which the fragments index.
        tree: The sentence's dependency tree, if the model reads one.
        fragments: The M fragments.
        boxes: `(x0, y0, x1, y1)` of the K regions as fractions of the photo's width and height.
            The last box is the whole photo.
        scores: `(M, K)`, the matrix that the loss trains on. At or below zero, the region does
            not show the fragment; a model that weighs words may multiply those of a word by 0.
        parts: `(M,)`, what each fragment adds to the total; negative for what the sentence denies.
        total: The score of the sentence with the photo.
        unknown: Indices of the words that the model does not know.
        limit: Score above which a region shows what a fragment names.
        links: What the sentence says of pairs of things.
        referents: Pairs of indices: a pronoun, and the noun that it stands for.
    """

    words: tuple[str, ...]
    tree: Tree | None
    fragments: tuple[Fragment, ...]
    boxes: tuple[tuple[float, float, float, float], ...]
    scores: tuple[tuple[float, ...], ...]
    parts: tuple[float, ...]
    total: float
    unknown: tuple[int, ...] = ()
    limit: float = 0.0
    links: tuple[Link, ...] = ()
    referents: tuple[tuple[int, int], ...] = ()

    @cached_property
    def function_words(self) -> frozenset[int]:
        """Indices of the function words; none without a tree.

        These are too: forms of "to have", adverbs such as "next" in "next to", "front" in "in front
        of", and pronouns that stand for nothing that the sentence names, except those of people,
        such as "someone".
        """
        if self.tree is None:
            return frozenset()
        resolved = {pronoun for pronoun, _ in self.referents}
        others = {
            i
            for i, (written, tag) in enumerate(zip(self.tree.words, self.tree.tags, strict=False))
            if (word := written.lower()) in TO_HAVE
            or (tag in ("ADJ", "ADV") and word in FUNCTION_ADVERBS)
            or (tag == "PRON" and word not in PRONOUNS_FOR_PEOPLE and i not in resolved)
        }
        return self.tree.function_words | self.tree.preposition_nouns | others

    @cached_property
    def _silent_words(self) -> frozenset[int]:
        """Indices of the words that point at nothing: function words and unknown ones."""
        return self.function_words | {*self.unknown}

    @cached_property
    def rest_fragments(self) -> frozenset[int]:
        """Numbers of the fragments of function words, and of the whole sentence."""
        return frozenset(
            m
            for m, fragment in enumerate(self.fragments)
            if fragment.relation == WHOLE
            or is_function_relation(fragment.relation)
            or self.function_words.issuperset(fragment.words)
        )

    @property
    def content_fragments(self) -> list[int]:
        """Numbers of the other fragments, in order."""
        return [m for m in range(len(self.fragments)) if m not in self.rest_fragments]

    @property
    def rest_part(self) -> float:
        """What the rest of the fragments together add to the total."""
        return sum(self.parts[m] for m in sorted(self.rest_fragments))

    def best_region(self, fragment: int) -> int | None:
        """Return the region with the highest score of a fragment.

        None if the photo does not show what it names, as no score is above the limit and NEGLIGIBLE
        times the highest of the sentence; also for the `rest_fragments`, and for fragments of
        function words and words that the model does not know.
        """
        words = self.fragments[fragment].words
        if fragment in self.rest_fragments or self._silent_words.issuperset(words):
            return None
        if (referent := self.referent(fragment)) is not None:
            return self.best_region(referent)
        row = self.scores[fragment]
        region = max(range(len(row)), key=row.__getitem__)
        return region if row[region] > max(self.limit, NEGLIGIBLE * self._highest) else None

    def best_score(self, fragment: int) -> float | None:
        """Return the score of a fragment with its region; None if it has none.

        That of a pronoun is the score of what it stands for.
        """
        region, referent = self.best_region(fragment), self.referent(fragment)
        if region is None:
            return None
        return self.scores[fragment if referent is None else referent][region]

    def referent(self, fragment: int) -> int | None:
        """Return the fragment of what a pronoun stands for; None for other fragments."""
        words = {*self.fragments[fragment].words}
        noun = dict(self.referents).get(words.pop()) if len(words) == 1 else None
        own = (m for m in self.content_fragments if noun in self.fragments[m].words)
        return max(own, key=lambda m: max(self.scores[m]), default=None)

    def region_of_word(self, word: int) -> int | None:
        """Return the region of a word, that of its `fragment_of_word`."""
        fragment = self.fragment_of_word(word)
        return None if fragment is None else self.best_region(fragment)

    @cached_property
    def visible_links(self) -> list[tuple[Link, int, int]]:
        """The links of things in different regions, with the regions of subject and object."""
        result = []
        for link in self.links:
            one, other = self.region_of_word(link.subject), self.region_of_word(link.object)
            if one is not None and other is not None and one != other:
                result.append((link, one, other))
        return result

    @cached_property
    def _highest(self) -> float:
        """The highest score of all that is not negative."""
        return max(0.0, *map(max, self.scores))

    def fragments_of(self, region: int) -> list[int]:
        """Return the fragments whose best region this is."""
        return [m for m in range(len(self.fragments)) if self.best_region(m) == region]

    def fragment_of_word(self, word: int) -> int | None:
        """Return the fragment of a word with the highest score, whose region is the word's too.

        None if no fragment of the word has a region, and for function words and unknown ones.
        """
        if word in self._silent_words:
            return None
        scores = self._best_scores
        own = (m for m in scores if word in self.fragments[m].words)
        return max(own, key=scores.__getitem__, default=None)

    @property
    def best_fragment(self) -> int | None:
        """The fragment with the highest score of all; None if no fragment has a region."""
        return max(self._best_scores, key=self._best_scores.__getitem__, default=None)

    @cached_property
    def _best_scores(self) -> dict[int, float]:
        """The score of each fragment with its region, for fragments that have one."""
        regions = {m: self.best_region(m) for m in range(len(self.fragments))}
        return {m: self.scores[m][k] for m, k in regions.items() if k is not None}

    def to_json(self) -> dict[str, Any]:
        """Return the record of an alignment for a file.

        In addition to the fields, it has `function_words`, and `regions` with the best region of
        each fragment.
        """
        return {
            **asdict(self),
            "function_words": sorted(self.function_words),
            "regions": [self.best_region(m) for m in range(len(self.fragments))],
        }
