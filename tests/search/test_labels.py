"""Labels: they find clusters, are deterministic, and say how sure they are."""

import subprocess
import sys

import numpy as np
import pytest
import torch

from tests.conftest import write_toy
from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.paths import ROOT
from vsdemo.search import labels
from vsdemo.search.engine import Engine
from vsdemo.search.labels import LabelAccuracy, gallery_keys, train_label, train_on_gallery

CLUSTERS, SIZE, DIM = 8, 40, 64
N = CLUSTERS * SIZE


@pytest.fixture(scope="module")
def photos():
    """Return embeddings of 8 clusters, content hashes and the cluster of each photo."""
    random = np.random.default_rng(0)
    cluster = random.permutation(np.repeat(np.arange(CLUSTERS), SIZE))
    centres = random.normal(size=(CLUSTERS, DIM))
    x = centres[cluster] + random.normal(size=(N, DIM)) * 0.7
    keys = tuple(random.bytes(16).hex() for _ in range(N))
    return Embeddings(torch.tensor(x * 3 + 100, dtype=torch.float32)), keys, cluster


def mark(photos, positive, negative=0):
    """Return examples: the first photos of cluster 0, and the first of others."""
    _, keys, cluster = photos
    fitting = [keys[i] for i in np.flatnonzero(cluster == 0)[:positive]]
    others = [keys[i] for i in np.flatnonzero(cluster != 0)[:negative]]
    return dict.fromkeys(fitting, True) | dict.fromkeys(others, False)


@pytest.mark.parametrize(("positive", "negative"), [(1, 0), (5, 0), (1, 1), (5, 5), (20, 3)])
def test_the_best_suggestions_are_of_the_cluster(photos, positive, negative):
    embeddings, keys, cluster = photos
    examples = mark(photos, positive, negative)
    trained = train_label(embeddings, keys, examples)
    best = trained.suggestions(15, threshold=0)
    assert len(best) == 15
    assert np.mean([cluster[hit.number] == 0 for hit in best]) >= 0.9
    assert [hit.rank for hit in best] == list(range(1, 16))
    assert not {hit.key for hit in best} & {*examples}
    assert all(keys[hit.number] == hit.key for hit in best)
    probabilities = [hit.probability for hit in best]
    assert probabilities == sorted(probabilities, reverse=True)
    assert all(trained.probabilities[hit.number] == hit.probability for hit in best)


def test_probabilities_tell_the_cluster_from_the_others(photos):
    embeddings, keys, cluster = photos
    trained = train_label(embeddings, keys, mark(photos, 8, 8))
    assert trained.probabilities.shape == (N,)
    assert np.all((trained.probabilities > 0) & (trained.probabilities < 1))
    right = (trained.probabilities >= labels.THRESHOLD) == (cluster == 0)
    assert right.mean() > 0.97
    assert len(trained.suggestions(N)) == pytest.approx(SIZE - 8, abs=6)
    assert all(hit.probability >= 0.8 for hit in trained.suggestions(N, threshold=0.8))


def test_the_most_uncertain_photos_are_offered_next(photos):
    embeddings, keys, _ = photos
    examples = mark(photos, 5, 5)
    trained = train_label(embeddings, keys, examples)
    distances = [abs(hit.probability - 0.5) for hit in trained.uncertain(10)]
    assert distances == sorted(distances)
    assert not {hit.key for hit in trained.uncertain(N)} & {*examples}
    assert len(trained.uncertain(N)) == N - 10


def test_accuracy_is_high_for_a_cluster_and_low_for_chance(photos):
    embeddings, keys, _ = photos
    trained = train_label(embeddings, keys, mark(photos, 12, 12))
    assert trained.accuracy.examples == 24
    assert trained.accuracy.right >= 22
    assert trained.reliability.startswith(f"Right for {trained.accuracy.right} of 24 marked photos")
    chance = {key: number % 2 == 0 for number, key in enumerate(keys[:60])}
    low, high = train_label(embeddings, keys, chance).accuracy.interval
    assert low < 0.5 < high or high < 0.6


@pytest.mark.parametrize(("positive", "negative"), [(10, 0), (4, 9), (9, 4)])
def test_with_too_few_examples_it_says_so(photos, positive, negative):
    embeddings, keys, _ = photos
    trained = train_label(embeddings, keys, mark(photos, positive, negative))
    assert trained.accuracy is None
    assert "needs at least 5 photos marked as fitting and 5 as not fitting" in trained.reliability
    assert f"not {positive} and {negative}." in trained.reliability


def test_the_interval_is_that_of_wilson():
    low, high = LabelAccuracy(10, 9, 10, 9).interval
    assert (low, high) == (pytest.approx(0.699, abs=1e-3), pytest.approx(0.972, abs=1e-3))
    assert LabelAccuracy(5, 5, 5, 5).interval[1] == pytest.approx(1)


