"""Teachers: checkpoints whose scores another model learns to reproduce.

A teacher embeds the captions and photos of a training once, before it starts. It is not trained,
and not saved with the model that it teaches.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from torch import Tensor
from tqdm import tqdm

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.device import device
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence
from vsdemo.models import checkpoint, checkpoint_names
from vsdemo.models.checkpoint import Spec
from vsdemo.models.scores import Score


@dataclass(frozen=True)
class Teacher:
    """The embeddings of a training's C captions and P photos by a teacher.

    Attributes:
        spec: What identifies the teacher.
        score: Its score.
        captions: (C, D), or sets (C, M, D).
        photos: (P, D), or sets (P, K, D).
    """

    spec: Spec
    score: Score
    captions: Embeddings
    photos: Embeddings

    def scores(self, captions: Tensor, photos: Tensor) -> Tensor:
        """Return the scores of captions (A,) and photos (B,), which are given by number: (A, B)."""
        return self.score(self.captions[captions], self.photos[photos])


def read_spec(name: str) -> Spec:
    """Return what identifies a teacher: its spec with `of`, the name, and `of_hash`, its content.

    Args:
        name: Name of a checkpoint, as `checkpoint_names.find` takes it.

    Raises:
        UserError: There is no such checkpoint, or it reads no photos.
    """
    folder = checkpoint_names.find(name)
    spec = checkpoint.read_spec(folder)
    if not spec.features:
        raise UserError(f"{name} reads no photos, so it cannot be a teacher; choose another one.")
    return replace(spec, of=name, of_hash=checkpoint.content_hash(folder))


def load(name: str, train_set: CaptionSet) -> Teacher:
    """Embed the captions and photos of a training by a teacher; shows progress bars.

    Args:
        name: Name of a checkpoint, as `checkpoint_names.find` takes it.
        train_set: The captions and photos.

    Raises:
        UserError: As `read_spec`, or the checkpoint is damaged, its image network is not available
            or photos cannot be read.
    """
    spec = read_spec(name)
    model, _, _ = checkpoint.load(checkpoint_names.find(name))
    _, features, _ = checkpoint.feature_cache(spec).get_readable(train_set)
    photos = model.encode_image(features)
    sentences = [Sentence(caption) for caption in train_set.captions]
    with tqdm(total=len(sentences), desc=f"{name} captions") as bar:
        captions = model.encode_text(sentences, lambda done, _: bar.update(done - bar.n))
    return Teacher(spec, model.score, captions.to(device()), photos.to(device()))
