"""Vocabularies, built from training captions only."""

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
WORDS, CHARACTERS = frozenset({"words"}), frozenset({"chars"})  # what an encoder may need


def letters_of(text: str) -> str:
    """Return the letters and digits of a text, in lower case, to compare texts by."""
    return "".join(c for c in text.lower() if c.isalnum())


def tokenize(text: str) -> list[str]:
    """Return the words and numbers of a text in lower case.

    Punctuation is dropped, because users rarely type it.
    """
    return WORD.findall(text.lower())


def words_of(sentence: Sentence) -> list[str]:
    """Return the words that an encoder reads: those of the tree if there is one."""
    if tree := sentence.tree or sentence.constituents:
        return [word.lower() for word in tree.words]
    return tokenize(sentence.text)


@dataclass(frozen=True)
class Vocab:
    """The words that a model knows; their positions are their ids.

    Args:
        words: First `<pad>`, `<unk>` and `<eos>`, then the words. For encoders that read
            characters, these are always the characters of Python's `string.printable`.
        relations: The frequent relations of the training trees, the most frequent first; empty
            without trees.
        children: The largest numbers of left and of right children of a word; `(0, 0)` without
            trees.
    """

    words: tuple[str, ...]
    relations: tuple[str, ...] = ()
    children: tuple[int, int] = (0, 0)

    @classmethod
    def build(
        cls, sentences: Iterable[Sentence], min_count: int = 1, needs: frozenset[str] = WORDS
    ) -> Vocab:
        """Build the vocabulary of sentences, with the most frequent words first.

        Args:
            sentences: The training sentences.
            min_count: Less frequent words become `<unk>`.
            needs: What the encoder needs.
        """
        if needs >= CHARACTERS:
            return cls((*SPECIAL, *string.printable))
        sentences = list(sentences)
        counts = Counter(word for sentence in sentences for word in words_of(sentence))
        kept = [w for w, n in counts.items() if n >= min_count and w not in SPECIAL]
        trees = [sentence.tree for sentence in sentences if sentence.tree]
        relations = count_relations(trees)
        del relations["root"]  # not an edge
        return cls(
            words=(*SPECIAL, *sorted(kept, key=lambda word: (-counts[word], word))),
            relations=frequent_relations(relations),
            children=max_children(trees),
        )

    @classmethod
    def from_json(cls, value: Any) -> Vocab:
        """Undo `to_json`.

        Raises:
            TypeError: The value has another structure.
            ValueError: As for TypeError.
        """
        if isinstance(value, list):
            return cls(tuple(value))
        left, right = value["children"]
        return cls(tuple(value["words"]), tuple(value["relations"]), (left, right))

    def to_json(self) -> Any:
        """Return the list of words or, if there are trees, a dict of all fields."""
        return asdict(self) if any(self.children) else self.words

    @cached_property
    def _id_of(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.words)}

    def __len__(self) -> int:
        """Return the number of words, including the special ones."""
        return len(self.words)

    def ids(self, words: Sequence[str]) -> list[int]:
        """Return the ids of words in any case; that of `<unk>` for unknown words."""
        return [self._id_of.get(word.lower(), UNK) for word in words]

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text's words, followed by `<eos>`."""
        return [*self.ids(tokenize(text)), EOS]

    def encode_characters(self, text: str) -> list[int]:
        """Return the ids of a text's characters as written; `<eos>` for an empty text."""
        return [self._id_of.get(character, UNK) for character in text] or [EOS]

    def split_known(self, sentence: Sentence) -> tuple[list[str], list[str]]:
        """Return the known and the unknown words of a sentence, without punctuation."""
        words = [word for word in words_of(sentence) if tokenize(word)]
        known = [word for word in words if word in self._id_of]
        return known, [word for word in words if word not in self._id_of]


def max_children(trees: Iterable[Tree]) -> tuple[int, int]:
    """Return the largest numbers of left and of right children of any word."""
    left = right = 0
    for tree in trees:
        for head, children in enumerate(tree.children()):
            before = sum(child < head for child in children)
            left = max(left, before)
            right = max(right, len(children) - before)
    return left, right