def test_the_same_marks_have_the_same_result_in_any_order(photos):
    embeddings, keys, _ = photos
    examples = mark(photos, 6, 6)
    first = train_label(embeddings, keys, examples)
    second = train_label(embeddings, keys, dict(reversed(examples.items())))
    assert np.array_equal(first.probabilities, second.probabilities)
    assert first.accuracy == second.accuracy


def test_examples_of_deleted_photos_are_ignored(photos):
    embeddings, keys, _ = photos
    examples = mark(photos, 6, 6)
    trained = train_label(embeddings, keys, examples | {"f" * 32: True, "0" * 32: False})
    assert trained.missing == 2
    assert len(trained.positives) == len(trained.negatives) == 6
    expected = train_label(embeddings, keys, examples).probabilities
    assert np.array_equal(trained.probabilities, expected)


def test_copies_of_a_photo_are_one(photos):
    embeddings, keys, _ = photos
    rows = torch.tensor([*range(N), *range(N)])
    examples = mark(photos, 6, 6)
    trained = train_label(embeddings[rows], keys + keys, examples)
    hits = trained.suggestions(2 * N, threshold=0)
    assert len(hits) == len({hit.key for hit in hits}) == N - 12
    alone = train_label(embeddings, keys, examples).probabilities
    assert trained.probabilities[:N] == pytest.approx(alone, abs=1e-4)


def test_a_set_counts_as_its_mean(photos):
    embeddings, keys, _ = photos
    x = embeddings.x
    padded = torch.stack([x + 1, x - 1, torch.full_like(x, 1e6)], dim=1)
    mask = torch.tensor([True, True, False]).expand(N, 3)
    examples = mark(photos, 6, 6)
    of_sets = train_label(Embeddings(padded, mask), keys, examples)
    expected = train_label(embeddings, keys, examples).probabilities
    assert of_sets.probabilities == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("examples", [{}, {"f" * 32: True}, "negative"])
def test_without_a_fitting_photo_nothing_is_learned(photos, examples, is_one_sentence):
    embeddings, keys, _ = photos
    if examples == "negative":
        examples = {keys[0]: False}
    with pytest.raises(UserError, match="mark at least one") as caught:
        train_label(embeddings, keys, examples)
    assert is_one_sentence(caught)


def test_if_every_photo_fits_nothing_is_learned(photos, is_one_sentence):
    embeddings, keys, _ = photos
    with pytest.raises(UserError, match="nothing to distinguish them from") as caught:
        train_label(embeddings, keys, dict.fromkeys(keys, True))
    assert is_one_sentence(caught)


def test_equal_vectors_are_no_error(photos):
    _, keys, _ = photos
    trained = train_label(Embeddings(torch.ones(N, 4)), keys, mark(photos, 5, 5))
    assert np.isfinite(trained.probabilities).all()


def test_a_label_is_learned_on_a_gallery(toy_checkpoint, own_home, tmp_path):
    write_toy(tmp_path / "toy")
    engine = Engine(toy_checkpoint, tmp_path / "toy" / "images")
    keys = gallery_keys(engine.gallery)
    reds = ["_red_" in photo.name for photo in engine.gallery.photos]
    examples = dict(list(zip(keys, reds, strict=True))[:20])
    trained = train_on_gallery(engine, examples)
    left = [number for number in range(len(keys)) if keys[number] not in examples]
    right = [(trained.probabilities[n] >= 0.5) == reds[n] for n in left]
    assert np.mean(right) >= 0.7
    assert trained.accuracy.examples == len(examples)


def test_a_gallery_without_content_hashes_is_read(tmp_path):
    write_toy(tmp_path)
    photos = tuple(sorted((tmp_path / "images").iterdir()))[:3]
    known = ("a" * 32, "", "")
    keys = gallery_keys(CaptionSet("x", "all", photos, keys=known))
    assert keys[0] == known[0]
    assert len({*keys}) == 3
    photos[1].unlink()
    with pytest.raises(UserError, match="cannot be read"):
        gallery_keys(CaptionSet("x", "all", photos, keys=known))


SPEED = """
import time, torch, numpy as np
from vsdemo.core.embeddings import Embeddings
from vsdemo.search.labels import train_label

x = torch.randn(100_000, 512, generator=torch.Generator().manual_seed(0))
order = np.random.default_rng(0).permutation(100_000).tolist()
keys = [number.to_bytes(16, "big").hex() for number in order]
examples = {key: number < 25 for number, key in enumerate(keys[:50])}
train_label(Embeddings(x[:1000]), keys[:1000], examples)  # imports scikit-learn
started = time.process_time()
trained = train_label(Embeddings(x), keys, examples)
trained.suggestions(20)
print(time.process_time() - started)
"""


@pytest.mark.long
def test_a_hundred_thousand_photos_take_half_a_second():
    """In the time of the processor, as other programs may run; of the threads together."""
    output = subprocess.check_output([sys.executable, "-c", SPEED], cwd=ROOT, text=True)
    assert float(output) < 0.5
