"""What a model in training finds for a few fixed sentences, evaluation by evaluation."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from torch import Tensor

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.device import autocast
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.sentences import Sentence
from vsdemo.data.text.sentences import add_trees
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.search.index import Index

TOP = 5  # photos that are told of
OWN = 3  # captions of dev that are watched, spread evenly


class Watch:
    """Sentences over the photos of dev: somebody's own, then some captions of dev.

    Raises UserError for a sentence that `Sentence.from_user` does not take.
    """

    def __init__(self, dev: CaptionSet, needs: Collection[str], more: Sequence[str] = ()) -> None:
        self.photos = [photo.name for photo in dev.photos]
        count = len(dev.captions)
        captions = sorted({count * i // OWN for i in range(OWN)}) if count else []
        own = [Sentence.from_user(text) for text in more]
        texts = [*own, *(Sentence(dev.captions[c]) for c in captions)]
        self.sentences = add_trees(texts, needs)  # once, not at each evaluation
        self.owners = [*([None] * len(own)), *(dev.photo_of[c] for c in captions)]

    def look(self, model: DualEncoder, photos: Embeddings) -> list[dict[str, Any]]:
        """For each sentence what the model ranks first of the photos of dev, (P, D) or (P, K, D).

        photos: numbers of the TOP best, best first. fits: theirs, from 0 to 1. own: the number of
        the photo it was written for and its rank, counted from 1; None for one of somebody's own.
        """
        index, found = Index(photos.to(model.device), self.photos, model.score), []
        with autocast():
            queries = model.encode_text(self.sentences)
        for row, (sentence, owner) in enumerate(zip(self.sentences, self.owners, strict=True)):
            hits = index.below(queries[row : row + 1], len(index))
            rank = next((hit.rank for hit in hits if hit.number == owner), None)
            best = hits[:TOP]
            found.append(
                {
                    "sentence": sentence.text,
                    "photos": [hit.number for hit in best],
                    "fits": [round(hit.unit_score, 3) for hit in best],
                    "own": None if owner is None else {"photo": owner, "rank": rank},
                }
            )
        return found

    def before(self, model: DualEncoder, features: Tensor) -> dict[str, Any]:
        """What it finds when it knows nothing yet; nothing of a model that is solved at once.

        features: (P, F) or (P, K, F) of the photos of dev.
        """
        if hasattr(model, "fit"):
            return {}
        with autocast():
            photos = model.encode_image(features)
        return {"watched": self.look(model, photos)}
