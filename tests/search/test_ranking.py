"""Rankings equal plain loops over the photos."""

import statistics
from datetime import date
from pathlib import Path

import numpy as np
import pytest
import torch

from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.data.catalog.filters import Orientation, PhotoFilter, PhotoOrder
from vsdemo.data.catalog.table import PhotoTable
from vsdemo.models.scores import Cosine
from vsdemo.search import ranking
from vsdemo.search.engine import Engine
from vsdemo.search.index import Index
from vsdemo.search.query import Query, Term, make_query

COUNT = 40
TEXTS = (Term("a dog"), Term("at night", 0.5), Term("people", -2.0))


@pytest.fixture
def photos():
    x = torch.randn(COUNT, 5, generator=torch.Generator().manual_seed(0))
    return Index(Embeddings(x), [f"{number}.jpg" for number in range(COUNT)], Cosine())


@pytest.fixture
def table():
    days = np.datetime64("2020-01-01", "s") + np.arange(COUNT) * np.timedelta64(1, "D")
    days[::10] = np.datetime64("NaT")
    return PhotoTable(
        root=Path("/photos"),
        folders=["", "a", "a/b", "ab"],
        folder_of=np.arange(COUNT) % 4,
        cameras=["", "Canon EOS", "NIKON D90"],
        camera_of=np.arange(COUNT) % 3,
        taken=days,
        widths=np.where(np.arange(COUNT) % 2, 4000, 3000),
        heights=np.where(np.arange(COUNT) % 5, 3000, 4000),
    )


def term_scores(count):
    return list(torch.randn(count, COUNT, generator=torch.Generator().manual_seed(1)))


def looped(terms, scores):
    """Return the photos, best first, by the formula of the module's docstring."""
    totals = []
    for photo in range(COUNT):
        total = 0.0
        for term, of_term in zip(terms, scores, strict=True):
            values = of_term.tolist()
            z = (values[photo] - statistics.fmean(values)) / statistics.pstdev(values)
            total += term.weight * (max(z, 0) if term.weight < 0 else z)
        totals.append(total / sum(abs(term.weight) for term in terms))
    return sorted(range(COUNT), key=lambda photo: -totals[photo]), totals


def test_several_terms_equal_a_loop(photos):
    scores = term_scores(3)
    result = ranking.rank(Query(TEXTS), scores, photos)
    order, totals = looped(TEXTS, scores)
    assert result.numbers.tolist() == order
    assert result.scores.tolist() == pytest.approx([totals[n] for n in order], abs=1e-5)
    assert result.candidates == COUNT


def test_one_term_keeps_the_models_scores(photos):
    (scores,) = term_scores(1)
    result = ranking.rank(Query(TEXTS[:1]), [scores], photos)
    assert result.scores.tolist() == sorted(scores.tolist(), reverse=True)
    assert result.unit == Cosine.unit
    assert result.best == (("a dog", pytest.approx(float(Cosine().to_unit(scores.max())))),)


def test_the_best_score_of_a_sentence_is_without_its_offset(photos):
    scores = term_scores(2)
    query = Query(TEXTS[:2])
    result = ranking.rank(query, scores, photos, offsets=[0.0, -0.25])
    best = [float(Cosine().to_unit(of_term.max())) for of_term in scores]
    shifted = float(Cosine().to_unit(scores[1].max() + 0.25))
    assert [unit for _, unit in result.best] == pytest.approx([best[0], shifted])
    assert result.numbers.tolist() == ranking.rank(query, scores, photos).numbers.tolist()


def test_a_term_that_tells_no_photos_apart_changes_nothing(photos):
    (scores,) = term_scores(1)
    same = torch.zeros(COUNT)
    result = ranking.rank(Query(TEXTS[:2]), [scores, same], photos)
    assert result.numbers.tolist() == scores.argsort(descending=True).tolist()


def test_what_is_least_like_a_minus_term_gains_nothing(photos):
    wanted, unwanted = torch.zeros(COUNT), torch.zeros(COUNT)
    wanted[3], wanted[5], unwanted[3], unwanted[7] = 1, 1.01, -10, 10
    query = Query((Term("a dog"), Term("people", -1.0)))
    assert ranking.rank(query, [wanted, unwanted], photos).numbers[:2].tolist() == [5, 3]


