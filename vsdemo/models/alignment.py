"""The alignment of one sentence with one photo, by a model that compares their parts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from torch import Tensor

from vsdemo.core.alignment import Alignment, Link
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.sentences import Sentence
from vsdemo.data.text.noun_phrases import antecedents, noun_phrases, relations
from vsdemo.models.dual_encoder import DualEncoder


def alignment(
    model: DualEncoder, sentence: Sentence, text: Embeddings, photo: Embeddings, boxes: Tensor
) -> Alignment:
    """Return the scores of the parts of a sentence with the regions of a photo.

    Args:
        model: Aligns parts.
        sentence: The sentence, with its dependency tree.
        text: (1, M, D) of its fragments.
        photo: (1, K, D) of the regions.
        boxes: (K, 4) of the regions.
    """
    assert text.mask is not None
    assert photo.mask is not None
    score: Any = model.score
    real = photo.mask[0]  # (K,)
    scores = score.align(text, photo)[0, 0]  # (M, K)
    parts = score.part_scores(scores[:, None], text.x[0, :, None], photo)[:, 0]  # (M,)
    parts = score.mean_part(parts, text.mask.sum())
    return replace(
        of_scores(model, sentence, scores[:, real], boxes[real]),
        parts=tuple(parts.tolist()),
        total=float(score.pairs(text, photo)),
    )


def of_scores(model: DualEncoder, sentence: Sentence, scores: Tensor, boxes: Tensor) -> Alignment:
    """Return the alignment by known scores; what each part adds to the total is left at 0.

    Args:
        model: Aligns parts.
        sentence: The sentence, with its dependency tree.
        scores: (M, K) of its fragments and the regions.
        boxes: (K, 4) of the regions.
    """
    assert sentence.tree is not None
    encoder: Any = model.text
    tree = sentence.tree
    unknown = encoder.unknown(sentence)[1]
    phrases = noun_phrases(tree)
    heads = [phrase.head for phrase in phrases]
    return Alignment(
        words=tree.words,
        tree=tree,
        fragments=encoder.fragments(sentence),
        boxes=tuple(tuple(box) for box in boxes.tolist()),
        scores=tuple(tuple(row) for row in scores.tolist()),
        parts=(0.0,) * len(scores),
        total=0.0,
        unknown=tuple(i for i, word in enumerate(tree.words) if word.lower() in unknown),
        limit=model.presence,
        links=tuple(
            Link(relation.words, heads[relation.subject], heads[relation.object])
            for relation in relations(tree, phrases)
        ),
        referents=tuple(
            (heads[pronoun], heads[noun]) for pronoun, noun in antecedents(tree, phrases).items()
        ),
    )
