"""Photos with captions.

Their features are in memory, or in tar files (`vsdemo.core.stored_features`) of which each batch is
read when it is needed. The batches are the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from vsdemo import models
from vsdemo.core.config import Config
from vsdemo.core.device import autocast, device
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.language import number, translate
from vsdemo.core.sentences import Sentence
from vsdemo.core.stored_features import StoredFeatures
from vsdemo.data import datasets
from vsdemo.data.everyday_photos import training
from vsdemo.evaluation.metrics import retrieval
from vsdemo.evaluation.tasks import sts
from vsdemo.evaluation.tasks.retrieval import Retrieval
from vsdemo.models import hubness
from vsdemo.models.checkpoint import Spec
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.models.losses import check_finite, distillation
from vsdemo.training import distributed, parts, teacher
from vsdemo.training.materials.pairs import Pairs
from vsdemo.training.probe import Probe
from vsdemo.training.requirements import Check, Requirements
from vsdemo.training.schedule import epoch_batches
from vsdemo.training.size import Amounts
from vsdemo.vision.backbones import how_to_get, is_available, most_features
from vsdemo.vision.backbones.leaks import check_unseen
from vsdemo.vision.crops import CROPS, VIEWS
from vsdemo.vision.features import VECTOR, FeatureCache, photo_key
from vsdemo.vision.shards import StoredRows

DRAWING_SIZE = 60_000  # bytes of a picture that is drawn, at most
FEATURE_SIZE = 2  # bytes of a number
CAPTIONS = 5  # of a photo, in most data sets
FOR_DRAWINGS = ("pocket", "easel")  # networks that are quick and know drawings
SAMPLE = 24  # photos that are looked up in the feature cache to estimate how many are missing


class Photos(Pairs):
    """Captions and the features of their photos."""

    chosen_by = Retrieval.primary
    uses_photos = True
    usual_dataset: ClassVar[str] = "flickr8k"
    features: ClassVar[str] = VECTOR  # their kind, see `FeatureCache`

    def _load(self, dataset: str | None) -> None:
        self.dataset = datasets.full_name(dataset or self.usual_dataset)
        self.train_set = datasets.load(self.dataset, "train", limit=self.config.photos)
        self.dev_set = datasets.load(self.dataset, "dev")
        if self.train_set.features is not None:  # report errors before looking for the backbone
            self.train_set.features.require(self.config.backbone, self.config.crops)
        self._check_train_set()
        if self.config.extra != "none":
            if reason := _refuses_extra(self.dataset):
                raise UserError(reason)
            self.train_set = self.train_set.with_more(training.load())

    def _check_train_set(self) -> None:
        if len(set(self.train_set.photo_of)) < 2:
            raise UserError(f"{self.dataset} has fewer than two photos with captions to train on.")

    @classmethod
    def datasets(cls, config: Config, own: Sequence[str] = ()) -> list[str]:
        """Return the data sets whose photos are available, those that suit the backbone first."""
        known = [*datasets.DATASETS, *datasets.karpathy_files()]
        available = [name for name in known if datasets.is_generated(name) or _has_photos(name)]
        available += [name for name in own if name not in known]
        suits_drawings = config.backbone in FOR_DRAWINGS
        return sorted(available, key=lambda name: datasets.is_generated(name) != suits_drawings)

    @classmethod
    def default_settings(cls, config: Config, dataset: str | None) -> tuple[str, ...]:
        """Choose our own networks for drawings, and Pocket where the preset's backbone is missing.

        For drawings, regions are the things that Easel finds.
        """
        generated = dataset is not None and datasets.is_generated(dataset)
        if not generated and is_available(config.backbone):
            return ()
        wanted = {"backbone": "pocket"}
        if config.crops in VIEWS:
            wanted["crops"] = "whole"
        elif generated:
            wanted = {"backbone": "easel", "crops": "things"}
        return tuple(f"{k}={v}" for k, v in wanted.items() if getattr(config, k) != v)

    @classmethod
    def check_dataset(cls, dataset: str | None) -> list[Check]:
        """Return what keeps a training on a data set from starting, and what it leaves out."""
        obstacles, notes = datasets.find(dataset or cls.usual_dataset).check_training()
        return [*(Check(False, text) for text in obstacles), *(Check(True, text) for text in notes)]

    @classmethod
    def requirements(cls, config: Config, dataset: str | None) -> Requirements:
        """Return whether photos and backbone are available, and how many features are missing."""
        known = cls.check_dataset(dataset)
        if config.extra != "none" and (reason := _refuses_extra(dataset or cls.usual_dataset)):
            known = [*known, Check(False, reason)]
        known += _leaks(config, dataset or cls.usual_dataset)
        if not all(check.ok for check in known):
            return Requirements(known)
        name = dataset or cls.usual_dataset
        photos = [*cls._training_photos(config, name), *datasets.photos(name, "dev")]
        existing = [photo for photo in photos if photo.exists()]
        missing = len(photos) - len(existing)
        checks = [Check(True, _describe_pictures(len(photos), missing)), *known]
        disk = missing * DRAWING_SIZE
        configs = [config]
        if config.teacher:
            configs.append(teacher.read_spec(config.teacher).config)
        for backbone, crops in dict.fromkeys(chain.from_iterable(map(cls.networks, configs))):
            if not is_available(backbone):
                checks.append(Check(False, how_to_get(backbone)))
                return Requirements(checks)
            cache = FeatureCache(backbone, crops)
            left = missing + _count_without_features(cache, cls.features, existing)
            checks.append(Check(True, _describe_features(left, f"{backbone} ({crops})")))
            disk += left * FEATURE_SIZE * cls._numbers(backbone, crops)
        return Requirements(checks, disk)

    @classmethod
    def amounts(cls, config: Config, dataset: str | None) -> Amounts:
        """Return how many captions there are, and how many features are in memory."""
        name = dataset or cls.usual_dataset
        train = len(cls._training_photos(config, name))
        dev = len(datasets.photos(name, "dev"))
        return Amounts(
            pairs=train * (CAPTIONS if config.sampling == "all" else 1),
            photos=train + dev if datasets.find(name).has_photos else dev,
            vectors=CROPS[config.crops].vectors,
            features=cls._numbers(config.backbone, config.crops) // CROPS[config.crops].vectors,
        )

    @classmethod
    def networks(cls, config: Config) -> list[tuple[str, str]]:
        """Return the backbones and crops whose features a configuration needs."""
        return [(config.backbone, config.crops)]

    @classmethod
    def _numbers(cls, backbone: str, crops: str) -> int:
        """Return how many numbers are kept of a photo, at most."""
        return most_features(backbone) * CROPS[crops].vectors

    @classmethod
    def _training_photos(cls, config: Config, dataset: str) -> Sequence[Path]:
        """Return the files of the photos to learn from, which may be missing."""
        own = datasets.photos(dataset, "train")[: config.photos or None]
        return own if config.extra == "none" else [*own, *training.photos()]

    def build(self) -> DualEncoder:
        """Compute missing photo features, prepare the captions and return a new model."""
        name = self.config.teacher
        if name:  # report invalid settings before photos are read
            teacher.read_spec(name)
        for sentence in self.watched:
            Sentence.from_user(sentence)
        self._read_photos()
        self.teacher = teacher.load(name, self.train_set) if name else None
        self.probe = Probe(self.dev_set, self.config.needs, self.watched)
        self.spec = Spec(
            model=models.preset(self.preset)[0],
            preset=self.preset,
            dataset=self.dataset,
            config=self.config,
            backbone_hash=self._cache.hash,
            features=self._count_features(),
            teacher=self.teacher.spec if self.teacher else None,
        )
        self.captions = self._build_text_model(self._texts())
        self.lengths = [len(caption) for caption in self.captions]
        self.photo_of = torch.tensor(self.train_set.photo_of)  # (C,)
        self.steps_per_epoch = len(self._epoch(0))
        return self.model

    def _count_features(self) -> int:
        """Return the length of the vector of a photo, or of each region."""
        return self.dev_photos.shape[-1]

    def _read_photos(self) -> None:
        """Compute missing photo features; unreadable ones of somebody's own are left out."""
        check_unseen(self.config.backbone, self.dataset)
        self._cache = FeatureCache(self.config.backbone, self.config.crops)
        self.train_set, photos, unreadable = self._cache.open_readable(
            self.train_set, kind=self.features
        )
        self.photos: Tensor | StoredRows | StoredFeatures = self._hold(photos)
        self.dev_set, dev_photos, others = self._cache.get_readable(
            self.dev_set, kind=self.features
        )
        self.dev_photos = self._for_dev(dev_photos)
        self.unreadable = {**unreadable, **others}
        self._check_train_set()

    def _hold(self, photos: StoredRows | StoredFeatures) -> Tensor | StoredRows | StoredFeatures:
        """Return features of training, (P, F) or (P, K, F), in memory or to be read batch by batch.

        Those that come with the data set stay on disk.
        """
        if isinstance(photos, StoredFeatures):
            return photos
        return photos.all().to(device()).float()

    def _for_dev(self, photos: Tensor) -> Tensor:
        """Return features of dev as a model reads them, on the CPU."""
        return photos.float()

    def _texts(self) -> Sequence[str]:
        """Return the texts of training, the captions first."""
        return self.train_set.captions

    def _content(self) -> Iterator[bytes]:
        yield from (text.encode() for text in (*self._texts(), *self.dev_set.captions))
        yield np.array([*self.train_set.photo_of, *self.dev_set.photo_of]).tobytes()
        if isinstance(self.photos, Tensor):
            yield self.photos.cpu().numpy().tobytes()
        else:
            yield from self.photos.content()
        yield self.dev_photos.cpu().numpy().tobytes()

    def _epoch(self, epoch: int) -> Sequence[Tensor]:
        return epoch_batches(self.config, self.train_set.captions_of, epoch, self.lengths)

    def embed(self, batch: Tensor) -> tuple[Any, ...]:
        """Return the embeddings of captions and of their photos, and the numbers of both."""
        inputs = [self.captions[caption] for caption in batch.tolist()]
        owner = self.photo_of[batch].to(device())
        captions = parts.embed_texts(self.model.text, inputs, self.config.chunk)
        return captions, self._embed_photos(owner), batch, owner

    def _embed_photos(self, numbers: Tensor) -> Embeddings:
        """Embed photos that are given by number, (P,)."""
        assert self.model.image is not None
        return parts.embed_photos(self.model.image, self.photos[numbers], self.config.chunk)

    def loss(self, *embedded: Any, progress: float) -> dict[str, Tensor]:
        """Return the loss of the configuration, and whatever else is to be logged.

        With a teacher, `teacher_weight` times `losses.distillation` is added.
        """
        captions, photos, batch, owner = embedded
        losses = super().loss(captions, photos, owner, progress=progress)
        if self.teacher is None:
            return losses
        taught = distillation(
            self.model.score(captions, photos),
            self.teacher.scores(batch.to(device()), owner),
            self.config.teacher_temperature,
        )
        total = losses["loss"] + self.config.teacher_weight * taught
        return {**losses, "loss": total, "distillation": taught.detach()}

    def fit(self, batch: Tensor) -> dict[str, Tensor]:
        """Fit a model that is solved at once to these captions and their photos."""
        inputs = [self.captions[caption] for caption in batch.tolist()]
        return self.model.fit(inputs, self.photos[self.photo_of[batch].to(device())])

    def before(self, model: DualEncoder) -> dict[str, Any]:
        """Return the photos that an untrained model ranks first for the watched sentences."""
        if model.solved:
            return {}
        with autocast():
            photos = model.encode_image(self.dev_photos)
        return {"watched": self.probe.rank(model, photos)}

    def _measure(self, model: DualEncoder) -> dict[str, Any]:
        """Return the retrieval metrics on dev.

        Raises:
            FloatingPointError: If an embedding is not finite.
        """
        with autocast():  # only the encoders: scores in bfloat16 would tie
            if sizes := hubness.bank_sizes(model):
                hubness.measure_hubs(model, *self._sample(*sizes))
            captions, photos, owner = retrieval.encode(model, self.dev_set, self.dev_photos)
        check_finite({"embeddings": captions.x})  # comparisons with nan would rank it first
        metrics = retrieval.ranks(model, captions, photos, owner).metrics()
        metrics["watched"] = self.probe.rank(model, photos)
        if self.config.evaluate_sts and distributed.on_main(sts.has_dev_data):
            metrics["semantics"] = sts.on_dev(model)
        return metrics

    def _sample(self, captions: int, photos: int) -> tuple[list[Sentence], Tensor]:
        """Return captions, and features of photos, from all over the training set."""
        rows = spread(len(self.train_set.captions), captions).tolist()
        sentences = [Sentence(self.train_set.captions[row]) for row in rows]
        return sentences, self._measured(spread(len(self.photos), photos))

    def _measured(self, rows: Tensor) -> Tensor:
        """Return features of photos as `measure` embeds them, on the CPU."""
        return self.photos[rows].cpu()


