"""English built from words up, each phrase with its dependency tree and the groups it names.

The trees are Universal Dependencies as UD English EWT 2.x has them: prepositions are `case`,
their nouns `nmod` of nouns and `obl` of verbs; `in front of` is a phrase like any other, `next to`
an adverb with its `obl` after a verb and two `case` elsewhere; the one by whom is `obl:agent`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vsdemo.core.sentences import Tree
from vsdemo.data.storybook.lexicon import head_index

Links = tuple[tuple[tuple[int, ...], int], ...]

CLOSED = {  # tag and relation of the words that are neither noun nor verb
    **dict.fromkeys(("a", "an", "the", "some", "another"), ("DET", "det")),
    **dict.fromkeys(("one", "two", "three", "four"), ("NUM", "nummod")),
    **dict.fromkeys(("hot", "musical", "cloudy", "sunny"), ("ADJ", "amod")),
    "falling": ("VERB", "amod"),
}


@dataclass(frozen=True)
class Phrase:
    """Words with their tree. links: (indices of a noun phrase's words, number of its group)."""

    tree: Tree
    links: Links = ()

    @property
    def tag(self) -> str:
        """That of the head."""
        return self.tree.tags[self.tree.root]


Dependents = Sequence[tuple[str, Phrase]]  # relation, phrase


def word(text: str, tag: str) -> Phrase:
    """A phrase of one word."""
    return Phrase(Tree((text,), (0,), ("root",), (tag,)))


def join(head: Phrase, before: Dependents = (), after: Dependents = ()) -> Phrase:
    """A phrase with more dependents of its head, around all that it has."""
    parts = [*before, ("root", head), *after]
    starts = [0]
    for _, part in parts:
        starts.append(starts[-1] + len(part.tree.words))
    top = starts[len(before)] + head.tree.root + 1
    heads, labels = [], []
    for number, (label, part) in enumerate(parts):
        above = 0 if number == len(before) else top
        heads += [starts[number] + h if h else above for h in part.tree.heads]
        own = zip(part.tree.heads, part.tree.labels, strict=True)
        labels += [old if h else label for h, old in own]
    trees = [part.tree for _, part in parts]
    tree = Tree(
        tuple(w for t in trees for w in t.words),
        tuple(heads),
        tuple(labels),
        tuple(tag for t in trees for tag in t.tags),
    )
    links = (
        (tuple(start + i for i in indices), group)
        for start, (_, part) in zip(starts, parts, strict=False)
        for indices, group in part.links
    )
    return Phrase(tree, tuple(links))


def named(phrase: Phrase, group: int) -> Phrase:
    """The phrase with a link of all its words to a group."""
    return Phrase(phrase.tree, (*phrase.links, (tuple(range(len(phrase.tree.words))), group)))


def noun_phrase(noun: str, before: Sequence[str] = ()) -> Phrase:
    """A noun of one or more words after determiner, number and adjectives.

    `a` becomes `an` where it should. The first of two adjectives in a noun's name hangs on the
    word it is about: hot air, musical instrument.
    """
    words = noun.split()
    at = head_index(words)
    head = _compound(words[: at + 1])
    if rest := words[at + 2 :]:  # of bread
        head = join(head, after=[("nmod", prepositional("of", noun_phrase(" ".join(rest))))])
    starts = [*before[1:], words[0]]
    told = [article(w, starts[0]) if i == 0 else w for i, w in enumerate(before)]
    tags = [CLOSED.get(w, ("ADJ", "amod")) for w in told]
    return join(head, [(label, word(w, tag)) for w, (tag, label) in zip(told, tags, strict=True)])


def article(word: str, following: str) -> str:
    """`an` for `a` before a vowel."""
    return "an" if word == "a" and following[0] in "aeiou" else word


def _compound(words: Sequence[str]) -> Phrase:
    found = word(words[-1], "NOUN")
    parts = [CLOSED.get(w, ("NOUN", "compound")) for w in words[:-1]]
    if len(words) == 3:  # hot air balloon
        return join(found, [("compound", _compound(words[:2]))])
    return join(
        found, [(label, word(w, tag)) for w, (tag, label) in zip(words, parts, strict=False)]
    )


def prepositional(preposition: str, noun: Phrase, verbal: bool = False) -> Phrase:
    """A noun phrase after a preposition of one or more words; `verbal` where it follows a verb."""
    words = preposition.split()
    if len(words) > 2:  # in front of, to the left of
        front = join(word(words[-2], "NOUN"), [_function(w) for w in words[:-2]])
        return join(front, after=[("nmod", prepositional(words[-1], noun))])
    if len(words) == 2 and verbal:  # next to
        return join(word(words[0], "ADV"), after=[("obl", prepositional(words[1], noun))])
    return join(noun, [_function(w) for w in words])


def _function(text: str) -> tuple[str, Phrase]:
    tag, label = CLOSED.get(text, ("ADP", "case"))
    return label, word(text, tag)


def adverbial(text: str) -> Phrase:
    """A phrase of place, time or weather: `outside`, `at night`, `under a cloudy sky`."""
    first, *rest = text.split()
    if not rest:
        return word(first, "ADV")
    before = [w for w in rest[:-1] if w in CLOSED]
    noun = " ".join(w for w in rest if w not in before)
    return prepositional(first, noun_phrase(noun, before))


def modifiers(phrases: Sequence[Phrase], verbal: bool) -> list[tuple[str, Phrase]]:
    """Phrases of place and the like with their relation to a verb, or to a noun."""
    kind = "obl" if verbal else "nmod"
    return [("advmod" if phrase.tag == "ADV" else kind, phrase) for phrase in phrases]


def both(first: Phrase, second: Phrase) -> Phrase:
    """One phrase and another."""
    return join(first, after=[("conj", join(second, [("cc", word("and", "CCONJ"))]))])


def finite(subject: Phrase, predicate: Phrase, auxiliaries: Sequence[str], passive: bool) -> Phrase:
    """A clause. auxiliaries: is, are, being; the last is the passive's where it is one."""
    labels = ["aux"] * len(auxiliaries)
    if passive:
        labels[-1] = "aux:pass"
    told = zip(labels, (word(w, "AUX") for w in auxiliaries), strict=True)
    return join(predicate, [("nsubj:pass" if passive else "nsubj", subject), *told])


def copular(subject: Phrase, predicate: Phrase, plural: bool) -> Phrase:
    """A clause with `is` or `are` before a phrase of place."""
    return join(predicate, [("nsubj", subject), ("cop", word(be(plural), "AUX"))])


def existential(noun: Phrase, after: Dependents, plural: bool) -> Phrase:
    """`There is` or `there are` something, somewhere."""
    there = [("expl", word("there", "PRON"))]
    return join(word(be(plural), "VERB"), there, [("nsubj", noun), *after])


def be(plural: bool) -> str:
    """`is` or `are`."""
    return "are" if plural else "is"


def sentence(phrase: Phrase) -> Phrase:
    """With a capital letter and a full stop."""
    found = join(phrase, after=[("punct", word(".", "PUNCT"))])
    tree = found.tree
    words = (tree.words[0].capitalize(), *tree.words[1:])
    return Phrase(Tree(words, tree.heads, tree.labels, tree.tags), found.links)


def written(words: Sequence[str]) -> str:
    """The words of a sentence as text."""
    return " ".join(words).replace(" .", ".")
