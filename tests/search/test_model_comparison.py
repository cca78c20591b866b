"""Comparisons of models equal plain loops over their scores."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import torch

from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.images import open_photo
from vsdemo.models.scores import Cosine
from vsdemo.search.engine import Engine
from vsdemo.search.index import Index
from vsdemo.search.model_comparison import (
    RankingComparison,
    compare_descriptions,
    compare_pair,
    compare_searches,
    telling_caption,
)
from vsdemo.search.ranking import rank_scores

COUNT, K = 30, 5
TEXT, OTHER = "a red circle", "a green bar"


def ranking(seed):
    """Return a ranking of random photos, and the numbers of the photos in order."""
    scores = torch.randn(COUNT, generator=torch.Generator().manual_seed(seed))
    index = Index(Embeddings(torch.ones(COUNT, 2)), [str(n) for n in range(COUNT)], Cosine())
    order = sorted(range(COUNT), key=lambda number: -float(scores[number]))
    return rank_scores(scores, index), order


@pytest.fixture
def engines(toy_checkpoint, toy_order):
    folders = {"gru": toy_checkpoint, "order": toy_order}
    return {name: Engine(folder, "toy", "test") for name, folder in folders.items()}


def test_ranks_and_agreement_equal_a_plain_loop():
    rankings, orders = zip(*map(ranking, range(3)), strict=True)
    comparison = RankingComparison.of("abc", rankings, K)
    shares = [len({*a[:K]} & {*b[:K]}) / K for a, b in combinations(orders, 2)]
    assert comparison.agreement == pytest.approx(sum(shares) / 3)
    shown = {number for order in orders for number in order[:K]}
    for column, order in zip(comparison.columns, orders, strict=True):
        assert [hit.number for hit in column.hits] == order[:K]
        assert column.ranks == {number: order.index(number) + 1 for number in shown}
        hidden = next(number for number in range(COUNT) if number not in shown)
        assert column.rank(hidden) == order.index(hidden) + 1
        assert column.total == COUNT


def test_a_model_without_an_answer_does_not_count():
    first, second = ranking(0)[0], ranking(1)[0]
    comparison = RankingComparison.of("abc", [first, "It knows no word.", second], K)
    assert comparison.agreement == RankingComparison.of("ac", [first, second], K).agreement
    assert comparison.columns[1].problem == "It knows no word."
    assert RankingComparison.of("ab", [first, "No."], K).agreement is None


def test_each_model_answers_as_alone(engines):
    comparison = compare_searches(engines, TEXT, K)
    for column in comparison.columns:
        alone = engines[column.title].search(TEXT, K)
        assert [hit.item for hit in column.hits] == [hit.item for hit in alone]
        assert [hit.score for hit in column.hits] == pytest.approx([hit.score for hit in alone])
    photo = engines["gru"].gallery.photos[2]
    for query in (2, open_photo(photo)):
        for column in compare_descriptions(engines, query, K).columns:
            alone = engines[column.title].describe(open_photo(photo), K).hits
            assert [hit.item for hit in column.hits] == [hit.item for hit in alone]


def test_two_sentences_are_searched_by_each_model(engines):
    for pair in compare_pair(engines, TEXT, OTHER, K):
        engine = engines[pair.model]
        for text, column in zip((TEXT, OTHER), pair.rankings.columns, strict=True):
            assert column.title == text
            assert [h.item for h in column.hits] == [h.item for h in engine.search(text, K)]
        assert -1 <= pair.similarity <= 1
    for pair in compare_pair(engines, TEXT, TEXT, K):
        assert pair.rankings.agreement == 1
        assert pair.similarity == pytest.approx(1, abs=1e-5)
    for pair in compare_pair(engines, TEXT, "xyzzy", K):
        assert pair.similarity is None
        assert "knows no word" in pair.rankings.columns[0].problem


def test_a_telling_caption_is_right_for_one_model_only(engines):
    gallery = engines["gru"].gallery
    for winner, loser in (("gru", "order"), ("order", "gru")):
        example = telling_caption(engines[winner], engines[loser])
        ranks = []
        for caption, photo in zip(gallery.captions, gallery.photo_of, strict=True):
            first = engines[winner].search(caption, 1)[0].number
            hits = engines[loser].search(caption, len(gallery.photos))
            place = [hit.number for hit in hits].index(photo) + 1
            ranks.append(place if first == photo else 0)
        if example is None:
            assert max(ranks) <= 1
            continue
        number = gallery.captions.index(example.text)
        assert example.photo == gallery.photo_of[number]
        assert example.rank == ranks[number] == max(ranks)


def test_without_captions_no_answer_is_known_to_be_right(engines, monkeypatch):
    engine = engines["gru"]
    monkeypatch.setattr(engine, "gallery", replace(engine.gallery, captions=(), photo_of=()))
    with pytest.raises(UserError, match="no captions"):
        telling_caption(engine, engines["order"])


@pytest.mark.parametrize("names", [["gru"], ["a", "b", "c", "d", "e"]])
def test_two_to_four_models_are_compared(engines, names):
    models = dict.fromkeys(names, engines["gru"])
    for compare in (
        lambda: compare_searches(models, TEXT),
        lambda: compare_descriptions(models, 0),
        lambda: compare_pair(models, TEXT, OTHER),
    ):
        with pytest.raises(UserError, match="2 to 4 models"):
            compare()


@pytest.mark.parametrize("text", ["", " ", "a" * 2000])
def test_bad_sentences_get_one_sentence(engines, text):
    with pytest.raises(UserError):
        compare_searches(engines, text)
    with pytest.raises(UserError):
        compare_pair(engines, TEXT, text)
    with pytest.raises(UserError, match="whole number"):
        compare_searches(engines, TEXT, 0)


def test_a_ranking_of_scores_is_in_order():
    made, order = ranking(7)
    assert made.numbers.tolist() == order
    assert np.all(np.diff(made.scores.numpy()) <= 0)
    assert made.candidates == len(made) == COUNT
