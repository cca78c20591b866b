"""The contrastive loss, against plain loops."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch.autograd import gradcheck

from vsdemo.core.embeddings import Embeddings
from vsdemo.models.contrast import MOST, SCALE, Contrast
from vsdemo.models.scores import SCORES

OWNER = torch.tensor([0, 0, 1, 2, 2, 2])


def unit(*shape):
    return F.normalize(torch.randn(*shape, dtype=torch.float64), dim=-1)


@pytest.fixture
def batch():
    torch.manual_seed(0)
    return unit(6, 4), unit(3, 4)


def loss_of(texts, photos):
    return Contrast()(SCORES["cosine"], Embeddings(texts), Embeddings(photos), OWNER)


def test_loss_is_that_of_plain_loops(batch):
    texts, photos = batch
    logits = (SCALE * texts @ photos.T).tolist()
    total = 0.0
    for caption, photo in enumerate(OWNER.tolist()):
        right = math.exp(logits[caption][photo])
        total -= math.log(right / sum(math.exp(x) for x in logits[caption]))
        others = [math.exp(logits[d][photo]) for d in range(6) if OWNER[d] != photo]
        total -= math.log(right / (right + sum(others)))
    assert loss_of(texts, photos)["loss"].item() == pytest.approx(total / 6, rel=1e-5)


def test_captions_of_one_photo_are_not_negatives(batch):
    texts, photos = batch
    texts = texts.index_copy(0, torch.tensor([1]), texts[:1])  # the same caption twice
    before = loss_of(texts, photos)["photos"]
    assert before.isfinite()
    alone = Contrast()(
        SCORES["cosine"], Embeddings(texts[:1]), Embeddings(photos[:1]), torch.tensor([0])
    )
    assert alone["loss"].item() == 0  # nothing to tell apart


def test_gradients(batch):
    assert gradcheck(
        lambda t, v: loss_of(t, v)["loss"], [x.requires_grad_() for x in batch], atol=1e-4
    )


def test_scale_is_limited(batch):
    contrast = Contrast()
    contrast.log_scale.data.fill_(20.0)
    parts = contrast(SCORES["cosine"], *map(Embeddings, batch), OWNER)
    assert float(parts["scale"]) == MOST
