"""Word vectors trained from scratch: a truncated SVD of positive pointwise mutual information.

Levy & Goldberg 2014 with context-distribution smoothing:

    PPMI(w, c) = max(0, log p(w, c) / (p(w) p(c)^0.75))        U S V^T = svd(PPMI)

The vectors are the rows of U sqrt(S). Nothing pretrained is used, and no sentence of a dev or test
split: the text consists of captions of other photos and of the train split.
"""

from __future__ import annotations

import hashlib
import lzma
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from vsdemo.core import tensors
from vsdemo.core.checksums import DamagedFile
from vsdemo.core.errors import UserError
from vsdemo.core.paths import home, require_data
from vsdemo.data.sources import source_below_data
from vsdemo.data.text.vocab import EOS, PAD, UNK, Vocab, tokenize

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

FOLDER, CAPTIONS = "flickr30k_entities", "other_sentences.txt.xz"  # below VSDEMO_DATA
TOKEN = re.compile(r"\w+(?=n't)|n't|'\w+|\w+|[^\w\s]")
BEGIN, END = "<s>", "</s>"
WORDS, CONTEXTS, WINDOW = 25_000, 8_000, 5
MIN_COUNT = 3  # of a word
SMOOTHING = 0.75  # exponent of the context distribution
RARE = 1000  # of the least frequent words, whose mean represents unknown ones


def ppmi(
    sentences: Sequence[Sequence[str]],
    words: Sequence[str],
    contexts: int,
    offsets: Sequence[int],
    *,
    by_offset: bool,
) -> csr_matrix:
    """Return the positive PMI of words and contexts.

    Args:
        sentences: Tokenized sentences.
        words: The W words to count; the first `contexts` of them are also the contexts.
        contexts: The number of contexts.
        offsets: Positions of contexts relative to the word, such as -1 and 1.
        by_offset: Whether a context at another offset is another context.

    Returns:
        A sparse matrix `(W, contexts)`, or `(W, len(offsets) * contexts)` if `by_offset`.
    """
    from scipy import sparse

    index_of = {word: i for i, word in enumerate(words)}
    gap = [-1] * max(offsets)  # no context crosses the end of a sentence
    stream = np.array(
        [i for s in sentences for i in (*(index_of.get(word, -1) for word in s), *gap)]
    )
    blocks = []
    for offset in offsets:
        word, context = stream[max(0, -offset) :], stream[max(0, offset) :]
        size = min(len(word), len(context))
        word, context = word[:size], context[:size]
        kept = (word >= 0) & (context >= 0) & (context < contexts)
        pairs = (word[kept], context[kept])
        ones = np.ones(kept.sum(), np.float32)
        blocks.append(sparse.coo_matrix((ones, pairs), (len(words), contexts)).tocsr())
    counts = (sparse.hstack(blocks) if by_offset else sum(blocks)).tocoo()
    rows = np.asarray(counts.sum(1)).ravel()  # (W,)
    columns = np.asarray(counts.sum(0)).ravel() ** SMOOTHING
    value = np.log(counts.data * columns.sum() / (rows[counts.row] * columns[counts.col]))
    kept = value > 0
    return sparse.csr_matrix((value[kept], (counts.row[kept], counts.col[kept])), counts.shape)


def factorize(matrix: csr_matrix, dim: int, norm: float, seed: int = 0) -> np.ndarray:
    """Return U sqrt(S) `(rows, dim)`, scaled so that rows have the mean length `norm`."""
    from sklearn.utils.extmath import randomized_svd

    u, s, _ = randomized_svd(matrix, dim, n_iter=4, random_state=seed)
    vectors = u * np.sqrt(s)
    scaled: np.ndarray = vectors * (norm / np.linalg.norm(vectors, axis=1).mean())
    return scaled


SOURCE = source_below_data(
    "flickr30k_captions",
    folder=FOLDER,
    marker=CAPTIONS,
    how_to_get=(
        "captions of Flickr30k's photos that are not in Flickr8k, to pretrain on: write them into "
        f"$VSDEMO_DATA/{FOLDER}/{CAPTIONS}, a caption a line, the five of each photo together"
    ),
)


def corpus_path() -> Path:
    """Return the path of captions of photos that are not in Flickr8k.

    Raises:
        UserError: The file is missing.
    """
    return require_data(FOLDER, CAPTIONS, what="The caption text")


def corpus_sentences() -> Iterator[str]:
    """Yield captions of photos that are not in Flickr8k, five of each photo.

    Raises:
        UserError: The file is missing or damaged.
    """
    path = corpus_path()
    try:
        with lzma.open(path, "rt", encoding="utf-8") as lines:
            yield from lines
    except (lzma.LZMAError, OSError, EOFError, ValueError) as error:
        raise UserError(f"{path} is damaged ({error}); download it again.") from None


def vectors_for(vocab: Vocab, captions: Sequence[str], dim: int) -> Tensor:
    """Return a vector for each word of a vocabulary `(V, dim)`, with mean length 1.

    They are learned from the captions and `corpus_sentences`, and cached below VSDEMO_HOME. A word
    that is not frequent gets the mean of its parts ("t-shirt") or of rare words.

    Args:
        vocab: The vocabulary.
        captions: Captions of the train split.
        dim: The number of dimensions.

    Raises:
        UserError: The text is missing.
    """
    key = "\n".join(map(str, [WORDS, CONTEXTS, WINDOW, dim, *vocab.words, *captions]))
    path = home() / "vectors" / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.safetensors"
    try:
        tensors.check(path)
    except DamagedFile:  # or missing
        texts = [TOKEN.findall(text.lower()) for text in (*corpus_sentences(), *captions)]
        vectors = _train([[BEGIN, *text, END] for text in texts], dim)
        tensors.write_checked(path, {"x": torch.from_numpy(_table(vocab, vectors))})
    return load_file(path)["x"].clone()  # the clone does not depend on the file


def initialize(table: nn.Embedding, vocab: Vocab, captions: Sequence[str]) -> None:
    """Set the weights of an embedding table to `vectors_for` its vocabulary."""
    table.weight.data.copy_(vectors_for(vocab, captions, table.embedding_dim))


def _train(sentences: Sequence[Sequence[str]], dim: int) -> dict[str, np.ndarray]:
    """Return a vector for each frequent word, the most frequent first."""
    counts = Counter(word for sentence in sentences for word in sentence)
    words = [word for word, n in counts.most_common(WORDS) if n >= MIN_COUNT]
    offsets = [offset for offset in range(-WINDOW, WINDOW + 1) if offset]
    matrix = ppmi(sentences, words, CONTEXTS, offsets, by_offset=False)
    return dict(zip(words, factorize(matrix, dim, norm=1), strict=True))


def _table(vocab: Vocab, vectors: dict[str, np.ndarray]) -> np.ndarray:
    """Return the vectors of a vocabulary `(V, dim)`."""
    unknown = np.mean(list(vectors.values())[-RARE:], axis=0)
    rows = []
    for word in vocab.words:
        if word in vectors:
            rows.append(vectors[word])
            continue
        parts = [vectors[part] for part in tokenize(word) if part in vectors]
        rows.append(np.mean(parts, axis=0) if parts else unknown)
    rows[PAD], rows[UNK], rows[EOS] = np.zeros_like(unknown), unknown, vectors[END]
    table: np.ndarray = np.stack(rows).astype(np.float32)
    return table
