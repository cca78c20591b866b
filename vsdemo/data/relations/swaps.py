"""Sentences that do not follow: with roles or attributes exchanged.

"A dog bites a man" becomes "a man bites a dog", and "a black dog and a white cat" "a white dog and
a black cat". The same words say something else, so only the order of words distinguishes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from vsdemo.core.sentences import Sentence, Tree
from vsdemo.data.relations.generalize import COLOURS
from vsdemo.data.text.inflection import article, singular, stem
from vsdemo.data.text.rewrites import reverse_roles
from vsdemo.data.text.vocab import tokenize

SIZES = frozenset({"big", "large", "huge", "small", "little", "tiny"})
AGES = frozenset({"young", "old", "older", "elderly", "younger"})
# Both may do these to each other at once.
MUTUAL = frozenset(
    stem(verb)
    for verb in (
        *("hug", "kiss", "meet", "face", "touch", "fight", "embrace", "near", "cover", "join"),
        *("wrestle", "approach", "greet", "surround", "play", "race", "tackle", "battle"),
        *("nuzzle", "sniff", "have", "pass", "see", "block", "hit", "match", "reflect"),
    )
)
COMMON = frozenset({"one", "ones", "other", "others", "another"})


def swapped(sentence: Sentence) -> list[str]:
    """Return sentences of the same words that say something else, in lower case.

    The list is empty for a sentence without a tree, and if it is uncertain that they are false.
    """
    if sentence.tree is None or not sentence.tree.tags:
        return []
    result = _swapped_attributes(sentence.tree)
    roles = _swapped_roles(sentence)
    return [roles, *result] if roles else result


def _swapped_roles(sentence: Sentence) -> str:
    tree = sentence.tree
    assert tree is not None
    own = {tree.words[child].lower() for child in tree.children()[tree.root]}
    nouns = [
        tree.words[child].lower()
        for child in tree.children()[tree.root]
        if tree.labels[child] in ("nsubj", "obj")
    ]
    is_mutual = stem(tree.words[tree.root].lower()) in MUTUAL
    if is_mutual or COMMON & own or len({singular(noun) for noun in nouns}) < 2:
        return ""
    reversed_roles = reverse_roles(sentence)
    return " ".join(tokenize(reversed_roles)) if reversed_roles else ""


def _swapped_attributes(tree: Tree) -> list[str]:
    """Return the sentence with colours, sizes or ages of two different nouns exchanged."""
    children = tree.children()
    described = [
        (word, child)
        for word, tag in enumerate(tree.tags)
        if tag == "NOUN" and tree.words[word].lower() not in COMMON
        for child in _only_adjective(tree, children[word])
        if not children[child]
    ]
    result = []
    for (noun, one), (other_noun, other) in combinations(described, 2):
        names = {singular(tree.words[word].lower()) for word in (noun, other_noun)}
        forms = {tree.words[word].lower() for word in (one, other)}
        is_kind = any(forms <= kind for kind in (COLOURS, SIZES, AGES))
        if len(names) == len(forms) == 2 and is_kind and not _same_size(forms):
            result.append(_exchanged(tree, one, other))
    return result


def _only_adjective(tree: Tree, children: Sequence[int]) -> list[int]:
    adjectives = [child for child in children if tree.labels[child] == "amod"]
    return adjectives if len(adjectives) == 1 else []


def _same_size(forms: set[str]) -> bool:
    """Return whether two adjectives may be true of the same thing."""
    pairs = (SIZES - {"small", "little", "tiny"}, {"small", "little", "tiny"})
    ages = ({"young", "younger"}, {"old", "older", "elderly"})
    return any(forms <= same for same in (*pairs, *ages)) or forms == {"gray", "grey"}


def _exchanged(tree: Tree, one: int, other: int) -> str:
    words = [form.lower() for form in tree.words]
    words[one], words[other] = words[other], words[one]
    words = tokenize(" ".join(words))
    return " ".join(
        article(word, following) for word, following in zip(words, [*words[1:], ""], strict=True)
    )
