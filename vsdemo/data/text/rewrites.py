"""The same caption said otherwise: passive, another word order; and with its roles exchanged.

Socher 2014 holds that networks over dependency trees abstract from word order and from active and
passive (sections 1, 3 and 6). Here are pairs to measure that on, made from a caption's tree by
rules that yield nothing when unsure. Phrases are copied from the caption's text, so that its
spacing and closing punctuation stay.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from vsdemo.core.sentences import Sentence
from vsdemo.data.text.clauses import NOUNS, Clause, Part
from vsdemo.data.text.participles import past_participle

COLLECTIVE = {"group", "couple", "pair", "team", "crowd", "family", "bunch", "band", "number"}
# "has its head on the ground", "chews on a shoe"
INCOMPLETE = ("has", "have", "having", "get", "put", "chew", "beat", "suck", "nibbl", "gnaw", "tug")
# Places and times stand well anywhere; complements of a verb do not: "at a dog a man looks".
PLACES = {
    *("in", "on", "near", "under", "over", "through", "across", "along", "behind", "beside"),
    *("against", "around", "beneath", "between", "among", "outside", "inside", "during", "down"),
    *("above", "below", "past", "into", "onto", "atop", "alongside"),
}


class Active(NamedTuple):
    """subject verb rest, or subject be verb-ing rest; plural: the verb's number."""

    subject: Part
    be: str
    verb: str
    rest: tuple[Part, ...]
    plural: bool


def _active(clause: Clause) -> Active | None:
    """The clause where it is such a one; None for other tenses and where there is more before."""
    at, root = clause.labels.index("root"), clause.tree.root
    be = clause.tree.words[root - 1].lower() if at == 2 else ""
    verb = clause.tree.words[root].lower()
    known = clause.labels[:at] == ["nsubj", "aux"][:at] and be in ("", "is", "are", "was", "were")
    if not at or not known or clause.tree.tags[root] != "VERB" or bool(be) != verb.endswith("ing"):
        return None
    plural = be in ("are", "were") if be else not re.search("[^s]s$", verb)
    return Active(clause.parts[0], be, verb, clause.parts[at + 1 :], plural)


def _joins(clause: Clause, active: Active, part: Part) -> bool:
    """Whether a phrase may have swallowed a second verb: "plays guitar and sings"."""
    return not active.be and clause.holds(part.words, "conj")


def _is_place(clause: Clause, part: Part) -> bool:
    """Whether a phrase tells a place or time and holds no clause of its own."""
    tree, first = clause.tree, part.words[0]
    known = tree.labels[first] == "case" and tree.words[first].lower() in PLACES
    whole = part.label == "obl" and tree.tags[part.words[-1]] in NOUNS
    return known and whole and not clause.holds(part.words, "PUNCT", "acl", "advcl")


class Transitive(NamedTuple):
    """A clause that can be turned round; plural: the object's number."""

    clause: Clause
    active: Active
    object: range
    adjuncts: list[range]
    participle: str
    plural: bool


def _transitive(sentence: Sentence) -> Transitive | None:
    clause = Clause.cut(sentence)
    active = _active(clause) if clause else None
    if clause is None or active is None or [p.label for p in active.rest[:1]] != ["obj"]:
        return None
    subject, (thing, *adjuncts) = active.subject, active.rest
    tags, words = clause.tree.tags, clause.tree.words
    plural, done = clause.is_plural(thing.head), past_participle(active.verb)
    if plural is None or done is None or not all(_is_place(clause, part) for part in adjuncts):
        return None
    many = clause.is_plural(subject.head) or words[subject.head].lower() in COLLECTIVE
    if active.plural and not active.be and not many:  # "a man put on a hat" may be past
        return None
    if any(_joins(clause, active, part) for part in active.rest):
        return None
    # Behind a longer subject an adjunct would seem to speak of that.
    long = ("acl", "advcl", "nmod") if adjuncts else ("acl", "advcl")
    nouns = {tags[subject.head], tags[thing.head]} <= NOUNS and tags[thing.words[0]] != "ADP"
    if clause.holds(subject.words, *long) or clause.holds(thing.words, "PRON", "acl") or not nouns:
        return None
    return Transitive(clause, active, thing.words, [p.words for p in adjuncts], done, plural)


def to_passive(sentence: Sentence) -> str | None:
    """Makes "A ball is chased by a dog in the park." of "A dog chases a ball in the park."."""
    if not (found := _transitive(sentence)):
        return None
    past = found.active.be in ("was", "were")
    be = ("were" if past else "are") if found.plural else ("was" if past else "is")
    verb = f"{be} being {found.participle} by" if found.active.be else f"{be} {found.participle} by"
    return found.clause.say(found.object, verb, found.active.subject.words, *found.adjuncts)


def reverse_roles(sentence: Sentence) -> str | None:
    """Makes "A ball chases a dog." of "A dog chases a ball.": the same words, another meaning.

    Takes the clauses that `passive` takes where the verb agrees with the object, too.
    """
    found = _transitive(sentence)
    if found is None or found.plural != found.active.plural:
        return None
    subject = found.active.subject.words
    verb = range(subject[-1] + 1, found.object[0])
    return found.clause.say(found.object, verb, subject, *found.adjuncts)


def front_place(sentence: Sentence) -> str | None:
    """Makes "On the grass a dog runs." of "A dog runs on the grass."."""
    clause = Clause.cut(sentence)
    active = _active(clause) if clause else None
    if clause is None or active is None or not active.rest:
        return None
    *others, place = active.rest
    # Behind another place it may speak of that one's noun: "between the pictures on the walls".
    if {part.label for part in others} - {"obj", "advmod"} or not _is_place(clause, place):
        return None
    if clause.holds(place.words, "PRON") or active.verb.startswith(INCOMPLETE):
        return None
    if _joins(clause, active, place):
        return None
    return clause.say(place.words, range(place.words[0]))


def swap_conjuncts(sentence: Sentence) -> str | None:
    """Makes "A woman and a man sit." of "A man and a woman sit."."""
    clause = Clause.cut(sentence)
    subject = next((p for p in clause.parts if p.label == "nsubj"), None) if clause else None
    if clause is None or subject is None or clause.holds(subject.words, "PRON", "PUNCT"):
        return None
    tree, children = clause.tree, clause.tree.children()
    joined = [c for c in children[subject.head] if tree.labels[c] == "conj"]
    ands = [c for j in joined for c in children[j] if tree.words[c].lower() == "and"]
    # A phrase that goes on behind its noun may speak of both: "a man and a woman in hats".
    if (len(joined), len(ands)) != (1, 1) or joined[0] != subject.words[-1]:
        return None
    first, second = range(subject.words[0], ands[0]), range(ands[0] + 1, joined[0] + 1)
    counted = [clause.holds(part, "det", "nummod") for part in (first, second)]
    shared = not all(counted) and (any(counted) or len(first) > 1)  # "young men and women"
    opening, other = (tree.words[part[0]].lower() for part in (first, second))
    shared |= opening in ("both", "the") and other != opening  # "the three men and three dogs"
    nouns = {tree.tags[subject.head], tree.tags[joined[0]]} <= NOUNS
    # A compound may have swallowed the verb: "a girl and an adult watch bubbles".
    if first[-1] != subject.head or shared or not nouns or clause.holds(second, "compound"):
        return None
    rest = range(subject.words[-1] + 1, clause.parts[-1].words[-1] + 1)
    return clause.say(range(first[0]), second, "and", first, rest)
