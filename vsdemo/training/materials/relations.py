"""Photos, captions, and the known relations among them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from vsdemo.core.config import Config
from vsdemo.core.device import device
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.sentences import Sentence
from vsdemo.data import relations
from vsdemo.data.relations import chains
from vsdemo.data.text.vocab import Vocab
from vsdemo.models import checkpoint
from vsdemo.models.objectives import Labels, RelationConfig
from vsdemo.training import parts
from vsdemo.training.materials.photo_batches import PhotoBatches, draw_texts

CHAIN_COUNT = 5  # words with at least this many uses in the chains are known


class Relations(PhotoBatches):
    """Captions, other texts, photos and their relations; whole batches are labelled."""

    config: RelationConfig

    @classmethod
    def datasets(cls, config: Config, own: Sequence[str] = ()) -> list[str]:
        """Return the data sets whose relations can be known here."""
        return [name for name in super().datasets(config, own) if relations.is_available(name)]

    def _read_photos(self) -> None:
        """Read the photos, and label the texts of those that can be read."""
        super()._read_photos()
        self.relations = relations.load(self.train_set)
        self.chains = chains.load() if self.config.chains else None

    def _texts(self) -> Sequence[str]:
        return (*self.relations.texts, *(self.chains.texts if self.chains else ()))

    def _vocabulary(self, sentences: Sequence[Sentence]) -> Vocab:
        """Leave out words that captions or chains use rarely, except those of concepts."""
        captions = sentences[: len(self.train_set.captions)]
        of_chains = sentences[len(self.relations.texts) :]
        concepts = [sentences[row] for row in self.relations.concepts]
        known = {*Vocab.build(captions, self.config.min_count).words, *Vocab.build(concepts).words}
        known |= {*Vocab.build(of_chains, CHAIN_COUNT).words}
        rare = {*Vocab.build([*captions, *of_chains]).words} - known
        return Vocab(tuple(word for word in Vocab.build(sentences).words if word not in rare))

    def embed(self, batch: Any) -> tuple[Embeddings, Embeddings, Any]:
        """Return texts (captions of these photos first), photos (these first) and `Labels`."""
        draw = np.random.default_rng(batch.seed)
        own = [self.train_set.captions_of[photo] for photo in batch.photos]
        captions, owner = draw_texts(own, self.config.captions, draw)
        others = self.relations.others(captions, self.config.others, draw)
        texts = np.concatenate([captions, others])
        shown = np.concatenate([batch.photos, self._other_photos(batch.photos, draw)])
        among_texts = self.relations.among_texts(texts, texts)
        above_photos = self.relations.above_photos(texts, shown)
        if self.chains:
            rows = self.chains.of(draw.permutation(len(self.chains))[: self.config.chains])
            texts = np.concatenate([texts, len(self.relations.texts) + rows])
            among_texts = _beside(among_texts, self.chains.among_texts(rows, rows))
            above_photos = _beside(above_photos, np.zeros((len(rows), 0), np.int8))
        photos = self._embed_photos(torch.from_numpy(shown).to(device()))
        shares = None
        if self.config.photo_shares:  # 0 for texts of chains, whose labels are unknown
            known = self.relations.photo_shares[texts[: len(captions) + len(others)]]
            shares = np.pad(known, (0, len(texts) - len(known))).astype(np.float32)
        labels = Labels(
            owner=torch.from_numpy(owner).to(device()),
            among_texts=torch.from_numpy(among_texts).to(device()),
            above_photos=torch.from_numpy(above_photos).to(device()),
            shares=None if shares is None else torch.from_numpy(shares).to(device()),
        )
        inputs = [self.captions[text] for text in texts]
        return parts.embed_texts(self.model.text, inputs, self.config.chunk), photos, labels

    def _other_photos(self, photos: np.ndarray, draw: np.random.Generator) -> np.ndarray:
        """Return `config.other_photos` photos that are not among these."""
        others = np.setdiff1d(np.arange(len(self.photos)), photos)
        return draw.permutation(others)[: self.config.other_photos]

    def save(self, folder: Path, model: nn.Module, *, atomic: bool = False) -> None:
        """Write a checkpoint of the model, with the concepts that it learned."""
        super().save(folder, model, atomic=atomic)
        checkpoint.save_concepts(
            folder, [self.relations.texts[row] for row in self.relations.concepts]
        )


def _beside(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the labels of both, (A + B, C + D), with unknown labels between them.

    Args:
        one: (A, C).
        other: (B, D).
    """
    shape = (len(one) + len(other), one.shape[1] + other.shape[1])
    result = np.full(shape, relations.UNKNOWN, np.int8)
    result[: len(one), : one.shape[1]] = one
    result[len(one) :, one.shape[1] :] = other
    return result
