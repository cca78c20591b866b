"""Captions in the passive voice, in another word order, or with exchanged roles.

Socher 2014 claims that networks over dependency trees abstract from word order and from active and
passive voice (sections 1, 3 and 6). The pairs made here measure that. The rules are based on a
caption's tree and return nothing if unsure. Phrases are copied from the caption's text, so its
spacing and its final punctuation stay.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from vsdemo.core.sentences import Sentence
from vsdemo.data.text.clauses import NOUNS, Clause, Part
from vsdemo.data.text.participles import past_participle

BE = ("is", "are", "was", "were")
COLLECTIVES = {"group", "couple", "pair", "team", "crowd", "family", "bunch", "band", "number"}
# The phrase after these verbs completes them: "has its head on the ground", "chews on a shoe".
INCOMPLETE_VERBS = (
    "has",
    "have",
    "having",
    "get",
    "put",
    "chew",
    "beat",
    "suck",
    "nibbl",
    "gnaw",
    "tug",
)
# Phrases of place and time can stand anywhere; complements cannot: "at a dog a man looks".
PLACE_PREPOSITIONS = frozenset(
    [
        "in",
        "on",
        "near",
        "under",
        "over",
        "through",
        "across",
        "along",
        "behind",
        "beside",
        "against",
        "around",
        "beneath",
        "between",
        "among",
        "outside",
        "inside",
        "during",
        "down",
        "above",
        "below",
        "past",
        "into",
        "onto",
        "atop",
        "alongside",
    ]
)


class Active(NamedTuple):
    """A clause of the form "subject verb rest" or "subject be verb-ing rest".

    Args:
        subject: The subject.
        auxiliary: The form of "be"; empty if there is none.
        verb: The verb.
        rest: The parts after the verb.
        plural: Whether the verb is plural.
    """

    subject: Part
    auxiliary: str
    verb: str
    rest: tuple[Part, ...]
    plural: bool


def _active(clause: Clause) -> Active | None:
    """Analyse a clause; None for other tenses, and if anything else precedes the verb."""
    position, root = clause.labels.index("root"), clause.tree.root
    verb = clause.tree.words[root].lower()
    if clause.tree.tags[root] != "VERB":
        return None
    if clause.labels[:position] == ["nsubj"]:
        auxiliary = ""
        plural = not re.search("[^s]s$", verb)
    elif clause.labels[:position] == ["nsubj", "aux"]:
        auxiliary = clause.tree.words[root - 1].lower()
        plural = auxiliary in ("are", "were")
        if auxiliary not in BE:
            return None
    else:
        return None
    if bool(auxiliary) != verb.endswith("ing"):
        return None
    return Active(clause.parts[0], auxiliary, verb, clause.parts[position + 1 :], plural)


def _may_contain_verb(clause: Clause, active: Active, part: Part) -> bool:
    """Return whether a part may contain a second verb, as in "plays guitar and sings"."""
    return not active.auxiliary and clause.contains(part.words, "conj")


def _is_place(clause: Clause, part: Part) -> bool:
    """Return whether a part is a phrase of place or time without a clause in it."""
    tree, first = clause.tree, part.words[0]
    if tree.labels[first] != "case" or tree.words[first].lower() not in PLACE_PREPOSITIONS:
        return False
    if part.label != "obl" or tree.tags[part.words[-1]] not in NOUNS:
        return False
    return not clause.contains(part.words, "PUNCT", "acl", "advcl")


class Transitive(NamedTuple):
    """A clause that has a passive.

    Args:
        clause: The clause.
        active: Its subject and verb.
        object: The words of its object.
        adjuncts: The words of phrases of place and time after the object.
        participle: The verb's past participle.
        object_plural: Whether the object is plural.
    """

    clause: Clause
    active: Active
    object: range
    adjuncts: list[range]
    participle: str
    object_plural: bool


def _transitive(sentence: Sentence) -> Transitive | None:
    clause = Clause.from_sentence(sentence)
    active = _active(clause) if clause else None
    if clause is None or active is None or not active.rest or active.rest[0].label != "obj":
        return None
    subject, thing, adjuncts = active.subject, active.rest[0], active.rest[1:]
    object_plural = clause.is_plural(thing.head)
    participle = past_participle(active.verb)
    if object_plural is None or participle is None:
        return None
    if not all(_is_place(clause, part) for part in adjuncts):
        return None
    if any(_may_contain_verb(clause, active, part) for part in active.rest):
        return None
    if active.plural and not active.auxiliary and not _is_several(clause, subject):
        return None  # "a man put on a hat" may be past tense
    if not _can_exchange(clause, subject, thing, has_adjuncts=bool(adjuncts)):
        return None
    words = [part.words for part in adjuncts]
    return Transitive(clause, active, thing.words, words, participle, object_plural)


def _is_several(clause: Clause, subject: Part) -> bool:
    if clause.is_plural(subject.head):
        return True
    return clause.tree.words[subject.head].lower() in COLLECTIVES


def _can_exchange(clause: Clause, subject: Part, thing: Part, *, has_adjuncts: bool) -> bool:
    """Return whether subject and object are noun phrases that can take each other's place."""
    tags = clause.tree.tags
    if not {tags[subject.head], tags[thing.head]} <= NOUNS or tags[thing.words[0]] == "ADP":
        return False
    # An adjunct after a long subject would seem to modify that.
    too_long = ("acl", "advcl", "nmod") if has_adjuncts else ("acl", "advcl")
    if clause.contains(subject.words, *too_long):
        return False
    return not clause.contains(thing.words, "PRON", "acl")


