"""Past participles of English verbs: a table of irregular verbs, and spelling rules.

inflect has no past participles. LemmInflect (last release 0.2.3) returns another form for one in
twenty of the verbs in Flickr8k's captions, for example `ski'd`, `leant` and `born` (for bear), and
the published paraphrases depend on these forms. So they are kept here.
"""

from __future__ import annotations

import re

# Base form, past tense, and the past participle if it differs from the past tense.
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
# These have no sensible passive, or the parser often mistakes the subject of a clause for their
# object, as in "watches a girl play".
NOT_PASSIVE = """
have get look go come stand sit lie fall let be stare gaze smile pose seem appear resemble lack
contain consist weigh cost fit rise sleep wait head belong remain stay want like watch see hear say
face overlook
"""


def _doubled(stem: str) -> str:
    """Double a final consonant after the only short vowel of a word: hug -> hugg."""
    short = re.fullmatch(r"[^aeiou]*[aeiou][^aeiouwxy]", stem)
    return stem + stem[-1] if short else stem


def _forms(verb: str) -> tuple[str, str, str]:
    """Return the base form, the third person and the -ing form: throw, throws, throwing."""
    third = re.sub(r"([^aeiou])y$", r"\1ie", verb) + "s"
    if re.search(r"(s|sh|ch|x|z|o)$", verb):
        third = verb + "es"
    stem = verb[:-1] if re.search(r"[^eoy]e$", verb) else _doubled(verb)
    return verb, third, stem + "ing"


_ENTRIES = [entry.split() for entry in IRREGULAR.split(",")]
_PAST_FORMS = {entry[1] for entry in _ENTRIES}
_PARTICIPLES = {form: entry[-1] for entry in _ENTRIES for form in _forms(entry[0])}
_NOT_PASSIVE = {form for verb in NOT_PASSIVE.split() for form in _forms(verb)} | {"has", "lying"}


def past_participle(verb: str) -> str | None:
    """Return the past participle of a verb, in lower case.

    Args:
        verb: A verb in the present tense or ending in -ing.

    Returns:
        None if the form looks like the past tense, or the verb has no sensible passive.
    """
    verb = verb.lower()
    if verb in _NOT_PASSIVE:
        return None
    if verb in _PARTICIPLES:
        return _PARTICIPLES[verb]
    if verb in _PAST_FORMS or verb.endswith("ed") or not verb.isalpha():
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
