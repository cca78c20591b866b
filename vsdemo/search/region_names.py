"""Names of the regions of a map: for each one the word that fits its photos better than others.

The model itself scores common nouns with the photos. What counts is by how many standard deviations
the mean score in a region is above that of the gallery, so a word that fits every photo names none.
The score of a word says little if the model has rarely read it, so the nouns of a model of words
are among the `FREQUENT` words of its training captions, and each noun loses `RARITY` times the
logarithm of its rank.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from vsdemo.core.device import device
from vsdemo.core.progress import Progress
from vsdemo.data import caption_bank
from vsdemo.data.relations import common_sentences
from vsdemo.data.storybook.concepts import concept_phrases
from vsdemo.data.text.inflection import singular
from vsdemo.data.text.near_words import WordList
from vsdemo.search.engine import Engine
from vsdemo.search.suggestions import word_list

SAMPLE = 4096  # photos that are scored, at most
BATCH = 32  # words that are scored at once
FREQUENT = 200  # words of the training captions that a model has read often
RARITY = 0.2
CLEAR = 0.75  # standard deviations above the gallery from which a word is a name
CERTAIN = 4.0  # standard errors, for small regions
ARTICLE = re.compile(r"^an? ")


def candidates(engine: Engine) -> dict[str, int]:
    """Return the nouns that can be names, with the rank of each by how often it is used.

    They are the common nouns of the caption bank and the things of Storybook that the model knows.
    The rank is that in the training captions or, for a model that reads characters or parts of
    words, in the caption bank.
    """
    text: Any = engine.model.text
    own = word_list(text, engine.vocab, engine.spec)
    has_ranks = bool(own.words) and not text.reads_characters
    ranked = own.words[:FREQUENT] if has_ranks else WordList(caption_bank.words()).words
    ranks = {word: rank for rank, word in enumerate(ranked, start=1)}
    phrases = [*common_sentences.sentences(), *concept_phrases()]
    nouns = dict.fromkeys(ARTICLE.sub("", phrase) for phrase in phrases)
    return {
        noun: ranks[noun]
        for noun in nouns
        if noun in ranks and not _is_plural(noun, nouns) and (noun in own or not own.words)
    }


def _is_plural(noun: str, nouns: dict[str, None]) -> bool:
    return singular(noun) != noun and singular(noun) in nouns


def name_regions(
    engine: Engine, region_of: np.ndarray, progress: Progress | None = None
) -> list[str]:
    """Return the name of each region, all different; empty where no word stands out.

    Args:
        engine: A model over N photos.
        region_of: (N,), the number of the region of each photo.
        progress: Called with the number of scored words and the total.
    """
    count = int(region_of.max(initial=-1)) + 1
    ranks = candidates(engine)
    if not ranks or count < 2:
        return [""] * count
    sample = np.unique(np.linspace(0, len(region_of) - 1, SAMPLE).round().astype(int))
    excess = _excess(engine, list(ranks), sample, region_of[sample], progress)  # (W, R)
    sizes = np.bincount(region_of[sample], minlength=count)
    stands_out = excess >= np.maximum(CLEAR, CERTAIN / np.sqrt(np.maximum(sizes, 1)))
    fit = excess - RARITY * np.log(np.fromiter(ranks.values(), float))[:, None]
    return _choose(list(ranks), np.where(stands_out, fit, -np.inf))


def _excess(
    engine: Engine,
    words: Sequence[str],
    sample: np.ndarray,
    region_of: np.ndarray,
    progress: Progress | None,
) -> np.ndarray:
    """Return by how many standard deviations a word's mean in a region is above all, (W, R).

    Args:
        engine: A model over the photos.
        words: W words.
        sample: (S,), numbers of the photos to score.
        region_of: (S,), the regions of these photos.
        progress: As in `name_regions`.
    """
    texts = engine.index_texts(words, progress).embeddings
    photos = engine.photos.embeddings.float()
    photos = photos[torch.from_numpy(sample).to(photos.x.device)]
    members = np.eye(region_of.max() + 1)[region_of]  # (S, R)
    members /= np.maximum(members.sum(0), 1)
    rows = []
    for start in range(0, len(words), BATCH):
        scores = engine.score(texts[start : start + BATCH].to(device()), photos)  # (B, S)
        numbers = scores.double().cpu().numpy()
        spread = np.maximum(numbers.std(1, keepdims=True), np.finfo(np.float32).eps)
        rows.append((numbers @ members - numbers.mean(1, keepdims=True)) / spread)
        if progress is not None:
            progress(min(start + BATCH, len(words)), len(words))
    return np.concatenate(rows)


def _choose(words: Sequence[str], fit: np.ndarray) -> list[str]:
    """Return a word for each region by descending fit (W, R), none twice; empty below -inf."""
    names = [""] * fit.shape[1]
    for place in np.argsort(-fit, axis=None, kind="stable"):
        word, region = np.unravel_index(place, fit.shape)
        if fit[word, region] == -np.inf:
            break
        if not names[region] and words[word] not in names:
            names[region] = words[word]
    return names
