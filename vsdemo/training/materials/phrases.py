"""Photos with captions, and which regions their phrases name."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from vsdemo.core.config import Config
from vsdemo.core.device import device
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence
from vsdemo.core.stored_features import StoredFeatures
from vsdemo.data.text.sentences import add_trees
from vsdemo.evaluation import phrases
from vsdemo.evaluation.tasks.alignment import queries
from vsdemo.models.fragments_photos import FragmentsPhotosConfig
from vsdemo.models.grounding import PhraseLabels
from vsdemo.training import parts
from vsdemo.training.materials.photo_batches import PhotoBatches, draw_texts
from vsdemo.training.requirements import Check, Requirements
from vsdemo.vision.regions import PLACE, around, overlap
from vsdemo.vision.shards import StoredRows

FITS = 0.5  # least intersection over union of a region that fits a place


class PhrasePhotos(PhotoBatches):
    """Captions, and the regions of their photos.

    With `place_weight`, a batch also has the phrases whose place is known.
    """

    config: FragmentsPhotosConfig

    @classmethod
    def requirements(cls, config: Config, dataset: str | None) -> Requirements:
        """Return whether photos, boxes and backbone are available."""
        assert isinstance(config, FragmentsPhotosConfig)
        photos = super().requirements(config, dataset)
        reason = cls._obstacle(config, dataset or cls.usual_dataset)
        return photos._replace(checks=[*photos.checks, *([Check(False, reason)] if reason else [])])

    @classmethod
    def default_settings(cls, config: Config, dataset: str | None) -> tuple[str, ...]:
        """Change nothing, as the regions are those of photos and of drawings."""
        return ()

    @classmethod
    def _obstacle(cls, config: FragmentsPhotosConfig, dataset: str) -> str:
        """Return why the places of phrases are missing; empty if they are there or not needed."""
        reason = phrases.obstacle(dataset) if config.place_weight else ""
        return f"{reason} Or set place_weight=0." if reason else ""

    def _load(self, dataset: str | None) -> None:
        super()._load(dataset)
        if reason := self._obstacle(self.config, self.dataset):
            raise UserError(reason)

    def _hold(self, photos: StoredRows | StoredFeatures) -> Tensor | StoredFeatures:
        """Return features of training, (P, K, F), in half precision in memory, or on disk."""
        return photos if isinstance(photos, StoredFeatures) else photos.all().to(device())

    def _embed_photos(self, numbers: Tensor) -> Embeddings:
        assert self.model.image is not None
        features = self.photos[numbers].float()
        return parts.embed_photos(self.model.image, features, self.config.chunk)

    @cached_property
    def _places(self) -> dict[int, list[tuple[int, Tensor]]]:
        """Caption -> numbers of its phrases whose place is known, and that place, (4,)."""
        places: dict[int, list[tuple[int, Tensor]]] = defaultdict(list)
        if not self.config.place_weight:
            return places
        texts = [Sentence(text) for text in self.train_set.captions]
        sentences = add_trees(texts, self.config.needs)
        to_align, _ = queries(self.model, phrases.phrases(self.train_set), sentences)
        for query in to_align:
            place = around(query.phrase.boxes)
            places[query.phrase.caption].append((query.fragments[0], place))
        return places

    def embed(self, batch: Any) -> tuple[Embeddings, Embeddings, PhraseLabels]:
        """Return captions, photos, and what is known about them."""
        draw = np.random.default_rng(batch.seed)
        own = [self.train_set.captions_of[photo] for photo in batch.photos]
        captions, owner = draw_texts(own, self.config.captions, draw)
        inputs = [self.captions[caption] for caption in captions]
        texts = parts.embed_texts(self.model.text, inputs, self.config.chunk)
        photos = torch.from_numpy(batch.photos).to(device())
        labels = self._labels(captions, torch.from_numpy(owner), photos)
        if self.teacher is not None:
            taught = self.teacher.scores(torch.from_numpy(captions).to(device()), photos)
            labels = replace(labels, teacher=taught)
        return texts, self._embed_photos(photos), labels

    def _labels(self, captions: np.ndarray, owner: Tensor, photos: Tensor) -> PhraseLabels:
        """Return which phrases of captions (C,), whose photos are (P,), name which regions."""
        rows, places = [], []
        for number, caption in enumerate(captions):
            for phrase, place in self._places.get(caption, ()):
                rows.append((number, phrase))
                places.append(place)
        if not rows:
            none = torch.zeros(0, 2, dtype=torch.long)
            return PhraseLabels(owner.to(device()), none, torch.zeros(0, 1))
        known = torch.tensor(rows)
        boxes = self.photos[photos[owner[known[:, 0]]]][..., -PLACE:-1]  # (Q, K, 4)
        overlaps = overlap(boxes.float(), torch.stack(places)[:, None].to(boxes.device))  # (Q, K)
        fits = torch.where(overlaps >= FITS, overlaps, 0).square()
        total = fits.sum(1)
        kept = total > 0
        regions = fits[kept] / total[kept, None]
        return PhraseLabels(owner.to(device()), known.to(device())[kept], regions)