@pytest.mark.parametrize(
    ("conditions", "meets"),
    [
        (PhotoFilter(folder="a"), lambda n: n % 4 in (1, 2)),
        (PhotoFilter(folder="a/b"), lambda n: n % 4 == 2),
        (PhotoFilter(folder="/photos/a"), lambda n: n % 4 in (1, 2)),
        (PhotoFilter(camera="nikon"), lambda n: n % 3 == 2),
        (PhotoFilter(since=date(2020, 1, 11)), lambda n: n >= 10 and n % 10),
        (PhotoFilter(until=date(2020, 1, 11)), lambda n: n <= 10 and n % 10),
        (PhotoFilter(orientation=Orientation.SQUARE), lambda n: (n % 2 > 0) == (n % 5 == 0)),
        (PhotoFilter(orientation=Orientation.LANDSCAPE), lambda n: n % 2 and n % 5),
        (PhotoFilter(orientation=Orientation.PORTRAIT), lambda n: not n % 2 and not n % 5),
        (PhotoFilter(megapixels=12), lambda n: n % 2 or not n % 5),
    ],
)
def test_conditions_equal_a_loop(photos, table, conditions, meets):
    expected = [number for number in range(COUNT) if meets(number)]
    assert 0 < len(expected) < COUNT
    result = ranking.rank(Query(filter=conditions), [], photos, table)
    assert result.numbers.tolist() == expected
    assert result.candidates == len(expected)


def test_an_unknown_folder_is_an_error(photos, table, is_one_sentence):
    with pytest.raises(UserError, match="folder 'c'") as caught:
        ranking.rank(Query(filter=PhotoFilter(folder="c")), [], photos, table)
    assert is_one_sentence(caught)


def test_no_photo_meets_the_conditions(photos, table):
    conditions = PhotoFilter(camera="Leica")
    result = ranking.rank(Query(TEXTS, conditions), term_scores(3), photos, table)
    assert (len(result), result.candidates, result.best) == (0, 0, ())
    assert result.hits() == []


def test_dates_order_the_best_photos(photos, table, monkeypatch):
    monkeypatch.setattr(ranking, "DATED", 12)
    (scores,) = term_scores(1)
    best = scores.argsort(descending=True)[:12].tolist()
    dated = [number for number in best if number % 10]
    undated = [number for number in best if not number % 10]
    for order, sign in ((PhotoOrder.OLDEST, 1), (PhotoOrder.NEWEST, -1)):
        result = ranking.rank(Query(TEXTS[:1], order=order), [scores], photos, table)
        assert result.numbers.tolist() == sorted(dated, key=lambda n: sign * n) + undated
    everything = ranking.rank(Query(order=PhotoOrder.NEWEST), [], photos, table)
    assert len(everything) == COUNT


def test_the_first_of_each_group_is_kept(photos):
    (scores,) = term_scores(1)
    groups = torch.arange(COUNT) % 7
    result = ranking.rank(Query(TEXTS[:1]), [scores], photos, groups=groups)
    expected, seen = [], set()
    for number in scores.argsort(descending=True).tolist():
        if number % 7 not in seen:
            seen.add(number % 7)
            expected.append(number)
    assert result.numbers.tolist() == expected
    sizes = [sum(n % 7 == number % 7 for n in range(COUNT)) for number in expected]
    assert result.copies.tolist() == [size - 1 for size in sizes]


def test_pages_join_to_the_whole(photos):
    result = ranking.rank(Query(TEXTS), term_scores(3), photos)
    pages = [result.hits(start, 7) for start in range(0, COUNT, 7)]
    hits = [hit for page in pages for hit in page]
    assert [hit.number for hit in hits] == result.numbers.tolist()
    assert [hit.rank for hit in hits] == list(range(1, COUNT + 1))
    assert result.hits(COUNT, 7) == []


def test_parts_of_the_index_give_the_scores_of_the_whole(photos, monkeypatch):
    query = photos.embeddings[:1]
    expected = Cosine()(query, photos.embeddings)[0]
    monkeypatch.setattr("vsdemo.models.scores.CPU_PART", 7)
    assert torch.allclose(photos.scores(query), expected, atol=1e-6)
    half = Index(Embeddings(photos.embeddings.x.half()), photos.items, Cosine())
    assert torch.allclose(half.scores(query), expected, atol=2e-3)
    assert torch.allclose(half.similarities(query), expected, atol=2e-3)


def test_an_engine_mixes_sentences_and_photos(toy_checkpoint):
    engine = Engine(toy_checkpoint)
    text, photo = "a red circle .", 3
    mixed = engine.rank(make_query(text, [photo], photo_weight=0.5))
    assert photo not in mixed.numbers
    sentence = engine.photos.scores(engine.encode(text)).cpu()
    similarity = engine.photos.similarities(engine.photo(photo)).cpu()
    total = ranking.combine([sentence, similarity], [1, 0.5])
    total[photo] = -torch.inf
    assert mixed.numbers.tolist() == total.sort(descending=True, stable=True).indices[:-1].tolist()
    one = engine.rank(make_query(text))
    assert [hit.number for hit in engine.search(text, 5)] == [hit.number for hit in one.hits(0, 5)]
    with pytest.raises(UserError, match="index"):
        engine.rank(make_query(text, conditions=PhotoFilter(camera="nikon")))
