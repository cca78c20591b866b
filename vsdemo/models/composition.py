"""Sentences that a model composes about photos, ranked by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from vsdemo.core.alignment import WHOLE
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence
from vsdemo.data.text.sentences import DEP_TREE, add_trees
from vsdemo.data.text.vocab import Vocab
from vsdemo.models.captioner import Written
from vsdemo.models.dual_encoder import DualEncoder

SCORE_WEIGHT = 0.0  # of the score of sentence and photo, beside the mean logarithm of a word
ABSENT_WEIGHT = 0.0  # of the share of phrases that no region shows


class Composed(NamedTuple):
    """A sentence about a photo.

    Attributes:
        text: The sentence.
        likelihood: How likely it is, as the mean of log p over its words.
        score: Its score with the photo.
        absent: The share of its phrases that no region shows.
    """

    text: str
    likelihood: float
    score: float
    absent: float

    @property
    def rank(self) -> float:
        """What sentences are ranked by, the highest first."""
        return self.likelihood + SCORE_WEIGHT * self.score - ABSENT_WEIGHT * self.absent


def compose(model: DualEncoder, regions: Embeddings, *, beams: int = 8) -> list[list[Composed]]:
    """Compose sentences about N photos.

    Args:
        model: Has a captioner.
        regions: The embeddings of the regions, (N, K, D).
        beams: Sentences of each photo, at most.

    Returns:
        The sentences of each photo, the best first.

    Raises:
        UserError: The model has no captioner.
    """
    if model.captioner is None:
        raise UserError(
            "This model cannot compose sentences; train its captioner "
            "(`python -m vsdemo train-captioner CHECKPOINT`)."
        )
    written = model.captioner.write(regions.to(model.device), beams=beams)
    text: Any = model.text
    return [
        _ranked(model, [(sentence_of(w, text.vocab), w) for w in own], regions[row : row + 1])
        for row, own in enumerate(written)
    ]


def sentence_of(written: Written, vocab: Vocab) -> str:
    """Return a sentence that was written, with a capital letter and a full stop."""
    words = " ".join(vocab.words[word] for word in written.words).replace(" ,", ",")
    return f"{words[:1].upper()}{words[1:]}."


def _ranked(
    model: DualEncoder, written: Sequence[tuple[str, Written]], photo: Embeddings
) -> list[Composed]:
    if not written:
        return []
    sentences = add_trees([Sentence(text) for text, _ in written], DEP_TREE)
    texts = model.encode_text(sentences)
    aligned = model.score.align_parts(texts, photo)  # (R, 1, K)
    scores = model.score.pool_parts(aligned, texts, photo)[:, 0]  # (B,)
    absent = _absent(model, sentences, aligned[:, 0].amax(-1))
    result = [
        Composed(text, own.mean, score, share)
        for (text, own), score, share in zip(written, scores.tolist(), absent, strict=True)
    ]
    return sorted(result, key=lambda composed: -composed.rank)


def _absent(model: DualEncoder, sentences: Sequence[Sentence], best: Tensor) -> list[float]:
    """Return the share of the phrases of each sentence that no region shows.

    Args:
        model: The model.
        sentences: The sentences, with their trees.
        best: (R,) the scores of all of their fragments with the best regions.
    """
    encoder: Any = model.text
    fragments = [encoder.fragments(sentence) for sentence in sentences]
    shares = []
    for own, scores in zip(fragments, best.split(list(map(len, fragments))), strict=True):
        is_phrase = torch.tensor([fragment.relation != WHOLE for fragment in own])
        is_absent = scores[is_phrase] <= model.presence
        shares.append(float(is_absent.sum() / max(1, len(is_absent))))
    return shares
