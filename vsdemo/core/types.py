"""The records every floor of vsdemo speaks, and the one error a user may see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # `vsdemo --help` does not wait for torch
    import torch
    from torch import Tensor

MAX_CHARACTERS = 1000  # of a query; the longest caption of COCO has about 250


class UserError(ValueError):
    """Bad input, in one sentence that says what was wrong and what to do."""


@dataclass(frozen=True)
class Embeddings:
    """N points, or N sets of points, of one embedding space.

    x: (N, D), or (N, K, D) with mask (N, K), true where a point exists.
    """

    x: Tensor
    mask: Tensor | None = None

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, rows: slice | Tensor) -> Embeddings:
        return Embeddings(self.x[rows], None if self.mask is None else self.mask[rows])

    def to(self, device: torch.device | str) -> Embeddings:
        mask = None if self.mask is None else self.mask.to(device)
        return Embeddings(self.x.to(device), mask)

    @staticmethod
    def cat(parts: Sequence[Embeddings], rows: Tensor | None = None) -> Embeddings:
        """Joins (N_i, ...) parts to one of sum(N_i) rows; sets are padded to the largest.

        rows: (sum(N_i),), where each goes; by default one behind the other.
        """
        import torch

        count, first = sum(map(len, parts)), parts[0]
        rows = torch.arange(count) if rows is None else rows
        shape = [max(sizes) for sizes in zip(*(p.x.shape[1:] for p in parts), strict=True)]
        x, done = first.x.new_zeros(count, *shape), 0
        mask = None if first.mask is None else first.mask.new_zeros(count, shape[0])
        for part in parts:
            own, done = rows[done : done + len(part)], done + len(part)
            if mask is None:
                x[own] = part.x
            else:
                size = part.x.shape[1]
                x[own, :size], mask[own, :size] = part.x, part.mask
        return Embeddings(x, mask)


@dataclass(frozen=True)
class Tree:
    """A dependency tree (Universal Dependencies) over the N words of a sentence.

    words: as written. heads: for each word the number of its head, counted from 1; 0 for the
    root. labels: each word's relation to its head, such as nsubj. tags: universal
    part-of-speech tags, or () where unknown.
    Raises UserError when this is no tree: lengths differ, a head is out of range, there is not
    exactly one root, or words hang on each other in a cycle.
    """

    words: tuple[str, ...]
    heads: tuple[int, ...]
    labels: tuple[str, ...]
    tags: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        n = len(self.words)
        if {len(self.heads), len(self.labels), len(self.tags) or n} != {n}:
            raise UserError("A tree needs one head, label and tag for each of its words.")
        if outside := [h for h in self.heads if not 0 <= h <= n]:
            raise UserError(f"A tree of {n} words cannot have the head {outside[0]}.")
        if self.heads.count(0) != 1:
            raise UserError(f"A tree has one root; this one has {self.heads.count(0)}.")
        if len(self.bottom_up()) < n:
            raise UserError("These words hang on each other in a cycle; that is no tree.")

    @property
    def root(self) -> int:
        """Index of the root word, counted from 0."""
        return self.heads.index(0)

    def children(self) -> list[list[int]]:
        """For each word the indices of its dependents from left to right, counted from 0."""
        rows: list[list[int]] = [[] for _ in self.words]
        for word, head in enumerate(self.heads):
            if head:
                rows[head - 1].append(word)
        return rows

    def bottom_up(self) -> list[int]:
        """Indices of the words below the root, every dependent before its head, the root last."""
        children, order = self.children(), [self.root]
        for word in order:  # grows while it is walked
            order.extend(children[word])
        return order[::-1]


@dataclass(frozen=True)
class BinaryTree:
    """A binary constituency tree over N words: leaves 0 ... N-1, then N-1 joined nodes.

    merges: node N + i joins the nodes merges[i] = (left, right), both of lower number; the last
    one is the root. source: what it was made from, `dependencies` or `constituency parser`.
    """

    words: tuple[str, ...]
    merges: tuple[tuple[int, int], ...]
    source: str


@dataclass(frozen=True)
class Sentence:
    """A sentence as encoders take it; trees only where one needs them."""

    text: str
    tree: Tree | None = None
    constituents: BinaryTree | None = None

    @classmethod
    def from_user(cls, text: str) -> Sentence:
        """Checks a typed sentence.

        Raises UserError when it is blank, too long or holds control characters.
        """
        text = " ".join(text.split()) if len(text) <= MAX_CHARACTERS else text
        if not text:
            raise UserError("The sentence is empty; type what a photo should show.")
        if len(text) > MAX_CHARACTERS:
            raise UserError(
                f"The sentence has {len(text):,} characters; at most {MAX_CHARACTERS:,} are read."
            )
        if any(ord(c) < 32 or ord(c) == 127 or 0xD800 <= ord(c) <= 0xDFFF for c in text):
            raise UserError("The sentence holds control characters; type plain text.")
        return cls(text)


@dataclass(frozen=True)
class CaptionSet:
    """Photos with their captions: one split of a data set, or a folder of own photos."""

    name: str
    split: str
    photos: tuple[Path, ...]
    captions: tuple[str, ...] = ()
    photo_of: tuple[int, ...] = ()  # caption number -> photo number

    @cached_property
    def captions_of(self) -> list[list[int]]:
        """Photo number -> its caption numbers, in order."""
        rows: list[list[int]] = [[] for _ in self.photos]
        for caption, photo in enumerate(self.photo_of):
            rows[photo].append(caption)
        return rows

    def first(self, count: int) -> CaptionSet:
        """The first photos, with their captions."""
        kept = [c for c, photo in enumerate(self.photo_of) if photo < count]
        captions = tuple(self.captions[c] for c in kept)
        owners = tuple(self.photo_of[c] for c in kept)
        return replace(self, photos=self.photos[:count], captions=captions, photo_of=owners)

    def own_captions(self, number: int) -> list[str]:
        """What was written for a photo."""
        return [self.captions[c] for c in self.captions_of[number]]


@dataclass(frozen=True)
class Hit:
    """One result of a search.

    score: the model's own, higher is better. fit: the same on a scale from 0 to 1, for bars.
    """

    rank: int
    number: int  # of the photo or caption within its gallery
    item: str  # file name of the photo, or the caption
    score: float
    fit: float


@dataclass(frozen=True)
class Fragment:
    """A part of a sentence that speaks of something.

    relation: its label in the dependency tree, or `word` or `bigram`. words: numbers of head and
    dependent among the sentence's words, counted from 0; the same twice for a single word.
    """

    relation: str
    words: tuple[int, int]


@dataclass(frozen=True)
class Alignment:
    """What the M fragments of a sentence have to do with the K regions of a photo.

    words: of the sentence, which fragments number. boxes: (x0, y0, x1, y1) of each region in shares
    of the photo, the whole frame the last. scores: (M, K), the very matrix that the loss trains on;
    below zero nothing of the fragment is seen. parts: (M,), each fragment's share of the total.
    """

    words: tuple[str, ...]
    tree: Tree | None
    fragments: tuple[Fragment, ...]
    boxes: tuple[tuple[float, float, float, float], ...]
    scores: tuple[tuple[float, ...], ...]
    parts: tuple[float, ...]
    total: float

    def best(self, fragment: int) -> int | None:
        """The region that a fragment speaks of; None where no score is above zero."""
        row = self.scores[fragment]
        region = max(range(len(row)), key=row.__getitem__)
        return region if row[region] > 0 else None

    def spoken_of(self, region: int) -> list[int]:
        """The fragments whose best region this is."""
        return [m for m in range(len(self.fragments)) if self.best(m) == region]


@dataclass(frozen=True)
class RegionHit:
    """A region found in a gallery: photo number, file name, box in shares, score and its rank."""

    rank: int
    number: int
    item: str
    box: tuple[float, float, float, float]
    score: float


@dataclass(frozen=True)
class Arrow:
    """Of two items of a hierarchy, by number, the general one lies above the specific one, as far
    as the violation of the order tells."""

    general: int
    specific: int
    violation: float
