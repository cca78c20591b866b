from types import SimpleNamespace

import numpy as np
import pytest
import torch

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.evaluation.metrics.bootstrap import difference
from vsdemo.evaluation.task import PhotoData
from vsdemo.evaluation.tasks import lengths
from vsdemo.models.scores import Inner

CAPTIONS = (
    "a dog",  # photo 0: 2 and 6 words
    "a big brown dog runs, runs!",
    "one two three",  # photo 1: 3, 1 and 2 words
    "one",
    "one two",
    "a cat in the sun",  # photo 2 has one caption, so no pair
)
OWNER = (0, 0, 1, 1, 1, 2)
# Caption x photo; the inner products of its rows are the scores between captions.
ROWS = torch.tensor([[5.0, 1, 0], [2, 3, 0], [0, 4, 1], [0, 3, 4], [0, 5, 1], [0, 0, 6]])
SPLIT = CaptionSet("fake", "test", ("0.jpg", "1.jpg", "2.jpg"), CAPTIONS, OWNER)


@pytest.fixture
def model():
    rows = dict(zip(CAPTIONS, ROWS, strict=True))
    return SimpleNamespace(
        score=Inner(),
        encode_text=lambda sentences: Embeddings(torch.stack([rows[s.text] for s in sentences])),
        encode_image=lambda features: Embeddings(torch.eye(len(features))),
    )


def test_pairs_are_sorted_by_difference_in_length(monkeypatch):
    # Differences: (0, 1) 4; of photo 1 (3, 2) 2, (4, 2) 1, (3, 4) 1; the shorter comes first.
    assert lengths.longest_differences(SPLIT) == [(0, 1), (3, 2), (4, 2), (3, 4)]
    monkeypatch.setattr(lengths, "PAIRS", 2)
    assert lengths.longest_differences(SPLIT) == [(0, 1), (3, 2)]


def test_ranks_by_hand(model, monkeypatch):
    monkeypatch.setattr(lengths, "PAIRS", 2)
    ranks = lengths.Lengths().measure(model, PhotoData(SPLIT, torch.zeros(3, 1))).ranks
    # Photo 0: caption 0 ranks it 1st, caption 1 (2 against 3) 2nd.
    # Photo 1: caption 3 (3 against 4) ranks it 2nd, caption 2 1st.
    assert ranks["t2i"].tolist() == [1.5, 1.5]
    # Caption 0 with 1..5: 13, 4, 3, 5, 0: caption 1 is 1st.
    # Caption 3 with 0, 1, 2, 4, 5: 3, 9, 16, 19, 24: caption 2 is 3rd; itself (25) does not count.
    assert ranks["short_to_long"].tolist() == [1, 3]


def test_evaluate_returns_means_and_intervals(model):
    result = lengths.Lengths().evaluate(model, PhotoData(SPLIT, torch.zeros(3, 1)))
    ranks = lengths.Lengths().measure(model, PhotoData(SPLIT, torch.zeros(3, 1))).ranks
    assert result["n_pairs"] == 4
    for name in ("t2i", "short_to_long"):
        assert result[name] == ranks[name].mean()
        low, high = result["ci95"][name]
        assert low <= result[name] <= high
    assert lengths.Lengths.primary in result


def test_pairs_are_drawn_with_their_photo(model):
    measured = lengths.Lengths().measure(model, PhotoData(SPLIT, torch.zeros(3, 1)))
    assert len(measured) == measured.photo.max() + 1 <= 3
    drawn = np.zeros(5, int)
    rows = [row for photo in drawn for row in np.flatnonzero(measured.photo == photo)]
    for name, value in measured.metrics(drawn).items():
        assert value == pytest.approx(measured.ranks[name][rows].mean())


def test_difference_of_equal_ranks_is_zero():
    ranks = lengths.PairRanks({"t2i": np.ones(7), "short_to_long": np.ones(7)}, np.arange(7))
    result = difference(ranks, ranks)
    assert result["ci95"] == {"t2i": [0, 0], "short_to_long": [0, 0]}


def test_one_caption_per_photo_is_a_user_error(model):
    single = CaptionSet("fake", "test", SPLIT.photos[:2], (CAPTIONS[0], CAPTIONS[5]), (0, 1))
    with pytest.raises(UserError, match="two captions"):
        lengths.Lengths().evaluate(model, PhotoData(single, torch.zeros(2, 1)))
