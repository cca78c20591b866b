"""Noun phrases that people have marked, as separate phrases."""

from __future__ import annotations

from collections.abc import Sequence

from vsdemo.data.relations.caption_words import (
    IMAGES,
    MASS_NOUNS,
    NO_THINGS,
    NOT_SHOWN_AFTER,
    UNCOUNTED,
)
from vsdemo.data.relations.generalize import COLOURS
from vsdemo.data.text.inflection import NUMBERS, article, singular
from vsdemo.data.text.vocab import tokenize

_DROPPED = "his her their its my your our another other each every own both all"
DROPPED = frozenset(_DROPPED.split())  # at the beginning
_PRONOUNS = """
it he she they him her them himself herself themselves itself this that these those who what which
something someone somebody anything one ones other others two three four five several many some
another each both all everyone everything nothing nobody no none same
"""
PRONOUNS = frozenset(_PRONOUNS.split())
NOT_SHOWN_BEFORE = frozenset({"colored", "coloured", "covered", "shaped", "print", "themed"})
ADVERBS = frozenset({"underwater", "outdoors", "indoors", "outside", "inside", "process"})
NAMES = frozenset({"santa", "india", "america", "halloween", "christmas"})
ARTICLES = frozenset(
    {"a", "an", "the", "some", "this", "these", "that", "those", "several", "many"}
)
COUNTS = frozenset({*NUMBERS.values(), *NUMBERS, "few", "multiple", "various", "couple", "eleven"})


def clean(words: Sequence[str], *, is_first: bool = True) -> str:
    """Return a marked phrase with the right article; empty if it cannot stand alone.

    "his brown hat" becomes "a brown hat", "man" "a man", and "each other" is empty.

    Args:
        words: As written.
        is_first: Whether the sentence begins with them, so that a capital means nothing.
    """
    forms = tokenize(" ".join(words))
    while forms and forms[0] in DROPPED:
        forms = forms[1:]
    if not forms or forms[-1] in PRONOUNS | COLOURS or (PRONOUNS | ADVERBS) & {*forms[1:]}:
        return ""
    head = _head(forms)
    is_name = len(words) == 1 and words[0][0].isupper() and not is_first
    if head in NO_THINGS | ADVERBS or head in NAMES or is_name:
        return ""
    is_several = singular(head) != head
    if forms[0] in ("a", "an"):
        is_whole = len(forms) > 1 and not (is_several and head == forms[-1])  # a pants
        return " ".join([article("a", forms[1]), *forms[1:]]) if is_whole else ""
    if forms[0] in ARTICLES | COUNTS or is_several or head in MASS_NOUNS | UNCOUNTED:
        return " ".join(forms)
    before = forms[: forms.index(head)]
    if ARTICLES & {*before} or any(singular(form) != form for form in before):
        return ""  # dirtbikers race
    return " ".join([article("a", forms[0]), *forms])


def _head(forms: Sequence[str]) -> str:
    """Return the noun of a phrase: the word before its first preposition, or the last."""
    for place, form in enumerate(forms):
        is_colour = form == "and" and bool(COLOURS & {*forms[:place]})  # black and white dogs
        if (
            place
            and not is_colour
            and form in ("of", "in", "with", "on", "and", "at", "from", "wearing")
        ):
            return forms[place - 1]
    return forms[-1]


def is_shown(before: Sequence[str], behind: Sequence[str] = ()) -> bool:
    """Return whether what a phrase names can be seen, by the words before and after it.

    A clown cannot be seen after "dressed like", a dog after "a picture of", or a rainbow before
    "colored".
    """
    words = [form for form in before if form.isalnum()]
    if NOT_SHOWN_AFTER & {*words[-1:]} or NOT_SHOWN_BEFORE & {*behind[:1]}:
        return False
    return not (words[-1:] == ["of"] and bool(IMAGES & {*words[-3:]}))
