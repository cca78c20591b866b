"""What every front end calls: one checkpoint over one gallery."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from torch import Tensor

from vsdemo.core.alignment import Alignment
from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.device import device
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.hits import Hit, RegionHit
from vsdemo.core.paths import home
from vsdemo.core.progress import Progress
from vsdemo.core.sentences import Sentence
from vsdemo.data import caption_bank, datasets
from vsdemo.data.text.sentences import add_trees, parser_version
from vsdemo.models import checkpoint
from vsdemo.search.index import Index
from vsdemo.vision.features import FeatureCache, UnreadablePhotos

MAX_K = 1000


def check_k(k: Any, most: int = MAX_K) -> int:
    """k as a whole number from 1 to `most`. Raises UserError for anything else."""
    try:
        number = int(k)
        whole = number == float(k) and not isinstance(k, bool)
    except (TypeError, ValueError, OverflowError):
        whole, number = False, 0
    if not whole or not 1 <= number <= most:
        raise UserError(f"k must be a whole number from 1 to {most:,}, not {str(k)[:40]!r}.")
    return number


class Reader:
    """A checkpoint: sentences and photos in, points out; and sentences for photos from anywhere.

    `progress` is told of photos and sentences done, and of how many. Raises UserError when the
    checkpoint is damaged and, as soon as a photo is given, when its image network is not here or
    is another one than in training.
    """

    def __init__(self, folder: Path, progress: Progress | None = None) -> None:
        self.model, self.spec, self.vocab = checkpoint.load(folder)
        self.score = self.model.score
        self._hash = checkpoint.content_hash(folder)
        self._progress = progress

    @cached_property
    def _features(self) -> FeatureCache:
        return checkpoint.feature_cache(self.spec)

    def check(self) -> None:
        """Raises UserError when photos cannot be read, before anybody waits for sentences."""
        _ = self._features

    def encode(self, text: str) -> Embeddings:
        """A typed sentence embedded, (1, D) or as a set (1, M, D). Raises UserError when no word is
        known."""
        return self._encoded(self._sentence(text))

    def _encoded(self, sentence: Sentence) -> Embeddings:
        known, unknown = self.model.text.unknown(sentence)
        if not known:
            shown = ", ".join(repr(w) for w in unknown[:3]) or repr(sentence.text[:40])
            raise UserError(
                f"This model knows no word of the sentence ({shown}); "
                "use everyday English words, such as 'a dog runs'."
            )
        return self.model.encode_text([sentence])

    def unknown_words(self, text: str) -> list[str]:
        """Words of a sentence that the model passes over."""
        return self.model.text.unknown(self._sentence(text))[1]

    def _sentence(self, text: str) -> Sentence:
        return add_trees([Sentence.from_user(text)], self.model.text.needs)[0]

    def encode_photo(self, photo: Image.Image) -> Embeddings:
        """A photo in memory as one point, (1, D), or its regions, (1, K, D)."""
        return self.model.encode_image(self._features.encode(photo)[None])

    @cached_property
    def captions(self) -> Index:
        """The sentences to describe photos with: our own of what everyday photos show."""
        return self.embedded(caption_bank.sentences())

    def caption(self, photo: Image.Image, k: int = 10) -> list[Hit]:
        """The k sentences that describe a photo best."""
        number, point = check_k(k), self.encode_photo(photo)
        return self.captions.above(point, number)

    @property
    def can_align(self) -> bool:
        """Whether the model says which words speak of which region."""
        return self.score.can_align

    def align(self, photo: Image.Image, text: str) -> Alignment:
        """What the parts of a typed sentence have to do with the regions of a photo in memory.

        Raises UserError as `check_aligns` and `encode`.
        """
        self.check_aligns()
        features, boxes = self._features.encode_regions(photo)
        return self._aligned(text, self.model.encode_image(features[None]), boxes)

    def check_aligns(self) -> None:
        """Raises UserError for a model that embeds photo and sentence whole."""
        if not self.can_align:
            raise UserError(
                f"{self.spec.preset} has one point for a whole sentence and one for a whole photo, "
                "so it cannot say which words speak of which region; use a model of fragments."
            )

    def _aligned(self, text: str, photo: Embeddings, boxes: Tensor) -> Alignment:
        """photo: (1, K, D); boxes: (K, 4)."""
        sentence = self._sentence(text)
        point, photo = self._encoded(sentence), photo.to("cpu")
        kept = photo.mask[0]
        scores = self.score.align(point, photo)[0, 0]  # (M, K)
        parts = self.score.part_scores(scores[:, None], photo)[:, 0]
        parts = parts / (len(parts) + self.score.smoothing)
        return Alignment(
            words=sentence.tree.words,
            tree=sentence.tree,
            fragments=self.model.text.fragments(sentence),
            boxes=tuple(tuple(box) for box in boxes[kept].tolist()),
            scores=tuple(tuple(row) for row in scores[:, kept].tolist()),
            parts=tuple(parts.tolist()),
            total=float(self.score.pairs(point, photo)),
        )

    def similar_sentences(self, text: str, k: int = 10) -> list[Hit]:
        """The sentences most like a sentence."""
        return self.captions.near(self.encode(text), check_k(k))

    def embedded(self, texts: Sequence[str]) -> Index:
        """Sentences as points; embedded once and kept below VSDEMO_HOME."""
        made_by = self._hash + parser_version(self.model.text.needs)
        key = hashlib.sha256("\n".join([made_by, *texts]).encode()).hexdigest()[:32]
        path = home() / "captions" / f"{key}.safetensors"
        if stored := Index.load(path, self.score):
            return stored
        sentences = [Sentence(t) for t in texts]
        embedded = self.model.encode_text(sentences, self._progress)
        index = Index(embedded.to(device()), list(texts), self.score)
        index.save(path)
        return index


class Engine(Reader):
    """Search and caption with a checkpoint over the photos and captions of a data set.

    Raises UserError when the gallery is missing, and as Reader does for a photo.
    """

    def __init__(
        self,
        folder: Path,
        gallery: str | None = None,
        split: str = "all",
        progress: Progress | None = None,
    ) -> None:
        super().__init__(folder, progress)
        checkpoint.check_photos(self.spec)
        self.gallery: CaptionSet = datasets.load(gallery or self.spec.dataset, split)
        self.unreadable: dict[Path, str] = {}  # of a folder of photos: path -> why
        features = self._read_gallery()
        names = [p.name for p in self.gallery.photos]
        self.photos = Index(self.model.encode_image(features).to(device()), names, self.score)

    def _read_gallery(self) -> Tensor:
        """The features of the gallery, (P, F) or (P, K, F). Photos of one's own that cannot be read
        are left out and kept in `unreadable`; in a data set with captions they are an error."""
        try:
            return self._features.get(self.gallery.photos, progress=self._progress)
        except UnreadablePhotos as error:
            rest = tuple(p for p in self.gallery.photos if p not in error.why)
            if self.gallery.captions or not rest:
                raise
            self.unreadable = error.why
            self.gallery = replace(self.gallery, photos=rest)
            return self._features.get(rest)

    @cached_property
    def captions(self) -> Index:
        """The gallery's captions; where it has none, our own sentences."""
        texts = list(dict.fromkeys(self.gallery.captions))  # some are written twice
        return self.embedded(texts) if texts else super().captions

    def search(self, text: str, k: int = 10) -> list[Hit]:
        """The k photos that a sentence describes best."""
        return self.photos.below(self.encode(text), check_k(k))

    def caption_of(self, number: int, k: int = 10) -> list[Hit]:
        """`caption` for a photo of the gallery."""
        return self.captions.above(self.photos.embeddings[[number]], check_k(k))

    def photos_like(self, photo: Image.Image, k: int = 10) -> list[Hit]:
        """The photos of the gallery most like a photo in memory."""
        return self.photos.near(self.encode_photo(photo), check_k(k))

    def similar_photos(self, number: int, k: int = 10) -> list[Hit]:
        """The photos most like a photo of the gallery."""
        return self.photos.near(self.photos.embeddings[[number]], check_k(k), without=number)

    def align_photo(self, number: int, text: str) -> Alignment:
        """`align` for a photo of the gallery."""
        self.check_aligns()
        boxes = self._features.boxes([self.gallery.photos[number]])[0]
        return self._aligned(text, self.photos.embeddings[[number]], boxes)

    def regions(self, text: str, k: int = 10) -> list[RegionHit]:
        """The k regions of the gallery that score highest for the parts of a sentence, together
        (Karpathy 2014, Figure 5); of each photo the best one. Errors as `align`."""
        number = check_k(k)
        self.check_aligns()
        photos, query = self.photos.embeddings, self.encode(text).x[0].mean(0).to(device())
        scores = (photos.x @ query).masked_fill(~photos.mask, -torch.inf)  # (P, K)
        best, region = scores.max(1)
        order = best.argsort(descending=True, stable=True)[:number].tolist()
        boxes = self._features.boxes([self.gallery.photos[i] for i in order])
        return [
            RegionHit(
                *(rank, i, self.photos.items[i], tuple(box[region[i]].tolist())), float(best[i])
            )
            for rank, (i, box) in enumerate(zip(order, boxes, strict=True), start=1)
        ]