def to_passive(sentence: Sentence) -> str | None:
    """Turn "A dog chases a ball in the park." into "A ball is chased by a dog in the park."."""
    transitive = _transitive(sentence)
    if transitive is None:
        return None
    if transitive.active.auxiliary in ("was", "were"):
        be = "were" if transitive.object_plural else "was"
    else:
        be = "are" if transitive.object_plural else "is"
    if transitive.active.auxiliary:
        be += " being"
    verb = f"{be} {transitive.participle} by"
    return transitive.clause.render(
        transitive.object, verb, transitive.active.subject.words, *transitive.adjuncts
    )


def reverse_roles(sentence: Sentence) -> str | None:
    """Turn "A dog chases a ball." into "A ball chases a dog.", the same words with another meaning.

    Applies to the clauses that `to_passive` applies to if the verb agrees with the object as well.
    """
    transitive = _transitive(sentence)
    if transitive is None or transitive.object_plural != transitive.active.plural:
        return None
    subject = transitive.active.subject.words
    verb = range(subject[-1] + 1, transitive.object[0])
    return transitive.clause.render(transitive.object, verb, subject, *transitive.adjuncts)


def front_place(sentence: Sentence) -> str | None:
    """Turn "A dog runs on the grass." into "On the grass a dog runs."."""
    clause = Clause.from_sentence(sentence)
    active = _active(clause) if clause else None
    if clause is None or active is None or not active.rest:
        return None
    *others, place = active.rest
    # After another place it may modify that place's noun: "between the pictures on the walls".
    if {part.label for part in others} - {"obj", "advmod"} or not _is_place(clause, place):
        return None
    if clause.contains(place.words, "PRON") or active.verb.startswith(INCOMPLETE_VERBS):
        return None
    if _may_contain_verb(clause, active, place):
        return None
    return clause.render(place.words, range(place.words[0]))


def swap_conjuncts(sentence: Sentence) -> str | None:
    """Turn "A man and a woman sit." into "A woman and a man sit."."""
    clause = Clause.from_sentence(sentence)
    subject = next((p for p in clause.parts if p.label == "nsubj"), None) if clause else None
    if clause is None or subject is None or clause.contains(subject.words, "PRON", "PUNCT"):
        return None
    tree, children = clause.tree, clause.tree.children()
    conjuncts = [c for c in children[subject.head] if tree.labels[c] == "conj"]
    ands = [c for j in conjuncts for c in children[j] if tree.words[c].lower() == "and"]
    # Words behind the second noun may modify both: "a man and a woman in hats".
    if (len(conjuncts), len(ands)) != (1, 1) or conjuncts[0] != subject.words[-1]:
        return None
    first = range(subject.words[0], ands[0])
    second = range(ands[0] + 1, conjuncts[0] + 1)
    if _share_modifier(clause, first, second):
        return None
    if not {tree.tags[subject.head], tree.tags[conjuncts[0]]} <= NOUNS:
        return None
    # The parser may have put the verb into a compound: "a girl and an adult watch bubbles".
    if first[-1] != subject.head or clause.contains(second, "compound"):
        return None
    rest = range(subject.words[-1] + 1, clause.parts[-1].words[-1] + 1)
    return clause.render(range(first[0]), second, "and", first, rest)


def _share_modifier(clause: Clause, first: range, second: range) -> bool:
    """Return whether the first words may modify both conjuncts."""
    counted = [clause.contains(part, "det", "nummod") for part in (first, second)]
    if not all(counted) and (any(counted) or len(first) > 1):
        return True  # "young men and women"
    opening, other = (clause.tree.words[part[0]].lower() for part in (first, second))
    return opening in ("both", "the") and other != opening  # "the three men and three dogs"
