"""Word vectors of our own: positive pointwise mutual information, factorised.

Levy & Goldberg 2014, with their context-distribution smoothing of 0.75: the rows of U sqrt(S) of
the truncated SVD of max(0, log p(w, c) / (p(w) p(c)^.75)). A context is a word AND its place
(two to the left ... two to the right), which groups words by syntax, what a parser wants.
"""

from __future__ import annotations

import lzma
import re
import tarfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from vsdemo.data import flickr8k
from vsdemo.parsing import treebank
from vsdemo.paths import require_data, write_text

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

WORD = re.compile(r"\w+(?=n't)|n't|'\w+|\w+|[^\w\s]")
PLACES = (-2, -1, 1, 2)
WORDS, CONTEXTS, DIM = 21_000, 4_000, 100


def texts() -> Iterator[list[str]]:
    """Tokenised lower-case sentences: EWT train, caption text (no dev or test photo), glosses."""
    for rows in treebank.sentences(treebank.read("train")):
        yield [row[1].lower() for row in rows if row[0].isdigit()]
    other = require_data("flickr30k_entities", "other_sentences.txt.xz", what="The caption text")
    with lzma.open(other, "rt", encoding="utf-8") as lines:
        yield from (WORD.findall(line.lower()) for line in lines)
    captions = flickr8k.read_captions()
    for name in flickr8k.split_names("train"):
        yield from (WORD.findall(caption.lower()) for caption in captions[name])
    with tarfile.open(require_data("wordnet3.0-nouns.tar.xz", what="WordNet")) as tar:
        file = tar.extractfile("wordnet3.0/dict/data.noun")
        assert file is not None
        glosses = (line.partition(" | ")[2] for line in file.read().decode().split("\n"))
        parts = (part for gloss in glosses for part in re.split(r'[;"]', gloss))
        yield from (WORD.findall(part.lower()) for part in parts if part.strip())


def pmi(sentences: list[list[str]], words: list[str]) -> csr_matrix:
    """The positive PMI of words and placed contexts: a sparse (len(words), 4 CONTEXTS) matrix."""
    from scipy import sparse

    number = {word: i for i, word in enumerate(words)}
    gap = [-1] * max(PLACES)  # no context reaches over the end of a sentence
    stream = np.array([number.get(w, -1) for s in sentences for w in (*s, *gap)])
    blocks = []
    for place in PLACES:
        word, context = stream[max(0, -place) :], stream[max(0, place) :]
        size = min(len(word), len(context))
        word, context = word[:size], context[:size]
        kept = (word >= 0) & (context >= 0) & (context < CONTEXTS)
        pairs = (word[kept], context[kept])
        ones = np.ones(kept.sum(), np.float32)
        blocks.append(sparse.coo_matrix((ones, pairs), (len(words), CONTEXTS)).tocsr())
    counts = sparse.hstack(blocks).tocoo()
    rows = np.asarray(counts.sum(1)).ravel()
    columns = np.asarray(counts.sum(0)).ravel() ** 0.75
    value = np.log(counts.data * columns.sum() / (rows[counts.row] * columns[counts.col]))
    kept = value > 0
    return sparse.csr_matrix((value[kept], (counts.row[kept], counts.col[kept])), counts.shape)


def train(path: Path, seed: int = 0) -> None:
    """Writes the vectors as text, most frequent word first: `word x1 ... x100` a line."""
    from sklearn.utils.extmath import randomized_svd

    sentences = [["<s>", *s, "</s>"] for s in texts()]
    counts = Counter(word for sentence in sentences for word in sentence)
    words = [w for w, c in counts.most_common(WORDS) if c >= 3]
    u, s, _ = randomized_svd(pmi(sentences, words), DIM, n_iter=4, random_state=seed)
    vectors = u * np.sqrt(s)
    vectors *= 3 / np.linalg.norm(vectors, axis=1).mean()
    lines = [f"{len(words)} {DIM}"]
    for word, vector in zip(words, vectors, strict=True):
        lines.append(word + " " + " ".join(f"{x:.4f}" for x in vector))
    write_text(path, "\n".join(lines) + "\n")
