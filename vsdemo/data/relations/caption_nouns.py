"""The nouns of captions: how captions use them, and what lies above them in WordNet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from scipy.sparse import csr_matrix

from vsdemo.core.sentences import Tree
from vsdemo.data.pairs.wordnet import Nouns, load_nouns
from vsdemo.data.relations import senses
from vsdemo.data.relations.caption_words import (
    ABOVE,
    ALIASES,
    COUNT_NOUNS,
    MASS_NOUNS,
    NO_KINDS,
    NO_NAMES,
    NO_THINGS,
    PRIVATIVE,
    SENSES,
    TOO_GENERAL,
    VERBS,
)
from vsdemo.data.relations.generalize import phrase, whole_words
from vsdemo.data.text.inflection import article, plural, singular, stem
from vsdemo.data.text.vocab import tokenize

LEAST = 3  # captions that must name a noun for it to become a concept
EVERYDAY = 5  # captions that must name a noun for it to replace another in a sentence
MASS = 0.6  # least share of uses without an article for a noun to have none
PLURAL_ONLY = 0.15  # largest share of the singular among the forms of a noun such as jeans
ONE = {"a", "an", "one", "another", "each", "every"}
DETERMINERS = ("det", "nummod", "nmod")
PLURALS = {"glasses", "woods"}  # these mean something else than their singulars
WORN = "clothing"  # below it are nouns such as jeans
COUNTED = frozenset({"person", "body part"})  # nouns below these have an article
MANY = 0.3  # a noun with more plurals per singular than this has an article


def mentions(tree: Tree) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the nouns of a sentence that do not belong to another one, and their determiners.

    A noun is its words in lower case, with the nouns before it that belong to it. A missing
    determiner is empty.
    """
    children = tree.children()
    for word, tag in enumerate(tree.tags):
        if tag != "NOUN" or tree.labels[word] == "compound":
            continue
        start = word
        while start - 1 in children[word] and tree.labels[start - 1] == "compound":
            start -= 1
        determiners = [
            tree.words[child].lower()
            for child in children[word]
            if child < word and tree.labels[child].split(":")[0] in DETERMINERS
        ]
        words = tuple(form.lower() for form in tree.words[start : word + 1])
        yield words, determiners[0] if determiners else ""


