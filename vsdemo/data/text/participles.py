"""Past participles of English verbs: a table of the irregular ones, spelling rules for the rest.

Verbs are read as written in the present tense or as -ing form; nothing is yielded for past forms,
nor for verbs that make no sensible passive.
"""

from __future__ import annotations

import re

IRREGULAR = """
beat beat beaten, bend bent, bind bound, bite bit bitten, bleed bled, blow blew blown, break broke
broken, breed bred, bring brought, broadcast broadcast, build built, burst burst, buy bought, cast
cast, catch caught, choose chose chosen, cling clung, come came come, cut cut, deal dealt, dig dug,
do did done, draw drew drawn, drink drank drunk, drive drove driven, eat ate eaten, fall fell
fallen, feed fed, feel felt, fight fought, find found, fling flung, fly flew flown, freeze froze
frozen, get got, give gave given, go went gone, grind ground, grow grew grown, hang hung, have had,
hear heard, hide hid hidden, hit hit, hold held, hurt hurt, keep kept, know knew known, lay laid,
lead led, leave left, lend lent, lie lay lain, light lit, lose lost, make made, meet met, overtake
overtook overtaken, pay paid, put put, read read, ride rode ridden, ring rang rung, rise rose
risen, run ran run, say said, see saw seen, seek sought, sell sold, send sent, set set, sew sewed
sewn, shake shook shaken, shear sheared shorn, shoot shot, show showed shown, shut shut, sing sang
sung, sit sat, sleep slept, sling slung, slit slit, speak spoke spoken, spend spent, spin spun,
split split, spread spread, stand stood, steal stole stolen, stick stuck, sting stung, strike
struck struck, string strung, sweep swept, swim swam swum, swing swung, take took taken, teach
taught, tear tore torn, tell told, think thought, throw threw thrown, tread trod trodden, undergo
underwent undergone, wake woke woken, wear wore worn, weave wove woven, win won, wind wound, wring
wrung, write wrote written
"""
# No sensible passive, or the parser often takes their object from a clause: "watches a girl play".
UNSUITED = """
have get look go come stand sit lie fall let be stare gaze smile pose seem appear resemble lack
contain consist weigh cost fit rise sleep wait head belong remain stay want like watch see hear say
face overlook
"""


def _doubled(stem: str) -> str:
    """hug -> hugg: a final consonant is doubled after the one short vowel of a word."""
    short = re.fullmatch(r"[^aeiou]*[aeiou][^aeiouwxy]", stem)
    return stem + stem[-1] if short else stem


def _forms(verb: str) -> tuple[str, str, str]:
    """throw -> throw, throws, throwing"""
    third = re.sub(r"([^aeiou])y$", r"\1ie", verb) + "s"
    if re.search(r"(s|sh|ch|x|z|o)$", verb):
        third = verb + "es"
    stem = verb[:-1] if re.search(r"[^eoy]e$", verb) else _doubled(verb)
    return verb, third, stem + "ing"


_ENTRIES = [entry.split() for entry in IRREGULAR.split(",")]
_PAST = {past for _, past, *_ in _ENTRIES}
_KNOWN = {form: entry[-1] for entry in _ENTRIES for form in _forms(entry[0])}
_UNSUITED = {form for verb in UNSUITED.split() for form in _forms(verb)} | {"has", "lying"}


def past_participle(verb: str) -> str | None:
    """The past participle of a verb in the present tense or ending in -ing, lower case.

    None where the form looks past, or the verb makes no sensible passive.
    """
    verb = verb.lower()
    if verb in _KNOWN.keys() - _UNSUITED:
        return _KNOWN[verb]
    if verb in _UNSUITED | _PAST or verb.endswith("ed") or not verb.isalpha():
        return None
    if verb.endswith("ies"):
        return verb[:-1].removesuffix("e") + "ed"
    if verb.endswith("ing"):
        stem = verb.removesuffix("ing")
    elif re.search(r"(s|sh|ch|x|z|o)es$", verb):
        stem = verb.removesuffix("es")
    else:
        stem = _doubled(verb if verb.endswith("ss") else verb.removesuffix("s"))
    return re.sub(r"([^aeiou])y$", r"\1i", stem).removesuffix("e") + "ed"
