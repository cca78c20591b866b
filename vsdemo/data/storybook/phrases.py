"""English phrases built from words up, each with its dependency tree and the groups it names.

The trees are Universal Dependencies as in UD English EWT 2.x. Prepositions are `case`; their nouns
are `nmod` of a noun and `obl` of a verb. `in front of` is a noun phrase like any other. `next to`
is an adverb with an `obl` after a verb, and two `case` elsewhere. The agent of a passive is
`obl:agent`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from vsdemo.core.sentences import Tree
from vsdemo.data.storybook.lexicon import head_index

KEPT = 1 << 12  # noun phrases in memory

Links = tuple[tuple[tuple[int, ...], int], ...]

CLOSED = {  # tag and relation of words other than nouns and verbs
    **dict.fromkeys(("a", "an", "the", "some", "another"), ("DET", "det")),
    **dict.fromkeys(("one", "two", "three", "four"), ("NUM", "nummod")),
    **dict.fromkeys(("hot", "musical", "cloudy", "sunny"), ("ADJ", "amod")),
    "falling": ("VERB", "amod"),
}


@dataclass(frozen=True)
class Phrase:
    """Words with their tree.

    Args:
        tree: Tree of the words.
        links: (indices of the words of a noun phrase, index of its group).
    """

    tree: Tree
    links: Links = ()

    @property
    def tag(self) -> str:
        """The tag of the head."""
        return self.tree.tags[self.tree.root]


Dependents = Sequence[tuple[str, Phrase]]  # relation, phrase


@cache
def word(text: str, tag: str) -> Phrase:
    """Return a phrase of one word."""
    return Phrase(Tree(words=(text,), heads=(0,), labels=("root",), tags=(tag,)))


def join(head: Phrase, before: Dependents = (), after: Dependents = ()) -> Phrase:
    """Return a phrase with more dependents of its head, before and after all of its words."""
    parts = [*before, ("root", head), *after]
    starts = [0]
    for _, part in parts:
        starts.append(starts[-1] + len(part.tree.words))
    root = starts[len(before)] + head.tree.root + 1
    words: list[str] = []
    heads: list[int] = []
    labels: list[str] = []
    tags: list[str] = []
    links = []
    for number, (label, part) in enumerate(parts):
        start = starts[number]
        parent = 0 if number == len(before) else root
        words += part.tree.words
        tags += part.tree.tags
        heads += [start + h if h else parent for h in part.tree.heads]
        own = zip(part.tree.heads, part.tree.labels, strict=True)
        labels += [own_label if h else label for h, own_label in own]
        links += [(tuple(start + i for i in indices), group) for indices, group in part.links]
    tree = Tree(words=tuple(words), heads=tuple(heads), labels=tuple(labels), tags=tuple(tags))
    return Phrase(tree, tuple(links))


def link_to_group(phrase: Phrase, group: int) -> Phrase:
    """Return the phrase with a link of all its words to a group."""
    indices = tuple(range(len(phrase.tree.words)))
    return Phrase(phrase.tree, (*phrase.links, (indices, group)))


@lru_cache(KEPT)
def noun_phrase(noun: str, before: tuple[str, ...] = ()) -> Phrase:
    """Return a noun of one or more words after determiner, number and adjectives.

    `a` becomes `an` before a vowel. The first of three words, as in "hot air balloon", depends on
    the second.
    """
    words = noun.split()
    at = head_index(words)
    head = _compound(words[: at + 1])
    complement = words[at + 2 :]  # of bread
    if complement:
        inner = prepositional("of", noun_phrase(" ".join(complement)))
        head = join(head, after=[("nmod", inner)])
    following = [*before[1:], words[0]]
    dependents = []
    for i, text in enumerate(before):
        if i == 0:
            text = article(text, following[0])
        tag, label = CLOSED.get(text, ("ADJ", "amod"))
        dependents.append((label, word(text, tag)))
    return join(head, before=dependents)


def article(text: str, following: str) -> str:
    """Return `an` for `a` before a vowel, and any other text unchanged."""
    return "an" if text == "a" and following[0] in "aeiou" else text


def _compound(words: Sequence[str]) -> Phrase:
    head = word(words[-1], "NOUN")
    if len(words) == 3:  # hot air balloon
        return join(head, before=[("compound", _compound(words[:2]))])
    dependents = []
    for text in words[:-1]:
        tag, label = CLOSED.get(text, ("NOUN", "compound"))
        dependents.append((label, word(text, tag)))
    return join(head, before=dependents)


def prepositional(preposition: str, noun: Phrase, *, after_verb: bool = False) -> Phrase:
    """Return a noun phrase after a preposition of one or more words."""
    words = preposition.split()
    if len(words) > 2:  # in front of, to the left of
        front = join(word(words[-2], "NOUN"), before=[_function_word(w) for w in words[:-2]])
        return join(front, after=[("nmod", prepositional(words[-1], noun))])
    if len(words) == 2 and after_verb:  # next to
        return join(word(words[0], "ADV"), after=[("obl", prepositional(words[1], noun))])
    return join(noun, before=[_function_word(w) for w in words])


def _function_word(text: str) -> tuple[str, Phrase]:
    tag, label = CLOSED.get(text, ("ADP", "case"))
    return label, word(text, tag)


@cache
def adverbial(text: str) -> Phrase:
    """Return a phrase of place, time or weather: `outside`, `at night`, `under a cloudy sky`."""
    first, *rest = text.split()
    if not rest:
        return word(first, "ADV")
    before = tuple(w for w in rest[:-1] if w in CLOSED)
    noun = " ".join(w for w in rest if w not in before)
    return prepositional(first, noun_phrase(noun, before))


def modifiers(phrases: Sequence[Phrase], *, of_verb: bool) -> list[tuple[str, Phrase]]:
    """Return adverbials with their relation to a verb, or to a noun."""
    relation = "obl" if of_verb else "nmod"
    return [("advmod" if phrase.tag == "ADV" else relation, phrase) for phrase in phrases]


def coordinate(first: Phrase, second: Phrase) -> Phrase:
    """Return two phrases joined by `and`."""
    conjunction = ("cc", word("and", "CCONJ"))
    return join(first, after=[("conj", join(second, before=[conjunction]))])


def finite_clause(
    subject: Phrase, predicate: Phrase, auxiliaries: Sequence[str], *, passive: bool
) -> Phrase:
    """Return a clause.

    Args:
        subject: A noun phrase.
        predicate: A verb with its objects and modifiers.
        auxiliaries: Such as `is`, `being`; in a passive the last is that of the passive.
        passive: Whether the clause is passive.
    """
    labels = ["aux"] * len(auxiliaries)
    if passive:
        labels[-1] = "aux:pass"
    dependents = [("nsubj:pass" if passive else "nsubj", subject)]
    for label, auxiliary in zip(labels, auxiliaries, strict=True):
        dependents.append((label, word(auxiliary, "AUX")))
    return join(predicate, before=dependents)


def copular_clause(subject: Phrase, predicate: Phrase, *, plural: bool) -> Phrase:
    """Return a clause with `is` or `are` before a phrase of place."""
    return join(predicate, before=[("nsubj", subject), ("cop", word(be(plural=plural), "AUX"))])


def existential_clause(noun: Phrase, after: Dependents, *, plural: bool) -> Phrase:
    """Return a clause with `there is` or `there are`."""
    there = ("expl", word("there", "PRON"))
    return join(word(be(plural=plural), "VERB"), before=[there], after=[("nsubj", noun), *after])


def be(*, plural: bool) -> str:
    """Return `is` or `are`."""
    return "are" if plural else "is"


def sentence(phrase: Phrase) -> Phrase:
    """Return a phrase with a capital letter and a full stop."""
    tree = phrase.tree
    first, *others = tree.words
    full = Tree(
        words=(first.capitalize(), *others, "."),
        heads=(*tree.heads, tree.root + 1),
        labels=(*tree.labels, "punct"),
        tags=(*tree.tags, "PUNCT"),
    )
    return Phrase(full, phrase.links)


def to_text(words: Sequence[str]) -> str:
    """Return the words of a sentence as text."""
    return " ".join(words).replace(" .", ".")
