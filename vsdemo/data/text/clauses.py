"""A caption cut at the dependents of its root, to be put together again in another order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from vsdemo.core.sentences import Sentence, Tree

NOUNS = {"NOUN", "PROPN"}
PLURALS = {"men", "women", "children", "people", "feet", "teeth", "geese", "mice", "police"}
UNSURE = {"fish", "sheep", "deer", "lot", "number", "couple", "variety", "majority", "series"}
SINGULAR = {"a", "an", "one", "this", "that", "each", "every", "another"}


class Part(NamedTuple):
    """The root, or a phrase that hangs on it: its relation, its head and all its words."""

    label: str
    head: int
    words: range


@dataclass(frozen=True)
class Clause:
    """Parts from left to right, without closing punctuation; starts: of each word in the text."""

    text: str
    tree: Tree
    starts: tuple[int, ...]
    parts: tuple[Part, ...]

    @classmethod
    def cut(cls, sentence: Sentence) -> Clause | None:
        """None without a tagged tree, where a part has gaps or a word is not in the text."""
        text, tree = " ".join(sentence.text.split()), sentence.tree
        if tree is None or not tree.tags:
            return None
        starts, end = [], 0
        for word in tree.words:
            starts.append(text.find(word, end))
            end = starts[-1] + len(word)
        below = [[word] for word in range(len(tree.words))]
        for word in tree.bottom_up():
            if tree.heads[word] not in (0, tree.root + 1):
                below[tree.heads[word] - 1] += below[word]
        heads = sorted([tree.root, *tree.children()[tree.root]])
        spans = [range(min(below[h]), max(below[h]) + 1) for h in heads]
        if min(starts) < 0 or sum(map(len, spans)) > len(tree.words):
            return None
        parts = [Part(tree.labels[h], h, s) for h, s in zip(heads, spans, strict=True)]
        while parts[-1].label == "punct":
            parts.pop()
        return cls(text, tree, tuple(starts), tuple(parts)) if parts else None

    @property
    def labels(self) -> list[str]:
        """The relation of each part; the root's is root."""
        return [part.label for part in self.parts]

    def say(self, *phrases: range | str) -> str:
        """Words as they stand in the text, and new ones, with the caption's capital and end."""
        words, last = self.tree.words, self.parts[-1].words[-1]
        said = " ".join(p if isinstance(p, str) else self._copy(p) for p in phrases if p)
        end = self.text[self.starts[last] + len(words[last]) :]
        return (said[0].upper() + said[1:] if self.text[0].isupper() else said) + end

    def _copy(self, words: range) -> str:
        first, last = words[0], words[-1]
        copied = self.text[self.starts[first] : self.starts[last] + len(self.tree.words[last])]
        name = self.tree.tags[first] == "PROPN" or self.tree.words[first][1:].isupper()
        return copied if first or name else copied[0].lower() + copied[1:]

    def holds(self, words: range, *kinds: str) -> bool:
        """Whether any of these words has one of these tags or relations."""
        tags, labels = self.tree.tags, self.tree.labels
        return any({tags[w], labels[w].split(":")[0]} & {*kinds} for w in words)

    def is_plural(self, noun: int) -> bool | None:
        """Whether a noun takes a plural verb; None when unsure."""
        tree, children = self.tree, self.tree.children()
        word = tree.words[noun].lower()
        below = {tree.words[c].lower(): tree.labels[c] for c in children[noun]}
        if joined := [c for c in children[noun] if tree.labels[c] == "conj"]:
            return True if "and" in {tree.words[c].lower() for c in children[joined[-1]]} else None
        many = word in PLURALS or (word.endswith("s") and word[-2:] not in ("ss", "us", "is"))
        many |= "nummod" in below.values() and "one" not in below
        return None if word in UNSURE or (many and SINGULAR & below.keys()) else many
