"""Base forms of English words: singulars and plurals of nouns, and stems of verbs."""

from __future__ import annotations

import re
from functools import cache

from vsdemo.data.text.participles import IRREGULAR

PLURALS = {  # irregular nouns
    "man": "men",
    "woman": "women",
    "child": "children",
    "person": "people",
    "foot": "feet",
    "tooth": "teeth",
    "goose": "geese",
    "mouse": "mice",
    "ox": "oxen",
    "calf": "calves",
    "half": "halves",
    "hoof": "hooves",
    "knife": "knives",
    "leaf": "leaves",
    "life": "lives",
    "loaf": "loaves",
    "scarf": "scarves",
    "shelf": "shelves",
    "thief": "thieves",
    "wife": "wives",
    "wolf": "wolves",
    "sheep": "sheep",
    "deer": "deer",
    "fish": "fish",
    "aircraft": "aircraft",
    "hovercraft": "hovercraft",
    "cactus": "cacti",
}
SINGULARS = {plural: noun for noun, plural in PLURALS.items()}
SINGULARS |= {"persons": "person", "childrens": "child", "peoples": "person"}
NUMBERS = {
    "1": "one",
    "2": "two",
    "3": "three",
    "4": "four",
    "5": "five",
    "6": "six",
    "7": "seven",
    "8": "eight",
    "9": "nine",
    "10": "ten",
}
SHORTEST = 3  # letters of a stem
_IES = frozenset(
    {
        "cookie",
        "movie",
        "pie",
        "tie",
        "collie",
        "hoodie",
        "selfie",
        "hippie",
        "zombie",
        "prairie",
        "goalie",
        "birdie",
        "brownie",
        "smoothie",
        "budgie",
        "rookie",
    }
)
_VOWEL = re.compile(r"(?!uni[^nd]|uk|one\b|use|eu)[aeiou]|hour|honest|x-?ray")
_COMPOUND = re.compile(r"(.*?)(men|women|children|people|feet|teeth)")


def article(text: str, following: str) -> str:
    """Return `an` or `a` for either of them before a word, and any other text unchanged."""
    if text not in ("a", "an"):
        return text
    return "an" if _VOWEL.match(following) else "a"


def plural(noun: str) -> str:
    """Return the plural of a noun of one or more words, the last of which is its head."""
    start, _, word = noun.rpartition(" ")
    for ending in ("woman", "man", "child", "foot", "fish"):
        if word.endswith(ending) and word not in ("human", "german", "talisman"):
            word = word.removesuffix(ending) + PLURALS[ending]
            break
    else:
        if word in PLURALS:
            word = PLURALS[word]
        elif re.search(r"(s|x|z|ch|sh)$", word):
            word += "es"
        elif re.search(r"[^aeiou]y$", word):
            word = word[:-1] + "ies"
        else:
            word += "s"
    return f"{start} {word}".strip()


@cache
def singular(word: str) -> str:
    """Return the singular of a noun, or the noun itself if it does not look like a plural."""
    if word in SINGULARS:
        return SINGULARS[word]
    if (match := _COMPOUND.fullmatch(word)) and match[1]:
        return match[1] + SINGULARS[match[2]]  # fireman, snowwoman, grandchild
    if not word.endswith("s") or word.endswith(("ss", "us", "is")) or len(word) <= SHORTEST:
        return word
    if word.endswith("ies"):
        return word[:-1] if word[:-1] in _IES else word[:-3] + "y"
    if re.search(r"(ss|x|zz|ch|sh|(?<!o)us)es$", word):
        return word[:-2]
    if word.endswith("oes") and word not in ("shoes", "canoes", "toes", "horseshoes", "snowshoes"):
        return word[:-2]
    return word[:-1]


def _verb_stem(word: str) -> str:
    """Return what the regular forms of a verb have in common: rid for ride, rides, riding."""
    stem = word
    for suffix in ("ing", "ed", "es", "s", "er"):
        start = word.removesuffix(suffix)
        if (
            start != word
            and len(start) >= SHORTEST - 1
            and not (suffix[-1] == "s" and start[-1] == "s")
        ):
            stem = start
            break
    if len(stem) > SHORTEST and stem[-1] == stem[-2] and stem[-1] not in "sl":
        stem = stem[:-1]  # running
    stem = stem.removesuffix("e") if len(stem) >= SHORTEST else stem
    return stem[:-1] + "i" if stem.endswith("y") and len(stem) >= SHORTEST else stem


_ENTRIES = [entry.split() for entry in IRREGULAR.split(",")]
_BASES = {form: base for base, *forms in _ENTRIES for form in forms}
_BASES |= {
    "lying": "lie",
    "tying": "tie",
    "dying": "die",
    "lain": "lie",
    "has": "have",
    "lay": "lay",
}


@cache
def stem(word: str) -> str:
    """Return a key that all forms of a verb share, and its nouns: run, runs, running, ran, runner.

    Some words that are not forms of each other share it too.
    """
    return _verb_stem(_BASES.get(word, word))


def conjugate(verb: str) -> tuple[str, str, str, str]:
    """Return the base form, third person, present participle and past tense of a verb."""
    past = {base: forms[0] for base, *forms in _ENTRIES}.get(verb)
    is_short = re.fullmatch(r"[^aeiou]*[aeiou][^aeiouwxy]", verb)
    doubled = verb + verb[-1] if is_short else verb
    if verb.endswith("ie"):
        participle = verb[:-2] + "ying"
    else:
        participle = re.sub(r"(?<=[^e])e$", "", doubled) + "ing"
    if past is None:
        past = verb + "d" if verb.endswith("e") else re.sub(r"(?<=[^aeiou])y$", "i", doubled) + "ed"
    return verb, plural(verb), participle, past
