"""Train a tiny CLIP (Radford et al. 2021) on Storybook, by open_clip's own loss.

Pictures are cropped a little, but keep their colours and are never mirrored, as captions name
colours, left and right. The loss counts a caption as wrong for all other pictures of a batch, even
for those that it is true of. It thereby learns how much likelier a caption is with a picture than
without one, which is the right order for retrieval.
"""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import open_clip
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.optim import AdamW, Optimizer

from vsdemo.core import checksums, tensors
from vsdemo.core import config as configs
from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.device import device
from vsdemo.core.paths import write_text
from vsdemo.data import storybook
from vsdemo.data.storybook import store
from vsdemo.data.storybook.free_scenes import FIRST_FREE
from vsdemo.evaluation import cards
from vsdemo.evaluation.metrics.ranks import best_ranks
from vsdemo.evaluation.metrics.retrieval import Ranks
from vsdemo.evaluation.report.recording import shipped_name
from vsdemo.models import pretrained, shipped_files
from vsdemo.recipes.clip import scenes
from vsdemo.recipes.clip.card import card
from vsdemo.recipes.last_epoch import LastEpochMaterial
from vsdemo.search import calibration
from vsdemo.training import optim
from vsdemo.training.trainer import Trainer

SIZE, STORED = 128, 160  # sides of a crop and of a picture in memory, in pixels
MIN_SIDE = 0.85  # smallest part of a picture's width and height in a crop
CAPTIONS = 2  # of each picture in a step
MAX_SCALE = math.log(100)  # of the logits, as in the paper
MEAN, STD = 0.5, 0.5
TEXT = {"context_length": 32, "vocab_size": 49408, "width": 64, "heads": 4, "layers": 4}
MODEL: dict[str, Any] = {
    "embed_dim": 64,
    "vision_cfg": {"timm_model_name": "test_byobnet", "image_size": SIZE},
    "text_cfg": TEXT,
}
PREPROCESS = {
    "mean": [MEAN] * 3,
    "std": [STD] * 3,
    "interpolation": "bicubic",
    "resize_mode": "squash",
}
TABLE = "token_embedding.weight"


class ClipConfig(configs.Config):
    """The settings of a training; only those below have an effect.

    `more` is the number of scenes in addition to those of train.
    """

    more: int = 20_000
    seed: configs.Seed = 0
    batch_size: configs.BatchSize = 128
    epochs: configs.Epochs = 12
    evaluate_every: configs.EvaluateEvery = 2
    learning_rate: configs.LearningRate = 0.002
    schedule: configs.Schedule = "cosine"
    warmup: configs.Warmup = 200
    weight_decay: configs.WeightDecay = 0.05
    clip: configs.Clip = 1.0


@dataclass(frozen=True)
class Batch:
    """Crops (B, 3, SIZE, SIZE), from 0 to 255, and tokens (B, CAPTIONS, T) of their captions."""

    pixels: Tensor
    tokens: Tensor

    def __len__(self) -> int:
        """Return the number of crops."""
        return len(self.pixels)


