"""Relations of captions that people wrote: what follows by their grammar and by WordNet.

More general sentences come from the dependency trees, concepts from WordNet. What follows by these
is true; what does not follow, but mentions the same things, is unknown; the rest counts as false.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file
from scipy.sparse import csr_matrix
from torch import Tensor
from tqdm import tqdm

from vsdemo.core import locks, tensors
from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.checksums import DamagedFile
from vsdemo.core.errors import UserError
from vsdemo.core.paths import home
from vsdemo.core.sentences import Tree
from vsdemo.data.pairs import wordnet
from vsdemo.data.relations import common_sentences, generalize
from vsdemo.data.relations.caption_nouns import CaptionNouns, read_captions
from vsdemo.data.relations.content import Content, incidence
from vsdemo.data.text.trees import TreeCache

TRUE, FALSE, UNKNOWN = 1, 0, -1  # as in the package
VERSION = 3  # of the rules; a change makes caches invalid
MOST = 40  # more general sentences kept for a caption at most, evenly from short to long
FAMILY = 500  # siblings are found below texts with at most this many below them
UNCLEAR = frozenset({"a whole", "an object"})  # names in WordNet that nobody would use
MATRICES = ("above", "units", "asked", "offered")


@dataclass(frozen=True)
class Prepared:
    """What is computed once from T texts.

    Attributes:
        texts: The captions, then more general sentences, common sentences, and concepts.
        captions: The number of captions.
        common: The number of common sentences.
        concepts: The number of concepts.
        above: (T, T) which texts lie above a text. Of equal texts only the first is a column.
        first: (T,) the first text that is equal to a text.
        units: (T, U) the content words of a text.
        asked: (U, F) what a content word of a general text needs.
        offered: (U, F) which needs a content word of a specific text meets.
    """

    texts: tuple[str, ...]
    captions: int
    common: int
    concepts: int
    above: csr_matrix
    first: np.ndarray
    units: csr_matrix
    asked: csr_matrix
    offered: csr_matrix


class CaptionRelations:
    """The captions of a split, more general sentences, common sentences, and concepts.

    Args:
        split: A split with captions.

    Raises:
        UserError: WordNet is missing.
    """

    def __init__(self, split: CaptionSet) -> None:
        known = _cached(split)
        self.texts = known.texts
        self._captions = known.captions
        self._first_concept = len(known.texts) - known.concepts
        self.common = np.arange(self._first_concept - known.common, self._first_concept)
        self._above, self._first = known.above, known.first
        self._below = known.above.T.tocsr()
        self._units, self._asked, self._offered = known.units, known.asked, known.offered
        of_photo = incidence(split.captions_of, known.captions)  # (P, C)
        self._above_photo = _binary(of_photo @ known.above[: known.captions])  # (P, T)
        self.photo_shares = np.asarray(self._above_photo.mean(0)).ravel()[known.first]
        self._units_of_photo = _binary(of_photo @ known.units[: known.captions])  # (P, U)

    @property
    def concepts(self) -> np.ndarray:
        """The rows of the concepts, except those whose names say too little."""
        rows = range(self._first_concept, len(self.texts))
        return np.array([row for row in rows if self.texts[row] not in UNCLEAR], np.int64)

    def others(self, captions: np.ndarray, count: int, draw: np.random.Generator) -> np.ndarray:
        """Return rows of different texts other than captions.

        Half of them are concepts, a quarter common sentences, the others sentences. Of each kind,
        half lie above the captions; the others are siblings of those, below something specific
        enough that lies above the captions.
        """
        first_concept = self._first_concept
        first_common = first_concept - len(self.common)
        above = np.unique(_columns(self._above, captions))
        special = above[np.diff(self._below.indptr)[above] <= FAMILY]
        concepts = draw.permutation(special[special >= first_concept])[:count]
        sentences = draw.permutation(special[special < first_concept])[:count]
        beside = np.unique(_columns(self._below, np.concatenate([concepts, sentences])))
        chosen: list[np.ndarray] = []
        for start, end, most in (
            (self._captions, first_common, count // 4),
            (first_common, first_concept, count // 4),
            (first_concept, len(self.texts), count - 2 * (count // 4)),
        ):
            true = above[(above >= start) & (above < end)]
            near = np.setdiff1d(beside[(beside >= start) & (beside < end)], true)
            own = draw.permutation(true)[: most // 2]
            others = draw.permutation(near)[: most - len(own)]
            chosen += [own, others]
            if missing := min(most, end - start) - len(own) - len(others):
                free = np.setdiff1d(np.arange(start, end), np.concatenate([own, others]))
                chosen.append(draw.permutation(free)[:missing])
        return np.concatenate(chosen).astype(np.int64)

    def among_texts(self, general: np.ndarray, specific: np.ndarray) -> np.ndarray:
        """Return whether texts lie above texts, (G, S)."""
        return self._labels(general, self._above[specific], self._units[specific])

    def above_photos(self, texts: np.ndarray, photos: np.ndarray) -> np.ndarray:
        """Return whether texts are true of photos, (T, P)."""
        return self._labels(texts, self._above_photo[photos], self._units_of_photo[photos])

    def _labels(self, general: np.ndarray, above: csr_matrix, units: csr_matrix) -> np.ndarray:
        """Return labels (G, S).

        Args:
            general: (G,) rows of texts.
            above: (S, T) which texts lie above.
            units: (S, U) the content words.
        """
        asked = _binary(self._units[general] @ self._asked)  # (G, F)
        offered = _binary(units @ self._offered)  # (S, F)
        met = (asked @ offered.T).toarray()  # (G, S)
        needs = np.diff(asked.indptr)[:, None]
        result = np.where(met >= needs, UNKNOWN, FALSE).astype(np.int8)
        columns, place = np.unique(self._first[general], return_inverse=True)
        true = np.zeros((above.shape[0], len(columns)), bool)
        at = np.searchsorted(columns, above.indices).clip(max=max(len(columns) - 1, 0))
        hit = columns[at] == above.indices if len(columns) else np.zeros(0, bool)
        rows = np.repeat(np.arange(above.shape[0]), np.diff(above.indptr))
        true[rows[hit], at[hit]] = True
        result[true[:, place].T] = TRUE
        return result


def _binary(matrix: csr_matrix) -> csr_matrix:
    """Return where a matrix is positive."""
    result = csr_matrix(matrix)
    result.data = np.ones_like(result.data)
    return result


def _columns(matrix: csr_matrix, rows: np.ndarray) -> np.ndarray:
    """Return the columns of the entries in some rows."""
    columns: np.ndarray = matrix[rows].indices
    return columns


def _cached(split: CaptionSet) -> Prepared:
    """Return what is known about a split, from VSDEMO_HOME/relations if it is there."""
    nouns = wordnet.load_nouns()
    trees = TreeCache()
    parts = [VERSION, MOST, trees.parser.version, len(nouns.words), hash_of(nouns.taxonomy.names)]
    parts += [*split.captions, *split.photo_of, *common_sentences.sentences()]
    digest = hash_of(map(str, parts))
    path = home() / "relations" / f"{digest}.safetensors"

    def make() -> Prepared:
        result = _prepare(split, trees)
        tensors.write_checked(path, _pack(result))
        return result

    return locks.made_once(path, partial(_read, path), make)


def _read(path: Path) -> Prepared | None:
    """Return what a file knows about a split; None if it is missing or damaged."""
    try:
        tensors.check(path)
        return _unpack(load_file(path))
    except DamagedFile:
        return None


def hash_of(parts: Iterable[str]) -> str:
    """Return a digest of texts."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]


