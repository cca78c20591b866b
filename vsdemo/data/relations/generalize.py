"""More general sentences than a sentence, by its dependency tree and by what is above its nouns.

"A brown dog runs in the park" leads to "a brown dog runs", "a dog runs", "a dog", "an animal". One
step leaves out the first or the last optional phrase, keeps one noun phrase alone, or replaces a
bare noun by the concept above it. In a short sentence a noun or a verb may also be replaced. A
caption says what can be seen, so each result follows from the sentence. A sentence with a negation
or a guess has no results.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple, Protocol

from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Tree
from vsdemo.data.relations.caption_words import IMAGES, NOT_SHOWN_AFTER, PRIVATIVE
from vsdemo.data.storybook.lexicon import load_lexicon
from vsdemo.data.text.inflection import article, singular
from vsdemo.data.text.vocab import tokenize

OPTIONAL = {"amod", "nummod", "nmod", "acl", "advmod", "advcl", "obl", "conj", "appos", "parataxis"}
OUTSIDE_NOUN = {"nsubj", "cop", "aux", "case", "cc", "mark", "expl", "punct"}
NEGATIONS = {"no", "not", "n't", "never", "nobody", "nothing", "without", "nor", "neither"}
GUESSES = {"might", "may", "maybe", "perhaps", "probably", "possibly", "appears", "appear", "seems"}
GUESSES |= {"seem", "seemingly", "apparently", "pretends", "pretending", "pretend", "imaginary"}
HEDGES = {
    "almost",
    "nearly",
    "about",
    "barely",
    "hardly",
    "how",
    "where",
    "when",
    "why",
    "as",
    "few",
    "other",
    "same",
    "such",
}
PLACES = {"front", "left", "right", "top", "back", "side", "middle", "background", "foreground"}
PLACES |= {"camera", "picture", "photo", "photograph", "distance", "air", "way", "end", "day"}
ONE = {"a", "an"}
MEASURES = {"year", "years", "month", "months", "foot", "feet"}
DETERMINERS = {"det", "nummod"}
ADJUNCTS = {"obl", "nmod", "advmod", "advcl", "acl"}
PREDICATES = {"nsubj", "cop", "acl", "advcl", "aux", "expl"}  # below a noun of a sentence
CLAUSES = {"root", "acl", "advcl", "conj"}  # relations of verbs that may be replaced
HAVE = {"has", "have", "having", "had"}
GO = {"go", "goes", "going", "went"}
JOINED_TO = {"next", "close", "near", "due", "up", "down", "over", "off"}  # need what follows
NOUN_PHRASES = {"nsubj", "obj", "iobj", "obl", "nmod", "conj", "root"}
SHORT = 1  # optional phrases in a sentence whose nouns may be replaced
_COLOURS = "black white red blue green yellow brown orange pink purple gray grey tan"
SHADES = {"light", "dark", "bright", "pale", "deep", "neon", "hot"}
COLOURS = frozenset(_COLOURS.split())
MAX_SENTENCES = 500  # from one; the longest captions of Flickr8k have a few hundred
TOO_MANY = (
    f"More than {MAX_SENTENCES} more general sentences follow from this sentence; shorten it."
)


class Nouns(Protocol):
    """Knowledge about nouns, given as the words of a phrase without determiner and adjectives."""

    def can_stand_alone(self, words: Sequence[str]) -> bool:
        """Return whether a noun without a determiner is a noun phrase."""

    def above(self, words: Sequence[str]) -> list[Tree]:
        """Return the noun phrases directly above a noun."""

    def replacements(self, words: Sequence[str]) -> list[str]:
        """Return what may replace a noun, in the same number."""

    def is_noun(self, form: str) -> bool:
        """Return whether a word is often a noun."""

    def verb_above(self, form: str, *, transitive: bool) -> str:
        """Return a more general verb in the same form; empty if there is none."""


def key(text: str) -> str:
    """Return the lower-case words of a text without punctuation; equal for equal sentences."""
    return " ".join(tokenize(text))


def closure(trees: Sequence[Tree], nouns: Nouns | None = None) -> dict[str, frozenset[str]]:
    """Return everything more general than each tree.

    Args:
        trees: Trees of sentences.
        nouns: What is above nouns; by default Storybook's concepts.

    Returns:
        The `key` of each tree and of each more general sentence, with the keys of all sentences
        that are more general than it.

    Raises:
        UserError: There are more than MAX_SENTENCES.
    """
    result: dict[str, frozenset[str]] = {}

    def visit(tree: Tree) -> frozenset[str]:
        own = _tree_key(tree)
        if own not in result:
            if len(result) == MAX_SENTENCES:
                raise UserError(TOO_MANY)
            result[own] = frozenset()  # ends the recursion if two trees of one text meet
            steps = one_step(tree, nouns)
            more_general = {_tree_key(step) for step in steps}.union(*map(visit, steps))
            result[own] = frozenset(more_general - {own, ""})
        return result[own]

    for tree in trees:
        visit(whole_words(tree))
    return result


def whole_words(tree: Tree) -> Tree:
    """Return a tree in which "its" is one word; the parser takes it for "it" and "s"."""
    forms = [form.lower() for form in tree.words]
    for first, pair in enumerate(pairwise(forms)):
        nouns = [word for word in range(first + 2, len(tree.tags)) if tree.tags[word] == "NOUN"]
        if pair == ("it", "s") and nouns:
            joined = _with_possessive(tree, first, nouns[0])
            return whole_words(joined) if joined else tree
    return tree


def _with_possessive(tree: Tree, first: int, noun: int) -> Tree | None:
    """Return a tree with a word and the next joined, below a noun; None if it is not a tree."""
    pair = {first + 1, first + 2}  # numbers of the words
    outside = [tree.heads[number - 1] for number in pair if tree.heads[number - 1] not in pair]

    def number(head: int) -> int:
        return head - (head > first + 1)

    words, heads, labels, tags = [], [], [], []
    for word in range(len(tree.words)):
        if word == first + 1:
            continue
        head, label = tree.heads[word], tree.labels[word]
        if word == first:
            head, label = noun + 1, "nmod:poss"
        elif head in pair and word == noun:
            head = next(iter(outside), 0)
            label = label if head else "root"
        elif head in pair:
            head = noun + 1
        words.append(tree.words[word] + ("s" if word == first else ""))
        heads.append(number(head))
        labels.append(label)
        tags.append("PRON" if word == first else tree.tags[word])
    try:
        return Tree(tuple(words), tuple(heads), tuple(labels), tuple(tags))
    except UserError:
        return None


def _tree_key(tree: Tree) -> str:
    return key(" ".join(tree.words))


def one_step(tree: Tree, nouns: Nouns | None = None) -> list[Tree]:
    """Return the trees one step more general, in lower case.

    The list is empty for a tree without tags, with a negation, or of the most general noun.
    """
    nouns = nouns or StorybookNouns()
    if not tree.tags or (NEGATIONS | GUESSES) & {word.lower() for word in tree.words}:
        return []
    count = len(tree.words)
    children = tree.children()
    subtrees = [{word} for word in range(count)]
    for word in tree.bottom_up():
        subtrees[word].update(*(subtrees[child] for child in children[word]))
    everything = set(range(count))
    if _is_misread(tree, children, nouns):
        return []
    spans = [_span(tree, words) for words in subtrees]
    optional = [word for word in range(count) if _is_optional(tree, word, children, spans)]
    first_and_last = dict.fromkeys((*optional[:1], *optional[-1:]))
    spared = [_spared(tree, word, subtrees, spans) for word in first_and_last]
    kept = [everything - words for words in spared if not _is_one_of_two(tree, words)]
    for word in range(count):
        noun_phrase = _noun_phrase(tree, word, children, subtrees, nouns)
        if noun_phrase and noun_phrase != everything:
            kept.append(noun_phrase)
    restricted = [_restrict(tree, words) for words in kept if tree.tags[min(words)] != "CCONJ"]
    steps = [step for tree in restricted for step in _complete(tree, nouns)]
    if len(optional) <= SHORT:
        steps += _replaced(tree, children, nouns)
    return steps if optional else [*steps, *nouns.above(_bare_noun(tree))]


class Span(NamedTuple):
    """Where the subtree of a word is.

    Args:
        first: The first word.
        start: The first one that is not punctuation.
        last: The last word.
    """

    first: int
    start: int
    last: int


def _span(tree: Tree, words: set[int]) -> Span:
    first, last = min(words), max(words)
    return Span(first, min((w for w in words if tree.tags[w] != "PUNCT"), default=first), last)


def _relation(tree: Tree, word: int) -> str:
    """Return the dependency relation of a word without its subtype."""
    return tree.labels[word].split(":")[0]


def _is_misread(tree: Tree, children: Sequence[Sequence[int]], nouns: Nouns) -> bool:
    """Return whether a tree mistakes a verb for a noun: "jumps" in "a man in black jumps"."""
    for word, tag in enumerate(tree.tags):
        form = tree.words[word].lower()
        is_behind = tree.labels[word] == "nmod" and tag == "NOUN" and word >= tree.heads[word]
        if is_behind and "case" not in _relations(tree, children[word]):
            return True  # "a jockey in blue gallops a horse"
        if tag != "NOUN" or nouns.is_noun(form):
            continue
        before = [tree.words[child].lower() for child in children[word] if child < word]
        compounds = [form for form in before if singular(form) != form]
        if compounds or (form.endswith("s") and not DETERMINERS & _relations(tree, children[word])):
            return True
    return False


def _relations(tree: Tree, words: Sequence[int]) -> set[str]:
    """Return the dependency relations of words without their subtypes."""
    return {_relation(tree, word) for word in words}


def _complete(tree: Tree, nouns: Nouns) -> list[Tree]:
    """Return a tree, or what is above its noun if that lacks an article or has a wrong one."""
    for word, form in enumerate(tree.words[:-1]):
        following = tree.words[word + 1]
        is_noun = tree.tags[word + 1] == "NOUN" and tree.labels[word + 1] != "compound"
        if form in ONE and is_noun and singular(following) != following:
            return []  # "a pants"
    children = tree.children()[tree.root]
    if tree.tags[tree.root] != "NOUN" or _relations(tree, children) & (DETERMINERS | PREDICATES):
        return [tree]
    if any(tree.labels[child] == "nmod:poss" for child in children):
        return [tree]
    noun = tree.words[_compound_start(tree, tree.root, children) : tree.root + 1]
    return [tree] if nouns.can_stand_alone(noun) else nouns.above(noun)


def _is_one_of_two(tree: Tree, spared: set[int]) -> bool:
    """Return whether what stays refers to what is left out: one end, the other."""
    left_out = {tree.words[word].lower() for word in spared}
    stays = {form.lower() for word, form in enumerate(tree.words) if word not in spared}
    return "one" in left_out and bool({"one", "other", "another"} & stays)


def _is_optional(
    tree: Tree, word: int, children: Sequence[Sequence[int]], spans: Sequence[Span]
) -> bool:
    """Return whether the sentence without a word's subtree is complete and still true."""
    head, relation = tree.heads[word] - 1, _relation(tree, word)
    if head < 0 or relation not in OPTIONAL or tree.labels[head] in ("compound", "acl:relcl"):
        return False  # the dog that looks like a wolf
    form = tree.words[word].lower()
    if form in HEDGES or tree.labels[word] in ("nmod:poss", "nmod:npmod", "obl:npmod"):
        return False
    if relation == "nummod":
        return form != "one" and tree.words[head].lower() not in MEASURES
    if _is_hyphenated(tree, word) or _is_joined_to_next(tree, word, spans):
        return False
    if _is_within_with(tree, word, spans) or _completes_verb(tree, word, children, spans):
        return False
    if word < head and _relation(tree, head) == "amod":
        return False  # a black haired girl
    if relation == "amod":
        return _can_spare_adjective(tree, word, children)
    if relation == "conj":
        return _can_spare_conjunct(tree, word, children)
    return tree.words[spans[word].first].lower() != "of"  # a loaf of bread


