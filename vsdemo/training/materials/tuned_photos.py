"""Photos with captions, and an image network whose end is trained with the model."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from vsdemo.core.device import device
from vsdemo.core.embeddings import Embeddings
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.tuned_image import TunedImage
from vsdemo.models import checkpoint
from vsdemo.models.vse_photos import VsePhotosConfig
from vsdemo.training import optim, parts
from vsdemo.training.materials.photo_batches import PhotoBatches, draw_texts
from vsdemo.vision.backbones import load_backbone, tuned
from vsdemo.vision.crops import CROPS
from vsdemo.vision.features import STEM

STEM_NUMBERS = 40_960  # that the end of DenseNet-169, or of Pocket, reads of a view
END, IMAGE = "image.end.", "image.image."  # what names of weights begin with in training


class TunedPhotos(PhotoBatches):
    """Captions, and what the end of the image network reads of the views of their photos.

    A batch has one view of each photo, drawn at random; photos are measured with all views.
    """

    config: VsePhotosConfig
    features = STEM

    @classmethod
    def _numbers(cls, backbone: str, crops: str) -> int:
        return STEM_NUMBERS * CROPS[crops].views

    def _hold(self, photos: Tensor) -> Tensor:
        """Return features in half precision, on the CPU."""
        return photos

    def _count_features(self) -> int:
        with torch.no_grad():
            return tuned.pool(self._frozen_end(self._on_device(self.photos[:1, 0]))).shape[1]

    @cached_property
    def _frozen_end(self) -> nn.Module:
        """The end before it is tuned. It is loaded once, as that draws random numbers."""
        _, end = load_backbone(self._cache.weights).net.split()
        return end

    @staticmethod
    def _on_device(stems: Tensor) -> Tensor:
        return stems.to(device()).float()

    def _build_model(self, vocab: Vocab, features: int) -> None:
        """Set `vocab` and a new `model`, which encodes stems."""
        super()._build_model(vocab, features)
        end = copy.deepcopy(self._frozen_end).requires_grad_(True)
        assert self.model.image is not None
        self.model.image = TunedImage(end, self.model.image)

    @property
    def _image(self) -> TunedImage:
        return cast(TunedImage, self.model.image)

    def optimizer(self) -> Optimizer:
        """Return a new optimizer of the model, whose end has a learning rate of its own."""
        factor = self.config.end_rate / self.config.learning_rate
        return optim.build(self.config, self.model, slow=self._image.end, factor=factor)

    def begin_step(self, optimizer: Optimizer, step: int) -> float:
        """Set and return the learning rate of a step; freeze the end in the first epochs."""
        is_trained = step >= self.config.end_start * self.steps_per_epoch
        self._image.end.requires_grad_(is_trained)
        return super().begin_step(optimizer, step)

    def embed(self, batch: Any) -> tuple[Embeddings, Embeddings, Tensor]:
        """Return captions, photos, and the photo of each caption."""
        draw = np.random.default_rng(batch.seed)
        own = [self.train_set.captions_of[photo] for photo in batch.photos]
        captions, owner = draw_texts(own, self.config.captions, draw)
        views = draw.integers(self.photos.shape[1], size=len(batch))
        stems = self.photos[torch.from_numpy(batch.photos), torch.from_numpy(views)]
        inputs = [self.captions[caption] for caption in captions]
        texts = parts.embed_texts(self.model.text, inputs, self.config.chunk)
        photos = parts.embed_photos(self._image, self._on_device(stems[:, None]), self.config.chunk)
        return texts, photos, torch.from_numpy(owner).to(device())

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
