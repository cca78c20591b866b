"""The noun phrases of a sentence, what relates them, and what its pronouns stand for.

All of it is read from a dependency tree (Universal Dependencies) by rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vsdemo.core.sentences import Tree
from vsdemo.data.text.inflection import singular

NOUNS = frozenset({"NOUN", "PROPN"})
PRONOUN = "PRON"
PARTICLE = "compound:prt"  # the relation of "up" to the verb in "sits up"
INNER = frozenset({"det", "amod", "compound", "nummod", "flat", "fixed", "goeswith"})
NEVER_HEADS = frozenset({"expl", "fixed", "goeswith", "flat"})
PLACES_OF_NOUNS = frozenset({"nsubj", "obj", "iobj", "obl", "nmod"})  # "one of them", "in blue"
# Relations that continue a modifier, as in "very old", "black and white" or "blue-eyed".
OF_MODIFIER = frozenset({"advmod", "conj", "cc", "punct", "compound", "amod", "obl", "det"})
# "a group of people" is one thing, not a group and people.
_AMOUNTS = """
group couple pair bunch crowd number lot set team herd flock pack row line pile stack piece bowl cup
glass bottle variety collection series kind type bit body patch part
"""
AMOUNTS = frozenset(_AMOUNTS.split())
_MALE = "man boy guy gentleman father dad husband brother son groom male king"
MALE = frozenset(_MALE.split())
_FEMALE = "woman girl lady mother mom wife sister daughter bride female queen actress waitress"
FEMALE = frozenset(_FEMALE.split())
_OTHER_PEOPLE = """
person child kid baby toddler infant player rider biker cyclist skier snowboarder skateboarder
surfer swimmer climber runner hiker worker dancer singer musician performer teenager adult athlete
cowboy soldier officer policeman driver passenger student teacher friend
"""
PEOPLE = MALE | FEMALE | frozenset(_OTHER_PEOPLE.split())
RELATIVE = frozenset({"who", "whom", "which", "that", "whose"})
SINGULAR_MALE = frozenset({"he", "him", "his", "himself"})
SINGULAR_FEMALE = frozenset({"she", "her", "hers", "herself"})
THING = frozenset({"it", "its", "itself"})
PLURAL = frozenset({"they", "them", "their", "theirs", "themselves", "each", "both", "all"})
SUBJECT = frozenset({"nsubj", "nsubj:pass", "nsubj:outer"})
OBJECT = frozenset({"obj", "iobj", "obl"})
# Relations from a verb to another one that has the same subject.
SAME_SUBJECT = frozenset({"xcomp", "conj", "advcl", "ccomp", "parataxis", "advcl:relcl"})


@dataclass(frozen=True)
class NounPhrase:
    """A noun with its determiners and modifiers, or a pronoun.

    Attributes:
        head: Number of the noun among the words of the sentence, from 0.
        words: Numbers of all its words, ascending and without a gap.
    """

    head: int
    words: tuple[int, ...]


@dataclass(frozen=True)
class Relation:
    """What a sentence says of two phrases, such as "jumps over".

    Attributes:
        words: Numbers of the words that say it, ascending.
        subject: Number of the first phrase.
        object: Number of the second phrase.
    """

    words: tuple[int, ...]
    subject: int
    object: int


def noun_phrases(tree: Tree) -> list[NounPhrase]:
    """Return the noun phrases of a sentence from left to right; they share no word.

    A tree without tags has none.

    "There" in "there is a dog", a noun within a compound, and "her" in "her hat" are no phrases of
    their own.

    Args:
        tree: The tree of the sentence.
    """
    if not tree.tags:
        return []
    children = tree.children()
    absorbed = {
        noun: inner
        for noun in range(len(tree.words))
        if (inner := _content_of(tree, children, noun)) is not None
    }
    heads = [word for word in range(len(tree.words)) if _is_head(tree, word)]
    heads = [head for head in heads if head not in absorbed.values()]
    phrases, used = [], set[int]()
    for head in heads:
        own = {head, *_inner(tree, children, head)}
        if head in absorbed:
            inner = absorbed[head]
            own |= {inner, *_inner(tree, children, inner), *_cases(tree, children, inner)}
        words = _run(own - used - {*heads} | {head}, head)
        phrases.append(NounPhrase(head, words))
        used.update(words)
    return phrases


def named_things(tree: Tree) -> dict[int, str]:
    """Return the numbers of the nouns that name the things of a sentence, and these nouns.

    The nouns are in the singular. "A group of people" names people, and "front" in "in front of"
    names nothing.
    """
    nouns = (_named_noun(tree, phrase) for phrase in noun_phrases(tree))
    return {noun: singular(tree.words[noun].lower()) for noun in nouns if noun is not None}


def _named_noun(tree: Tree, phrase: NounPhrase) -> int | None:
    """Return the number of the noun that names what a phrase is about; None if none does."""
    head = phrase.head
    if tree.tags[head] not in NOUNS or head in tree.preposition_nouns:
        return None
    if singular(tree.words[head].lower()) not in AMOUNTS:
        return head
    own = [word for word in phrase.words if word > head and tree.tags[word] in NOUNS]
    return own[-1] if own else head


def _is_head(tree: Tree, word: int) -> bool:
    label, tag, head = tree.labels[word], tree.tags[word], tree.heads[word] - 1
    if label.split(":")[0] in NEVER_HEADS or (label == "nmod:poss" and tag == PRONOUN):
        return False
    if tag in NOUNS:
        return not (label.startswith("compound") and head >= 0 and tree.tags[head] in NOUNS)
    return tag == PRONOUN or (tag in ("NUM", "ADJ") and label.split(":")[0] in PLACES_OF_NOUNS)


def _content_of(tree: Tree, children: Sequence[Sequence[int]], noun: int) -> int | None:
    """Return the noun that an amount is of, "people" for "group"; None for other nouns."""
    if tree.tags[noun] not in NOUNS or singular(tree.words[noun].lower()) not in AMOUNTS:
        return None
    for child in children[noun]:
        cases = [tree.words[case].lower() for case in _cases(tree, children, child)]
        if tree.tags[child] in NOUNS and child > noun and cases == ["of"]:
            return child
    return None


def _cases(tree: Tree, children: Sequence[Sequence[int]], word: int) -> list[int]:
    """Return the prepositions of a word, with their own parts, as in "in front of"."""
    cases = [child for child in children[word] if tree.labels[child] == "case"]
    return sorted([*cases, *(part for case in cases for part in children[case])])


def _inner(tree: Tree, children: Sequence[Sequence[int]], head: int) -> Iterator[int]:
    """Yield the determiners and modifiers of a noun."""
    for child in children[head]:
        label = tree.labels[child]
        is_own = label == "nmod:poss" and tree.tags[child] in ("PRON", "DET")
        if label.split(":")[0] in INNER or is_own:
            yield child
            yield from _modifiers(tree, children, child)


def _modifiers(tree: Tree, children: Sequence[Sequence[int]], word: int) -> Iterator[int]:
    for child in children[word]:
        if tree.labels[child].split(":")[0] in OF_MODIFIER:
            yield child
            yield from _modifiers(tree, children, child)


def _run(words: set[int], head: int) -> tuple[int, ...]:
    """Return those words that are connected with the head without a gap."""
    first = last = head
    while first - 1 in words:
        first -= 1
    while last + 1 in words:
        last += 1
    return tuple(range(first, last + 1))


def relations(tree: Tree, phrases: Sequence[NounPhrase]) -> list[Relation]:
    """Return what the sentence says of pairs of phrases.

    "A dog jumps over a log in the snow" has "jumps over" and "jumps in"; "a man in a hat" has "in".

    Args:
        tree: The tree of the sentence.
        phrases: Its `noun_phrases`.
    """
    children, number_of = tree.children(), _phrase_of_words(phrases)
    result = []
    for phrase in phrases:
        label, governor = tree.labels[phrase.head].split(":")[0], tree.heads[phrase.head] - 1
        cases = _cases(tree, children, phrase.head)
        if label == "nmod" and cases:
            subject, words = number_of.get(governor), cases
        elif label in OBJECT:
            subject = _subject(tree, children, governor, number_of)
            words = [governor, *_particles(tree, children, governor), *cases]
        else:
            continue
        own = number_of[phrase.head]
        words = [word for word in words if word not in phrase.words]
        if subject is not None and subject != own and words:
            result.append(Relation(tuple(sorted(words)), subject, own))
    return result


def _phrase_of_words(phrases: Sequence[NounPhrase]) -> dict[int, int]:
    """Return the number of the phrase of each word that is in one."""
    return {word: number for number, phrase in enumerate(phrases) for word in phrase.words}


def _particles(tree: Tree, children: Sequence[Sequence[int]], verb: int) -> list[int]:
    return [child for child in children[verb] if tree.labels[child] == PARTICLE]


def _subject(
    tree: Tree, children: Sequence[Sequence[int]], verb: int, number_of: dict[int, int]
) -> int | None:
    """Return the phrase that does something: the subject of the verb, or what it modifies."""
    while verb >= 0:
        for child in children[verb]:
            if tree.labels[child] in SUBJECT and child in number_of:
                return number_of[child]
        label, governor = tree.labels[verb], tree.heads[verb] - 1
        if label.startswith("acl") or (label == "conj" and governor in number_of):
            return number_of.get(governor)
        if label not in SAME_SUBJECT:
            return None
        verb = governor
    return None


def antecedents(tree: Tree, phrases: Sequence[NounPhrase]) -> dict[int, int]:
    """Return which phrase each pronoun stands for, by numbers of phrases; none where unknown.

    "Which" and "who" stand for what their clause describes; "he", "she" and "it" for the last
    phrase before them that can be meant, and "they" for the last one in the plural.

    Args:
        tree: The tree of the sentence.
        phrases: Its `noun_phrases`.
    """
    number_of = _phrase_of_words(phrases)
    result: dict[int, int] = {}
    for number, phrase in enumerate(phrases):
        word = tree.words[phrase.head].lower()
        if tree.tags[phrase.head] != PRONOUN:
            continue
        if word in RELATIVE and (described := _described(tree, phrase.head)) is not None:
            if described in number_of:
                result[number] = number_of[described]
            continue
        for earlier in range(number - 1, -1, -1):
            meant = result.get(earlier, earlier)
            if tree.tags[phrases[meant].head] in NOUNS and _fits(tree, phrases[meant], word):
                result[number] = meant
                break
    return result


def _described(tree: Tree, word: int) -> int | None:
    """Return the word that the relative clause around a word describes."""
    while word >= 0:
        if tree.labels[word] == "acl:relcl":
            return tree.heads[word] - 1
        word = tree.heads[word] - 1
    return None


def _fits(tree: Tree, phrase: NounPhrase, pronoun: str) -> bool:
    """Return whether a pronoun can stand for a phrase."""
    noun = tree.words[phrase.head].lower()
    one = singular(noun)
    is_several = one != noun or noun in ("people", "children") or noun in AMOUNTS
    if pronoun in SINGULAR_MALE:
        return not is_several and one in PEOPLE - FEMALE
    if pronoun in SINGULAR_FEMALE:
        return not is_several and one in PEOPLE - MALE
    if pronoun in THING:
        return not is_several and one not in PEOPLE
    return pronoun in PLURAL and is_several
