import numpy as np
import torch

from vsdemo.core.embeddings import Embeddings
from vsdemo.evaluation.metrics.accuracy import Accuracy, higher, nearness
from vsdemo.evaluation.metrics.bootstrap import with_intervals
from vsdemo.models.scores import Cosine, OrderViolation

# Photo 0 is asked about twice, photo 2 once, photo 1 never.
FOUND = Accuracy.of(
    3,
    {
        "voice": (np.array([0, 0, 2]), np.array([1, 0.5, 0])),
        "none": (np.array([], int), np.array([])),
    },
)


def test_shares_by_hand():
    assert FOUND.metrics() == {"voice": 50}
    assert FOUND.metrics(np.array([0, 0, 2])) == {"voice": 60}
    assert FOUND.metrics(np.array([1, 1, 1])) == {"voice": 50}  # no question: those of all
    assert FOUND.questions == {"voice": 3}
    assert len(FOUND) == 3


def test_intervals_are_over_photos():
    found = with_intervals(FOUND)
    assert found["voice"] == 50
    assert found["ci95"]["voice"] == [0, 75]


def test_a_tie_counts_half_even_where_rounding_differs():
    a = torch.tensor([0.3, 0.3, 0.3, 2000.0])
    b = torch.tensor([0.1, 0.5, 0.3 + 1e-7, 2000.001])
    assert higher(a, b).tolist() == [1, 0, 0.5, 0.5]


def test_nearness_is_the_diagonal_of_neighbours():
    draw = torch.Generator().manual_seed(0)
    a, b = (Embeddings(torch.rand(5, 4, generator=draw)) for _ in range(2))
    for score in (Cosine(), OrderViolation()):
        torch.testing.assert_close(nearness(score, a, b), score.symmetric(a, b).diagonal())
