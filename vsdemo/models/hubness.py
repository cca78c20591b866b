"""Models whose scores are corrected for hubs, see `vsdemo.encoders.hubness`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from torch import Tensor

from vsdemo.core.sentences import Sentence
from vsdemo.encoders.hubness import HasHead, append_hubs, hub_head
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.models.scores import SCORES


def correct_hubs(model: DualEncoder, size: int) -> DualEncoder:
    """Correct the scores of a new model with the cosine for hubs, and return it.

    Args:
        model: A model whose encoders have a head.
        size: Captions, and photos, of the training by which hubs are measured; 0 changes nothing.
    """
    if size:
        for encoder in (model.text, model.image):
            append_hubs(cast(HasHead, encoder), size)
        model.score = SCORES["hub_corrected"]
    return model


def bank_size(model: DualEncoder) -> int:
    """Return the number of captions, and photos, by which hubs are measured; 0 without hubs."""
    head = hub_head(model.text)
    return 0 if head is None else len(head.bank)


def measure_hubs(model: DualEncoder, sentences: Sequence[Sentence], features: Tensor) -> None:
    """Measure hubs by `bank_size` sentences and photos of the training.

    Args:
        model: A model with hubs.
        sentences: The sentences.
        features: Features of the photos, (N, F).
    """
    assert model.image is not None
    heads = [hub_head(model.text), hub_head(model.image)]
    texts = model.encode_text(sentences).x[:, :-1]
    photos = model.encode_image(features).x[:, :-1]
    for head, bank, same in zip(heads, (photos, texts), (texts, photos), strict=True):
        assert head is not None
        head.measure(bank, same)
