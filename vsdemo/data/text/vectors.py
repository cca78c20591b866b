"""Word vectors of our own: positive pointwise mutual information, factorised.

Levy & Goldberg 2014, with their context-distribution smoothing of 0.75: the rows of U sqrt(S) of
the truncated SVD of max(0, log p(w, c) / (p(w) p(c)^.75)). Nothing pretrained is used, and no
sentence of a dev or test split: the text is that of strangers' captions and of the train split.
"""

from __future__ import annotations

import hashlib
import lzma
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from vsdemo.core import tensors
from vsdemo.core.paths import home, require_data
from vsdemo.data.text.vocab import EOS, PAD, UNK, Vocab, tokenize

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

WORD = re.compile(r"\w+(?=n't)|n't|'\w+|\w+|[^\w\s]")
WORDS, CONTEXTS, WINDOW = 25_000, 8_000, 5
RARE = 1000  # of the least frequent words, whose mean stands for unknown ones


def ppmi(
    sentences: Sequence[Sequence[str]],
    words: Sequence[str],
    contexts: int,
    places: Sequence[int],
    placed: bool,
) -> csr_matrix:
    """The positive PMI of words and the first `contexts` of them as contexts, at these places.

    A sparse (len(words), contexts) matrix; placed: a word at another place is another context,
    (len(words), len(places) contexts).
    """
    from scipy import sparse

    number = {word: i for i, word in enumerate(words)}
    gap = [-1] * max(places)  # no context reaches over the end of a sentence
    stream = np.array([number.get(w, -1) for s in sentences for w in (*s, *gap)])
    blocks = []
    for place in places:
        word, context = stream[max(0, -place) :], stream[max(0, place) :]
        size = min(len(word), len(context))
        word, context = word[:size], context[:size]
        kept = (word >= 0) & (context >= 0) & (context < contexts)
        pairs = (word[kept], context[kept])
        ones = np.ones(kept.sum(), np.float32)
        blocks.append(sparse.coo_matrix((ones, pairs), (len(words), contexts)).tocsr())
    counts = (sparse.hstack(blocks) if placed else sum(blocks)).tocoo()
    rows = np.asarray(counts.sum(1)).ravel()
    columns = np.asarray(counts.sum(0)).ravel() ** 0.75
    value = np.log(counts.data * columns.sum() / (rows[counts.row] * columns[counts.col]))
    kept = value > 0
    return sparse.csr_matrix((value[kept], (counts.row[kept], counts.col[kept])), counts.shape)


def factorise(matrix: csr_matrix, dim: int, norm: float, seed: int = 0) -> np.ndarray:
    """U sqrt(S) (rows, dim), scaled so that rows have the length `norm` on average."""
    from sklearn.utils.extmath import randomized_svd

    u, s, _ = randomized_svd(matrix, dim, n_iter=4, random_state=seed)
    vectors = u * np.sqrt(s)
    return vectors * (norm / np.linalg.norm(vectors, axis=1).mean())


def corpus_sentences() -> Iterator[str]:
    """Captions of photos that are in no dev or test split. Raises UserError when missing."""
    path = require_data("flickr30k_entities", "other_sentences.txt.xz", what="The caption text")
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        yield from lines


def vectors_for(vocab: Vocab, captions: Sequence[str], dim: int) -> Tensor:
    """A vector for each word of the vocabulary, (V, dim), of length 1 on average.

    Learned from `captions`, those of the train split, and `corpus_sentences`; kept below
    VSDEMO_HOME. A word that is not among the most frequent has the mean of its parts ("t-shirt"),
    or of rare words. Raises UserError when the text is missing.
    """
    key = "\n".join(map(str, [WORDS, CONTEXTS, WINDOW, dim, *vocab.words, *captions]))
    path = home() / "vectors" / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.safetensors"
    if not path.exists():
        texts = [WORD.findall(t.lower()) for t in (*corpus_sentences(), *captions)]
        found = _train([["<s>", *text, "</s>"] for text in texts], dim)
        tensors.write(path, {"x": torch.from_numpy(_table(vocab, found))})
    return load_file(path)["x"]


def initialize(table: nn.Embedding, vocab: Vocab, captions: Sequence[str]) -> None:
    """Puts the vectors `vectors_for` into a word table."""
    table.weight.data.copy_(vectors_for(vocab, captions, table.embedding_dim))


def _train(sentences: Sequence[Sequence[str]], dim: int) -> dict[str, np.ndarray]:
    """A vector for each frequent word, the most frequent first."""
    counts = Counter(word for sentence in sentences for word in sentence)
    words = [w for w, c in counts.most_common(WORDS) if c >= 3]
    places = [p for p in range(-WINDOW, WINDOW + 1) if p]
    vectors = factorise(ppmi(sentences, words, CONTEXTS, places, placed=False), dim, norm=1)
    return dict(zip(words, vectors, strict=True))


def _table(vocab: Vocab, found: dict[str, np.ndarray]) -> np.ndarray:
    unknown = np.mean(list(found.values())[-RARE:], axis=0)
    rows = []
    for word in vocab.words:
        parts = [found[part] for part in tokenize(word) if part in found]
        mean = np.mean(parts, axis=0) if parts else unknown
        rows.append(found.get(word, mean))
    rows[PAD], rows[UNK], rows[EOS] = np.zeros_like(unknown), unknown, found["</s>"]
    return np.stack(rows).astype(np.float32)