def _can_spare_adjective(tree: Tree, word: int, children: Sequence[Sequence[int]]) -> bool:
    """Return whether an adjective can be left out: not in a toy car, all white clothing."""
    head = tree.heads[word] - 1
    if tree.words[word].lower() in PRIVATIVE or word > head:  # with its mouth open
        return False
    if "all" in {tree.words[child].lower() for child in children[head]}:
        return False
    is_before_particle = tree.tags[word + 1 : word + 2] == ("ADP",)  # rolled up jeans
    return not (is_before_particle or _has_joined_adjectives(tree, head, children))


def _is_hyphenated(tree: Tree, word: int) -> bool:
    """Return whether a word is part of one like "long-haired"."""
    before, after = tree.words[max(word - 1, 0) : word], tree.words[word + 1 : word + 2]
    return any(part.endswith("-") for part in (*before, tree.words[word], *after))


def _is_joined_to_next(tree: Tree, word: int, spans: Sequence[Span]) -> bool:
    """Return whether what follows a word cannot stand without it.

    That is "to a wall" in "next to a wall", and perhaps "and a hat" in "a man with a beard and a
    hat" and "hanging out" in "with its tongue hanging out".
    """
    following = "".join(tree.tags[spans[word].last + 1 : spans[word].last + 2])
    relation = _relation(tree, word)
    if relation == "advmod":
        return following == "ADP"
    if relation == "amod":
        return _is_before_participle(tree, word)
    if _begins_with_with(tree, word, spans[word]) and not _adjuncts_behind(tree, word, spans):
        return following in ("VERB", "ADP", "ADV", "CCONJ")  # with his tongue hanging out
    return relation == "nmod" and following == "CCONJ"


