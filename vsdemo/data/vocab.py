"""Words and their numbers; built from training captions only."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

PAD, UNK, EOS = 0, 1, 2
SPECIAL = ("<pad>", "<unk>", "<eos>")
WORD = re.compile(r"[^\W_]+")


def tokenize(text: str) -> list[str]:
    """Lower-case words and numbers; punctuation is dropped, as visitors rarely type it."""
    return WORD.findall(text.lower())


@dataclass(frozen=True)
class Vocab:
    """words[i] has number i; the first three are <pad>, <unk> and <eos>."""

    words: tuple[str, ...]

    @classmethod
    def build(cls, captions: Iterable[str], min_count: int = 1) -> Vocab:
        """The words seen at least `min_count` times, the most frequent first."""
        counts = Counter(word for caption in captions for word in tokenize(caption))
        kept = [w for w, n in counts.items() if n >= min_count]
        return cls((*SPECIAL, *sorted(kept, key=lambda w: (-counts[w], w))))

    @cached_property
    def _number(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.words)}

    def __len__(self) -> int:
        return len(self.words)

    def encode(self, text: str) -> list[int]:
        """Numbers of the words, <unk> for unknown ones, then <eos>."""
        return [self._number.get(w, UNK) for w in tokenize(text)] + [EOS]

    def unknown(self, text: str) -> tuple[list[str], list[str]]:
        """(known, unknown) words of a text."""
        words: Sequence[str] = tokenize(text)
        known = [w for w in words if w in self._number]
        return known, [w for w in words if w not in self._number]
