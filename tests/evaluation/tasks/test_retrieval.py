from types import SimpleNamespace

import numpy as np
import pytest
import torch

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.evaluation.metrics import bootstrap
from vsdemo.evaluation.metrics.retrieval import Ranks, measure
from vsdemo.evaluation.task import PhotoData
from vsdemo.evaluation.tasks import retrieval
from vsdemo.models.scores import Inner

# Scores of 4 photos (rows) and 8 captions; captions 2p and 2p + 1 describe photo p.
SCORES = torch.tensor(
    [
        [0.9, 0.1, 0.3, 0.2, 0.0, 0.8, 0.4, 0.5],
        [0.8, 0.6, 0.7, 0.1, 0.9, 0.2, 0.3, 0.4],
        [0.1, 0.2, 0.9, 0.8, 0.5, 0.3, 0.7, 0.6],
        [0.5, 0.9, 0.4, 0.3, 0.7, 0.1, 0.2, 0.2],
    ]
)
OWNER = torch.tensor([0, 0, 1, 1, 2, 2, 3, 3])
# Photo: its best own caption, and the other captions with a higher score.
#   0: 0.9, none -> 1    1: 0.7, (0.9, 0.8) -> 3
#   2: 0.5, (0.9, 0.8, 0.7, 0.6) -> 5    3: 0.2, (0.9, 0.7, 0.5, 0.4, 0.3) -> 6
I2T = [1, 3, 5, 6]
# Caption: the rank of its own photo among the four of its column.
T2I = [1, 4, 2, 4, 3, 2, 4, 4]


def fake(scores: torch.Tensor) -> SimpleNamespace:
    """Return a model whose inner products are these scores (P, C); photos are unit vectors."""
    captions, photos = Embeddings(scores.T.contiguous()), Embeddings(torch.eye(len(scores)))
    return SimpleNamespace(
        device="cpu",
        score=Inner(),
        encode_text=lambda sentences: captions[torch.tensor([int(s.text) for s in sentences])],
        encode_image=lambda features: photos[features[:, 0].long()],
    )


def split_of(scores: torch.Tensor, owner: torch.Tensor) -> tuple[CaptionSet, torch.Tensor]:
    """Return captions whose texts are their numbers, and features that are photo numbers."""
    texts = tuple(str(i) for i in range(len(owner)))
    photos = tuple(f"{i}.jpg" for i in range(len(scores)))
    numbers = torch.arange(len(scores), dtype=torch.float)[:, None]
    return CaptionSet("fake", "test", photos, texts, tuple(owner.tolist())), numbers


def ranks_of(scores: torch.Tensor, owner: torch.Tensor) -> Ranks:
    model, (split, features) = fake(scores), split_of(scores, owner)
    return measure(model, split, features)


def test_ranks_by_hand():
    result = ranks_of(SCORES, OWNER)
    assert result.i2t.tolist() == I2T
    assert result.t2i.tolist() == T2I


def test_metrics_by_hand():
    result = retrieval.Retrieval().evaluate(fake(SCORES), PhotoData(*split_of(SCORES, OWNER)))
    i2t = {"r1": 25, "r5": 75, "r10": 100, "r20": 100, "r50": 100, "medr": 4, "meanr": 3.75}
    t2i = {"r1": 12.5, "r5": 100, "r10": 100, "r20": 100, "r50": 100, "medr": 3, "meanr": 3}
    assert result["i2t"] == i2t
    assert result["t2i"] == t2i
    assert result["rsum"] == 25 + 75 + 100 + 12.5 + 100 + 100
    assert (result["n_images"], result["n_captions"]) == (4, 8)
    assert result[retrieval.Retrieval.primary] == result["rsum"]


def test_captions_may_be_in_any_order():
    order = torch.tensor([6, 1, 4, 0, 7, 2, 5, 3])
    result = ranks_of(SCORES[:, order], OWNER[order])
    assert result.i2t.tolist() == I2T
    assert result.t2i.tolist() == [T2I[i] for i in order]
    straight = ranks_of(SCORES, OWNER)
    for resample in ([0, 0, 3, 1], [2, 2, 2, 2]):
        assert result.metrics(np.array(resample)) == straight.metrics(np.array(resample))