def _begins_with_with(tree: Tree, word: int, span: Span) -> bool:
    is_phrase = tree.tags[word] not in ("ADP", "VERB") and tree.heads[word] > 0
    return is_phrase and tree.words[span.start].lower() == "with"


def _completes_verb(
    tree: Tree, word: int, children: Sequence[Sequence[int]], spans: Sequence[Span]
) -> bool:
    """Return whether a verb or an adverb before a phrase needs it.

    That is "to a wall" in "next to a wall", "a river" in "row down a river", "into a pool" in "goes
    into a pool", and "to the camera" in "have their backs to the camera".
    """
    start, head = spans[word].start, tree.heads[word] - 1
    if word < head or _relation(tree, word) not in ADJUNCTS | {"obj"}:
        return False
    before, first = tree.words[start - 1].lower(), tree.words[start].lower()
    if before in JOINED_TO and (first == "to" or tree.tags[start] not in ("ADP", "ADV", "SCONJ")):
        return tree.tags[start] != "VERB" or first == "to"
    verb = tree.words[head].lower()
    objects = [child for child in children[head] if _relation(tree, child) == "obj"]
    has_own = any(tree.labels[c] == "nmod:poss" for thing in objects for c in children[thing])
    return (verb in HAVE and (has_own or not objects)) or (verb in GO and not objects)


