"""Ranks of captions of the same photo among all captions, and the role of verbs."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Tree
from vsdemo.evaluation.metrics import caption_scores
from vsdemo.evaluation.task import PhotoData
from vsdemo.evaluation.tasks import similarity, verbs
from vsdemo.models.scores import Inner

CAPTIONS = ("a plane dives", "plane in dive", "a cow eats", "cow grazes here", "cow", "one alone")
SPLIT = CaptionSet("fake", "test", ("0.jpg", "1.jpg", "2.jpg"), CAPTIONS, (0, 0, 1, 1, 1, 2))
ROWS = torch.tensor([[4.0, 0, 0], [0, 1, 1], [3, 3, 0], [0, 5, 0], [1, 6, 0], [2, 2, 9]])
VERBS = {"dives", "eats", "grazes"}


@pytest.fixture
def model():
    rows = dict(zip(CAPTIONS, ROWS, strict=True))
    return SimpleNamespace(
        score=Inner(),
        encode_text=lambda sentences: Embeddings(torch.stack([rows[s.text] for s in sentences])),
    )


@pytest.fixture
def tagger(fake_parser):
    """The fake parser, with part-of-speech tags."""

    def parse(texts):
        plain = type(fake_parser).parse(fake_parser, texts)
        tags = [tuple("VERB" if w in VERBS else "NOUN" for w in tree.words) for tree in plain]
        return [Tree(t.words, t.heads, t.labels, g) for t, g in zip(plain, tags, strict=True)]

    fake_parser.parse = parse


# Scores of each caption with all others; captions of the same photo have a star:
# 0: 1* 0, 2 12, 3 0, 4 4, 5 8      -> 1 is last with 3, rank 4.5
# 1: 0* 0, 2 3, 3 5, 4 6, 5 11      -> 5
# 2: 0 12, 1 3, 3* 15, 4* 21, 5 12  -> 1
# 3: 0 0, 1 5, 2* 15, 4* 30, 5 10   -> 1
# 4: 0 4, 1 6, 2* 21, 3* 30, 5 14   -> 1
RANKS = [4.5, 5, 1, 1, 1]


@pytest.mark.parametrize("chunk", [1, 4, 1000])
def test_ranks_by_hand(model, monkeypatch, chunk):
    monkeypatch.setattr(caption_scores, "CHUNK", chunk)
    ranks, photo = similarity.ranks(model, SPLIT)
    assert ranks.tolist() == RANKS
    assert photo.tolist() == [0, 0, 1, 1, 1]


def test_evaluate_summarizes_the_ranks(model):
    result = similarity.Similarity().evaluate(model, PhotoData(SPLIT, torch.zeros(3, 1)))
    assert result[similarity.Similarity.primary] == sum(RANKS) / 5
    assert (result["r1"], result["n_captions"]) == (60, 6)
    assert result["ci95"]["meanr"] == [1, 4.75]  # all of one photo or all of the other


def test_ranks_are_grouped_by_photo(model):
    """Also where the captions of a photo do not stand side by side."""
    mixed = CaptionSet("fake", "test", ("0.jpg", "1.jpg", "2.jpg"), CAPTIONS, (2, 0, 1, 0, 1, 2))
    groups = similarity.Similarity().measure(model, PhotoData(mixed, torch.zeros(3, 1))).of_photo
    # 0: 5* 8 < 2 12. 1: 3* 5 < 4 6, 5 11. 2: 4* is first. 3: 1* 5 < 5 10, 2 15, 4 30.
    # 4: 2* 21 < 3 30. 5: 0* 8 < 3 10, 1 11, 2 12, 4 14.
    assert [group.tolist() for group in groups] == [[3, 4], [1, 2], [2, 5]]


# Pairs: (0, 1) one verb: 4.5 and 5. (2, 3) both: 2 and 2. (2, 4), (3, 4) one: 1 and 2, 1 and 1.
def test_pairs_by_hand(model, tagger, monkeypatch):
    monkeypatch.setattr(caption_scores, "CHUNK", 4)
    assert verbs.has_verb(SPLIT) == [True, False, True, True, False, False]
    pairs, rank = verbs.pair_ranks(model, SPLIT)
    assert pairs == [(0, 1), (2, 3), (2, 4), (3, 4)]
    assert rank.tolist() == [4.75, 2, 1.5, 1]


def test_gap_is_the_cost_of_a_missing_verb(model, tagger):
    result = verbs.Verbs().evaluate(model, PhotoData(SPLIT, torch.zeros(3, 1)))
    assert result["one"] == pytest.approx((4.75 + 1.5 + 1) / 3)
    assert result["both"] == 2
    assert result["gap"] == pytest.approx(result["one"] - 2)
    assert result["n_pairs"] == {
        "none": 0,
        "one": 3,
        "both": 1,
        "similar_length": 1,
        "different_length": 0,
    }
    assert result["worst"][0] == {"captions": list(CAPTIONS[:2]), "verbs": "one", "rank": 4.75}
    assert [w["rank"] for w in result["worst"]] == [4.75, 2, 1.5, 1]
    assert result["ci95"].keys() == {"one", "both", "gap", "similar_length"}
    assert json.loads(json.dumps(result)) == result


def test_pairs_of_a_photo_are_drawn_together():
    rng = np.random.default_rng(0)
    photo = np.repeat(np.arange(6), [1, 3, 2, 6, 3, 1])
    pairs = [(row, row) for row in range(len(photo))]
    longer = rng.integers(0, 10, 16)
    ranks = verbs.VerbRanks(pairs, photo, rng.random(16), rng.integers(0, 3, 16), longer)
    assert len(ranks) == 6
    for drawn in (rng.integers(0, 6, 6), np.array([0, 0, 5])):
        rows = np.array([row for p in drawn for row in np.flatnonzero(photo == p)])
        metrics = ranks.metrics(drawn)
        for number, name in enumerate(verbs.KINDS):
            of_kind = rows[ranks.kind[rows] == number]
            wanted = ranks.rank[of_kind if len(of_kind) else ranks.kind == number].mean()
            assert metrics[name] == pytest.approx(wanted)
        assert metrics["gap"] == pytest.approx(metrics["one"] - metrics["both"])


def test_lengths_are_compared_where_both_captions_have_a_verb_or_none():
    kind = np.array([0, 2, 2, 1, 0, 1])
    longer = np.array([0, 4, 5, 9, 7, 0])
    rank = np.array([1.0, 3, 10, 100, 20, 200])
    ranks = verbs.VerbRanks([(0, 1)] * 6, np.arange(6), rank, kind, longer)
    metrics = ranks.metrics()
    assert (metrics["similar_length"], metrics["different_length"]) == (2, 15)
    assert metrics["length_gap"] == 13
    assert ranks.metrics(np.array([1, 1, 4, 3]))["length_gap"] == pytest.approx(20 - 3)


@pytest.mark.parametrize("task", [similarity.Similarity(), verbs.Verbs()])
def test_one_caption_per_photo_is_a_user_error(model, tagger, task):
    single = CaptionSet("fake", "test", SPLIT.photos[:2], (CAPTIONS[0], CAPTIONS[5]), (0, 1))
    with pytest.raises(UserError, match="two captions"):
        task.evaluate(model, PhotoData(single, torch.zeros(2, 1)))
