"""Ever more general sentences above a sentence, by its dependency tree and Storybook's concepts:
"a brown dog runs in the park", "a brown dog runs", "a dog runs", "a dog", "an animal".

One step up leaves out the first or the last phrase that can be spared, keeps one noun with all that
belongs to it, or takes the concept above a noun. As what a caption tells is there to be seen, each
follows from the sentence; nothing does by these rules from one that denies something.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from vsdemo.core.sentences import Tree
from vsdemo.data.storybook.lexicon import load_lexicon
from vsdemo.data.storybook.phrases import article
from vsdemo.data.text.vocab import tokenize

SPARED = {"amod", "nummod", "nmod", "acl", "advmod", "advcl", "obl", "conj", "appos", "parataxis"}
AROUND = {"nsubj", "cop", "aux", "case", "cc", "mark", "expl", "punct"}  # of a noun, not its own
DENIALS = {"no", "not", "n't", "never", "nobody", "nothing", "without"}
PLACES = {"front", "left", "right", "top", "back", "side", "middle", "background", "foreground"}
DETERMINERS = {"det", "nummod"}


def key(text: str) -> str:
    """What two texts share that are the same sentence: lower-case words without marks."""
    return " ".join(tokenize(text))


def closure(trees: Sequence[Tree]) -> dict[str, frozenset[str]]:
    """The `key` of each tree, and of each sentence above it, with those of all above that."""
    found: dict[str, frozenset[str]] = {}

    def climb(tree: Tree) -> frozenset[str]:
        own = key(" ".join(tree.words))
        if own not in found:
            found[own] = frozenset()  # two readings of one text may lead back here
            steps = above(tree)
            higher = {key(" ".join(t.words)) for t in steps}.union(*map(climb, steps))
            found[own] = frozenset(higher - {own, ""})
        return found[own]

    for tree in trees:
        climb(tree)
    return found


def above(tree: Tree) -> list[Tree]:
    """One step up, in lower case; empty for a tree without tags, one that denies, and the top."""
    if not tree.tags or DENIALS & {word.lower() for word in tree.words}:
        return []
    children, below = tree.children(), [{word} for word in range(len(tree.words))]
    for word in tree.bottom_up():
        below[word].update(*(below[child] for child in children[word]))
    spared = [word for word in range(len(tree.words)) if _can_go(tree, word, children[word])]
    everything = set(range(len(tree.words)))
    kept = [everything - below[word] for word in dict.fromkeys((*spared[:1], *spared[-1:]))]
    nouns = [_noun_phrase(tree, word, children[word], below) for word in range(len(tree.words))]
    kept += [words for words in nouns if words and words != everything]
    steps = [_cut(tree, words) for words in kept]
    return steps if spared else [*steps, *_concepts(tree)]


def _kind(tree: Tree, word: int) -> str:
    return tree.labels[word].split(":")[0]


def _can_go(tree: Tree, word: int, children: Sequence[int]) -> bool:
    """Whether what is left without a word and all below it is a sentence that still holds."""
    head, kind = tree.heads[word] - 1, _kind(tree, word)
    if head < 0 or kind not in SPARED or tree.labels[head] == "compound":
        return False
    before = [tree.words[c].lower() for c in children if c < word]
    if kind == "nummod":
        return tree.words[word].lower() != "one"
    if kind == "conj":  # "a dog and a cat are" needs both
        return not tree.labels[head].startswith("nsubj")
    return not (kind == "nmod" and "of" in before)  # a loaf of bread


def _noun_phrase(
    tree: Tree, word: int, children: Sequence[int], below: Sequence[set[int]]
) -> set[int]:
    """A noun with all that belongs to it; empty for others and for "the left"."""
    counted = DETERMINERS & {_kind(tree, child) for child in children}
    noun = tree.words[word].lower()
    if tree.tags[word] != "NOUN" or noun in PLACES or not (counted or noun in _nouns()):
        return set()
    own = below[word].difference(*(below[c] for c in children if _kind(tree, c) in AROUND))
    return own if len(own) < len(tree.words) else set()


def _cut(tree: Tree, kept: set[int]) -> Tree:
    """The tree of these words alone, which hang on one of them."""
    order = sorted(kept)
    place = {word: number for number, word in enumerate(order, 1)}
    words = [tree.words[word].lower() for word in order]
    following = [*words[1:], "."]
    words = [
        article("a", after) if word in ("a", "an") else word
        for word, after in zip(words, following, strict=True)
    ]
    heads = tuple(place.get(tree.heads[word] - 1, 0) for word in order)
    labels = (
        tree.labels[word] if head else "root" for word, head in zip(order, heads, strict=True)
    )
    return Tree(tuple(words), heads, tuple(labels), tuple(tree.tags[word] for word in order))


@cache
def _nouns() -> dict[str, str]:
    """Singular and plural of every noun -> its concept."""
    words = load_lexicon()
    named = {noun: c for c in words.concepts for noun in words.concepts[c].nouns}
    return named | {words.plural(noun): c for noun, c in named.items()}


def _concepts(tree: Tree) -> list[Tree]:
    """Of a bare noun, the noun of the next concept, in its number; of several, also one."""
    words, heads = (
        load_lexicon(),
        [w for w, label in enumerate(tree.labels) if label not in DETERMINERS],
    )
    noun = " ".join(tree.words[word].lower() for word in heads if tree.tags[word] != "PUNCT")
    concept = _nouns().get(noun)
    if concept is None:
        return []
    higher = [words.concepts[c] for c in words.above(concept) if words.concepts[c].nouns][:1]
    single = words.concepts[concept].nouns or (noun,)
    many = noun not in single and noun == words.plural(single[0])
    steps = [_phrase(words.plural(c.nouns[0]), "") for c in higher if many and not c.mass]
    if many:
        return [*steps, _phrase(single[0], "a")]
    return [_phrase(c.nouns[0], "some" if c.mass else "a") for c in higher]


def _phrase(noun: str, determiner: str) -> Tree:
    words = noun.split()
    last = len(words)
    told = [article(determiner, words[0])] if determiner else []
    heads = [len(told) + last] * (len(told) + last - 1) + [0]
    labels = ["det"] * len(told) + ["compound"] * (last - 1) + ["root"]
    tags = ["DET"] * len(told) + ["NOUN"] * last
    return Tree((*told, *words), tuple(heads), tuple(labels), tuple(tags))