def test_photos_may_have_different_numbers_of_captions():
    kept = torch.tensor([0, 2, 3, 4, 5, 7])  # one, two, two and one caption
    result = ranks_of(SCORES[:, kept], OWNER[kept])
    assert result.i2t.tolist() == [1, 3, 4, 5]
    assert result.t2i.tolist() == [T2I[i] for i in kept]
    resampled = result.metrics(np.array([1, 1, 3, 0]))
    assert resampled["i2t"]["meanr"] == (3 + 3 + 5 + 1) / 4
    assert resampled["t2i"]["meanr"] == pytest.approx((2 * (2 + 4) + 4 + 1) / 6)


def test_photos_without_captions_are_ranked_but_are_no_queries():
    owner = torch.tensor([0, 0, 3, 3])  # photos 1 and 2 have none
    scores = SCORES[:, [0, 1, 6, 7]]
    result = ranks_of(scores, owner)
    assert result.i2t.tolist() == [1, 3]
    assert result.t2i.tolist() == [1, 4, 4, 4]
    assert result.photo_of.tolist() == [0, 0, 1, 1]
    assert result.metrics(np.array([1, 1]))["t2i"]["meanr"] == 4


def test_intervals_contain_the_metrics():
    scores = torch.randn(60, 120, generator=torch.Generator().manual_seed(0))
    owner = torch.arange(60).repeat_interleave(2)
    scores[owner, torch.arange(120)] += 2
    result = retrieval.Retrieval().evaluate(fake(scores), PhotoData(*split_of(scores, owner)))
    for way in ("i2t", "t2i"):
        for name, value in result[way].items():
            low, high = result["ci95"][way][name]
            assert low <= value <= high, (way, name)
    low, high = result["ci95"]["rsum"]
    assert low < result["rsum"] < high
    assert result == retrieval.Retrieval().evaluate(
        fake(scores), PhotoData(*split_of(scores, owner))
    )


def test_folds_are_means_over_full_blocks(monkeypatch):
    monkeypatch.setattr(retrieval, "FOLD", 4)
    scores = torch.zeros(9, 18)  # two blocks and one photo that is left over
    scores[:4, :8] = SCORES
    scores[4:8, 8:16] = torch.eye(4).repeat_interleave(2, dim=1)  # a perfect block
    scores[8] = 5  # would spoil every caption's rank
    owner = torch.cat([OWNER, OWNER + 4, torch.tensor([8, 8])])
    result = retrieval.Retrieval(folds=True).evaluate(
        fake(scores), PhotoData(*split_of(scores, owner))
    )
    assert result["folds"] == 2
    assert result["i2t"]["meanr"] == (3.75 + 1) / 2
    assert result["t2i"]["r1"] == (12.5 + 100) / 2
    assert "ci95" not in result
    monkeypatch.setattr(retrieval, "FOLD", 10)
    with pytest.raises(UserError, match="has 9 photos; a fold needs 10"):
        retrieval.Retrieval(folds=True).evaluate(fake(scores), PhotoData(*split_of(scores, owner)))


def test_difference_of_a_model_with_itself_is_zero():
    same = bootstrap.difference(ranks_of(SCORES, OWNER), ranks_of(SCORES, OWNER))
    assert same["rsum"] == same["i2t"]["meanr"] == same["t2i"]["r1"] == 0
    assert same["ci95"]["rsum"] == same["ci95"]["i2t"]["meanr"] == [0, 0]


def test_difference_is_a_minus_b():
    best = ranks_of(torch.eye(4).repeat_interleave(2, dim=1), OWNER)
    gap = bootstrap.difference(ranks_of(SCORES, OWNER), best)
    assert gap["i2t"]["meanr"] == 3.75 - 1
    assert gap["rsum"] == 412.5 - 600
    low, high = gap["ci95"]["i2t"]["meanr"]
    assert low <= 2.75 <= high


def test_photos_without_any_captions_are_a_user_error():
    with pytest.raises(UserError, match="fake has no captions"):
        retrieval.Retrieval().evaluate(fake(SCORES), PhotoData(*split_of(SCORES, OWNER[:0])))
