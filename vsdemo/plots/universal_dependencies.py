"""Names of the tags and relations of Universal Dependencies, and colours of word classes."""

from __future__ import annotations

from vsdemo.core.language import message, translate

TAGS = {  # universal part-of-speech tag: (word class, name)
    "NOUN": ("noun", message("noun")),
    "PROPN": ("noun", message("proper noun")),
    "PRON": ("noun", message("pronoun")),
    "VERB": ("verb", message("verb")),
    "AUX": ("verb", message("auxiliary")),
    "ADJ": ("adjective", message("adjective")),
    "ADV": ("adverb", message("adverb")),
    "ADP": ("adposition", message("preposition")),
    "DET": ("determiner", message("determiner")),
    "NUM": ("other", message("number")),
    "CCONJ": ("other", message("conjunction")),
    "SCONJ": ("other", message("subordinating conjunction")),
    "PART": ("other", message("particle")),
    "INTJ": ("other", message("interjection")),
    "PUNCT": ("other", message("punctuation")),
    "SYM": ("other", message("symbol")),
    "X": ("other", message("other word")),
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
    "acl": message("clause describing"),
    "acl:relcl": message("relative clause of"),
    "advcl": message("adverbial clause of"),
    "advmod": message("adverbial modifier of"),
    "amod": message("adjectival modifier of"),
    "appos": message("apposition to"),
    "aux": message("auxiliary of"),
    "aux:pass": message("passive auxiliary of"),
    "case": message("case marker of"),
    "cc": message("conjunction before"),
    "ccomp": message("clausal complement of"),
    "compound": message("part of the compound"),
    "compound:prt": message("particle of"),
    "conj": message("joined to"),
    "cop": message("copula of"),
    "csubj": message("clausal subject of"),
    "det": message("determiner of"),
    "discourse": message("discourse element of"),
    "dislocated": message("dislocated element of"),
    "expl": message("expletive of"),
    "fixed": message("part of the expression"),
    "flat": message("part of the name"),
    "goeswith": message("part of the word"),
    "iobj": message("indirect object of"),
    "list": message("listed after"),
    "mark": message("marker of"),
    "nmod": message("nominal modifier of"),
    "nmod:poss": message("possessor of"),
    "nsubj": message("subject of"),
    "nsubj:pass": message("passive subject of"),
    "nummod": message("count of"),
    "obj": message("object of"),
    "obl": message("oblique modifier of"),
    "obl:agent": message("agent of"),
    "parataxis": message("beside"),
    "punct": message("punctuation of"),
    "reparandum": message("mended by"),
    "vocative": message("person addressed by"),
    "xcomp": message("complement of"),
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
    function = translate("root of the sentence") if head is None else _function(label, head)
    name = translate(TAGS[tag][1]) if tag in TAGS else tag.lower()
    return function if function.startswith(name) else f"{name}, {function}"


def _function(label: str, head: str) -> str:
    """Return a relation to a head, such as "subject of swimming"."""
    if relation := RELATIONS.get(label) or RELATIONS.get(label.split(":")[0]):
        return f"{translate(relation)} {head}"
    if label:
        return translate("{relation} of {head}", relation=label, head=head)
    return translate("dependent of {head}", head=head)
