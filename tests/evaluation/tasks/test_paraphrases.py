"""Rewrites among captions: pairs, ranks by a plain loop, and a bag of words as control."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence, Tree
from vsdemo.evaluation.task import PhotoData
from vsdemo.evaluation.tasks import paraphrases
from vsdemo.evaluation.tasks.paraphrases import Pair
from vsdemo.models.scores import Cosine, Inner

CAPTIONS = ("a dog bites a cat", "dogs here", "a boy pulls a sled", "a girl hugs a boy", "nothing")
SPLIT = CaptionSet("fake", "test", ("0.jpg", "1.jpg", "2.jpg"), CAPTIONS, (0, 0, 1, 1, 2))
PAIRS = [
    Pair("passive", 0, "a cat is bitten by a dog"),
    Pair("passive", 2, "a sled is pulled by a boy"),
    Pair("passive", 3, "a boy is hugged by a girl"),
    Pair("reversed", 0, "a cat bites a dog"),
    Pair("reversed", 2, "a sled pulls a boy"),
    Pair("reversed", 3, "a boy hugs a girl"),
]


def of_letters(word):
    """Return a vector of whole numbers for a word, so that sums are exact."""
    return torch.eye(11)[sum(map(ord, word)) % 11]


def bag(sentences):
    return Embeddings(torch.stack([sum(map(of_letters, s.text.split())) for s in sentences]))


def ordered(sentences):
    """Return embeddings that weight words by their position."""
    rows = [
        sum(of_letters(word) * (place % 3) for place, word in enumerate(s.text.split()))
        for s in sentences
    ]
    return Embeddings(torch.stack(rows))


@pytest.fixture(params=[bag, ordered])
def model(request):
    return SimpleNamespace(score=Inner(), encode_text=request.param)


@pytest.fixture
def clause_parser(fake_parser):
    """The fake parser, which parses five words as subject, verb and object."""

    def parse(texts):
        return [
            Tree(
                tuple(text.split()),
                (2, 3, 0, 5, 3),
                ("det", "nsubj", "root", "det", "obj"),
                ("DET", "NOUN", "VERB", "DET", "NOUN"),
            )
            if len(text.split()) == 5
            else fake_parser.tree(text.split())
            for text in texts
        ]

    fake_parser.parse = parse


def test_find_pairs_returns_all_rewrites(clause_parser):
    assert paraphrases.find_pairs(SPLIT) == PAIRS


@pytest.mark.parametrize("chunk", [1, 4, 1000])
def test_measures_equal_a_plain_loop(model, monkeypatch, chunk):
    monkeypatch.setattr(paraphrases, "CHUNK", chunk)
    result = paraphrases.measure(model, SPLIT, PAIRS)

    def of(text):
        return model.encode_text([Sentence(text)]).x[0]

    for row, pair in enumerate(PAIRS):
        query = of(CAPTIONS[pair.caption])
        own = query @ of(pair.rewrite)
        others = {i: query @ of(c) for i, c in enumerate(CAPTIONS) if i != pair.caption}
        rank = 1 + sum((s > own) + (s == own) / 2 for s in others.values())
        fellows = [
            s for i, s in others.items() if SPLIT.photo_of[i] == SPLIT.photo_of[pair.caption]
        ]
        assert result.rank[row] == rank
        assert result.similarity[row] == own
        assert result.nearer_than_fellows[row] == (own > max(fellows))


def test_the_summary_holds_means_over_pairs():
    results = paraphrases.PairResults(
        rank=np.array([1.0, 2.5, 4.0, 1.0]),
        similarity=np.array([0.5, 0.25, 0.0, 1.0]),
        nearer_than_fellows=np.array([True, False, False, False]),
    )
    assert paraphrases.summary(results) == {
        "meanr": 2.125,
        "r1": 50,
        "similarity": 0.4375,
        "nearer_than_fellows": 25,
    }
    last_two = paraphrases.summary(results.select([2, 3]))
    assert (last_two["meanr"], last_two["r1"]) == (2.5, 50)


def test_a_bag_of_words_prefers_exchanged_roles(clause_parser):
    result = paraphrases.Paraphrases().evaluate(
        SimpleNamespace(score=Cosine(), encode_text=bag), PhotoData(SPLIT, torch.zeros(3, 1))
    )
    assert result[paraphrases.Paraphrases.primary] == 0
    assert result["n_pairs"] == {"passive": 3, "fronted": 0, "swapped": 0, "reversed": 3}
    assert result["reversed"]["r1"] == 100
    assert result["reversed"]["similarity"] == pytest.approx(1)
    assert result["ci95"].keys() == {"passive", "reversed", paraphrases.Paraphrases.primary}
    assert result["examples"][0] == ["passive", CAPTIONS[0], PAIRS[0].rewrite]
    assert json.loads(json.dumps(result)) == result


def test_captions_without_a_rewrite_are_a_user_error(clause_parser):
    none = CaptionSet("fake", "test", SPLIT.photos[:1], ("dogs here",), (0,))
    with pytest.raises(UserError, match="can rewrite"):
        paraphrases.Paraphrases().evaluate(SimpleNamespace(), PhotoData(none, torch.zeros(1, 1)))
