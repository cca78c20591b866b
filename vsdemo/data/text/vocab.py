"""Words and their numbers, and what trees hold; built from training captions only."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from vsdemo.core.sentences import Sentence, Tree
from vsdemo.data.text.trees import count_relations, frequent_relations

PAD, UNK, EOS = 0, 1, 2
SPECIAL = ("<pad>", "<unk>", "<eos>")
WORD = re.compile(r"[^\W_]+")
WORDS, CHARACTERS = frozenset({"words"}), frozenset({"chars"})  # what a tower needs


def tokenize(text: str) -> list[str]:
    """Lower-case words and numbers; punctuation is dropped, as visitors rarely type it."""
    return WORD.findall(text.lower())


def words_of(sentence: Sentence) -> list[str]:
    """What a tower reads: the words of the sentence's tree where it has one, else of its text."""
    if tree := sentence.tree or sentence.constituents:
        return [word.lower() for word in tree.words]
    return tokenize(sentence.text)


@dataclass(frozen=True)
class Vocab:
    """words[i] has number i; the first three are <pad>, <unk> and <eos>.

    relations: those of the training trees that are not rare, the most frequent first. children:
    the most that a word has on its left and on its right. Both are empty without trees.
    Where a tower reads characters, `words` are those of Python's `string.printable`, always.
    """

    words: tuple[str, ...]
    relations: tuple[str, ...] = ()
    children: tuple[int, int] = (0, 0)

    @classmethod
    def build(
        cls, sentences: Iterable[Sentence], min_count: int = 1, needs: frozenset[str] = WORDS
    ) -> Vocab:
        """The words seen at least `min_count` times, the most frequent first; for a tower that
        `needs` characters these, which need not be seen."""
        if needs >= CHARACTERS:
            return cls((*SPECIAL, *string.printable))
        sentences = list(sentences)
        counts = Counter(word for sentence in sentences for word in words_of(sentence))
        kept = [w for w, n in counts.items() if n >= min_count and w not in SPECIAL]
        trees = [sentence.tree for sentence in sentences if sentence.tree]
        labels = count_relations(trees)
        del labels["root"]  # which is no edge
        return cls(
            (*SPECIAL, *sorted(kept, key=lambda w: (-counts[w], w))),
            frequent_relations(labels),
            max_children(trees),
        )

    @classmethod
    def from_json(cls, value: Any) -> Vocab:
        """Reads what `to_json` gave. Raises TypeError or ValueError for anything else."""
        if isinstance(value, list):
            return cls(tuple(value))
        left, right = value["children"]
        return cls(tuple(value["words"]), tuple(value["relations"]), (left, right))

    def to_json(self) -> Any:
        """The list of words, or, of trees, a dict of all fields."""
        return asdict(self) if any(self.children) else self.words

    @cached_property
    def _number(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.words)}

    def __len__(self) -> int:
        return len(self.words)

    def ids(self, words: Sequence[str]) -> list[int]:
        """Numbers of words, in either case; <unk> for unknown ones."""
        return [self._number.get(word.lower(), UNK) for word in words]

    def encode(self, text: str) -> list[int]:
        """Numbers of the words of a text, then <eos>."""
        return [*self.ids(tokenize(text)), EOS]

    def encode_characters(self, text: str) -> list[int]:
        """Numbers of the characters of a text, as it is written; an empty one has an <eos>."""
        return [self._number.get(c, UNK) for c in text] or [EOS]

    def split_known(self, sentence: Sentence) -> tuple[list[str], list[str]]:
        """(known, unknown) words of a sentence; marks of punctuation are none."""
        words = [w for w in words_of(sentence) if tokenize(w)]
        known = [w for w in words if w in self._number]
        return known, [w for w in words if w not in self._number]


def max_children(trees: Iterable[Tree]) -> tuple[int, int]:
    """The most children that any word has on its left and on its right."""
    left = right = 0
    for tree in trees:
        for head, children in enumerate(tree.children()):
            before = sum(child < head for child in children)
            left, right = max(left, before), max(right, len(children) - before)
    return left, right