def spread(items: int, count: int) -> Tensor:
    """Return `count` rows at equal distances, (count,); some repeatedly if there are fewer."""
    return torch.linspace(0, items - 1, count).long()


def _describe_pictures(count: int, missing: int) -> str:
    if not missing:
        return translate("{count} pictures for training and validation.", count=number(count))
    return translate(
        "{count} pictures for training and validation; {missing} of them will be drawn first.",
        count=number(count),
        missing=number(missing),
    )


def _describe_features(left: int, network: str) -> str:
    if not left:
        return translate("All features are cached, by {network}.", network=network)
    return translate(
        "The features of about {count} pictures will be computed first, by {network}.",
        count=number(left),
        network=network,
    )


def _leaks(config: Config, dataset: str) -> list[Check]:
    """Return why a data set cannot be used over the image network, if so."""
    try:
        check_unseen(config.backbone, dataset)
    except UserError as error:
        return [Check(False, str(error))]
    return []


def _refuses_extra(name: str) -> str:
    """Return why extra photos cannot be added to a data set; empty if they can."""
    if datasets.base_name(name) == "pascal1k":
        return "The extra photos are those of Pascal1K, and others; set extra=none for it."
    if not datasets.find(name).has_photos:
        return f"{name} has features instead of photos; set extra=none for it."
    return ""


def _has_photos(name: str) -> bool:
    try:
        return bool(datasets.photos(name, "train"))
    except (UserError, OSError, ValueError, KeyError):
        return False


def _count_without_features(cache: FeatureCache, kind: str, photos: Sequence[Path]) -> int:
    """Estimate from a sample how many photos have no cached features of a kind."""
    if not photos:
        return 0
    sample = photos[:: -(-len(photos) // SAMPLE)]
    known = cache.known(kind)
    return round(len(photos) * sum(photo_key(p) not in known for p in sample) / len(sample))
