import numpy as np
import torch

from vsdemo.core.embeddings import Embeddings
from vsdemo.evaluation.metrics.accuracy import Accuracy, higher, nearness
from vsdemo.evaluation.metrics.bootstrap import with_intervals
from vsdemo.models.scores import Cosine, OrderViolation

# Photo 0 has two questions, photo 2 has one and photo 1 has none.
ACCURACY = Accuracy.of(
    3,
    {
        "voice": (np.array([0, 0, 2]), np.array([1, 0.5, 0])),
        "none": (np.array([], int), np.array([])),
    },
)


def test_percentages_by_hand():
    assert ACCURACY.metrics() == {"voice": 50}
    assert ACCURACY.metrics(np.array([0, 0, 2])) == {"voice": 60}
    # A sample without questions counts all photos.
    assert ACCURACY.metrics(np.array([1, 1, 1])) == {"voice": 50}
    assert ACCURACY.questions == {"voice": 3}
    assert len(ACCURACY) == 3


def test_intervals_resample_photos():
    result = with_intervals(ACCURACY)
    assert result["voice"] == 50
    assert result["ci95"]["voice"] == [0, 75]


def test_a_tie_counts_half_despite_rounding():
    a = torch.tensor([0.3, 0.3, 0.3, 2000.0])
    b = torch.tensor([0.1, 0.5, 0.3 + 1e-7, 2000.001])
    assert higher(a, b).tolist() == [1, 0, 0.5, 0.5]


def test_nearness_is_the_diagonal_of_symmetric_scores():
    generator = torch.Generator().manual_seed(0)
    a, b = (Embeddings(torch.rand(5, 4, generator=generator)) for _ in range(2))
    for score in (Cosine(), OrderViolation()):
        torch.testing.assert_close(nearness(score, a, b), score.symmetric(a, b).diagonal())