class CaptionNouns:
    """The nouns of C captions, and the concepts above them.

    Args:
        wordnet: The concepts.
        trees: Trees of the captions.
        photo_of: For each caption its photo.

    Attributes:
        counts: Number of captions that have a noun, by its singular.
        senses: The concept that a noun means.
        phrases: For each concept phrase, such as "a dog", all phrases above it.
    """

    def __init__(self, wordnet: Nouns, trees: Sequence[Tree], photo_of: Sequence[int]) -> None:
        self.wordnet = wordnet
        self._count_forms(trees)
        uses = [
            (row, self.noun(words), words[-1], determiner)
            for row, tree in enumerate(trees)
            for words, determiner in mentions(tree)
        ]
        named = sorted({(row, noun) for row, noun, _, _ in uses})
        self.counts = Counter(noun for _, noun in named)
        self._mass = self._find_mass(uses)
        self.senses = self._choose_senses(named, np.asarray(photo_of, np.int64), len(trees))
        self._mass = {noun for noun in self._mass if not self._is_counted(noun)}
        self._name_concepts()
        self.phrases = {
            self.phrase(noun): frozenset(map(self.phrase, above)) for noun, above in self._above()
        }
        self.noun_of = {
            self.phrase(noun): noun for nouns in self._nouns_of.values() for noun in nouns
        }
        self.noun_of |= {self.phrase(noun): noun for noun in self._nouns}

    def _count_forms(self, trees: Sequence[Tree]) -> None:
        self._forms: Counter[str] = Counter()  # as nouns
        others: Counter[str] = Counter()  # as anything else
        for tree in trees:
            for word, tag in zip(tree.words, tree.tags, strict=False):
                (self._forms if tag == "NOUN" else others)[word.lower()] += 1
        self._verbs: Counter[str] = Counter()  # by their stems
        for tree in trees:
            for word, tag in zip(tree.words, tree.tags, strict=False):
                self._verbs[stem(word.lower())] += tag == "VERB"
        self._rarely_noun = {word for word, n in others.items() if n > self._forms[word]}

    def _find_mass(self, uses: Sequence[tuple[int, str, str, str]]) -> set[str]:
        """Return the nouns whose singular usually has no article."""
        bare: Counter[str] = Counter()
        one: Counter[str] = Counter()
        for _, noun, form, determiner in uses:
            if form == noun.split(" ")[-1]:
                bare[noun] += not determiner
                one[noun] += determiner in ONE
        return {noun for noun, n in bare.items() if n > MASS * (n + one[noun])}

    def _is_counted(self, noun: str) -> bool:
        """Return whether a noun has an article even if captions often say "its" or leave it out."""
        head = noun.rpartition(" ")[2]
        if self._has_no_singular(noun):
            return False
        concept = self.senses.get(noun, self.senses.get(head))
        above = self.wordnet.ancestors[concept] if concept is not None else ()
        is_counted = any(COUNTED.intersection(self.wordnet.words[other]) for other in above)
        often_several = self._forms[plural(head)] > MANY * self._forms[head]
        return is_counted or often_several or head in COUNT_NOUNS

    def _choose_senses(
        self, named: Sequence[tuple[int, str]], photo_of: np.ndarray, captions: int
    ) -> dict[str, int]:
        possible = {noun: self._possible(noun) for noun in self.counts}
        possible = {noun: concepts for noun, concepts in possible.items() if concepts}
        column = {noun: i for i, noun in enumerate(possible)}
        rows = np.array([row for row, noun in named if noun in column], np.int64)
        columns = np.array([column[noun] for _, noun in named if noun in column], np.int64)
        matrix = csr_matrix(
            (np.ones(len(rows), np.float32), (rows, columns)), shape=(captions, len(column))
        )
        return senses.choose(self.wordnet, possible, matrix, photo_of)

    def _possible(self, noun: str) -> tuple[int, ...]:
        """Return the concepts of a noun, the most frequent sense first."""
        if noun in ABOVE:
            return ()
        name = ALIASES.get(noun, noun)
        if name in SENSES:
            index_of = self.wordnet.taxonomy.index_of
            return (index_of[SENSES[name]],) if SENSES[name] in index_of else ()
        known = self.wordnet.senses
        if name in known:
            return known[name]
        head = set(known.get(name.rpartition(" ")[2], ()))
        for joined in (name.replace(" ", "-"), name.replace(" ", "")):
            if any(head & self.wordnet.ancestors[concept] for concept in known.get(joined, ())):
                return known[joined]
        return ()

    def noun(self, words: Sequence[str]) -> str:
        """Return a noun in the singular, if it has one, from the words of a phrase."""
        *before, form = tokenize(" ".join(words)) or [""]
        return " ".join([*before, self._singular(form)])

    def _singular(self, form: str) -> str:
        noun = singular(form)
        if noun == form or self._forms[noun] >= PLURAL_ONLY * (
            self._forms[noun] + self._forms[form]
        ):
            return form if form in PLURALS else noun
        known = self.wordnet.senses
        is_worn = any(
            WORN in self.wordnet.words[above]
            for concept in self._possible(noun)[:1]
            for above in self.wordnet.ancestors[concept]
        )
        return form if form in known or is_worn or form in ALIASES else noun

    def _name_concepts(self) -> None:
        """Choose a noun for each concept above those of the captions, where there is one."""
        self._nouns = [noun for noun in sorted(self.counts) if self._is_concept(noun)]
        self._nouns_of: dict[int, list[str]] = {}
        for noun in self._nouns:
            if noun in self.senses:
                self._nouns_of.setdefault(self.senses[noun], []).append(noun)
        taken = {*self._nouns, *self.counts}
        wordnet = self.wordnet
        index_of = wordnet.taxonomy.index_of
        roots = set(self._nouns_of).union(
            *({index_of[c] for c in ABOVE.get(noun, ()) if c in index_of} for noun in self._nouns)
        )
        above = roots.union(*(wordnet.ancestors[concept] for concept in roots))
        for concept in sorted(above - set(self._nouns_of)):
            words = [w for w in wordnet.words[concept] if w not in taken and w not in NO_NAMES]
            first = [word for word in words if concept in wordnet.senses[word][:2]]
            own = [w for w in wordnet.words[concept] if self.senses.get(w) == concept]
            if name := next(iter([*own, *first, *words]), ""):
                taken.add(name)
                self._nouns_of[concept] = [name]
        self._concept_named = {n: c for c, nouns in self._nouns_of.items() for n in nouns}

    def _is_concept(self, noun: str) -> bool:
        head = noun.rpartition(" ")[2]
        known = noun in self.senses
        if self.counts[noun] < LEAST or (noun if known else head) in NO_THINGS:
            return False
        if head in self._rarely_noun and head not in self.wordnet.taxonomy.index_of:
            return False
        if noun in self._mass and self._verbs[stem(head)] > self.counts[noun]:
            return False
        if PRIVATIVE & set(noun.split()[:-1]) and noun not in self.senses:
            return False
        if noun in self.senses:
            physical = senses.is_physical(self.wordnet, self.senses[noun])
            return physical or not head.endswith("ing")
        if noun in ABOVE:
            return True
        is_verb = self._verbs[stem(head)] > self.counts[head]  # "a girl in a dress dances"
        return " " in noun and head in self.senses and not is_verb and self._is_concept(head)

    def _above(self) -> Iterator[tuple[str, set[str]]]:
        """Yield each noun of a concept, and all nouns above it."""
        index_of = self.wordnet.taxonomy.index_of

        def named(concepts: set[int]) -> set[str]:
            return {noun for concept in concepts for noun in self._nouns_of.get(concept, ())}

        for concept, nouns in self._nouns_of.items():
            above = named(self._ancestors({concept}))
            for noun in nouns:
                yield noun, above - {noun}
        for noun in self._nouns:
            if noun in self.senses:
                continue
            if noun in ABOVE:
                yield (
                    noun,
                    named(self._ancestors({index_of[c] for c in ABOVE[noun] if c in index_of})),
                )
            else:
                yield noun, named(self._ancestors({self.senses[noun.rpartition(" ")[2]]}))

    def _ancestors(self, concepts: set[int]) -> set[int]:
        """Return concepts and all above them; above a physical one nothing abstract."""
        wordnet = self.wordnet
        result = set(concepts)
        for concept in concepts:
            above = set(wordnet.ancestors[concept])
            if senses.is_physical(wordnet, concept):
                above = {
                    c
                    for c in above
                    if senses.is_physical(wordnet, c) or not wordnet.taxonomy.parents[c]
                }
            result |= above
        names = {wordnet.taxonomy.names[concept] for concept in result}
        no_kinds = {above for kind, above in NO_KINDS if kind in names}
        return {c for c in result if wordnet.taxonomy.names[c] not in no_kinds}

    def concept(self, noun: str) -> int | None:
        """Return the concept that a noun means or names; None if there is none."""
        return self.senses.get(noun, self._concept_named.get(noun))

    def kinds(self, noun: str) -> set[int]:
        """Return the concept that a noun means or names and all concepts above it."""
        return self._kinds(noun, self.concept(noun))

    def _kinds(self, noun: str, concept: int | None) -> set[int]:
        index_of = self.wordnet.taxonomy.index_of
        direct = {index_of[name] for name in ABOVE.get(noun, ()) if name in index_of}
        return self._ancestors(direct | ({concept} if concept is not None else set()))

    def meanings(self, noun: str) -> set[str]:
        """Return a noun, its synonyms and all nouns above it, in WordNet."""
        kinds = self._kinds(noun, self.senses.get(noun))
        return {word for concept in kinds for word in self.wordnet.words[concept]} | {noun}

    def phrase(self, noun: str) -> str:
        """Return a noun with its article, if it has one."""
        seldom = self.counts[noun] < LEAST
        mass = bool(MASS_NOUNS & {noun, noun.split()[-1]}) if seldom else noun in self._mass
        return noun if mass or self._has_no_singular(noun) else f"{article('a', noun)} {noun}"

    def can_stand_alone(self, words: Sequence[str]) -> bool:
        """Return whether a noun without a determiner is a noun phrase."""
        noun = self.noun(words)
        is_bare = words[-1] != noun.split()[-1] or noun in self._mass
        return is_bare and self.is_noun(words[-1]) and self._is_concept(noun)

    def is_noun(self, form: str) -> bool:
        """Return whether captions use a word as a noun at least as often as otherwise."""
        return form not in self._rarely_noun

    def verb_above(self, form: str, *, transitive: bool) -> str:
        """Return a more general verb in the same form; empty if there is none."""
        return VERBS[transitive].get(form, "")

    def above(self, words: Sequence[str]) -> list[Tree]:
        """Return the concept phrase of a noun."""
        noun = self.noun(words)
        if not self._is_concept(noun):
            return []
        return [phrase(noun, "" if self.phrase(noun) == noun else "a")]

    def replacements(self, words: Sequence[str]) -> list[str]:
        """Return the nearest nouns above a noun that captions often use, in the same number."""
        noun = self.noun(words)
        is_singular = words[-1].split()[-1] == noun.split()[-1]
        if not self._is_concept(noun) or (is_singular and self._has_no_singular(noun)):
            return []
        return [
            other if is_singular else plural(other)
            for other in self._everyday(noun)
            if (other in self._mass) == (noun in self._mass)
        ]

    def _has_no_singular(self, noun: str) -> bool:
        """Return whether a noun is a plural such as jeans."""
        head = noun.rpartition(" ")[2]
        return singular(head) != head

    def _everyday(self, noun: str) -> list[str]:
        if noun not in self.senses:
            head = noun.rpartition(" ")[2]
            return [head] if noun not in ABOVE and head in self.senses else []
        pending = [self.senses[noun]]
        result: list[str] = []
        while pending and not result:
            pending = [p for concept in pending for p in self.wordnet.taxonomy.parents[concept]]
            for concept in pending:
                names = [
                    other
                    for other in self._nouns_of.get(concept, ())
                    if self.counts[other] >= EVERYDAY and other not in TOO_GENERAL
                ]
                if names:
                    result.append(max(names, key=lambda name: self.counts[name]))
        return list(dict.fromkeys(result))


def read_captions(
    trees: Sequence[Tree], photo_of: Sequence[int]
) -> tuple[list[Tree], CaptionNouns]:
    """Return the trees of captions with whole words, and their nouns.

    Args:
        trees: Trees of the captions by the shipped parser.
        photo_of: For each caption its photo.

    Raises:
        UserError: WordNet is missing.
    """
    whole = [whole_words(tree) for tree in trees]
    return whole, CaptionNouns(load_nouns(), whole, photo_of)
