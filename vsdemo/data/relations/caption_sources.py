"""The sources of relations of captions that people wrote, each with its pairs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import combinations

from tqdm import tqdm

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence, Tree
from vsdemo.data.relations import generalize
from vsdemo.data.relations.caption_nouns import CaptionNouns, read_captions
from vsdemo.data.relations.listing import Source, above_of
from vsdemo.data.relations.swaps import swapped
from vsdemo.data.text.trees import TreeCache


class _Unreplaced:
    """The nouns of captions, none of which may replace another.

    Args:
        nouns: Nouns of the captions.
    """

    def __init__(self, nouns: CaptionNouns) -> None:
        self.can_stand_alone = nouns.can_stand_alone
        self.above = nouns.above
        self.is_noun = nouns.is_noun

    def replacements(self, words: Sequence[str]) -> list[str]:
        """Return nothing."""
        return []

    def verb_above(self, form: str, *, transitive: bool) -> str:
        """Return nothing."""
        return ""


class CaptionSources:
    """Lists what lies above captions and their photos, and what does not.

    Args:
        split: A split with captions.
        trees: Trees of all captions; by default those of the shipped parser.

    Raises:
        UserError: WordNet is missing.
    """

    def __init__(self, split: CaptionSet, trees: Sequence[Tree] | None = None) -> None:
        self.split = split
        trees = TreeCache().get(split.captions) if trees is None else trees
        self.trees, self.nouns = read_captions(trees, split.photo_of)

    @cached_property
    def _more_general(self) -> tuple[list[frozenset[str]], list[frozenset[str]]]:
        """For each caption its shortened forms, and those in which a word is replaced."""
        shortened, replaced = [], []
        plain = _Unreplaced(self.nouns)
        for tree in tqdm(self.trees, desc="generalizing", mininterval=1):
            own = generalize.key(" ".join(tree.words))
            short, every = (self._closure(tree, nouns).get(own) for nouns in (plain, self.nouns))
            shortened.append(short or frozenset())
            replaced.append((every or frozenset()) - (short or frozenset()))
        return shortened, replaced

    @staticmethod
    def _closure(tree: Tree, nouns: generalize.Nouns) -> dict[str, frozenset[str]]:
        try:
            return generalize.closure([tree], nouns)
        except UserError:  # too many
            return {}

    def shortened(self) -> Source:
        """Return captions without phrases that can be left out."""
        texts, _ = self._more_general
        return self._of_captions("shortened", "shortened captions above captions", texts)

    def replaced(self) -> Source:
        """Return captions, shortened ones too, with a more general noun or verb."""
        _, texts = self._more_general
        return self._of_captions("replaced", "captions with a more general word", texts)

    def concepts(self) -> Source:
        """Return the concepts above concepts."""
        phrases = {text: above - {text} for text, above in sorted(self.nouns.phrases.items())}
        general, above = above_of([sorted(above) for above in phrases.values()])
        return Source(
            "concepts", "concepts above concepts", "concept", tuple(phrases), general, above
        )

    def siblings(self) -> Source:
        """Return sibling concepts: both below the same concept, with nothing below both."""
        phrases = self.nouns.phrases
        below: dict[str, set[str]] = {}
        for text, above in phrases.items():
            for other in above:
                below.setdefault(other, set()).add(text)
        direct: dict[str, set[str]] = {}
        for text, above in phrases.items():
            if self.nouns.noun_of[text] not in self.nouns.senses:
                continue  # a race dog may be a working dog
            others = above - {text}
            for parent in others:
                if not any(parent in phrases.get(other, ()) for other in others - {parent}):
                    direct.setdefault(parent, set()).add(text)
        beside: dict[str, set[str]] = {}
        for family in direct.values():
            for one, other in combinations(sorted(family), 2):
                is_related = one in phrases[other] or other in phrases[one]
                if not is_related and not below.get(one, set()) & below.get(other, set()):
                    beside.setdefault(one, set()).add(other)
                    beside.setdefault(other, set()).add(one)
        general, above_matrix = above_of([sorted(row) for row in beside.values()])
        return Source(
            "siblings",
            "concepts beside concepts",
            "concept",
            tuple(beside),
            general,
            above_matrix,
            holds=False,
        )

    def swapped(self) -> Source:
        """Return captions with roles or attributes exchanged."""
        texts = [
            swapped(Sentence(caption, tree))
            for caption, tree in zip(self.split.captions, self.trees, strict=True)
        ]
        return self._of_captions("swapped", "roles or attributes exchanged", texts, holds=False)

    def _of_captions(
        self, name: str, meaning: str, texts: Sequence[Iterable[str]], *, holds: bool = True
    ) -> Source:
        general, above = above_of([sorted(row) for row in texts])
        return Source(name, meaning, "caption", self.split.captions, general, above, holds=holds)


def captions_above_photos(split: CaptionSet) -> Source:
    """Return the captions above their photos."""
    general, above = above_of([split.own_captions(photo) for photo in range(len(split.photos))])
    names = tuple(photo.name for photo in split.photos)
    return Source("captions", "captions above photos", "photo", names, general, above)
