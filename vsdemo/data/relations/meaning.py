"""What sentences say, as graphs of their content words, and whether one says all that another says.

`generalize` makes sentences that follow; here two given sentences are compared. A sentence follows
from another one if each of its content words has a separate word there that means the same or
something more specific, with the same relations: "a boy in the woods" follows from "A young boy
jumps up in a field in the woods."
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.sentences import Tree
from vsdemo.data.relations.caption_nouns import read_captions
from vsdemo.data.relations.caption_words import IMAGES, NOT_SHOWN_AFTER, PRIVATIVE
from vsdemo.data.relations.generalize import GUESSES, NEGATIONS, whole_words
from vsdemo.data.text.inflection import NUMBERS, stem
from vsdemo.data.text.trees import TreeCache

THINGS = {"NOUN", "PROPN"}
NAMED = {"nmod", "obl", "obj", "nsubj"}  # relations in which an adjective is a thing: "in red"
DETERMINERS = {"the", "a", "an", "one", "this", "that", "these", "those"}
CONTENT = {"NOUN", "PROPN", "VERB", "ADJ", "NUM", "ADV"}
UNCERTAIN = {"if", "before", "after", "until", "unless", "like", "though", "as", "to"}  # marks
MARKS = {"mark", "advmod", "case"}
SUBJECT, OBJECT = "subject", "object"
Edge = tuple[int, str, int]


class Nouns(Protocol):
    """What is known about nouns and verbs; `caption_nouns.CaptionNouns` is one."""

    def noun(self, words: Sequence[str]) -> str:
        """Return a noun in the singular, if it has one."""

    def concept(self, noun: str) -> int | None:
        """Return the concept that a noun means; None if there is none."""

    def kinds(self, noun: str) -> set[int]:
        """Return the concept that a noun means and all concepts above it."""

    def verb_above(self, form: str, *, transitive: bool) -> str:
        """Return a more general verb in the same form; empty if there is none."""


@dataclass(frozen=True)
class Word:
    """A content word.

    Attributes:
        name: What it asks for: a concept, a noun that means none, or a verb.
        names: What it offers: its name and what is above.
        is_plural: Whether it is about several things.
    """

    name: str
    names: frozenset[str]
    is_plural: bool = False


@dataclass
class Meaning:
    """What a sentence says.

    Attributes:
        words: Its content words.
        edges: (i, relation, j): word i has word j as its subject, its object, or after a
            preposition.
        properties: For each word, its adjectives, adverbs, number and unusual determiners.
        is_whole: Whether this is all that the sentence says.
    """

    words: list[Word] = field(default_factory=list)
    edges: set[Edge] = field(default_factory=set)
    properties: list[set[str]] = field(default_factory=list)
    is_whole: bool = True

    def implies(self, general: Meaning) -> bool:
        """Return whether a more general sentence follows from this one.

        A sentence never follows if it has no content, or some that was not understood.
        """
        if not general.is_whole:
            return False
        options = [self._options(general, number) for number in range(len(general.words))]
        return bool(options) and all(options) and self._match(general, options, ())

    def _options(self, general: Meaning, number: int) -> list[int]:
        wanted, properties = general.words[number], general.properties[number]
        return [
            own
            for own, word in enumerate(self.words)
            if wanted.name in word.names
            and word.is_plural >= wanted.is_plural
            and properties <= self.properties[own]
        ]

    def _match(
        self, general: Meaning, options: Sequence[Sequence[int]], chosen: tuple[int, ...]
    ) -> bool:
        """Return whether the words after the chosen ones have separate matches here."""
        number = len(chosen)
        if number == len(options):
            return True
        for own in options[number]:
            if own in chosen:
                continue
            place = (*chosen, own)
            if all(
                (place[i], relation, place[j]) in self.edges
                for i, relation, j in general.edges
                if max(i, j) == number
            ) and self._match(general, options, place):
                return True
        return False


def read(tree: Tree, nouns: Nouns) -> Meaning:
    """Return what a sentence says; nothing if it has a negation or a guess, or no tags."""
    if not tree.tags or (NEGATIONS | GUESSES) & {word.lower() for word in tree.words}:
        return Meaning()
    return _Reader(whole_words(tree), nouns).meaning


def _thing(noun: str, nouns: Nouns) -> Word:
    """Return a noun in the singular as a content word."""
    concept = nouns.concept(noun)
    name = noun if concept is None else str(concept)
    return Word(name, frozenset({noun, *map(str, nouns.kinds(noun))}))


class _Reader:
    """Reads a tree from its root down."""

    def __init__(self, tree: Tree, nouns: Nouns) -> None:
        self.tree, self.nouns = tree, nouns
        self.forms = [word.lower() for word in tree.words]
        self.relations = [label.split(":")[0] for label in tree.labels]
        self.children = tree.children()
        self.meaning = Meaning()
        self.number: dict[int, int] = {}  # word of the tree -> content word
        self.understood: set[int] = set()  # words of the tree that are part of the meaning
        shown = list(self._shown(tree.root))
        for word in shown:
            self._add(word)
        for word in shown:
            if word in self.number:
                self._join(word)
        content = {i for i, tag in enumerate(tree.tags) if tag in CONTENT}
        self.meaning.is_whole = content <= self.understood

    def _shown(self, word: int) -> Iterator[int]:
        """Yield the words below a word, and itself, that the sentence says are there."""
        yield word
        for child in self.children[word]:
            marks = {self.forms[c] for c in self.children[child] if self.relations[c] in MARKS}
            is_image = self.forms[word] in IMAGES and "of" in marks
            is_clause = self.relations[child] in {"advcl", "xcomp", "ccomp", "acl"}
            hedged = NOT_SHOWN_AFTER & marks or is_image or (is_clause and UNCERTAIN & marks)
            if not hedged:
                yield from self._shown(child)

    def _is_verb(self, word: int) -> bool:
        if self.tree.tags[word] == "VERB":
            return self.relations[word] not in {"amod", "compound"}
        # The parser takes "a dog running" for a kind of running.
        gerund = self.tree.tags[word] == "NOUN" and self.forms[word].endswith("ing")
        return gerund and bool(self._compounds(word)) and not self._is_known(word)

    def _is_known(self, word: int) -> bool:
        return bool(self.nouns.kinds(self.nouns.noun(self._noun_words(word))))

    def _compounds(self, word: int) -> list[int]:
        return [c for c in self.children[word] if self.relations[c] == "compound" and c < word]

    def _noun_words(self, word: int) -> list[str]:
        return [self.forms[c] for c in (*self._compounds(word), word)]

    def _add(self, word: int) -> None:
        tag, relation = self.tree.tags[word], self.relations[word]
        if self._is_verb(word):
            self._put(word, self._verb(word))
        elif tag in THINGS and not (relation == "compound" and not self._is_subject(word)):
            self._put(word, self._noun(word))
        elif tag == "ADJ" and relation in NAMED:
            self._put(word, Word(self.forms[word], frozenset({self.forms[word]})))

    def _is_subject(self, word: int) -> bool:
        """Return whether a noun is the subject of a gerund, as in "a dog running"."""
        return self.tree.heads[word] > 0 and self._is_verb(self.tree.heads[word] - 1)

    def _put(self, word: int, content: Word) -> None:
        self.number[word] = len(self.meaning.words)
        self.understood |= {word, *self._compounds(word)}
        self.meaning.words.append(content)
        self.meaning.properties.append(set(self._properties(word)))

    def _verb(self, word: int) -> Word:
        form = self.forms[word]
        transitive = any(self.relations[c] == "obj" for c in self.children[word])
        forms = [form]
        while form := self.nouns.verb_above(form, transitive=transitive):
            forms.append(form)
        names = [f"to {stem(form)}" for form in forms]
        return Word(names[0], frozenset(names))

    def _noun(self, word: int) -> Word:
        forms = self._noun_words(word)
        noun = self.nouns.noun(forms)
        modifiers = {self.forms[c] for c in self.children[word]}
        if PRIVATIVE & modifiers:  # "a toy dog" is no dog
            return Word(f"no {noun}", frozenset({noun} if len(forms) > 1 else ()))
        thing = _thing(noun, self.nouns)
        names = thing.names
        if len(names) == 1 and len(forms) > 1:
            names |= _thing(self.nouns.noun(forms[-1:]), self.nouns).names
        return Word(thing.name, names, is_plural=forms[-1] != noun.split()[-1])

    def _properties(self, word: int) -> Iterator[str]:
        for child in self.children[word]:
            relation, form = self.relations[child], self.forms[child]
            if relation == "amod":
                for adjective in (child, *self._conjuncts(child)):
                    self.understood.add(adjective)
                    yield self.forms[adjective]
            elif relation == "nummod":
                self.understood.add(child)
                yield NUMBERS.get(form, form)
            elif (relation == "det" and form not in DETERMINERS) or (
                relation in {"advmod", "compound"} and child > word
            ):
                self.understood.add(child)
                yield form

    def _conjuncts(self, word: int) -> list[int]:
        direct = [c for c in self.children[word] if self.relations[c] == "conj"]
        return direct + [other for c in direct for other in self._conjuncts(c)]

    def _join(self, word: int) -> None:
        """Add the edges from a word to those below it, and to its subject."""
        for child in self.children[word]:
            relation = self._relation(child, of_verb=self._is_verb(word))
            if relation:
                for other in (child, *self._conjuncts(child)):
                    self._edge(word, relation, other)
        if self._is_verb(word):
            for subject in self._shared_subjects(word):
                self._edge(word, SUBJECT, subject)
            if self.relations[word] == "acl":
                passive = self.forms[word].endswith(("ed", "en", "wn"))
                head = self.tree.heads[word] - 1
                self._edge(word, OBJECT if passive else SUBJECT, head)

    def _edge(self, word: int, relation: str, other: int) -> None:
        if other in self.number and word in self.number:
            self.meaning.edges.add((self.number[word], relation, self.number[other]))

    def _relation(self, child: int, *, of_verb: bool) -> str:
        label = self.tree.labels[child]
        cases = [self.forms[c] for c in self.children[child] if self.relations[c] == "case"]
        if label == "nsubj:pass" or self.relations[child] == "obj":
            return OBJECT
        if label == "obl:agent" or (of_verb and self.relations[child] in {"nsubj", "compound"}):
            return SUBJECT
        if self.relations[child] in {"nmod", "obl"}:
            return " ".join(cases)
        return ""

    def _shared_subjects(self, word: int) -> list[int]:
        """Return the subjects of the clause that a verb without one of its own belongs to."""
        relation, head = self.relations[word], self.tree.heads[word] - 1
        if relation not in {"advcl", "xcomp", "conj"} or self._own_subjects(word):
            return []
        while head >= 0:
            if subjects := self._own_subjects(head):
                return subjects
            if self.tree.tags[head] in THINGS:
                return [head]
            if self.relations[head] == "acl":
                return [self.tree.heads[head] - 1]
            head = self.tree.heads[head] - 1
        return []

    def _own_subjects(self, word: int) -> list[int]:
        direct = [c for c in self.children[word] if self.tree.labels[c] == "nsubj"]
        return direct + [other for c in direct for other in self._conjuncts(c)]


class Meanings:
    """What the captions of a split and other texts say.

    Args:
        split: A split with captions.

    Raises:
        UserError: WordNet is missing.
    """

    def __init__(self, split: CaptionSet) -> None:
        self._cache = TreeCache()
        _, self._nouns = read_captions(self._cache.get(split.captions), split.photo_of)

    def implied(self, texts: Sequence[str], pairs: np.ndarray) -> np.ndarray:
        """Return in which pairs the first text follows from the second one, (N,).

        Args:
            texts: The texts.
            pairs: (N, 2) rows of general and specific texts.
        """
        of_text = [
            self._named(text) or read(tree, self._nouns)
            for text, tree in zip(texts, self._cache.get(texts), strict=True)
        ]
        return np.array([of_text[s].implies(of_text[g]) for g, s in pairs.tolist()], bool)

    def _named(self, text: str) -> Meaning | None:
        """Return the meaning of the phrase of a concept, such as "a living thing"."""
        noun = self._nouns.noun_of.get(text)
        return None if noun is None else Meaning([_thing(noun, self._nouns)], properties=[set()])
