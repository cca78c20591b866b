"""A checkpoint for other programs: lists in, NumPy arrays out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import torch.nn.functional as F
from torch import Tensor
from tqdm import tqdm

from vsdemo.core.alignment import Alignment
from vsdemo.core.device import device
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.images import PhotoSource, read_photo
from vsdemo.core.paths import AnyPath
from vsdemo.core.sentences import Sentence
from vsdemo.evaluation.text_embeddings import pooled
from vsdemo.search.engine import Reader


class EmbeddingModel:
    """A trained model that puts sentences and images in one space.

    Images are paths, images of Pillow, or arrays (height, width, 3) of uint8, RGB, 0 to 255. Lists
    may be any iterables; rows of results are in their order. Nothing is cached on the disk.

    Args:
        folder: The checkpoint.

    Attributes:
        reader: The model as the app uses it, which also describes images.

    Raises:
        UserError: The checkpoint is missing or damaged. All methods raise it for invalid input.
    """

    def __init__(self, folder: AnyPath) -> None:
        self.reader = Reader(folder)

    def encode_text(self, texts: Iterable[str]) -> np.ndarray:
        """Return the embeddings of N sentences as the model compares them with images.

        Args:
            texts: Sentences of at most 1,000 characters.

        Returns:
            (N, D), float32.

        Raises:
            UserError: There are no texts; one is blank, too long or not a string, or the model
                knows no word of it; or the model has a set of vectors for each sentence.
        """
        self._check_single_vectors()
        return _array(self._embed_texts(texts).x)

    def encode_image(self, images: Iterable[PhotoSource]) -> np.ndarray:
        """Return the embeddings of N images.

        Returns:
            (N, D), float32.

        Raises:
            UserError: There are no images, or one cannot be read; the model is for tasks without
                images, its image network is missing, or it has a set of vectors for each image.
        """
        self._check_single_vectors()
        return _array(self._embed_images(images).x)

    def score(self, texts: Iterable[str], images: Iterable[PhotoSource]) -> np.ndarray:
        """Return how well T sentences describe I images, by the score that the model searches with.

        Returns:
            (T, I), float32; higher is better. `reader.score.meaning` says what the numbers mean.

        Raises:
            UserError: As `encode_text` and `encode_image`, except that sets of vectors are fine.
        """
        self.reader.check_backbone()
        general = self._embed_texts(texts).to(device())
        specific = self._embed_images(images).to(device())
        return _array(self.reader.score(general, specific))

    def align(self, image: PhotoSource, text: str) -> Alignment:
        """Return which parts of a sentence describe which regions of an image.

        Raises:
            UserError: The model embeds sentence and image as a whole; or as `encode_text` and
                `encode_image` for an invalid sentence or image.
        """
        self.reader.check_can_align()
        if not isinstance(text, str):
            raise UserError(f"text must be one sentence, not of the type {type(text).__name__}.")
        return self.reader.align(read_photo(image), text)

    def encode(
        self,
        sentences: str | Iterable[str],
        batch_size: int = 32,
        *,
        show_progress_bar: bool | None = False,
        convert_to_numpy: bool = True,
        convert_to_tensor: bool = False,
        normalize_embeddings: bool = False,
        **kwargs: Any,
    ) -> np.ndarray | Tensor | list[Tensor]:
        """Return vectors of sentences whose cosines say how similar they are.

        It takes the arguments of `SentenceTransformer.encode`, and texts as they occur in
        benchmarks: even long ones, and ones in which the model knows no word. For most models
        the vectors are those of `encode_text`; for others `text_embeddings.pooled` computes them
        from these, for example as the mean of a set of vectors.

        Args:
            sentences: N sentences, or one.
            batch_size: Sentences in a forward pass.
            show_progress_bar: Whether to show a progress bar in the terminal.
            convert_to_numpy: Whether to return an array; otherwise it is a list of tensors.
            convert_to_tensor: Whether to return one tensor instead.
            normalize_embeddings: Whether to scale the vectors to length 1.
            **kwargs: Ignored; these models do not use prompts, for example.

        Returns:
            (N, D), or (D,) for one sentence; float32.

        Raises:
            UserError: There are no sentences, one is not a string, or the batch size is below 1.
                Also for a blank sentence, or one of more than 250 words, if the model reads trees.
        """
        texts = [sentences] if isinstance(sentences, str) else _check_texts(sentences)
        if batch_size < 1:
            raise UserError(f"batch_size must be at least 1, not {batch_size}.")
        with tqdm(total=len(texts), desc="sentences", disable=not show_progress_bar) as bar:
            embeddings = self.reader.model.encode_text(
                [Sentence(text) for text in texts],
                lambda done, total: bar.update(done - bar.n),
                batch_size=batch_size,
            )
        vectors = pooled(embeddings, self.reader.score)
        if normalize_embeddings:
            vectors = F.normalize(vectors, dim=-1)
        if isinstance(sentences, str):
            vectors = vectors[0]
        if convert_to_tensor:
            return vectors
        return _array(vectors) if convert_to_numpy else list(vectors)

    def _embed_texts(self, texts: Iterable[str]) -> Embeddings:
        """Return the embeddings of N sentences, (N, D), or their sets (N, M, D)."""
        checked = _check_texts(texts)
        for number, text in enumerate(checked):
            try:
                Sentence.from_user(text)
            except UserError as error:
                raise UserError(f"texts[{number}]: {error}") from None
        return self.reader.encode_texts(checked)

    def _embed_images(self, images: Iterable[PhotoSource]) -> Embeddings:
        """Return the embeddings of N images, (N, D), or of their regions, (N, K, D)."""
        checked = _check_images(images)
        return self.reader.encode_photos(
            read_photo(image, f"images[{number}]") for number, image in enumerate(checked)
        )

    def _check_single_vectors(self) -> None:
        if self.reader.can_align:
            raise UserError(
                f"{self.reader.spec.preset} has a set of vectors for each sentence and each image; "
                "compare them with score(texts, images) or align(image, text)."
            )


def _array(x: Tensor) -> np.ndarray:
    array: np.ndarray = x.float().cpu().numpy()
    return array


def _check_texts(texts: Iterable[str]) -> list[str]:
    """Return N sentences as a list, N at least 1."""
    if isinstance(texts, str) or not isinstance(texts, Iterable):
        raise UserError(f'texts must be a list of sentences, not {texts!r:.40}; write ["a dog"].')
    result = list(texts)
    if not result:
        raise UserError("The list of texts is empty; give at least one sentence.")
    for number, text in enumerate(result):
        if not isinstance(text, str):
            raise UserError(f"texts[{number}] is of the type {type(text).__name__}; give strings.")
    return result


def _check_images(images: Iterable[PhotoSource]) -> list[PhotoSource]:
    """Return N images as a list, N at least 1."""
    is_one = isinstance(images, str) or (isinstance(images, np.ndarray) and images.ndim in (2, 3))
    if is_one or not isinstance(images, Iterable):
        raise UserError(
            f"images must be a list, not of the type {type(images).__name__}; write [image] for "
            "one image."
        )
    result = list(images)
    if not result:
        raise UserError("The list of images is empty; give at least one image.")
    return result
