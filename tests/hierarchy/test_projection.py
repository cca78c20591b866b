from threading import Event, Thread

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tqdm import tqdm

from vsdemo.core.errors import Cancelled, UserError
from vsdemo.core.paths import home
from vsdemo.hierarchy.projection import EPOCHS, FEWEST, project, stored


def clusters(count: int = 60, dim: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """Points (N, D) around three centres, and which."""
    random = np.random.default_rng(0)
    own = np.arange(count) % 3
    return np.eye(3, dim)[own] * 5 + random.normal(size=(count, dim)) * 0.1, own


def test_near_points_are_near_on_the_map_and_a_seed_gives_one_map() -> None:
    x, own = clusters()
    drawn = project(x)
    assert drawn.shape == (len(x), 2)
    assert drawn.dtype == np.float32
    assert np.abs(drawn).max() == pytest.approx(1)
    far = np.linalg.norm(drawn[:, None] - drawn[None], axis=2)
    np.fill_diagonal(far, np.inf)
    assert (own[far.argmin(1)] == own).all()
    assert (drawn == project(x)).all()
    assert (drawn != project(x, seed=1)).any()


def test_progress_counts_to_the_end() -> None:
    told: list[tuple[int, int]] = []
    project(clusters()[0], lambda done, of: told.append((done, of)))
    assert [done for done, _ in told] == list(range(1, EPOCHS + 2))
    assert {of for _, of in told} == {EPOCHS + 1}


def test_cancelling_stops_the_epochs() -> None:
    told: list[int] = []
    cancel = Event()

    def progress(done: int, of: int) -> None:
        told.append(done)
        if done == 20:
            cancel.set()

    with pytest.raises(Cancelled):
        project(clusters()[0], progress, cancel)
    assert told[-1] == 20


class Failed(Exception):
    """Raised by who is told of progress."""


@pytest.mark.parametrize("stop", [Cancelled, Failed])
def test_a_map_that_is_stopped_keeps_nothing_from_others(stop: type[Exception]) -> None:
    """Neither progress bars in other threads, whose lock all bars share, nor torch's threads."""
    threads = torch.get_num_threads()

    def progress(done: int, of: int) -> None:
        if done == 20:
            raise stop

    with pytest.raises(stop):
        project(clusters()[0], progress)
    assert torch.get_num_threads() == threads
    counted: list[int] = []
    other = Thread(target=lambda: counted.extend(tqdm(range(3))), daemon=True)
    other.start()
    other.join(20)
    assert counted == [0, 1, 2]


def test_one_point_and_two() -> None:
    assert project(np.zeros((0, 5))).shape == (0, 2)
    assert project(np.ones((1, 5))).tolist() == [[0, 0]]
    assert sorted(project(np.eye(2, 5))[:, 0]) == [-1, 1]
    assert np.abs(project(np.eye(2, 5))[:, 1]).max() < 1e-6
    assert project(np.zeros((3, 0))).tolist() == [[0, 0]] * 3


def test_two_dimensions_are_drawn_as_they_are() -> None:
    corners = np.array([[0, 0], [4, 0], [0, 2], [4, 2]])
    drawn = project(corners).astype(float)
    far = np.linalg.norm(drawn[:, None] - drawn[None], axis=2)
    assert far[0, [1, 2, 3]] == pytest.approx([2, 1, 5**0.5])


@pytest.mark.parametrize("count", [5, 100])
def test_equal_points_share_a_place(count: int) -> None:
    assert (project(np.full((count, 4), 3.0)) == 0).all()


def test_many_duplicates_of_few_points() -> None:
    x = np.repeat(np.eye(2, 16), 200, axis=0)
    drawn = project(x)
    assert len(np.unique(drawn, axis=0)) == 2
    assert (drawn[0] == drawn[199]).all()
    x = np.repeat(clusters(FEWEST)[0], 30, axis=0)
    drawn = project(x)
    assert len(np.unique(drawn, axis=0)) == FEWEST
    assert np.isfinite(drawn).all()


def test_a_single_dimension_and_huge_numbers() -> None:
    for x in (np.arange(30.0)[:, None], clusters(30)[0] * 1e300, clusters(30)[0] * 1e-300):
        drawn = project(x)
        assert np.isfinite(drawn).all()
        assert len(np.unique(drawn, axis=0)) == 30


@given(
    hnp.arrays(
        np.float64,
        st.tuples(st.integers(0, FEWEST - 1), st.integers(0, 6)),
        elements=st.floats(allow_nan=False, allow_infinity=False),
    )
)
def test_few_points_of_any_kind(x: np.ndarray) -> None:
    drawn = project(x)
    assert drawn.shape == (len(x), 2)
    assert np.isfinite(drawn).all()
    assert np.abs(drawn).max(initial=0) <= 1 + 1e-6


@settings(max_examples=8, deadline=None)
@given(st.integers(FEWEST, 40), st.integers(1, 5), st.integers(1, 3))
def test_small_maps_of_coarse_points(count: int, dim: int, levels: int) -> None:
    """Points on a grid of `levels`: many are the same, many are equally far."""
    x = np.random.default_rng(count).integers(levels, size=(count, dim))
    drawn = project(x)
    different, same = np.unique(x, axis=0, return_inverse=True)
    assert np.isfinite(drawn).all()
    apart = len(different) if len(different) >= FEWEST else min(2, len(different))
    assert len(np.unique(drawn, axis=0)) >= apart
    for group in range(len(different)):
        assert (drawn[same.reshape(-1) == group] == drawn[same.reshape(-1) == group][0]).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_refused(bad: float) -> None:
    x = clusters()[0]
    x[3, 3] = bad
    with pytest.raises(UserError, match="finite"):
        project(x)


@pytest.mark.parametrize("bad", [np.zeros(3), np.zeros((2, 2, 2)), np.array([["a", "b"]])])
def test_what_is_no_table_of_numbers_is_refused(bad: np.ndarray) -> None:
    with pytest.raises(UserError, match="table"):
        project(bad)


def test_a_map_is_kept_and_a_damaged_one_made_anew(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("VSDEMO_HOME", str(tmp_path))
    points = np.arange(6, dtype=np.float32).reshape(3, 2)
    made: list[int] = []

    def make() -> np.ndarray:
        made.append(1)
        return points

    for _ in range(2):
        assert (stored("key", make) == points).all()
    assert len(made) == 1
    (path,) = (home() / "maps").iterdir()
    path.write_bytes(path.read_bytes()[:20])
    assert (stored("key", make) == points).all()
    assert (stored("other", make) == points).all()
    assert len(made) == 3
