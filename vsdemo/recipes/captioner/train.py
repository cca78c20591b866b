"""Train a captioner over the regions of a model that aligns phrases with them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from vsdemo.core.device import device
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence
from vsdemo.data import datasets
from vsdemo.data.text.sentences import DEP_TREE, add_trees
from vsdemo.data.text.vocab import EOS, PAD, tokenize
from vsdemo.models import captioner, checkpoint
from vsdemo.models.captioner import Captioner
from vsdemo.recipes.last_epoch import LastEpochMaterial, LastEpochSettings
from vsdemo.training.trainer import Trainer
from vsdemo.vision.features import FeatureCache

LONGEST = 24  # words of a caption that are learned
POOL = 20  # batches that are sorted by length together


@dataclass(frozen=True)
class Settings(LastEpochSettings):
    """The settings of a training.

    Attributes:
        epochs: How often each caption is seen.
        batch: Captions per step.
        smoothing: Share of the probability that all other words together should have.
        dropout: Share of word vectors and states set to 0.
    """

    epochs: int = 10
    batch: int = 128
    weight_decay: float = 0.01
    smoothing: float = 0.1
    dropout: float = 0.4

    evaluate_every: ClassVar[int] = 2


@dataclass(frozen=True)
class Batch:
    """Captions, (B, T), padded, and the regions of their photos, (B, K, D)."""

    captions: Tensor
    regions: Embeddings

    def __len__(self) -> int:
        """Return the number of captions."""
        return len(self.captions)

    @property
    def wanted(self) -> Tensor:
        """The words that should be written, and the end, (B, T + 1), padded."""
        wanted = F.pad(self.captions, (0, 1), value=PAD)
        ends = (self.captions != PAD).sum(1)
        wanted[torch.arange(len(wanted), device=wanted.device), ends] = EOS
        return wanted


class Captions(LastEpochMaterial):
    """The captions of the data set of a model, and the regions of their photos.

    Args:
        folder: Checkpoint of the model.
        settings: The settings of the training.
    """

    name = "captioner"
    model: Captioner

    def __init__(self, folder: Path, settings: Settings) -> None:
        self.folder, self.config = folder, settings

    def build(self) -> Captioner:
        """Embed the regions of the photos and return a new captioner.

        Raises:
            UserError: The checkpoint or the photos are missing, or the model aligns no parts.
        """
        model, self.spec, vocab = checkpoint.load(self.folder)
        if not model.score.can_align:
            raise UserError("A captioner needs a model that aligns phrases with regions.")
        cache = checkpoint.feature_cache(self.spec)
        self.train = Split.load(self.spec.dataset, "train", model, vocab, cache)
        self.dev = Split.load(self.spec.dataset, "dev", model, vocab, cache)
        self.steps_per_epoch = len(self.train.captions) // self.config.batch
        torch.manual_seed(self.config.seed)
        self.model = Captioner(len(vocab), model.text.dim, dropout=self.config.dropout)
        return self.model.to(device())

    def batches(self, epoch: int, start: int = 0) -> Iterator[Batch]:
        """Yield the batches of an epoch from batch number `start` on.

        Captions of about the same length share a batch, so that little of it is padding.
        """
        steps, size = self.steps_per_epoch, self.config.batch
        draw = np.random.default_rng([self.config.seed, epoch])
        order = draw.permutation(len(self.train.captions))[: steps * size]
        lengths = np.array([len(self.train.captions[row]) for row in order])
        pools = np.arange(len(order)) // (POOL * size)
        batches = order[np.lexsort((lengths, pools))].reshape(steps, size)
        for number in draw.permutation(steps)[start:]:
            yield self.train.batch(batches[number])

    def embed(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return the logits of words, and the words that should be written."""
        return self.model(batch.captions, batch.regions), batch.wanted

    def loss(self, *embedded: Any, progress: float) -> dict[str, Tensor]:
        """Return the mean cross-entropy of a word, in nats."""
        logits, wanted = embedded
        loss = F.cross_entropy(
            logits.float().flatten(0, 1),
            wanted.flatten(),
            ignore_index=PAD,
            label_smoothing=self.config.smoothing,
        )
        return {"loss": loss}

    @torch.inference_mode()
    def measure(self, model: Captioner) -> dict[str, Any]:
        """Return the perplexity of a word of dev."""
        model.eval()
        nats = words = 0.0
        for rows in np.array_split(np.arange(len(self.dev.captions)), 20):
            batch = self.dev.batch(rows)
            logits, wanted = model(batch.captions, batch.regions).float(), batch.wanted
            total = F.cross_entropy(
                logits.flatten(0, 1), wanted.flatten(), ignore_index=PAD, reduction="sum"
            )
            nats, words = nats + float(total), words + float((wanted != PAD).sum())
        return {"perplexity": round(float(np.exp(nats / max(1, words))), 2)}

    def identity(self) -> dict[str, Any]:
        """Return the settings, and the weights of the model."""
        return {**super().identity(), "of_hash": checkpoint.content_hash(self.folder)}

    def describe(self) -> dict[str, Any]:
        """Return the settings, and the checkpoint."""
        return {"settings": asdict(self.config), "checkpoint": self.folder.name}

    def save(self, folder: Path, model: nn.Module, *, atomic: bool = False) -> None:
        """Write the weights beside those of the model."""
        assert isinstance(model, Captioner)
        captioner.save(folder, model, checkpoint.content_hash(self.folder))


@dataclass(frozen=True)
class Split:
    """The captions of a split, and the regions of its photos.

    Attributes:
        captions: Ids of the words of each caption.
        photo_of: (C,) the photo of each.
        regions: (P, K, D), in half precision.
    """

    captions: list[Tensor]
    photo_of: np.ndarray
    regions: Embeddings

    @classmethod
    def load(cls, dataset: str, split: str, model: Any, vocab: Any, cache: FeatureCache) -> Split:
        """Read a split and embed its photos."""
        data = datasets.load(dataset, split)
        sentences = add_trees([Sentence(text) for text in data.captions], DEP_TREE)
        captions = [torch.tensor(vocab.ids(written(sentence))) for sentence in sentences]
        regions = model.encode_image(cache.get(data.photos, keys=data.keys).float())
        half = Embeddings(regions.x.half(), regions.mask)
        return cls(captions, np.array(data.photo_of), half)

    def batch(self, rows: np.ndarray) -> Batch:
        """Return some captions with the regions of their photos."""
        own = pad_sequence([self.captions[row] for row in rows], batch_first=True)
        photos = torch.from_numpy(self.photo_of[rows])
        return Batch(own.to(device()), self.regions[photos].to(device()).float())


def written(sentence: Sentence) -> list[str]:
    """Return the words of a caption that a captioner learns, at most LONGEST.

    Punctuation is left out but for commas.
    """
    assert sentence.tree is not None
    words = [word.lower() for word in sentence.tree.words]
    return [word for word in words if word == "," or tokenize(word)][:LONGEST]


def train(folder: Path, settings: Settings) -> str:
    """Train the captioner of a checkpoint in the folder `folder`.captioner.work, or resume.

    Returns:
        "done" or "stopped".

    Raises:
        UserError: As `Captions.build` and `Trainer.run` do.
    """
    work = folder.with_name(f"{folder.name}.captioner.work")
    material = Captions(folder, settings)
    trainer = Trainer(work, material)
    outcome = trainer.run()
    if outcome == "done":
        material.save(folder, trainer.evaluated)
    return outcome