def _is_within_with(tree: Tree, word: int, spans: Sequence[Span]) -> bool:
    """Return whether a phrase says where or how something after "with" is.

    That is "in its mouth" in "with a stick in its mouth", wherever the parser has attached it.
    """
    if _relation(tree, word) not in ADJUNCTS:
        return False
    head = tree.heads[word] - 1
    if word > head and _begins_with_with(tree, head, spans[head]):
        return True
    before = spans[word].start - 1
    return any(
        spans[other].last == before and _begins_with_with(tree, other, spans[other])
        for other in range(before + 1)
    )


def _adjuncts_behind(tree: Tree, word: int, spans: Sequence[Span]) -> list[int]:
    """Return the heads of the adjuncts that directly follow a word's subtree."""
    following = spans[word].last + 1
    return [
        other
        for other in range(following, len(tree.words))
        if spans[other].first == following and _relation(tree, other) in ADJUNCTS
    ]


def _is_before_participle(tree: Tree, word: int) -> bool:
    """Return whether a word and the next describe one noun together: long haired, light brown."""
    if tree.heads[word + 1 : word + 2] != tree.heads[word : word + 1]:
        return False
    if _relation(tree, word) not in ("amod", "compound") or _relation(tree, word + 1) != "amod":
        return False
    form, following = tree.words[word].lower(), tree.words[word + 1].lower()
    return form in SHADES if following in COLOURS else following.endswith("ed")


