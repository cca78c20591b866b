"""Composed sentences: their text, and how a model ranks them."""

import math

import pytest
import torch

from vsdemo import models
from vsdemo.core.config import override
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence, Tree
from vsdemo.data.text.sentences import add_trees
from vsdemo.data.text.vocab import Vocab
from vsdemo.models import composition
from vsdemo.models.captioner import Written
from vsdemo.models.composition import (
    DOUBT_WEIGHT,
    MIN_SHARE,
    SHOWN_WEIGHT,
    compose,
    sentence_of,
)

pytestmark = pytest.mark.usefixtures("fake_parser")
TEXTS = ["a dog runs , happy", "two cats", "man sees woman", "person people child boy snow cat"]


class Fixed(torch.nn.Module):
    """A captioner that always writes the same, and draws the same samples."""

    def __init__(self, written, samples=()):
        super().__init__()
        self.written, self.samples = written, samples or [own.words for own in written]

    def write(self, regions, *, beams, count):
        return [self.written[:count]] * len(regions)

    def read(self, sentences, regions):
        return [Written(words, -6.0) for words in sentences]

    def sample(self, regions, count):
        return [self.samples] * len(regions)


def tree(words):
    """Return a tree in which every noun of the test is an object of the first word."""
    nouns = {"dog", "cat", "cats", "man", "woman", "person", "people", "boy", "child", "snow"}
    tags = tuple(
        "PUNCT" if not word.isalnum() else "NOUN" if word.lower() in nouns else "VERB"
        for word in words
    )
    heads = (0, *[1] * (len(words) - 1))
    return Tree(tuple(words), heads, ("root", *["obj"] * (len(words) - 1)), tags)


@pytest.fixture
def parsed(monkeypatch):
    """Trees with tags, which `FakeParser` lacks."""

    def add(sentences, needs):
        texts = [sentence.text for sentence in sentences]
        return [Sentence(t, tree(t.replace(".", " .").replace(",", " ,").split())) for t in texts]

    monkeypatch.setattr(composition, "add_trees", add)


@pytest.fixture
def model():
    torch.manual_seed(0)
    name, config = models.preset("fragments_photos")
    config = override(config, ["dim=8", "word_dim=6", "units=5", "min_count=1"])
    sentences = add_trees([Sentence(text) for text in TEXTS], config.needs)
    return models.build(name, config, Vocab.build(sentences), 12).eval()


def written(model, text, log_probability=-3.0):
    return Written(tuple(model.text.vocab.ids(text.split())), log_probability)


def regions(count=1):
    return Embeddings(torch.randn(count, 4, 8), torch.ones(count, 4, dtype=torch.bool))


def test_a_sentence_has_a_capital_letter_and_a_full_stop(model):
    words = written(model, TEXTS[0]).words
    assert sentence_of(words, model.text.vocab) == "A dog runs, happy."


def test_each_photo_has_its_sentences_with_the_scores_of_the_model(model):
    model.attach(Fixed([written(model, "two cats"), written(model, "a dog runs", -1.0)]))
    photos = regions(2)
    for row, own in enumerate(compose(model, photos)):
        assert {composed.text for composed in own} == {"Two cats.", "A dog runs."}
        ranks = [composed.rank for composed in own]
        assert ranks == sorted(ranks, reverse=True)
        for composed in own:
            embedded = model.encode_text([Sentence(composed.text)])
            expected = model.score(embedded, photos[row : row + 1]).item()
            assert composed.score == pytest.approx(expected, abs=1e-5)
    assert len(compose(model, photos, count=1)[0]) == 1


def texts_of(model, *sentences, samples=()):
    drawn = [written(model, text).words for text in samples]
    model.attach(Fixed([written(model, text) for text in sentences], drawn))
    ((*composed,),) = compose(model, regions())
    return composed


@pytest.mark.usefixtures("parsed")
def test_what_few_samples_name_counts_against_a_sentence(model, monkeypatch):
    monkeypatch.setattr(composition, "SHOWN_WEIGHT", 0.0)
    samples = ["a dog runs", "dog", "dog", "two cats"]
    composed = {own.text: own for own in texts_of(model, "two cats", "a dog runs", samples=samples)}
    for text, share in (("A dog runs.", 3 / 4), ("Two cats.", 1 / 4)):
        expected = -math.log(share + MIN_SHARE)
        assert composed[text].doubt == pytest.approx(expected)
        assert composed[text].rank == pytest.approx(
            composed[text].likelihood - DOUBT_WEIGHT * expected
        )
    assert list(composed) == ["A dog runs.", "Two cats."]


@pytest.mark.usefixtures("parsed")
def test_what_regions_show_counts_for_a_sentence(model, monkeypatch):
    monkeypatch.setattr(composition, "DOUBT_WEIGHT", 0.0)
    model.attach(Fixed([written(model, "a dog runs"), written(model, "two cats")]))
    photo = regions()
    (composed,) = compose(model, photo)
    assert len(composed) == 2
    for own in composed:
        (sentence,) = composition.add_trees([Sentence(own.text)], ())
        noun = sentence.tree.tags.index("NOUN")
        (part,) = (m for m, f in enumerate(model.text.fragments(sentence)) if f.words == (noun,))
        aligned = model.score.align_pairs(model.encode_text([sentence]), photo)  # (1, M, K)
        assert own.shown == pytest.approx(float(aligned[0, part].max()), abs=1e-5)
        assert own.rank == pytest.approx(own.likelihood + SHOWN_WEIGHT * own.shown)


@pytest.mark.usefixtures("parsed")
def test_nouns_for_people_may_become_more_general(model):
    composed = {
        own.text: own for own in texts_of(model, "man sees snow", samples=["boy sees snow"])
    }
    assert composed.keys() == {"Man sees snow.", "Person sees snow."}
    sure, unsure = composed["Person sees snow."], composed["Man sees snow."]
    assert sure.doubt == pytest.approx(-math.log(1 + MIN_SHARE))  # a boy is a person
    assert unsure.doubt > 1


@pytest.mark.usefixtures("parsed")
def test_a_sentence_does_not_name_a_thing_twice(model):
    assert [own.text for own in texts_of(model, "cat sees cats", "cat runs")] == ["Cat runs."]
    assert [own.text for own in texts_of(model, "cat sees cats")] == ["Cat sees cats."]


def test_a_model_without_a_captioner_says_what_to_do(model):
    with pytest.raises(UserError, match="train-captioner"):
        compose(model, regions())
