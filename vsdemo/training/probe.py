"""The photos that a model in training ranks first for a few fixed sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.device import autocast
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.sentences import Sentence
from vsdemo.data.text.sentences import add_trees
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.search.index import Index

TOP = 5  # photos that are recorded for a sentence
CAPTIONS = 3  # dev captions that are watched, evenly spaced


class Probe:
    """Sentences to rank the dev photos for: the user's, then some dev captions.

    Args:
        dev: The photos, and the captions to choose from.
        needs: What the text encoder needs of a sentence.
        queries: The user's sentences.

    Raises:
        UserError: If `Sentence.from_user` refuses a query.
    """

    def __init__(self, dev: CaptionSet, needs: frozenset[str], queries: Sequence[str] = ()) -> None:
        self.photos = [photo.name for photo in dev.photos]
        self.keys = dev.keys if dev.is_own and all(dev.keys) else ()
        count = len(dev.captions)
        captions = sorted({count * i // CAPTIONS for i in range(CAPTIONS)}) if count else []
        own = [Sentence.from_user(query) for query in queries]
        texts = [*own, *(Sentence(dev.captions[c]) for c in captions)]
        self.sentences = add_trees(texts, needs)  # once, not at each evaluation
        self.owners = [*([None] * len(own)), *(dev.photo_of[c] for c in captions)]

    def rank(self, model: DualEncoder, photos: Embeddings) -> list[dict[str, Any]]:
        """Return what the model ranks first among the dev photos, for each sentence.

        A record holds the `sentence`; `photos`, the numbers of the TOP best photos, best first;
        `fits`, their scores from 0 to 1; and `own`, the number and the rank, from 1, of the photo
        that the caption describes, or None for a user's sentence. The numbers of somebody's own
        photos change when photos are added, so their content hashes are recorded as well, as
        `keys`.

        Args:
            model: The model.
            photos: Embeddings of the dev photos, (P, D) or (P, K, D).
        """
        index = Index(photos.to(model.device), self.photos, model.score)
        with autocast():
            queries = model.encode_text(self.sentences)
        records = []
        for row, (sentence, owner) in enumerate(zip(self.sentences, self.owners, strict=True)):
            hits = index.top_specific(queries[row : row + 1], len(index))
            rank = next((hit.rank for hit in hits if hit.number == owner), None)
            best = hits[:TOP]
            records.append(
                {
                    "sentence": sentence.text,
                    "photos": [hit.number for hit in best],
                    "fits": [round(hit.unit_score, 3) for hit in best],
                    "own": None if owner is None else {"photo": owner, "rank": rank},
                    **({"keys": [self.keys[hit.number] for hit in best]} if self.keys else {}),
                }
            )
        return records