def _prepare(split: CaptionSet, cache: TreeCache) -> Prepared:
    trees, nouns = read_captions(cache.get(split.captions), split.photo_of)
    keys = [generalize.key(" ".join(tree.words)) for tree in trees]
    phrases = {generalize.key(text): text for text in nouns.phrases}
    shared = [text for text in common_sentences.sentences() if text not in phrases]
    named = [*trees, *map(generalize.whole_words, cache.get(shared))]
    sentences = _sentences(named, [*keys, *shared], nouns, {*shared, *phrases})
    others = {*keys, *shared}
    more_general = [key for key in sentences if key not in others]
    texts = [*split.captions, *more_general, *shared, *phrases.values()]
    own_keys = [*keys, *more_general, *shared, *phrases]
    row_of: dict[str, int] = {}
    first = np.array([row_of.setdefault(key, row) for row, key in enumerate(own_keys)])
    concepts = {
        key: {generalize.key(above) for above in nouns.phrases[text]}
        for key, text in phrases.items()
    }
    direct = incidence(
        [
            [row_of[k] for k in (key, *sentences.get(key, ()), *concepts.get(key, ()))]
            for key in own_keys
        ],
        len(texts),
    )
    content = Content(nouns, trees, split.captions, split.photo_of)
    units = [content.units(text) for text in texts[: len(texts) - len(phrases)]]
    units += [content.concept(nouns.noun_of[text]) for text in phrases.values()]
    asked, offered = content.tables()
    return Prepared(
        texts=tuple(texts),
        captions=len(split.captions),
        common=len(shared),
        concepts=len(phrases),
        above=_transitive(direct),
        first=first,
        units=incidence(units, asked.shape[0]),
        asked=asked,
        offered=offered,
    )