def _spared(tree: Tree, word: int, subtrees: Sequence[set[int]], spans: Sequence[Span]) -> set[int]:
    """Return what is left out with a word.

    That is its subtree, and "snow" with "covered", and "in its mouth" with "with a stick".
    """
    result = set(subtrees[word])
    while word and _is_before_participle(tree, word - 1):
        word -= 1
        result |= subtrees[word]
    if _begins_with_with(tree, word, spans[word]):
        result = result.union(*(subtrees[other] for other in _adjuncts_behind(tree, word, spans)))
    return result


def _has_joined_adjectives(tree: Tree, noun: int, children: Sequence[Sequence[int]]) -> bool:
    """Return whether an adjective of a noun has an "and" before it: a brown, white and grey dog."""
    adjectives = [child for child in children[noun] if _relation(tree, child) == "amod"]
    return any(_relation(tree, child) == "cc" for word in adjectives for child in children[word])


def _can_spare_conjunct(tree: Tree, word: int, children: Sequence[Sequence[int]]) -> bool:
    """Return whether a conjunct can be left out."""
    head = tree.heads[word] - 1
    before = [tree.words[child].lower() for child in children[word] if child < word]
    if tree.labels[head].startswith(("nsubj", "amod")) or "or" in before:
        return False  # "a dog and a cat are" and "a black and white dog" need both
    conjuncts = [child for child in children[head] if _relation(tree, child) == "conj"]
    if _relation(tree, head) == "conj":
        conjuncts.append(head)
    listed = [c for c in conjuncts if c < word and "cc" not in _relations(tree, children[c])]
    if listed and "cc" in _relations(tree, children[word]):
        return False  # "a hat, gloves and boots" needs its last part
    return not {"of", "between"} & {tree.words[child].lower() for child in children[head]}


def _is_shown(tree: Tree, word: int, children: Sequence[Sequence[int]]) -> bool:
    """Return whether what a noun names can be seen: no clown in "dressed like a clown"."""
    before = {tree.words[child].lower() for child in children[word] if child < word}
    head = tree.heads[word] - 1
    if before & NOT_SHOWN_AFTER or (before & PRIVATIVE):
        return False
    if _relation(tree, word) == "conj":
        return _is_shown(tree, head, children)
    return not (_relation(tree, word) == "nmod" and tree.words[head].lower() in IMAGES)


def _is_predicate(tree: Tree, children: Sequence[int]) -> bool:
    """Return whether a noun has a subject but no "is", so that it is really a verb."""
    relations = {_relation(tree, child) for child in children}
    return "nsubj" in relations and "cop" not in relations


def _compound_start(tree: Tree, word: int, children: Sequence[int]) -> int:
    """Return where the noun of a phrase begins, with the nouns before it that belong to it."""
    start = word
    while start - 1 in children and tree.labels[start - 1] == "compound":
        start -= 1
    return start


