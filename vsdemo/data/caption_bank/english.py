"""The little English grammar that a bank of captions needs: verb forms, and a before a vowel."""

from __future__ import annotations

import re
from dataclasses import dataclass

AN = re.compile(r"\b([Aa]) (?=(?!uni|uk|one\b|use|euro)[aeiou]|hour|honest)")
SHORT = re.compile(r"[^aeiou]*(?:qu)?[aeiou][^aeiouwxy]")  # run, quit: doubles before -ing
MARK = "~"  # before each verb but the first

# How a verb without one of its own is said where the clause is a noun phrase: `A dog with a stick`.
REDUCED = {"have": "with", "be": ""}


@dataclass(frozen=True)
class Person:
    """Who a sentence is about, as far as grammar asks. A couple kisses (not `several`), but
    wears hats (`many`)."""

    its: str
    several: bool = False
    many: bool = False


PERSONS = {
    "he": Person("his"),
    "she": Person("her"),
    "it": Person("its"),
    "someone": Person("their"),
    "group": Person("their", many=True),
    "they": Person("their", several=True, many=True),
}


def present(verb: str) -> str:
    """He does it: rides, catches, carries, has, is."""
    if irregular := {"have": "has", "be": "is"}.get(verb):
        return irregular
    if re.search(r"[^aeiou]y$", verb):
        return verb[:-1] + "ies"
    return verb + ("es" if re.search(r"(?:[sxzo]|[cs]h)$", verb) else "s")


def participle(verb: str) -> str:
    """Doing it: riding, running, lying; with for have and nothing for be."""
    if verb in REDUCED:
        return REDUCED[verb]
    if verb.endswith("ie"):
        return verb[:-2] + "ying"
    if verb.endswith("e") and not verb.endswith(("ee", "ye", "oe")):
        return verb[:-1] + "ing"
    return verb + (verb[-1] if SHORT.fullmatch(verb) else "") + "ing"


def clause(predicate: str, form: str, person: Person) -> str:
    """A predicate with its verbs in a form: `simple`, `progressive`, or `reduced` to a participle.

    The first word is a verb, and so are those with a mark: `sit on a bench and ~read`.
    """
    verb, *rest = predicate.split()
    if form == "progressive" and verb in REDUCED:
        form = "simple"
    verbs = [verb, *(word[1:] for word in rest if word.startswith(MARK))]
    if form != "simple":
        told = [participle(v) for v in verbs]
    elif person.several:
        told = ["are" if v == "be" else v for v in verbs]
    else:
        told = [present(v) for v in verbs]
    auxiliary = ("are" if person.several else "is") if form == "progressive" else ""
    following = iter(told[1:])
    words = [next(following) if word.startswith(MARK) else word for word in rest]
    return " ".join(word for word in (auxiliary, told[0], *words) if word)


def sentence(text: str) -> str:
    """With single spaces, `an` where it belongs, a capital letter and a full stop."""
    text = AN.sub(r"\1n ", " ".join(text.split()).replace(" ,", ","))
    return text[0].upper() + text[1:].removesuffix(".") + "."
