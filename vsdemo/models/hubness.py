"""Models whose scores are corrected for hubs, see `vsdemo.encoders.hubness`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from torch import Tensor

from vsdemo.core.sentences import Sentence
from vsdemo.encoders.hubness import HasHead, append_hubs, hub_head
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.models.scores import SCORES

PER_PHOTO = 4  # captions for each photo in the bank, as photos take longer to embed


def correct_hubs(model: DualEncoder, size: int) -> DualEncoder:
    """Correct the scores of a new model with the cosine for hubs, and return it.

    Args:
        model: A model whose encoders have a head.
        size: Captions of the training by which hubs of photos are measured; hubs of sentences are
            measured by fewer photos. 0 changes nothing.
    """
    if size:
        append_hubs(cast(HasHead, model.text), -(-size // PER_PHOTO))
        append_hubs(cast(HasHead, model.image), size)
        model.score = SCORES["hub_corrected"]
    return model


def bank_sizes(model: DualEncoder) -> tuple[int, int] | None:
    """Return by how many captions and photos hubs are measured; None without hubs."""
    of_texts = hub_head(model.text)
    of_photos = None if model.image is None else hub_head(model.image)
    if of_texts is None or of_photos is None:
        return None
    return len(of_photos.bank), len(of_texts.bank)


def measure_hubs(model: DualEncoder, sentences: Sequence[Sentence], features: Tensor) -> None:
    """Measure hubs by sentences and photos of the training, as many as `bank_sizes`.

    Args:
        model: A model with hubs.
        sentences: The sentences.
        features: Features of the photos, (N, F).
    """
    assert model.image is not None
    texts = model.encode_text(sentences).x[:, :-1]
    photos = model.encode_image(features).x[:, :-1]
    for encoder, bank, same in ((model.text, photos, texts), (model.image, texts, photos)):
        head = hub_head(encoder)
        assert head is not None
        head.measure(bank, same)
