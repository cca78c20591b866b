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
from vsdemo.hierarchy.projection import EPOCHS, MIN_FOR_UMAP, cached_map, project


def clusters(count: int = 60, dim: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """Return embeddings (N, D) around three centres, and the centre of each (N,)."""
    random = np.random.default_rng(0)
    cluster = np.arange(count) % 3
    return np.eye(3, dim)[cluster] * 5 + random.normal(size=(count, dim)) * 0.1, cluster


def test_clusters_stay_together_and_a_seed_gives_one_map() -> None:
    x, cluster = clusters()
    places = project(x)
    assert places.shape == (len(x), 2)
    assert places.dtype == np.float32
    assert np.abs(places).max() == pytest.approx(1)
    distances = np.linalg.norm(places[:, None] - places[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    assert (cluster[distances.argmin(1)] == cluster).all()
    assert (places == project(x)).all()
    assert (places != project(x, seed=1)).any()


def test_progress_reaches_the_total() -> None:
    reported: list[tuple[int, int]] = []
    project(clusters()[0], lambda done, of: reported.append((done, of)))
    assert [done for done, _ in reported] == list(range(1, EPOCHS + 2))
    assert {of for _, of in reported} == {EPOCHS + 1}


def test_cancelling_stops_the_epochs() -> None:
    reported: list[int] = []
    cancel = Event()

    def progress(done: int, of: int) -> None:
        reported.append(done)
        if done == 20:
            cancel.set()

    with pytest.raises(Cancelled):
        project(clusters()[0], progress, cancel)
    assert reported[-1] == 20


class Failed(Exception):
    """Raised by a progress callback."""


@pytest.mark.parametrize("stop", [Cancelled, Failed])
def test_a_stopped_map_releases_locks_and_threads(stop: type[Exception]) -> None:
    """The lock of all tqdm bars is open again, and torch has its threads back."""
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


def test_maps_of_at_most_three_embeddings() -> None:
    assert project(np.zeros((0, 5))).shape == (0, 2)
    assert project(np.ones((1, 5))).tolist() == [[0, 0]]
    assert sorted(project(np.eye(2, 5))[:, 0]) == [-1, 1]
    assert np.abs(project(np.eye(2, 5))[:, 1]).max() < 1e-6
    assert project(np.zeros((3, 0))).tolist() == [[0, 0]] * 3


def test_two_dimensions_keep_their_distances() -> None:
    corners = np.array([[0, 0], [4, 0], [0, 2], [4, 2]])
    places = project(corners).astype(float)
    distances = np.linalg.norm(places[:, None] - places[None], axis=2)
    assert distances[0, [1, 2, 3]] == pytest.approx([2, 1, 5**0.5])


@pytest.mark.parametrize("count", [5, 100])
def test_equal_embeddings_share_a_place(count: int) -> None:
    assert (project(np.full((count, 4), 3.0)) == 0).all()


def test_duplicates_share_a_place() -> None:
    x = np.repeat(np.eye(2, 16), 200, axis=0)
    places = project(x)
    assert len(np.unique(places, axis=0)) == 2
    assert (places[0] == places[199]).all()
    x = np.repeat(clusters(MIN_FOR_UMAP)[0], 30, axis=0)
    places = project(x)
    assert len(np.unique(places, axis=0)) == MIN_FOR_UMAP
    assert np.isfinite(places).all()


def test_one_dimension_and_extreme_numbers() -> None:
    for x in (np.arange(30.0)[:, None], clusters(30)[0] * 1e300, clusters(30)[0] * 1e-300):
        places = project(x)
        assert np.isfinite(places).all()
        assert len(np.unique(places, axis=0)) == 30


@given(
    hnp.arrays(
        np.float64,
        st.tuples(st.integers(0, MIN_FOR_UMAP - 1), st.integers(0, 6)),
        elements=st.floats(allow_nan=False, allow_infinity=False),
    )
)
def test_any_few_embeddings_have_a_finite_map(x: np.ndarray) -> None:
    places = project(x)
    assert places.shape == (len(x), 2)
    assert np.isfinite(places).all()
    assert np.abs(places).max(initial=0) <= 1 + 1e-6


@settings(max_examples=8, deadline=None)
@given(st.integers(MIN_FOR_UMAP, 40), st.integers(1, 5), st.integers(1, 3))
def test_small_maps_with_ties(count: int, dim: int, levels: int) -> None:
    """Embeddings on a grid of `levels`: many are equal, many are equally far."""
    x = np.random.default_rng(count).integers(levels, size=(count, dim))
    places = project(x)
    different, same = np.unique(x, axis=0, return_inverse=True)
    assert np.isfinite(places).all()
    apart = len(different) if len(different) >= MIN_FOR_UMAP else min(2, len(different))
    assert len(np.unique(places, axis=0)) >= apart
    for group in range(len(different)):
        assert (places[same.reshape(-1) == group] == places[same.reshape(-1) == group][0]).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_raise(bad: float) -> None:
    x = clusters()[0]
    x[3, 3] = bad
    with pytest.raises(UserError, match="finite"):
        project(x)


@pytest.mark.parametrize("bad", [np.zeros(3), np.zeros((2, 2, 2)), np.array([["a", "b"]])])
def test_input_that_is_not_a_numeric_table_raises(bad: np.ndarray) -> None:
    with pytest.raises(UserError, match="table"):
        project(bad)


def test_a_map_is_cached_and_a_damaged_one_is_rebuilt(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("VSDEMO_HOME", str(tmp_path))
    points = np.arange(6, dtype=np.float32).reshape(3, 2)
    calls: list[int] = []

    def make() -> np.ndarray:
        calls.append(1)
        return points

    for _ in range(2):
        assert (cached_map("key", make) == points).all()
    assert len(calls) == 1
    (path,) = (home() / "maps").glob("*.safetensors")
    path.write_bytes(path.read_bytes()[:20])
    assert (cached_map("key", make) == points).all()
    assert (cached_map("other", make) == points).all()
    assert len(calls) == 3
