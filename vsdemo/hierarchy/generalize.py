"""More general sentences than a sentence, by its dependency tree and Storybook's concepts.

"A brown dog runs in the park" leads to "a brown dog runs", "a dog runs", "a dog", "an animal". One
step leaves out the first or the last phrase that can be spared, keeps one noun phrase alone, or
replaces a bare noun by the concept above it. A caption says what can be seen, so each result
follows from the sentence. A sentence with a negation has no results.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Tree
from vsdemo.data.storybook.lexicon import load_lexicon
from vsdemo.data.storybook.phrases import article
from vsdemo.data.text.vocab import tokenize

OPTIONAL = {"amod", "nummod", "nmod", "acl", "advmod", "advcl", "obl", "conj", "appos", "parataxis"}
OUTSIDE_NOUN = {"nsubj", "cop", "aux", "case", "cc", "mark", "expl", "punct"}
NEGATIONS = {"no", "not", "n't", "never", "nobody", "nothing", "without"}
PLACES = {"front", "left", "right", "top", "back", "side", "middle", "background", "foreground"}
DETERMINERS = {"det", "nummod"}
MAX_SENTENCES = 500  # from one; from the longest captions of Flickr8k follow some hundred
TOO_MANY = (
    f"More than {MAX_SENTENCES} more general sentences follow from this sentence; shorten it."
)


def key(text: str) -> str:
    """Return the lower-case words of a text without punctuation; equal for equal sentences."""
    return " ".join(tokenize(text))


def closure(trees: Sequence[Tree]) -> dict[str, frozenset[str]]:
    """Return everything more general than each tree.

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
            steps = one_step(tree)
            more_general = {_tree_key(step) for step in steps}.union(*map(visit, steps))
            result[own] = frozenset(more_general - {own, ""})
        return result[own]

    for tree in trees:
        visit(tree)
    return result


def _tree_key(tree: Tree) -> str:
    return key(" ".join(tree.words))


def one_step(tree: Tree) -> list[Tree]:
    """Return the trees one step more general, in lower case.

    The list is empty for a tree without tags, with a negation, or of the most general noun.
    """
    if not tree.tags or NEGATIONS & {word.lower() for word in tree.words}:
        return []
    count = len(tree.words)
    children = tree.children()
    subtrees = [{word} for word in range(count)]
    for word in tree.bottom_up():
        subtrees[word].update(*(subtrees[child] for child in children[word]))
    everything = set(range(count))
    optional = [word for word in range(count) if _is_optional(tree, word, children[word])]
    first_and_last = dict.fromkeys((*optional[:1], *optional[-1:]))
    kept = [everything - subtrees[word] for word in first_and_last]
    for word in range(count):
        noun_phrase = _noun_phrase(tree, word, children[word], subtrees)
        if noun_phrase and noun_phrase != everything:
            kept.append(noun_phrase)
    steps = [_restrict(tree, words) for words in kept]
    return steps if optional else [*steps, *_hypernyms(tree)]


def _relation(tree: Tree, word: int) -> str:
    """Return the dependency relation of a word without its subtype."""
    return tree.labels[word].split(":")[0]


def _is_optional(tree: Tree, word: int, children: Sequence[int]) -> bool:
    """Return whether the sentence without a word's subtree is complete and still true."""
    head, relation = tree.heads[word] - 1, _relation(tree, word)
    if head < 0 or relation not in OPTIONAL or tree.labels[head] == "compound":
        return False
    if relation == "nummod":
        return tree.words[word].lower() != "one"
    if relation == "conj":  # "a dog and a cat are" needs both
        return not tree.labels[head].startswith("nsubj")
    words_before = [tree.words[child].lower() for child in children if child < word]
    return not (relation == "nmod" and "of" in words_before)  # a loaf of bread


def _noun_phrase(
    tree: Tree, word: int, children: Sequence[int], subtrees: Sequence[set[int]]
) -> set[int]:
    """Return the words of a noun's phrase; empty for other words and nouns like "the left"."""
    noun = tree.words[word].lower()
    if tree.tags[word] != "NOUN" or noun in PLACES:
        return set()
    has_determiner = DETERMINERS & {_relation(tree, child) for child in children}
    if not has_determiner and noun not in _concepts_by_noun():
        return set()
    outside = [child for child in children if _relation(tree, child) in OUTSIDE_NOUN]
    words = subtrees[word].difference(*(subtrees[child] for child in outside))
    return words if len(words) < len(tree.words) else set()


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


@cache
def _concepts_by_noun() -> dict[str, str]:
    """Return the concept of every noun of the lexicon, in its singular and its plural."""
    lexicon = load_lexicon()
    singular = {noun: name for name, c in lexicon.concepts.items() for noun in c.nouns}
    return singular | {lexicon.plural(noun): name for noun, name in singular.items()}


def _hypernyms(tree: Tree) -> list[Tree]:
    """Return a bare noun with the next concept in its place, and of a plural also the singular."""
    lexicon = load_lexicon()
    words = [word for word, label in enumerate(tree.labels) if label not in DETERMINERS]
    noun = " ".join(tree.words[word].lower() for word in words if tree.tags[word] != "PUNCT")
    name = _concepts_by_noun().get(noun)
    if name is None:
        return []
    above = [lexicon.concepts[c] for c in lexicon.ancestors(name) if lexicon.concepts[c].nouns][:1]
    singulars = lexicon.concepts[name].nouns or (noun,)
    if noun not in singulars and noun == lexicon.plural(singulars[0]):
        steps = [_phrase(lexicon.plural(c.nouns[0]), "") for c in above if not c.mass]
        return [*steps, _phrase(singulars[0], "a")]
    return [_phrase(c.nouns[0], "some" if c.mass else "a") for c in above]


def _phrase(noun: str, determiner: str) -> Tree:
    """Return the tree of a noun of one or more words, after a determiner if there is one."""
    words = noun.split()
    before = [article(determiner, words[0])] if determiner else []
    count = len(before) + len(words)
    heads = [count] * (count - 1) + [0]
    labels = ["det"] * len(before) + ["compound"] * (len(words) - 1) + ["root"]
    tags = ["DET"] * len(before) + ["NOUN"] * len(words)
    return Tree((*before, *words), tuple(heads), tuple(labels), tuple(tags))
