"""Sentences, with the trees that some encoders read."""

from __future__ import annotations

from dataclasses import dataclass

from vsdemo.core.errors import UserError
from vsdemo.core.language import number, translate

MAX_CHARACTERS = 1000  # of a query; the longest caption of COCO has about 250
# Of function words, in Universal Dependencies: no photo shows "the", "of", "is", "and" or ".".
FUNCTION_TAGS = frozenset({"ADP", "AUX", "CCONJ", "DET", "PART", "PUNCT", "SCONJ"})
TO_BE = frozenset({"am", "are", "be", "been", "being", "is", "was", "were"})  # as in "there is"
TO_HAVE = frozenset({"had", "has", "have", "having"})
_FUNCTION_ADVERBS = """
about above across after along also around as away back before behind below by down here in just
near next off on only out over past so then there through too under up very when where
"""
FUNCTION_ADVERBS = frozenset(_FUNCTION_ADVERBS.split())  # as in "next to" and "very big"
# Of three words, of which the second one may be tagged as a noun.
PREPOSITIONS = frozenset({("in", "front", "of"), ("in", "back", "of"), ("on", "top", "of")})
FUNCTION_RELATIONS = frozenset({"aux", "case", "cc", "cop", "det", "expl", "mark", "punct"})


def is_function_relation(label: str) -> bool:
    """Return whether a relation, such as `aux:pass`, is that of a function word to its head."""
    return label.split(":")[0] in FUNCTION_RELATIONS


@dataclass(frozen=True)
class Tree:
    """A dependency tree (Universal Dependencies) over the N words of a sentence.

    Args:
        words: The words as written.
        heads: For each word the number of its head, counted from 1; 0 for the root.
        labels: For each word its relation to its head, such as `nsubj`.
        tags: Universal part-of-speech tags; `()` if unknown.

    Raises:
        UserError: The lengths differ, a head is out of range, there is not exactly one root, or
            the heads form a cycle.
    """

    words: tuple[str, ...]
    heads: tuple[int, ...]
    labels: tuple[str, ...]
    tags: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        n = len(self.words)
        if {len(self.heads), len(self.labels), len(self.tags) or n} != {n}:
            raise UserError("A tree needs one head, label and tag for each of its words.")
        if outside := [head for head in self.heads if not 0 <= head <= n]:
            raise UserError(f"A tree of {n} words cannot have the head {outside[0]}.")
        if self.heads.count(0) != 1:
            raise UserError(f"A tree has one root; this one has {self.heads.count(0)}.")
        if len(self.bottom_up()) < n:
            raise UserError("The heads of these words form a cycle, so they are not a tree.")

    @property
    def root(self) -> int:
        """Index of the root word, counted from 0."""
        return self.heads.index(0)

    @property
    def function_words(self) -> frozenset[int]:
        """Indices of determiners, prepositions, auxiliaries, conjunctions and punctuation.

        A word is one of them by its tag or by its relation to its head; forms of "to be" always
        are.
        """
        tags = self.tags or ("",) * len(self.words)
        return frozenset(
            i
            for i, (word, tag, label) in enumerate(zip(self.words, tags, self.labels, strict=True))
            if tag in FUNCTION_TAGS or is_function_relation(label) or word.lower() in TO_BE
        )

    @property
    def preposition_nouns(self) -> frozenset[int]:
        """Indices of the nouns of `PREPOSITIONS`, such as "front" in "in front of"."""
        words = [word.lower() for word in self.words]
        triples = zip(words, words[1:], words[2:], strict=False)
        return frozenset(i for i, triple in enumerate(triples, start=1) if triple in PREPOSITIONS)

    def children(self) -> list[list[int]]:
        """Return each word's dependents from left to right, as indices counted from 0."""
        rows: list[list[int]] = [[] for _ in self.words]
        for word, head in enumerate(self.heads):
            if head:
                rows[head - 1].append(word)
        return rows

    def bottom_up(self) -> list[int]:
        """Return the word indices so that every dependent precedes its head; the root is last."""
        children = self.children()
        top_down = [self.root]
        for word in top_down:  # the list grows during the iteration
            top_down.extend(children[word])
        return top_down[::-1]


@dataclass(frozen=True)
class BinaryTree:
    """A binary constituency tree over N words: leaves 0 to N-1, then N-1 inner nodes.

    Args:
        words: The words as written.
        merges: Inner node N + i joins the nodes `merges[i] = (left, right)`, both of which have
            lower numbers. The last one is the root.
        source: How the tree was made: `dependencies` or `constituency parser`.
    """

    words: tuple[str, ...]
    merges: tuple[tuple[int, int], ...]
    source: str


@dataclass(frozen=True)
class Sentence:
    """A sentence as encoders read it; trees are present only if the encoder needs them."""

    text: str
    tree: Tree | None = None
    constituents: BinaryTree | None = None

    @classmethod
    def from_user(cls, text: str) -> Sentence:
        """Return a typed sentence with single spaces.

        Raises:
            UserError: The text is blank, too long or contains control characters.
        """
        text = " ".join(text.split()) if len(text) <= MAX_CHARACTERS else text
        if not text:
            raise UserError(
                translate("The sentence is empty; describe what the photo should show.")
            )
        if len(text) > MAX_CHARACTERS:
            raise UserError(
                translate(
                    "The sentence has {count} characters; the limit is {limit}.",
                    count=number(len(text)),
                    limit=number(MAX_CHARACTERS),
                )
            )
        if any(ord(c) < 32 or ord(c) == 127 or 0xD800 <= ord(c) <= 0xDFFF for c in text):
            raise UserError(translate("The sentence contains control characters; type plain text."))
        return cls(text)
