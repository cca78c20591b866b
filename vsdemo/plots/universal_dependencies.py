"""Names of the tags and relations of Universal Dependencies, and colours of word classes."""

from __future__ import annotations

TAGS = {  # universal part-of-speech tag: (word class, name)
    "NOUN": ("noun", "noun"),
    "PROPN": ("noun", "proper noun"),
    "PRON": ("noun", "pronoun"),
    "VERB": ("verb", "verb"),
    "AUX": ("verb", "auxiliary"),
    "ADJ": ("adjective", "adjective"),
    "ADV": ("adverb", "adverb"),
    "ADP": ("adposition", "preposition"),
    "DET": ("determiner", "determiner"),
    "NUM": ("other", "number"),
    "CCONJ": ("other", "conjunction"),
    "SCONJ": ("other", "subordinating conjunction"),
    "PART": ("other", "particle"),
    "INTJ": ("other", "interjection"),
    "PUNCT": ("other", "punctuation"),
    "SYM": ("other", "symbol"),
    "X": ("other", "other word"),
}
# Okabe-Ito, darkened on light paper and lightened on dark paper so that text of 13 px is readable.
COLOURS = {  # word class: (on light paper, on dark paper)
    "noun": ("#0064a0", "#5aaee8"),
    "verb": ("#b04c00", "#f58a4a"),
    "adjective": ("#00754f", "#35c493"),
    "adverb": ("#1f78a6", "#a5dbf7"),
    "adposition": ("#a5447a", "#e3a0c5"),
    "determiner": ("#8a5f00", "#e69f00"),
    "other": ("#67625a", "#a8a297"),
}
RELATIONS = {
    "acl": "clause describing",
    "acl:relcl": "relative clause of",
    "advcl": "adverbial clause of",
    "advmod": "adverbial modifier of",
    "amod": "adjectival modifier of",
    "appos": "apposition to",
    "aux": "auxiliary of",
    "aux:pass": "passive auxiliary of",
    "case": "case marker of",
    "cc": "conjunction before",
    "ccomp": "clausal complement of",
    "compound": "part of the compound",
    "compound:prt": "particle of",
    "conj": "joined to",
    "cop": "copula of",
    "csubj": "clausal subject of",
    "det": "determiner of",
    "discourse": "discourse element of",
    "dislocated": "dislocated element of",
    "expl": "expletive of",
    "fixed": "part of the expression",
    "flat": "part of the name",
    "goeswith": "part of the word",
    "iobj": "indirect object of",
    "list": "listed after",
    "mark": "marker of",
    "nmod": "nominal modifier of",
    "nmod:poss": "possessor of",
    "nsubj": "subject of",
    "nsubj:pass": "passive subject of",
    "nummod": "count of",
    "obj": "object of",
    "obl": "oblique modifier of",
    "obl:agent": "agent of",
    "parataxis": "beside",
    "punct": "punctuation of",
    "reparandum": "mended by",
    "vocative": "person addressed by",
    "xcomp": "complement of",
}


def word_class(tag: str) -> str:
    """Return the word class of a tag, a key of COLOURS."""
    return TAGS.get(tag, ("other", ""))[0]


def role(tag: str, label: str, head: str | None) -> str:
    """Return the role of a word, such as "noun, subject of swimming".

    Args:
        tag: Its part-of-speech tag; may be empty.
        label: Its relation to the head.
        head: The head; None for the root.
    """
    base = label.split(":")[0]
    relation = RELATIONS.get(label) or RELATIONS.get(base) or f"{label or 'dependent'} of"
    function = "root of the sentence" if head is None else f"{relation} {head}"
    name = TAGS.get(tag, ("", tag.lower()))[1]
    return function if function.startswith(name) else f"{name}, {function}"
