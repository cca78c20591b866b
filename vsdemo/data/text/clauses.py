"""A caption split at the dependents of its root, so that its parts can be rearranged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from vsdemo.core.sentences import Sentence, Tree

NOUNS = {"NOUN", "PROPN"}
# inflect's `singular_noun` takes tennis, bus, equipment and luggage for plurals, so these few
# words and the ending -s decide.
PLURALS = {"men", "women", "children", "people", "feet", "teeth", "geese", "mice", "police"}
AMBIGUOUS = {"fish", "sheep", "deer", "lot", "number", "couple", "variety", "majority", "series"}
SINGULAR_DETERMINERS = {"a", "an", "one", "this", "that", "each", "every", "another"}


class Part(NamedTuple):
    """The root, or one of its dependents with all words below it.

    Args:
        label: The relation to the root, or `root`.
        head: Index of the part's head.
        words: Indices of all of its words, which are adjacent.
    """

    label: str
    head: int
    words: range


@dataclass(frozen=True)
class Clause:
    """The parts of a sentence from left to right.

    Args:
        text: The sentence with single spaces.
        tree: Its dependency tree.
        starts: The position of each word in the text.
        parts: The parts, without final punctuation.
    """

    text: str
    tree: Tree
    starts: tuple[int, ...]
    parts: tuple[Part, ...]

    @classmethod
    def from_sentence(cls, sentence: Sentence) -> Clause | None:
        """Split a sentence at its root.

        Returns:
            None if the sentence has no tree with tags, the words of a part are not adjacent, or a
            word of the tree is missing in the text.
        """
        text, tree = " ".join(sentence.text.split()), sentence.tree
        if tree is None or not tree.tags:
            return None
        starts: list[int] = []
        end = 0
        for word in tree.words:
            starts.append(text.find(word, end))
            end = starts[-1] + len(word)
        below = [[index] for index in range(len(tree.words))]
        for index in tree.bottom_up():
            if tree.heads[index] not in (0, tree.root + 1):
                below[tree.heads[index] - 1] += below[index]
        heads = sorted([tree.root, *tree.children()[tree.root]])
        spans = [range(min(below[head]), max(below[head]) + 1) for head in heads]
        if min(starts) < 0 or sum(len(span) for span in spans) > len(tree.words):
            return None
        parts = [
            Part(tree.labels[head], head, span) for head, span in zip(heads, spans, strict=True)
        ]
        while parts[-1].label == "punct":
            parts.pop()
        return cls(text, tree, tuple(starts), tuple(parts))

    @property
    def labels(self) -> list[str]:
        """The relation of each part; that of the root is `root`."""
        return [part.label for part in self.parts]

    def render(self, *phrases: range | str) -> str:
        """Join phrases to a caption with the case and the final punctuation of this one.

        Args:
            *phrases: Ranges of words, which are copied from the text, and new words. Empty ranges
                are skipped.
        """
        rendered = " ".join(p if isinstance(p, str) else self._copy(p) for p in phrases if p)
        last = self.parts[-1].words[-1]
        ending = self.text[self.starts[last] + len(self.tree.words[last]) :]
        if self.text[0].isupper():
            rendered = rendered[0].upper() + rendered[1:]
        return rendered + ending

    def _copy(self, words: range) -> str:
        first, last = words[0], words[-1]
        copied = self.text[self.starts[first] : self.starts[last] + len(self.tree.words[last])]
        is_name = self.tree.tags[first] == "PROPN" or self.tree.words[first][1:].isupper()
        return copied if first or is_name else copied[0].lower() + copied[1:]

    def contains(self, words: range, *kinds: str) -> bool:
        """Return whether any of these words has one of these tags or relations."""
        tags, labels = self.tree.tags, self.tree.labels
        return any({tags[w], labels[w].split(":")[0]} & {*kinds} for w in words)

    def is_plural(self, noun: int) -> bool | None:
        """Return whether a noun takes a plural verb; None if that is unclear."""
        tree, children = self.tree, self.tree.children()
        word = tree.words[noun].lower()
        conjuncts = [child for child in children[noun] if tree.labels[child] == "conj"]
        if conjuncts:
            joining = {tree.words[child].lower() for child in children[conjuncts[-1]]}
            return True if "and" in joining else None
        label_of = {tree.words[child].lower(): tree.labels[child] for child in children[noun]}
        plural_form = word in PLURALS or (
            word.endswith("s") and not word.endswith(("ss", "us", "is"))
        )
        counted = "nummod" in label_of.values() and "one" not in label_of
        plural = plural_form or counted
        if word in AMBIGUOUS or (plural and SINGULAR_DETERMINERS & label_of.keys()):
            return None
        return plural
