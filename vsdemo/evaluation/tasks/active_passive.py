"""Who does what to whom: does a model tell a passive sentence from one with swapped roles?

"The mother hugged her child" and "The child was hugged by its mother" should map to the same place
(Socher 2014, section 3), and "The child hugged its mother" should not. On Storybook's captions:

`voice`: share of those with a twin in the other voice and one with swapped roles for which the
former is nearer. `synonyms`: the same for a twin in other words. `photo`: share of those with
swapped roles for which the photo prefers the true caption. Chance is 50; a bag of words for which
the swapped caption is the same gets 50 of `photo` and 0 of the others.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.sentences import Sentence
from vsdemo.data.storybook.variants import variants_of
from vsdemo.evaluation.metrics.accuracy import Shares, higher, nearness
from vsdemo.evaluation.metrics.ranks import with_intervals
from vsdemo.evaluation.tasks.storybook_facts import stories
from vsdemo.models.dual_encoder import DualEncoder

PRIMARY = "voice"

Question = tuple[int, str, str, str]  # photo, caption, its twin of the same meaning, the swapped


@lru_cache(maxsize=1)
def questions(split: CaptionSet) -> dict[str, list[Question]]:
    """Those of voice, synonyms and photo; of `photo` the twin is the caption itself."""
    scenes, captions = stories(split)
    found: dict[str, list[Question]] = {"voice": [], "synonyms": [], "photo": []}
    for caption, photo in zip(captions, split.photo_of, strict=True):
        twin = variants_of(caption, scenes[photo])
        same = {"voice": twin.voice, "synonyms": twin.synonyms, "photo": caption}
        for name, one in same.items():
            if one and twin.swapped:
                found[name].append((photo, caption.text, one.text, twin.swapped.text))
    return found


def measure(model: DualEncoder, split: CaptionSet, features: Tensor) -> Shares:
    """The three shares; sentences are parsed as any other where the model needs it."""
    asked = questions(split)
    texts = list(dict.fromkeys(t for rows in asked.values() for _, *told in rows for t in told))
    place = {text: i for i, text in enumerate(texts)}
    sentences = model.encode_text([Sentence(text) for text in texts])
    photos, answers = model.encode_image(features), {}
    for name, rows in asked.items():
        photo = torch.tensor([row[0] for row in rows], dtype=torch.long)
        own, twin, swapped = (_rows(sentences, [place[row[i]] for row in rows]) for i in (1, 2, 3))
        if name == "photo":
            true, false = (model.score.pairs(one, photos[photo]) for one in (twin, swapped))
        else:
            true, false = (nearness(model.score, own, one) for one in (twin, swapped))
        answers[name] = (photo.numpy(), higher(true, false))
    return Shares.of(len(split.photos), answers)


def _rows(found: Embeddings, numbers: list[int]) -> Embeddings:
    return found[torch.tensor(numbers, dtype=torch.long)]


def evaluate(model: DualEncoder, split: CaptionSet, features: Tensor) -> dict[str, Any]:
    """voice, synonyms and photo in percent, ci95 over scenes, n_captions of each."""
    found = measure(model, split, features)
    return {**with_intervals(found), "n_captions": found.questions}