def _sentences(
    trees: Sequence[Tree], keys: Sequence[str], nouns: CaptionNouns, always: set[str]
) -> dict[str, set[str]]:
    """Return the keys of sentences and more general ones, and what is above each.

    Args:
        trees: Trees of the sentences.
        keys: Keys of the sentences.
        nouns: Nouns of the captions.
        always: Keys that are kept above every sentence, even if there are many.
    """
    result: dict[str, set[str]] = {}
    for tree, own in tqdm(
        zip(trees, keys, strict=True), total=len(trees), desc="generalizing", mininterval=1
    ):
        try:
            closure = generalize.closure([tree], nouns)
        except UserError:  # too many
            continue
        above = sorted(closure[own] - always, key=lambda key: (len(key.split()), key))
        if len(above) > MOST:
            above = [above[i] for i in np.linspace(0, len(above) - 1, MOST).astype(int)]
        kept = {own, *above, *(closure[own] & always)}
        for key in (own, *above):
            result.setdefault(key, set()).update(closure[key] & kept)
    return result


def _transitive(direct: csr_matrix) -> csr_matrix:
    """Return the transitive closure of a relation (T, T) that contains every text itself."""
    result = _binary(direct)
    while True:
        longer = _binary(result @ direct)
        if longer.nnz == result.nnz:
            longer.sort_indices()
            return longer
        result = longer


def _pack(known: Prepared) -> dict[str, Tensor]:
    text = np.frombuffer("\n".join(known.texts).encode(), np.uint8)
    result = {
        "text": text.copy(),
        "counts": np.array([known.captions, known.common, known.concepts], np.int64),
        "first": known.first,
    }
    for name in MATRICES:
        matrix = getattr(known, name)
        result[f"{name}.indices"] = matrix.indices
        result[f"{name}.starts"] = matrix.indptr
        result[f"{name}.shape"] = np.array(matrix.shape, np.int64)
    return {name: torch.from_numpy(array) for name, array in result.items()}


def _unpack(stored: Mapping[str, Tensor]) -> Prepared:
    arrays = {name: tensor.numpy() for name, tensor in stored.items()}

    def matrix(name: str) -> csr_matrix:
        indices = arrays[f"{name}.indices"]
        return csr_matrix(
            (np.ones(len(indices), np.float32), indices, arrays[f"{name}.starts"]),
            shape=tuple(arrays[f"{name}.shape"]),
        )

    captions, shared, concepts = arrays["counts"].tolist()
    return Prepared(
        texts=tuple(arrays["text"].tobytes().decode().split("\n")),
        captions=captions,
        common=shared,
        concepts=concepts,
        first=arrays["first"],
        **{name: matrix(name) for name in MATRICES},
    )
