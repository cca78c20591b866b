"""The map of a gallery: positions, areas, its cache, and photos that are added."""

from copy import copy
from dataclasses import replace
from threading import Event

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import Cancelled, UserError
from vsdemo.core.paths import home
from vsdemo.hierarchy import projection
from vsdemo.search import gallery_map
from vsdemo.search.gallery_map import GRID, GalleryMap, build_map
from vsdemo.search.index import Index


@pytest.fixture(autouse=True)
def quick(monkeypatch, own_folders):
    """Maps by PCA, without names, in an empty cache."""
    monkeypatch.setattr(projection, "MIN_FOR_UMAP", 10_000)
    monkeypatch.setattr(
        gallery_map,
        "name_regions",
        lambda engine, region_of, progress: [f"region {n}" for n in range(region_of.max() + 1)],
    )
    for path in home().glob("maps/gallery-*"):
        path.unlink()


def clusters(count, dim=16, seed=0):
    """Return vectors (N, D) around four centres, and the centre of each (N,)."""
    random = np.random.default_rng(seed)
    cluster = random.integers(0, 4, count)
    x = 4 * np.eye(4, dim)[cluster] + 0.2 * random.normal(size=(count, dim))
    return torch.tensor(x, dtype=torch.float32), cluster


def over(engine, x, mask=None):
    """Return an engine over other photos."""
    result = copy(engine)
    result.photos = Index(Embeddings(x, mask), [str(n) for n in range(len(x))], engine.score)
    return result


def cached():
    return list(home().glob("maps/gallery-*"))