def _noun_phrase(
    tree: Tree,
    word: int,
    children: Sequence[Sequence[int]],
    subtrees: Sequence[set[int]],
    nouns: Nouns,
) -> set[int]:
    """Return the words of a noun's phrase; empty for other words and nouns like "the left"."""
    noun = tree.words[word].lower()
    if tree.tags[word] != "NOUN" or noun in PLACES | COLOURS or not _is_shown(tree, word, children):
        return set()
    if _relation(tree, word) not in NOUN_PHRASES or _is_predicate(tree, children[word]):
        return set()
    start = _compound_start(tree, word, children[word])
    whole = [form.lower() for form in tree.words[start : word + 1]]
    has_determiner = DETERMINERS & {_relation(tree, child) for child in children[word]}
    if not has_determiner and not nouns.can_stand_alone(whole):
        return set()
    if ONE & {tree.words[child].lower() for child in children[word]} and singular(noun) != noun:
        return set()  # "an apron cooks" is no noun phrase
    if any(tree.labels[c] == "nmod:poss" and tree.tags[c] == "PRON" for c in children[word]):
        return set()  # their arms
    outside = [child for child in children[word] if _relation(tree, child) in OUTSIDE_NOUN]
    if _relation(tree, word) in ("obl", "nmod"):  # the parser takes other clauses for theirs
        outside += [
            other
            for other in subtrees[word] - {word}
            if _relation(tree, other) == "acl"
            or _begins_with_with(tree, other, _span(tree, subtrees[other]))
        ]
    if not has_determiner and not all(
        _can_be_joined(tree, child, children, nouns)
        for child in children[word]
        if _relation(tree, child) == "conj"
    ):
        return set()  # sunglasses and woman
    words = subtrees[word].difference(*(subtrees[child] for child in outside))
    return words if len(words) < len(tree.words) else set()


def _shares_determiner(tree: Tree, word: int, children: Sequence[Sequence[int]]) -> bool:
    """Return whether a noun is one of two after one determiner: "a man and girl"."""
    conjuncts = [child for child in children[word] if _relation(tree, child) == "conj"]
    if _relation(tree, word) == "conj":
        conjuncts.append(word)
    return any(not DETERMINERS & _relations(tree, children[other]) for other in conjuncts)


def _can_be_joined(tree: Tree, word: int, children: Sequence[Sequence[int]], nouns: Nouns) -> bool:
    """Return whether a conjunct is a noun phrase of its own."""
    if DETERMINERS & _relations(tree, children[word]):
        return True
    start = _compound_start(tree, word, children[word])
    return nouns.can_stand_alone([form.lower() for form in tree.words[start : word + 1]])


def _replaced(tree: Tree, children: Sequence[Sequence[int]], nouns: Nouns) -> list[Tree]:
    """Return a sentence with one of its nouns or verbs replaced by a more general one."""
    result = []
    for word, tag in enumerate(tree.tags):
        if tag == "VERB" and _relation(tree, word) in CLAUSES:
            own = [tree.labels[child] for child in children[word]]
            is_plain = not {"compound:prt", "nsubj:pass", "aux:pass", "xcomp", "ccomp"} & {*own}
            form = tree.words[word].lower()
            verb = nouns.verb_above(form, transitive="obj" in own) if is_plain else ""
            if verb:
                result.append(_with_word(tree, range(word, word + 1), verb))
        if tag != "NOUN" or _relation(tree, word) not in NOUN_PHRASES:
            continue
        if tree.labels[word] == "nmod:poss" or _is_predicate(tree, children[word]):
            continue
        start = _compound_start(tree, word, children[word])
        span = [form.lower() for form in tree.words[start : word + 1]]
        if span == _bare_noun(tree) or not _is_shown(tree, word, children):
            continue
        described = [
            tree.words[child].lower()
            for child in children[word]
            if child < start and _relation(tree, child) in ("amod", "compound", "acl")
        ]
        if not COLOURS.issuperset(described) or _shares_determiner(tree, word, children):
            continue
        for noun in nouns.replacements(span):
            result.append(_with_word(tree, range(start, word + 1), noun))
    return result


