"""Whether a model shows function words in a photo, of which there is nothing to see.

They are listed here, and not taken from the tags of the parser that the model reads. A pronoun that
is shown where the noun is that it stands for is right.
"""

from __future__ import annotations

from vsdemo.core.alignment import Alignment

_FUNCTION_WORDS = """
a an the this that these those some any no every each either neither another such both all
of in on at by for with from to into onto upon over under above below behind beside besides between
among along across around through throughout against toward towards near next inside outside off out
up down about after before during without within beneath underneath past like as than away
and or but nor so yet if while when where because although though since until whether
is are was were be been being am has have had do does did can could will would shall should may
might must not n't 's
i me my mine myself you your yours yourself he him his himself she her hers herself it its itself we
us our ours ourselves they them their theirs themselves who whom whose which what whatever someone
somebody something anyone anybody anything everyone everybody everything nobody nothing
there here very too also just only
"""
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())


def shows_function_word(alignment: Alignment) -> bool:
    """Return whether a function word has a region, other than that of the noun it stands for."""
    resolved = {pronoun for pronoun, _ in alignment.referents}
    return any(
        alignment.region_of_word(i) is not None
        for i, word in enumerate(alignment.words)
        if word.lower() in FUNCTION_WORDS and i not in resolved
    )