def test_clusters_lie_apart_on_the_grid_of_the_page(engine):
    x, cluster = clusters(400)
    result = build_map(over(engine, x))
    assert result.positions.shape == (400, 2)
    assert result.positions.dtype == np.float32
    assert np.abs(result.positions).max() == pytest.approx(1)
    assert np.round(result.positions * GRID) == pytest.approx(result.positions * GRID, abs=0.01)
    distances = np.linalg.norm(result.positions[:, None] - result.positions[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    assert (cluster[distances.argmin(1)] == cluster).mean() > 0.9


@pytest.mark.parametrize("count", [1, 2, 3, 9, 19])
def test_a_few_photos_have_a_map(engine, count):
    result = build_map(over(engine, clusters(count)[0]))
    assert result.positions.shape == (count, 2)
    assert np.isfinite(result.positions).all()
    assert sum(region.photos for region in result.regions) == count


def test_equal_photos_share_a_place(engine):
    result = build_map(over(engine, torch.ones(30, 8)))
    assert (result.positions == 0).all()
    assert len(result.regions) == 1


def test_regions_are_sorted_and_cover_every_photo(engine):
    result = build_map(over(engine, clusters(400)[0]))
    sizes = [region.photos for region in result.regions]
    assert 8 <= len(sizes) <= 30
    assert sizes == sorted(sizes, reverse=True)
    assert sizes == np.bincount(result.region_of).tolist()
    parts = [result.of_region(number) for number in range(len(sizes))]
    assert sorted(np.concatenate(parts).tolist()) == list(range(400))


def test_a_set_of_vectors_counts_as_its_mean(engine):
    x, _ = clusters(40)
    alone = build_map(over(engine, x)).positions
    mask = torch.tensor([True, True, False]).expand(40, 3)
    shift = torch.randn(40, 16, generator=torch.Generator().manual_seed(0))
    sets = torch.stack([x + shift, x - shift, torch.full_like(x, 99.0)], dim=1)  # (N, 3, D)
    assert build_map(over(engine, sets, mask)).positions == pytest.approx(alone, abs=1e-3)


def test_a_map_comes_from_the_cache(engine, monkeypatch):
    x, _ = clusters(60)
    first = build_map(over(engine, x))
    monkeypatch.setattr(projection, "project", None)
    second = build_map(over(engine, x))
    assert (second.positions == first.positions).all()
    assert (second.region_of == first.region_of).all()
    assert second.regions == first.regions


@pytest.mark.parametrize("damage", [b"", b"no map", None], ids=["empty", "other", "cut"])
def test_a_damaged_cache_is_built_again(engine, damage):
    x, _ = clusters(60)
    first = build_map(over(engine, x))
    (path,) = cached()
    path.write_bytes(path.read_bytes()[:-9] if damage is None else damage)
    assert (build_map(over(engine, x)).positions == first.positions).all()
    assert gallery_map._Stored.read(path) is not None


def test_photos_keep_their_places_when_others_are_added(engine, monkeypatch):
    monkeypatch.setattr(gallery_map, "LANDMARKS", 100)
    x, _ = clusters(390)
    old = build_map(over(engine, x[:200])).positions
    new = build_map(over(engine, x)).positions
    assert new[:200] == pytest.approx(old, abs=2 / GRID)


def test_a_much_larger_or_another_gallery_has_another_map(engine, monkeypatch):
    x, _ = clusters(500)
    old = build_map(over(engine, x[:100])).positions
    assert (build_map(over(engine, x)).positions[:100] != old).any()
    other = clusters(100, seed=9)[0]
    fresh = build_map(over(engine, other)).positions
    for path in cached():
        path.unlink()
    assert (build_map(over(engine, other)).positions == fresh).all()
    assert build_map(over(engine, clusters(100, dim=5)[0])).positions.shape == (100, 2)


def test_a_gallery_of_another_name_has_a_file_of_its_own(engine):
    one, other = over(engine, clusters(30)[0]), over(engine, clusters(30)[0])
    other.gallery = replace(engine.gallery, name="other")
    build_map(one)
    build_map(other)
    assert len(cached()) == 2


def test_landmarks_stay_where_they_are_and_others_lie_among_them(engine, monkeypatch):
    monkeypatch.setattr(gallery_map, "LANDMARKS", 100)
    x, cluster = clusters(300)
    landmarks = gallery_map._Landmarks.choose(x, lambda *_: None, None)
    places, kept = landmarks.place(landmarks.x, lambda *_: None)
    assert places == pytest.approx(landmarks.places, abs=1e-4)
    assert kept == 1
    places, _ = landmarks.place(x, lambda *_: None)
    centres = np.array([places[cluster == c].mean(0) for c in range(4)])
    nearest = np.linalg.norm(places[:, None] - centres[None], axis=2).argmin(1)
    assert (nearest == cluster).mean() > 0.95


def test_progress_grows_to_the_whole_and_cancelling_stops(engine, monkeypatch):
    monkeypatch.setattr(projection, "MIN_FOR_UMAP", 20)
    reported = []
    build_map(over(engine, clusters(60)[0]), lambda *step: reported.append(step))
    done = [step[0] for step in reported]
    assert done == sorted(done)
    assert {step[1] for step in reported} == {100}
    cancel = Event()
    cancel.set()
    with pytest.raises(Cancelled):
        build_map(over(engine, clusters(70)[0]), cancel=cancel)


def inside_by_a_loop(positions, polygon):
    """Return what `GalleryMap.inside` returns, photo by photo and edge by edge."""
    numbers = []
    for number, (x, y) in enumerate(positions.astype(float)):
        is_inside = False
        for i, (x1, y1) in enumerate(polygon):
            x0, y0 = polygon[i - 1]
            if (y0 > y) != (y1 > y) and x < x0 + (y - y0) * (x1 - x0) / (y1 - y0):
                is_inside = not is_inside
        if is_inside:
            numbers.append(number)
    return numbers


def grid_map(step=0.125):
    axis = np.arange(-1, 1 + step, step, dtype=np.float32)
    positions = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    return GalleryMap(positions, (), np.zeros(len(positions), dtype=np.int64))


corner = st.tuples(*[st.integers(-9, 9).map(lambda n: n / 8)] * 2)


@given(st.lists(corner, min_size=3, max_size=12))
def test_an_area_has_the_photos_that_a_loop_finds(polygon):
    places = grid_map()
    found = places.inside([polygon[-1], *polygon[:-1]])
    assert found.tolist() == inside_by_a_loop(places.positions, polygon)


def test_an_area_of_a_random_map_has_the_photos_that_a_loop_finds():
    random = np.random.default_rng(0)
    positions = random.uniform(-1, 1, (2000, 2)).astype(np.float32)
    places = GalleryMap(positions, (), np.zeros(2000, dtype=np.int64))
    polygon = random.uniform(-1, 1, (40, 2)).tolist()
    found = places.inside([polygon[-1], *polygon[:-1]])
    assert found.tolist() == inside_by_a_loop(positions, polygon)
    assert 100 < len(found) < 1900


@pytest.mark.parametrize(
    "polygon",
    [(), None, "abc", [[0, 0], [1, 1]], [[0, 0, 0]] * 3, [[0, 0], [1, float("nan")], [1, 1]],
     [[0, 0], [1], [1, 1]], [[0, 0]] * 2001, [[0, "x"]] * 3, {"a": 1}],
    ids=str,
)  # fmt: skip
def test_what_is_no_polygon_is_refused(polygon):
    with pytest.raises(UserError, match="three corners"):
        grid_map().inside(polygon)