class Contrast(LastEpochMaterial):
    """The material of the training: pictures and captions that belong together.

    Args:
        config: The settings of the training.
        cache: The folder of pixels and tokens.
    """

    name = "clip"
    config: ClipConfig
    model: Any

    def __init__(self, config: ClipConfig, cache: Path) -> None:
        self.config, self.cache = config, cache
        self.tokenize = open_clip.SimpleTokenizer(context_length=TEXT["context_length"])
        self.contrast = open_clip.ClipLoss()

    def build(self) -> nn.Module:
        """Draw the scenes and return a new model."""
        free = range(FIRST_FREE, FIRST_FREE + self.config.more)
        numbers = (*store.SPLITS["train"], *free)
        self.scenes = scenes.load(self.cache, numbers, STORED, self.tokenize)
        self.steps_per_epoch = max(1, len(self.scenes.pixels) // self.config.batch_size)
        torch.manual_seed(self.config.seed)
        self.model = open_clip.CLIP(**MODEL).to(device())
        self.model.visual.to(memory_format=torch.channels_last)
        return cast(nn.Module, self.model)

    def batches(self, epoch: int, start: int = 0) -> Iterator[Batch]:
        """Yield the batches of an epoch from batch number `start` on."""
        rng = np.random.default_rng([self.config.seed, epoch])
        order = rng.permutation(len(self.scenes.pixels))
        for number in range(start, self.steps_per_epoch):
            rows = np.sort(order[number * self.config.batch_size :][: self.config.batch_size])
            yield self._batch(rows, np.random.default_rng([self.config.seed, epoch, number]))

    def _batch(self, rows: np.ndarray, rng: np.random.Generator) -> Batch:
        pixels = torch.from_numpy(self.scenes.pixels[rows]).permute(0, 3, 1, 2)
        options = self.scenes.tokens.shape[1]
        chosen = rng.permuted(np.tile(np.arange(options), (len(rows), 1)), axis=1)[:, :CAPTIONS]
        tokens = self.scenes.tokens[rows[:, None], chosen].astype(np.int64)
        return Batch(crop(pixels.float(), rng), torch.from_numpy(tokens))

    def optimizer(self) -> Optimizer:
        """Return AdamW, with weight decay of matrices only."""
        decay = self.config.weight_decay
        return AdamW(self.parameter_groups(), betas=(0.9, 0.98), weight_decay=decay)

    def begin_step(self, optimizer: Optimizer, step: int) -> float:
        """Set and return the learning rate, and limit the scale of the logits."""
        with torch.no_grad():
            self.model.logit_scale.clamp_(0, MAX_SCALE)
        return optim.begin_step(optimizer, self.config, step, self.steps_per_epoch)

    def embed(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return unit vectors of the pictures (B, D) and of their captions (B, CAPTIONS, D)."""
        photos = embed_pixels(self.model, batch.pixels)
        with torch.autocast(device().type, enabled=False):  # bfloat16 is slower for small matrices
            texts = self.model.encode_text(batch.tokens.flatten(0, 1).to(device()), normalize=True)
        return photos, texts.unflatten(0, batch.tokens.shape[:2])

    def loss(self, *embedded: Tensor, progress: float) -> dict[str, Tensor]:
        """Return the mean of the losses of the first captions, of the second ones and so on."""
        photos, texts = embedded
        scale = self.model.logit_scale.exp()
        losses = [self.contrast(photos, captions, scale) for captions in texts.unbind(1)]
        return {"loss": torch.stack(losses).mean(), "scale": scale}

    def adjust_gradients(self, batch: Batch, step: int) -> dict[str, Tensor]:
        """Clip the norm of the gradient."""
        return optim.clip_gradients(self.model, self.config.clip)

    def measure(self, model: Any) -> dict[str, Any]:
        """Return the metrics of retrieval on dev."""
        return measure(model, self.tokenize, storybook.load("dev"))

    def describe(self) -> dict[str, Any]:
        """Return the settings and the model."""
        return {"scenes": len(self.scenes.pixels), "model": MODEL} | self.identity()

    def identity(self) -> dict[str, Any]:
        """Return the settings."""
        return self.config.model_dump(include=set(ClipConfig.__annotations__))

    def save(self, folder: Path, model: Any, *, atomic: bool = False) -> None:
        """Write what open_clip loads by `local-dir:`, each file atomically."""
        weights = tensors.to_half(model.state_dict()) | {TABLE: self._table(model)}
        tensors.write(folder / "open_clip_model.safetensors", weights)
        config = {"model_cfg": MODEL, "preprocess_cfg": PREPROCESS}
        write_text(folder / "open_clip_config.json", json.dumps(config, indent=2) + "\n")

    def _table(self, model: Any) -> Tensor:
        """Return the vectors of tokens in 8 bits: they are most of the model.

        Tokens that occur in no caption get zeros instead of their random initial vectors.
        """
        seen = torch.zeros(TEXT["vocab_size"], dtype=torch.bool)
        seen[torch.from_numpy(np.unique(self.scenes.tokens).astype(np.int64))] = True
        table = model.token_embedding.weight.detach().cpu() * seen[:, None]
        return cast(Tensor, table.to(torch.float8_e4m3fn))


def crop(pixels: Tensor, rng: np.random.Generator) -> Tensor:
    """Return random crops (B, 3, SIZE, SIZE) of pictures (B, 3, H, W)."""
    count = len(pixels)
    share = rng.uniform(MIN_SIDE, 1, (count, 2))
    shift = rng.uniform(-1, 1, (count, 2)) * (1 - share)
    matrices = np.zeros((count, 2, 3), np.float32)
    matrices[:, [0, 1], [0, 1]] = share
    matrices[:, :, 2] = shift
    grid = F.affine_grid(torch.from_numpy(matrices), [count, 3, SIZE, SIZE], align_corners=False)
    return F.grid_sample(pixels, grid, padding_mode="border", align_corners=False)


def embed_pixels(model: Any, pixels: Tensor) -> Tensor:
    """Return unit vectors (B, D) of pictures (B, 3, SIZE, SIZE), from 0 to 255."""
    scaled = (pixels.to(device()).float() / 255 - MEAN) / STD
    vectors = model.encode_image(scaled.contiguous(memory_format=torch.channels_last))
    return F.normalize(vectors.float(), dim=-1)


@torch.no_grad()
def measure(model: Any, tokenize: open_clip.SimpleTokenizer, split: CaptionSet) -> dict[str, Any]:
    """Return the metrics of retrieval on a split."""
    model.eval()
    pixels = np.stack([scenes.read_square(path, SIZE) for path in split.photos])
    photos = embed_pixels(model, torch.from_numpy(pixels).permute(0, 3, 1, 2))
    tokens = tokenize(list(split.captions)).to(device())
    scores = (model.encode_text(tokens, normalize=True) @ photos.T).cpu()  # (C, P)
    owner = torch.tensor(split.photo_of)
    relevant = owner[:, None] == torch.arange(len(split.photos))  # (C, P)
    ranks = Ranks(
        i2t=best_ranks(scores.T, relevant.T).numpy(),
        t2i=best_ranks(scores, relevant).numpy(),
        photo_of=owner.numpy(),
    )
    return ranks.metrics()


def train(out: Path, config: ClipConfig) -> str:
    """Train in the folder `out`.work, or resume; write the model to `out` at the end.

    Returns:
        "done" or "stopped".

    Raises:
        UserError: As `scenes.load` and `Trainer.run` do.
    """
    work = out.with_name(f"{out.name}.work")
    material = Contrast(config, cache=work)
    trainer = Trainer(work, material)
    outcome = trainer.run()
    if outcome == "done":
        material.save(out, trainer.evaluated)
        shipped, _ = open_clip.create_model_from_pretrained(f"local-dir:{out}")
        test = measure(shipped.to(device()), material.tokenize, storybook.load("test"))
        count, hours = len(material.scenes.pixels), trainer.seconds / 3600
        write_text(out / "README.md", card(config, scenes=count, hours=hours, metrics=test))
        shutil.copy(work / "events.jsonl", out)
        if name := shipped_name(out):
            ship(out, f"clip:{name}")
    return outcome


def ship(folder: Path, backbone: str) -> None:
    """Make a checkpoint of a model in open_clip's layout below checkpoints/, and measure it.

    Args:
        folder: The folder of the model.
        backbone: Its name, `clip:NAME`.
    """
    pretrained.write(folder, backbone, dataset="storybook")
    cards.finish(folder)
    calibration.calibrate(folder)
    checksums.write_list(folder, shipped_files.files(folder))
