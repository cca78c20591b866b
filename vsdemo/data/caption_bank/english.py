"""The English grammar that the caption bank needs: verb forms, clauses, and the article `an`.

A library such as inflect offers neither the third person nor participles ("with" for "having"), so
these few rules are written out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

AN = re.compile(r"\b([Aa]) (?=(?!uni|uk|one\b|use|euro)[aeiou]|hour|honest)")
DOUBLING = re.compile(r"[^aeiou]*(?:qu)?[aeiou][^aeiouwxy]")  # run, quit: doubled before -ing
VERB_MARK = "~"  # before each verb of a predicate but the first

# The participle of these verbs in a noun phrase: "A dog with a stick" rather than "having a stick".
REDUCED = {"have": "with", "be": ""}


@dataclass(frozen=True)
class Person:
    """The grammatical person and number of a subject.

    Args:
        possessive: Its possessive determiner.
        plural_verb: Whether its verb is plural.
        plural_nouns: Whether its clothes are plural: a couple kisses, but wears hats.
    """

    possessive: str
    plural_verb: bool = False
    plural_nouns: bool = False


PERSONS = {
    "he": Person("his"),
    "she": Person("her"),
    "it": Person("its"),
    "someone": Person("their"),
    "group": Person("their", plural_nouns=True),
    "they": Person("their", plural_verb=True, plural_nouns=True),
}


def third_person(verb: str) -> str:
    """Return the third person singular: rides, catches, carries, has, is."""
    irregular = {"have": "has", "be": "is"}
    if verb in irregular:
        return irregular[verb]
    if re.search(r"[^aeiou]y$", verb):
        return verb[:-1] + "ies"
    return verb + ("es" if re.search(r"(?:[sxzo]|[cs]h)$", verb) else "s")


def participle(verb: str) -> str:
    """Return the present participle: riding, running, lying; `with` for have, "" for be."""
    if verb in REDUCED:
        return REDUCED[verb]
    if verb.endswith("ie"):
        return verb[:-2] + "ying"
    if verb.endswith("e") and not verb.endswith(("ee", "ye", "oe")):
        return verb[:-1] + "ing"
    return verb + (verb[-1] if DOUBLING.fullmatch(verb) else "") + "ing"


def conjugate(predicate: str, form: str, person: Person) -> str:
    """Return a predicate with its verbs in a form.

    Args:
        predicate: Its first word is a verb, and so are words with a mark:
            `sit on a bench and ~read`.
        form: `simple`, `progressive`, or `reduced` to a participle.
        person: Person of the subject.
    """
    first, *rest = predicate.split()
    if form == "progressive" and first in REDUCED:
        form = "simple"

    def inflect(verb: str) -> str:
        if form != "simple":
            return participle(verb)
        if not person.plural_verb:
            return third_person(verb)
        return "are" if verb == "be" else verb

    words = [inflect(first)]
    for word in rest:
        is_verb = word.startswith(VERB_MARK)
        words.append(inflect(word.removeprefix(VERB_MARK)) if is_verb else word)
    if form == "progressive":
        words.insert(0, "are" if person.plural_verb else "is")
    return " ".join(word for word in words if word)


def sentence(text: str) -> str:
    """Return a text with single spaces, `an` before vowels, a capital letter and a full stop."""
    text = AN.sub(r"\1n ", " ".join(text.split()).replace(" ,", ","))
    return text[0].upper() + text[1:].removesuffix(".") + "."
