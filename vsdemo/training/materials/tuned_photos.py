"""Photos with captions, and an image network whose end is trained with the model."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, chain, pairwise
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.optim.swa_utils import AveragedModel
from tqdm import tqdm

from vsdemo.core.config import Config
from vsdemo.core.device import autocast, device
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.stored_features import StoredFeatures
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.image import LinearImage
from vsdemo.encoders.tuned_image import TunedImage, Views
from vsdemo.evaluation import phrases
from vsdemo.models import checkpoint
from vsdemo.models.contrast import PhotoLabels
from vsdemo.models.vse_photos import VsePhotosConfig
from vsdemo.training import distributed, optim, parts
from vsdemo.training.materials import caption_pairs
from vsdemo.training.materials.caption_pairs import PairBatch
from vsdemo.training.materials.photo_batches import PhotoBatch, PhotoBatches, draw_texts
from vsdemo.training.materials.phrase_table import PhraseTable
from vsdemo.training.requirements import Check, Requirements
from vsdemo.training.size import FLOAT, Amounts
from vsdemo.vision import regions
from vsdemo.vision.backbones import load_backbone, most_features, tuned
from vsdemo.vision.crops import CORNERS, CROPS, Frame
from vsdemo.vision.features import STEM, FeatureCache
from vsdemo.vision.shards import StoredRows

STEM_NUMBERS = 40_960  # that the end of DenseNet-169, or of Pocket, reads of a view
CORNER_VIEWS = "corners"  # name of the views
TEXTS = 128  # that are embedded at a time
SIDES = 2  # a photo and its mirror image
VIEWS = 64  # through the end of the network at a time, when it is frozen
# What names of weights begin with in training.
END, IMAGE = "image.end.", "image.image."


class FrozenBatch(PhotoBatch):
    """Photos that are embedded by the vectors of the network before it is tuned."""


class TunedPhotos(PhotoBatches):
    """Captions, and what the end of the image network reads of the views of their photos.

    A batch has one view of each photo, drawn at random, and phrases that name its regions. The
    batches of the first `text_epochs` have two captions of each photo instead, also of photos that
    are not at hand; those of the `frozen_epochs` have one caption, and what the image network makes
    of the whole photo, or of its mirror image, before it is tuned. Pairs of captions, also of
    photos that are not at hand, join all batches with photos.
    """

    config: VsePhotosConfig
    features = STEM

    @classmethod
    def networks(cls, config: Config) -> list[tuple[str, str]]:
        """Return the backbone with whole photos, and with their corners."""
        assert isinstance(config, VsePhotosConfig)
        corners = [(config.backbone, CORNER_VIEWS)] if config.corners else []
        return [*super().networks(config), *corners]

    @classmethod
    def _numbers(cls, backbone: str, crops: str) -> int:
        return STEM_NUMBERS * CROPS[crops].views

    @classmethod
    def amounts(cls, config: Config, dataset: str | None) -> Amounts:
        """Return how many captions there are, and what is in memory of each photo."""
        features = 2 * most_features(config.backbone)
        return (
            super()
            .amounts(config, dataset)
            ._replace(features=features, stored=FLOAT * SIDES * features)
        )

    @classmethod
    def requirements(cls, config: Config, dataset: str | None) -> Requirements:
        """Return whether photos, captions and backbone are available."""
        assert isinstance(config, VsePhotosConfig)
        photos = super().requirements(config, dataset)
        missing = [Check(False, text) for text in cls._missing(config, dataset).values()]
        return photos._replace(checks=[*photos.checks, *missing])

    @classmethod
    def default_settings(cls, config: Config, dataset: str | None) -> tuple[str, ...]:
        """Leave out other captions where they are missing, and phrases without boxes."""
        assert isinstance(config, VsePhotosConfig)
        return (*super().default_settings(config, dataset), *cls._missing(config, dataset))

    @classmethod
    def _missing(cls, config: VsePhotosConfig, dataset: str | None) -> dict[str, str]:
        """Return settings that leave out what is missing, each with a sentence about it."""
        reasons = {}
        if config.text_epochs:
            reasons["text_epochs=0"] = caption_pairs.obstacle()
        if config.pair_weight:
            reasons["pair_weight=0"] = caption_pairs.obstacle()
        if config.phrase_weight:
            reasons["phrase_weight=0"] = phrases.obstacle(dataset or cls.usual_dataset)
        return {
            setting: f"{reason} Or set {setting}." for setting, reason in reasons.items() if reason
        }

    def _load(self, dataset: str | None) -> None:
        super()._load(dataset)
        if self.train_set.features is not None:
            raise UserError(
                f"{self.preset} trains an image network, but {self.dataset} has features instead "
                "of photos; choose another preset or data set."
            )
        *first, rest = self._lengths
        if rest < 1:
            raise UserError(
                f"text_epochs={first[0]} and frozen_epochs={first[1]} leave no epochs to train the "
                f"image network; set epochs to {sum(first) + 1} or more."
            )
        for text in self._missing(self.config, self.dataset).values():
            raise UserError(text)
        self.others = (
            caption_pairs.other_captions(self.dataset) if self.config.reads_other_captions else []
        )

    def _hold(self, photos: StoredRows | StoredFeatures) -> StoredRows | StoredFeatures:
        """Return the stems of whole photos, (P, 1, S, h, w), on disk: of COCO, they are 9 GB."""
        return photos

    def _for_dev(self, photos: Tensor) -> Tensor:
        """Return stems, (P, S, h, w), in half precision."""
        return photos[:, 0]

    def _read_photos(self) -> None:
        """Compute missing stems, those of the corners too."""
        super()._read_photos()
        if self.config.corners:
            cache = FeatureCache(self.config.backbone, CORNER_VIEWS)
            _, self.corners, _ = cache.open_readable(self.train_set, kind=self.features)

    def _stems(self, photos: Tensor, views: Tensor | None = None) -> Tensor:
        """Read the stems of photos, (B, S, h, w).

        Args:
            photos: (B,) rows of photos.
            views: (B,) view of each: 0 for the whole photo, then its corners. None for whole ones.
        """
        stems = self.photos[photos][:, 0]
        if views is not None and len(cut := views.nonzero()[:, 0]):
            stems[cut] = self.corners[photos[cut]][torch.arange(len(cut)), views[cut] - 1]
        return stems

    def _measured(self, rows: Tensor) -> Tensor:
        """Return the stems of whole photos."""
        return self._stems(rows)

    def _count_features(self) -> int:
        with torch.no_grad():
            return tuned.pool(self._frozen_end(self._on_device(self.dev_photos[:1]))).shape[1]

    @cached_property
    def _frozen_end(self) -> nn.Module:
        """The end before it is tuned. It is loaded once, as that draws random numbers."""
        _, end = load_backbone(self._cache.weights).net.split()
        return end

    @staticmethod
    def _on_device(features: Tensor) -> Tensor:
        return features.to(device()).float()

    def _build_model(self, vocab: Vocab, features: int) -> None:
        """Set `vocab` and a new `model`, which encodes stems."""
        super()._build_model(vocab, features)
        end = copy.deepcopy(self._frozen_end).requires_grad_(True)
        assert isinstance(self.model.image, LinearImage)
        self.model.image = TunedImage(end, self.model.image, windows=self.config.windows)
        self._image.image.standardize.measure(F.normalize(self._vectors.mean(0), dim=-1))

    def _texts(self) -> Sequence[str]:
        """Return the captions, those of photos that are not at hand, and phrases."""
        named = self._phrases.texts if self._phrases else []
        return [*super()._texts(), *chain.from_iterable(self.others), *named]

    @cached_property
    def _phrases(self) -> PhraseTable | None:
        """The phrases of the photos of training."""
        return PhraseTable(self.train_set) if self.config.phrase_weight else None

    @cached_property
    def _frames(self) -> Tensor:
        """What each view shows, (V, 4)."""
        return torch.tensor([Frame(), *(CORNERS if self.config.corners else [])])

    @cached_property
    def _described(self) -> list[Sequence[int]]:
        """The rows in `captions` of photos with several, also of those that are not at hand."""
        ends = accumulate(map(len, self.others), initial=len(self.train_set.captions))
        others = (range(start, end) for start, end in pairwise(ends))
        return [rows for rows in (*self.train_set.captions_of, *others) if len(rows) > 1]

    @property
    def _image(self) -> TunedImage:
        return cast(TunedImage, self.model.image)

    @cached_property
    def _vectors(self) -> Tensor:
        """Those of whole photos by the network before it is tuned, and of their mirror images.

        (2, P, F).
        """
        vectors = torch.empty(SIDES, len(self.photos), self.spec.features)
        batches = torch.arange(len(self.photos)).split(VIEWS)
        for rows in tqdm(batches, desc="vectors", unit="batch", disable=not distributed.is_main()):
            stems = self._on_device(self._stems(rows))
            with torch.no_grad(), autocast():
                sides = tuned.both_sides(self._frozen_end, stems)
                for of_side, maps in zip(vectors, sides, strict=True):
                    of_side[rows] = F.normalize(tuned.pool(maps), dim=-1).cpu()
        return vectors

    @property
    def _lengths(self) -> tuple[int, int, int]:
        """Epochs without photos, those with the frozen network, and those that tune its end."""
        first = self.config.text_epochs, self.config.frozen_epochs
        return *first, self.config.epochs - sum(first)

    @property
    def _frozen_steps(self) -> int:
        """Steps before the end of the image network is tuned."""
        return sum(self._lengths[:2]) * self.steps_per_epoch

    def optimizer(self) -> Optimizer:
        """Return a new optimizer of the model, whose end has a learning rate of its own."""
        factor = self.config.end_rate / self.config.learning_rate
        return optim.build(self.config, self.model, slow=self._image.end, factor=factor)

    def average(self, optimizer: Optimizer) -> AveragedModel | None:
        """Return a moving average of the model; None if the configuration asks for none.

        All steps that tune the end of the image network have the same weight in it, and so has the
        average before them: the average is between the tuned network and the frozen one, and better
        for other photos than either of the two (Wortsman et al., "Robust fine-tuning of zero-shot
        models", CVPR 2022).
        """
        if not self.config.average_decay:
            return None
        return optim.moving_average(self.model, optimizer, self._average_decay)

    def _average_decay(self, updates: int) -> float:
        """Return the decay of the average after a number of updates."""
        tuned_updates = updates - self._frozen_steps
        if tuned_updates < 0:
            return self.config.average_decay
        return (tuned_updates + 1) / (tuned_updates + 2)

    def begin_step(self, optimizer: Optimizer, step: int) -> float:
        """Set and return the learning rate of a step, and dropout; freeze the end at first."""
        is_tuned = step >= self._frozen_steps
        self._image.tune(is_tuned)
        for module in self.model.modules():
            if isinstance(module, nn.Dropout):
                module.p = self.config.end_dropout if is_tuned else self.config.dropout
        return super().begin_step(optimizer, step)

    def _scheduled(self, step: int) -> tuple[Config, int]:
        """Let the learning rate rise and fall in each of the three parts of the training."""
        epoch, start = step // self.steps_per_epoch, 0
        for epochs in self._lengths:
            if epoch < start + epochs:
                break
            start += epochs
        config = self.config.model_copy(update={"epochs": epochs})
        return config, step - start * self.steps_per_epoch

    def batches(self, epoch: int, start: int = 0) -> Iterable[Any]:
        """Return the batches of an epoch from batch number `start` on."""
        text_epochs, frozen_epochs, _ = self._lengths
        if epoch >= text_epochs + frozen_epochs:
            return super().batches(epoch, start)
        if epoch >= text_epochs:
            return self._frozen_batches(epoch)[start:]
        return caption_pairs.batches(
            self._described, self.steps_per_epoch, self.config.seed, epoch
        )[start:]

    def _frozen_batches(self, epoch: int) -> list[FrozenBatch]:
        """Return as many batches as other epochs have; each photo is once in every few of them."""
        draw = np.random.default_rng((self.config.seed, epoch))
        photos = self._photos_with_captions
        size = min(self.config.frozen_batch, len(photos))
        count = len(photos) // size
        rounds = -(-self.steps_per_epoch // count)
        orders = [draw.permutation(photos)[: count * size] for _ in range(rounds)]
        rows = np.concatenate(orders).reshape(-1, size)[: self.steps_per_epoch]
        return [
            FrozenBatch(batch, (self.config.seed, epoch, number))
            for number, batch in enumerate(rows)
        ]

    def embed(self, batch: Any) -> tuple[Embeddings, Embeddings, PhotoLabels]:
        """Return texts, photos with their regions, and which text describes what.

        The texts are captions, phrases and pairs of captions, see `PhotoLabels`. For a `PairBatch`,
        there are one caption of each photo, another one, and their place.
        """
        draw = np.random.default_rng(batch.seed)
        match batch:
            case PairBatch():
                return self._embed_pairs(batch, draw)
            case FrozenBatch():
                return self._embed_frozen(batch, draw)
            case _:
                return self._embed(batch, draw)

    def _embed_pairs(
        self, batch: PairBatch, draw: np.random.Generator
    ) -> tuple[Embeddings, Embeddings, PhotoLabels]:
        both = self._embed_texts(self._draw_pairs(batch.photos, draw))  # (2 B, D)
        count = len(batch)
        return both[:count], both[count:], PhotoLabels(torch.arange(count, device=device()))

    def _draw_pairs(self, photos: np.ndarray, draw: np.random.Generator) -> np.ndarray:
        """Return one caption of each photo, then another one of each, (2 B,)."""
        pairs, _ = draw_texts([self._described[photo] for photo in photos], 2, draw)
        return pairs.reshape(-1, 2).T.ravel()

    def _with_pairs(self, texts: np.ndarray, draw: np.random.Generator) -> np.ndarray:
        """Append pairs of captions to the texts of a batch."""
        if not self.config.pair_weight:
            return texts
        count = min(self.config.pairs, len(self._described))
        photos = draw.choice(len(self._described), count, replace=False)
        return np.concatenate([texts, self._draw_pairs(photos, draw)])

    def _draw(
        self, batch: PhotoBatch, captions: int, draw: np.random.Generator
    ) -> tuple[np.ndarray, PhotoLabels, Tensor]:
        """Return captions, whose they are, and which photos are mirrored, (B,) 0 or 1."""
        own = [self.train_set.captions_of[photo] for photo in batch.photos]
        texts, owner = draw_texts(own, captions, draw)
        labels = PhotoLabels(torch.from_numpy(owner).to(device()))
        return texts, labels, torch.from_numpy(draw.integers(2, size=len(batch)))

    def _embed_frozen(
        self, batch: PhotoBatch, draw: np.random.Generator
    ) -> tuple[Embeddings, Embeddings, PhotoLabels]:
        texts, labels, is_mirrored = self._draw(batch, 1, draw)
        vectors = self._on_device(self._vectors[is_mirrored, torch.from_numpy(batch.photos)])
        photos = parts.embed_photos(self._image.image, vectors, self.config.chunk)
        return self._embed_texts(self._with_pairs(texts, draw)), photos, labels

    def _embed(
        self, batch: PhotoBatch, draw: np.random.Generator
    ) -> tuple[Embeddings, Embeddings, PhotoLabels]:
        texts, labels, is_mirrored = self._draw(batch, self.config.captions, draw)
        views = torch.from_numpy(draw.integers(len(self._frames), size=len(batch)))
        stems = self._stems(torch.from_numpy(batch.photos), views)
        turned = is_mirrored.bool()
        stems[turned] = tuned.mirror(stems[turned])
        boxes = None
        if self._phrases:
            drawn = self._phrases.draw(batch.photos, self.config.phrases, draw)
            texts = np.concatenate(
                [texts, len(self.captions) - len(self._phrases.texts) + drawn.texts]
            )
            frames = torch.cat([self._frames[views], is_mirrored[:, None]], 1)
            boxes = regions.in_frames(drawn.boxes, frames).to(device())
            labels = PhotoLabels(
                labels.owner, *(t.to(device()) for t in (drawn.places, drawn.unknown))
            )
        photos = Views(self._on_device(stems), boxes)
        embedded = parts.embed_photos(self._image, photos, self.config.chunk)
        return self._embed_texts(self._with_pairs(texts, draw)), embedded, labels

    def _embed_texts(self, rows: np.ndarray) -> Embeddings:
        """Embed texts, those of similar length together, as they are filled up to one length."""
        order = np.argsort([len(self.captions[row]) for row in rows], kind="stable")
        embedded = [
            parts.embed_texts(
                self.model.text, [self.captions[row] for row in some], self.config.chunk
            )
            for some in np.array_split(rows[order], -(-len(rows) // TEXTS))
        ]
        return Embeddings.place(embedded, torch.from_numpy(order))

    def save(self, folder: Path, model: nn.Module, *, atomic: bool = False) -> None:
        """Write a checkpoint of the model and of the difference of its image network."""
        state = model.state_dict()
        end = {name.removeprefix(END): t for name, t in state.items() if name.startswith(END)}
        difference = tuned.to_bytes(self._cache.weights, self._frozen_end, end)
        write = checkpoint.save_whole if atomic else checkpoint.save
        write(folder, self.spec, self.vocab, _without_end(state), difference)


def _without_end(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the weights of a model over features of the tuned network."""
    return {
        name.replace(IMAGE, "image."): tensor
        for name, tensor in state.items()
        if not name.startswith(END)
    }
