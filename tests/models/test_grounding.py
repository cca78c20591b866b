"""The loss of phrases and regions, against plain loops."""

import math
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch.autograd import gradcheck

from vsdemo.core.embeddings import Embeddings
from vsdemo.models.contrast import SCALE
from vsdemo.models.grounding import Grounding, PhraseLabels
from vsdemo.models.losses import distillation
from vsdemo.models.scores import fragment_alignment

OWNER = torch.tensor([0, 0, 1])
NUMBERS = [[0, 1, 2], [0, 1], [0, 1, 2]]  # fragments of each caption, the whole sentence first
REGIONS = [[0, 1, 2, 3], [0, 1, 2]]  # of each photo
PLACES = {(0, 1): {0: 0.25, 2: 0.75}, (2, 2): {1: 1.0}}  # caption, phrase -> region -> how well
SCORE = fragment_alignment(smoothing=0.0, best_region=True)


def sets(rows, seed):
    x = torch.zeros(len(rows), max(map(len, rows)), 4, dtype=torch.float64)
    mask = torch.zeros(x.shape[:2], dtype=torch.bool)
    draw = torch.Generator().manual_seed(seed)
    for row, numbers in enumerate(rows):
        x[row, : len(numbers)] = F.normalize(
            torch.randn(len(numbers), 4, dtype=torch.float64, generator=draw), dim=-1
        )
        mask[row, : len(numbers)] = True
    return x, mask


@pytest.fixture
def texts():
    return sets(NUMBERS, seed=1)


@pytest.fixture
def photos():
    return sets(REGIONS, seed=2)


def labels():
    regions = torch.zeros(len(PLACES), 4, dtype=torch.float64)
    for row, own in enumerate(PLACES.values()):
        for region, share in own.items():
            regions[row, region] = share
    return PhraseLabels(OWNER, torch.tensor(list(PLACES)), regions)


def log_share(logits, right):
    return logits[right] - math.log(sum(map(math.exp, logits)))


def test_loss_is_that_of_plain_loops(texts, photos):
    (s, s_mask), (v, v_mask) = texts, photos

    def product(caption, number, photo, region):
        return float(s[caption, number] @ v[photo, region])

    def best(caption, number, photo):
        return max(product(caption, number, photo, region) for region in REGIONS[photo])

    def score(caption, photo):
        parts = [max(0.0, best(caption, number, photo)) for number in NUMBERS[caption]]
        return sum(parts) / len(parts)

    def whole(caption, photo):
        return best(caption, 0, photo) / (len(NUMBERS[caption]) - 1)

    phrases, count = 0.0, 0
    for caption, photo in enumerate(OWNER.tolist()):
        for number in NUMBERS[caption][1:]:
            phrases -= log_share([SCALE * best(caption, number, p) for p in range(2)], photo)
            count += 1
    places = 0.0
    for (caption, number), own in PLACES.items():
        photo = int(OWNER[caption])
        logits = [SCALE * product(caption, number, photo, r) for r in REGIONS[photo]]
        places -= sum(share * log_share(logits, r) for r, share in own.items()) / len(PLACES)
    result = Grounding(0.5, 2.0)(SCORE, Embeddings(s, s_mask), Embeddings(v, v_mask), labels())
    expected = {
        "captions": contrast(score),
        "wholes": contrast(whole),
        "phrases": 0.5 * phrases / count,
        "places": 2 * places,
    }
    assert {name: result[name].item() for name in expected} == pytest.approx(expected, rel=1e-5)
    assert result["loss"].item() == pytest.approx(sum(expected.values()), rel=1e-5)


def contrast(score):
    """Return the losses of captions among photos, and of photos among captions."""
    total = 0.0
    for caption, photo in enumerate(OWNER.tolist()):
        logits = [SCALE * score(caption, p) for p in range(2)]
        others = [SCALE * score(c, photo) for c, p in enumerate(OWNER.tolist()) if p != photo]
        total -= log_share(logits, photo) / len(OWNER)
        total -= log_share([logits[photo], *others], 0) / len(OWNER)
    return total


def test_a_teacher_adds_how_far_both_scores_are_from_its_own(texts, photos):
    taught = torch.rand(3, 2, dtype=torch.float64)
    loss = Grounding(0.5, 2.0, teacher_weight=0.7, teacher_temperature=0.2)
    embeddings = Embeddings(*texts), Embeddings(*photos)
    alone = loss(SCORE, *embeddings, labels())
    result = loss(SCORE, *embeddings, replace(labels(), teacher=taught))
    counts = torch.tensor([[len(numbers) - 1] for numbers in NUMBERS])
    wholes = SCORE.align(*embeddings).masked_fill(~embeddings[1].mask[:, None], -torch.inf)
    for name, scores in (
        ("captions", SCORE(*embeddings)),
        ("wholes", wholes[:, :, 0].amax(-1) / counts),
    ):
        expected = 0.7 * distillation(scores, taught, 0.2) / 3
        assert (result[name] - alone[name]).item() == pytest.approx(expected.item())


def test_gradients_are_right(texts, photos):
    (s, s_mask), (v, v_mask) = texts, photos
    loss = Grounding(0.5, 2.0).double()
    taught = replace(labels(), teacher=torch.rand(3, 2, dtype=torch.float64))

    def total(x, y):
        return loss(SCORE, Embeddings(x, s_mask), Embeddings(y, v_mask), taught)["loss"]

    is_there = v_mask[..., None]
    assert gradcheck(lambda x, y: total(x, y * is_there), (s.requires_grad_(), v.requires_grad_()))


def test_without_known_places_only_captions_and_phrases_count(texts, photos):
    none = PhraseLabels(OWNER, torch.zeros(0, 2, dtype=torch.long), torch.zeros(0, 1))
    result = Grounding(1.0, 2.0)(SCORE, Embeddings(*texts), Embeddings(*photos), none)
    parts = result["captions"] + result["wholes"] + result["phrases"]
    assert result["loss"].item() == pytest.approx(parts.item())
    assert "places" not in result
