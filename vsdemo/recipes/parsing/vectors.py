"""Word vectors for the parser, from text without dev and test captions.

A context is a word AND its position, from two to the left to two to the right. That groups words by
syntax, which is what a parser needs.
"""

from __future__ import annotations

import re
import tarfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from vsdemo.core.paths import require_data, write_text
from vsdemo.data.datasets import flickr8k
from vsdemo.data.text.vectors import TOKEN, corpus_sentences, factorize, ppmi
from vsdemo.recipes.parsing import treebank

PLACES = (-2, -1, 1, 2)
WORDS, CONTEXTS, DIM = 21_000, 4_000, 100


def texts() -> Iterator[list[str]]:
    """Yield lower-case tokens of EWT train, captions (not of dev or test photos) and glosses."""
    for rows in treebank.sentences(treebank.read("train")):
        yield [row[1].lower() for row in rows if row[0].isdigit()]
    yield from (TOKEN.findall(line.lower()) for line in corpus_sentences())
    captions = flickr8k.read_captions()
    for name in flickr8k.split_names("train"):
        yield from (TOKEN.findall(caption.lower()) for caption in captions[name])
    with tarfile.open(require_data("wordnet3.0-nouns.tar.xz", what="WordNet")) as tar:
        file = tar.extractfile("wordnet3.0/dict/data.noun")
        assert file is not None
        glosses = (line.partition(" | ")[2] for line in file.read().decode().split("\n"))
        parts = (part for gloss in glosses for part in re.split(r'[;"]', gloss))
        yield from (TOKEN.findall(part.lower()) for part in parts if part.strip())


def train(path: Path, seed: int = 0) -> None:
    """Write the vectors as text, the most frequent word first: `word x1 ... x100` per line."""
    sentences = [["<s>", *s, "</s>"] for s in texts()]
    counts = Counter(word for sentence in sentences for word in sentence)
    words = [w for w, c in counts.most_common(WORDS) if c >= 3]
    contexts = ppmi(sentences, words, CONTEXTS, PLACES, by_offset=True)
    vectors = factorize(contexts, DIM, norm=3, seed=seed)
    lines = [f"{len(words)} {DIM}"]
    for word, vector in zip(words, vectors, strict=True):
        lines.append(word + " " + " ".join(f"{x:.4f}" for x in vector))
    write_text(path, "\n".join(lines) + "\n")