def _with_word(tree: Tree, span: range, noun: str) -> Tree:
    """Return the tree with one word in the place of one or more words."""
    words = [*tree.words[: span[-1]], noun, *tree.words[span[-1] + 1 :]]
    replaced = Tree(tuple(words), tree.heads, tree.labels, tree.tags)
    return _restrict(replaced, set(range(len(words))) - set(span[:-1]))


def _restrict(tree: Tree, kept: set[int]) -> Tree:
    """Return the tree of some of its words, all of which depend on one of them."""
    order = sorted(kept)
    new_number = {word: number for number, word in enumerate(order, 1)}
    words = [tree.words[word].lower() for word in order]
    for i, following in enumerate([*words[1:], "."]):
        if words[i] in ("a", "an"):
            words[i] = article("a", following)
    heads = [new_number.get(tree.heads[word] - 1, 0) for word in order]
    labels = [
        tree.labels[word] if head else "root" for word, head in zip(order, heads, strict=True)
    ]
    tags = [tree.tags[word] for word in order]
    return Tree(tuple(words), tuple(heads), tuple(labels), tuple(tags))


def _bare_noun(tree: Tree) -> list[str]:
    """Return the words of a phrase without determiners; empty if it is not a noun phrase."""
    if tree.tags[tree.root] != "NOUN":
        return []
    return [
        form.lower()
        for form, tag, label in zip(tree.words, tree.tags, tree.labels, strict=True)
        if tag != "PUNCT" and label not in DETERMINERS and label != "nmod:poss"
    ]


@cache
def _concepts_by_noun() -> dict[str, str]:
    """Return the concept of every noun of the lexicon, in its singular and its plural."""
    lexicon = load_lexicon()
    singular = {noun: name for name, c in lexicon.concepts.items() for noun in c.nouns}
    return singular | {lexicon.plural(noun): name for noun, name in singular.items()}


class StorybookNouns:
    """The concepts of Storybook's lexicon."""

    def can_stand_alone(self, words: Sequence[str]) -> bool:
        """Return whether a noun is in the lexicon."""
        return words[-1] in _concepts_by_noun()

    def replacements(self, words: Sequence[str]) -> list[str]:
        """Return nothing."""
        return []

    def is_noun(self, form: str) -> bool:
        """Return true."""
        return True

    def verb_above(self, form: str, *, transitive: bool) -> str:
        """Return nothing."""
        return ""

    def above(self, words: Sequence[str]) -> list[Tree]:
        """Return the next concept above a noun, and for a plural also the singular."""
        lexicon = load_lexicon()
        noun = " ".join(words)
        name = _concepts_by_noun().get(noun)
        if name is None:
            return []
        ancestors = [lexicon.concepts[c] for c in lexicon.ancestors(name)]
        above = [concept for concept in ancestors if concept.nouns][:1]
        singulars = lexicon.concepts[name].nouns or (noun,)
        if noun not in singulars and noun == lexicon.plural(singulars[0]):
            steps = [phrase(lexicon.plural(c.nouns[0]), "") for c in above if not c.mass]
            return [*steps, phrase(singulars[0], "a")]
        return [phrase(c.nouns[0], "some" if c.mass else "a") for c in above]


def phrase(noun: str, determiner: str) -> Tree:
    """Return the tree of a noun of one or more words, after a determiner if there is one."""
    words = noun.split()
    before = [article(determiner, words[0])] if determiner else []
    count = len(before) + len(words)
    heads = [count] * (count - 1) + [0]
    labels = ["det"] * len(before) + ["compound"] * (len(words) - 1) + ["root"]
    tags = ["DET"] * len(before) + ["NOUN"] * len(words)
    return Tree((*before, *words), tuple(heads), tuple(labels), tuple(tags))
