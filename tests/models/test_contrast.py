"""The contrastive loss, against plain loops."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch.autograd import gradcheck

from vsdemo.core.embeddings import Embeddings
from vsdemo.models.contrast import MOST, SCALE, Contrast, PhotoLabels
from vsdemo.models.scores import SCORES

OWNER = torch.tensor([0, 0, 1, 2, 2, 2])


def unit(*shape):
    return F.normalize(torch.randn(*shape, dtype=torch.float64), dim=-1)


@pytest.fixture
def batch():
    torch.manual_seed(0)
    return unit(6, 4), unit(3, 4)


def loss_of(texts, photos):
    labels = PhotoLabels(OWNER)
    return Contrast()(SCORES["cosine"], Embeddings(texts), Embeddings(photos), labels)


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


def test_each_part_has_a_loss_of_its_own(batch):
    texts, photos = batch

    def loss(parts, x, y):
        labels = PhotoLabels(OWNER)
        return Contrast(parts=parts)(SCORES["cosine"], Embeddings(x), Embeddings(y), labels)["loss"]

    halves = [loss(1, texts[:, part], photos[:, part]) for part in (slice(0, 2), slice(2, 4))]
    expected = (loss(1, texts, photos) + sum(halves)) / 3
    torch.testing.assert_close(loss(2, texts, photos), expected)
    assert gradcheck(lambda x, y: loss(2, x, y), [x.requires_grad_() for x in batch], atol=1e-4)


def test_captions_of_one_photo_are_not_negatives(batch):
    texts, photos = batch
    texts = texts.index_copy(0, torch.tensor([1]), texts[:1])  # the same caption twice
    before = loss_of(texts, photos)["photos"]
    assert before.isfinite()
    alone = Contrast()(
        SCORES["cosine"],
        Embeddings(texts[:1]),
        Embeddings(photos[:1]),
        PhotoLabels(torch.tensor([0])),
    )
    assert alone["loss"].item() == 0  # nothing to tell apart


def test_gradients(batch):
    assert gradcheck(
        lambda t, v: loss_of(t, v)["loss"], [x.requires_grad_() for x in batch], atol=1e-4
    )


def test_scale_is_limited(batch):
    contrast = Contrast()
    contrast.log_scale.data.fill_(20.0)
    parts = contrast(SCORES["cosine"], *map(Embeddings, batch), PhotoLabels(OWNER))
    assert float(parts["scale"]) == MOST


PLACES = torch.tensor([[0, 0], [0, 1], [2, 0], [1, 0]])
UNKNOWN = torch.tensor([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]).bool()
SEEN = torch.tensor([[True, True, True], [True, False, False], [True, True, False]])


@pytest.fixture
def regions(batch):
    """Phrases (4, 4), and photos with up to two regions, (3, 3, 4)."""
    _, photos = batch
    return unit(4, 4), torch.cat([photos[:, None], unit(3, 2, 4)], 1)


def loss_with_phrases(texts, phrases, photos, weight=0.5):
    return Contrast(phrase_weight=weight)(
        SCORES["cosine"],
        Embeddings(torch.cat([texts, phrases])),
        Embeddings(photos, SEEN),
        PhotoLabels(OWNER, PLACES, UNKNOWN),
    )


def test_phrases_are_compared_with_the_regions_that_are_there(batch, regions):
    """The region of the last phrase is not; the first two phrases may name the same."""
    phrases, photos = regions
    own = [photos[photo, 1 + region] for photo, region in PLACES.tolist()]
    allowed = {0: [0, 2], 1: [1, 2], 2: [0, 1, 2]}
    total = 0.0
    for i, others in allowed.items():
        across = [math.exp(SCALE * float(phrases[i] @ own[j])) for j in others]
        down = [math.exp(SCALE * float(phrases[j] @ own[i])) for j in others]
        right = math.exp(SCALE * float(phrases[i] @ own[i]))
        total -= math.log(right / sum(across)) + math.log(right / sum(down))
    parts = loss_with_phrases(batch[0], *regions)
    assert parts["phrases"].item() == pytest.approx(total / 3, rel=1e-5)
    plain = loss_of(*batch)["loss"].item()
    assert parts["loss"].item() == pytest.approx(plain + 0.5 * total / 3, rel=1e-5)


def test_a_batch_whose_regions_are_all_out_of_view_has_no_loss_of_phrases(batch, regions):
    phrases, photos = regions
    unseen = Embeddings(photos, torch.tensor([[True, False, False]] * 3))
    texts = Embeddings(torch.cat([batch[0], phrases]))
    labels = PhotoLabels(OWNER, PLACES, UNKNOWN)
    parts = Contrast(0.5)(SCORES["cosine"], texts, unseen, labels)
    assert parts["phrases"] == 0
    assert parts["loss"].item() == pytest.approx(loss_of(*batch)["loss"].item())


def test_gradients_of_phrases(batch, regions):
    inputs = [x.requires_grad_() for x in (batch[0], *regions)]
    assert gradcheck(lambda *x: loss_with_phrases(*x)["loss"], inputs, atol=1e-4)


def loss_with_pairs(texts, ones, others, photos):
    return Contrast(pair_weight=0.5)(
        SCORES["cosine"],
        Embeddings(torch.cat([texts, ones, others])),
        Embeddings(photos),
        PhotoLabels(OWNER),
    )


def test_pairs_of_captions_are_told_apart(batch):
    ones, others = unit(3, 4), unit(3, 4)
    logits = (SCALE * ones @ others.T).tolist()
    total = 0.0
    for i in range(3):
        right = math.exp(logits[i][i])
        total -= math.log(right / sum(math.exp(x) for x in logits[i]))
        total -= math.log(right / sum(math.exp(row[i]) for row in logits))
    parts = loss_with_pairs(batch[0], ones, others, batch[1])
    assert parts["pairs"].item() == pytest.approx(total / 3, rel=1e-5)
    plain = loss_of(*batch)["loss"].item()
    assert parts["loss"].item() == pytest.approx(plain + 0.5 * total / 3, rel=1e-5)


def test_pairs_come_after_phrases(batch, regions):
    phrases, photos = regions
    pairs = unit(6, 4)
    texts = Embeddings(torch.cat([batch[0], phrases, pairs]))
    labels = PhotoLabels(OWNER, PLACES, UNKNOWN)
    parts = Contrast(0.5, 0.5)(SCORES["cosine"], texts, Embeddings(photos, SEEN), labels)
    without = loss_with_phrases(batch[0], *regions)
    alone = loss_with_pairs(batch[0], pairs[:3], pairs[3:], batch[1])
    torch.testing.assert_close(parts["phrases"], without["phrases"])
    torch.testing.assert_close(parts["pairs"], alone["pairs"])
    torch.testing.assert_close(parts["loss"], without["loss"] + 0.5 * alone["pairs"])


def test_gradients_of_pairs(batch):
    inputs = [x.requires_grad_() for x in (batch[0], unit(2, 4), unit(2, 4), batch[1])]
    assert gradcheck(lambda *x: loss_with_pairs(*x)["loss"], inputs, atol=1e-4)
