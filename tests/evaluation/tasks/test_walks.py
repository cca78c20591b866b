"""Walks are counted as by plain loops, and are true for a model that knows the facts."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.data.relations.test_captions import SPLIT, small_wordnet
from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence
from vsdemo.data import datasets, relations, storybook
from vsdemo.data.relations import caption_nouns
from vsdemo.data.relations.listing import digest
from vsdemo.data.relations.meaning import Meanings
from vsdemo.data.storybook.facts import entails, facts_of
from vsdemo.data.text.vocab import tokenize
from vsdemo.evaluation import order_limits, worlds
from vsdemo.evaluation.task import PhotoData
from vsdemo.evaluation.tasks.walks import WalkCounts, Walks
from vsdemo.evaluation.walkers import OverlapWalker, walker_of
from vsdemo.evaluation.worlds import world
from vsdemo.models.limits import Limits
from vsdemo.models.scores import SCORES, FragmentAlignment

PHOTOS = 12
__all__ = ["small_wordnet"]  # a fixture


@pytest.fixture(scope="module")
def split():
    return storybook.drawn(range(4500, 4500 + PHOTOS), "test")


@pytest.fixture(autouse=True)
def few_scenes(split, monkeypatch):
    """Let `stories` return the scenes of these pictures only."""
    examples = [storybook.store.read_examples([n])[0] for n in range(4500, 4500 + PHOTOS)]
    scenes = tuple(example.scene for example in examples)
    captions = [caption for scene in scenes for caption in storybook.captions_of(scene)]
    monkeypatch.setattr(worlds, "stories", lambda split: (scenes, captions))
    world.cache_clear()
    yield scenes, captions
    world.cache_clear()


class Oracle:
    """A model whose order is that of the facts: one coordinate for each text, photos above all."""

    limits = Limits(0.5, 0.5)
    concepts = ()

    def __init__(self, truth, unknown=()):
        self.truth, self.score, self._unknown = truth, SCORES["order"], unknown
        self.text = self

    def unknown(self, sentence):
        return [], [sentence.text] if sentence.text in self._unknown else []

    def encode_text(self, sentences):
        # Coordinate i is 1 where text i follows, so a more specific text has all of a general one.
        numbers = [self.truth.texts.index(sentence.text) for sentence in sentences]
        return Embeddings(torch.tensor(self.truth.follows.T[numbers]).float())

    def encode_image(self, features):
        return Embeddings(torch.tensor(self.truth.describes.T).float())


def test_truths_are_those_of_the_facts(split, few_scenes):
    scenes, captions = few_scenes
    truth = world(split)
    assert truth.kinds.count("caption") == len(truth.texts) - truth.kinds.index("caption")
    number = {text: i for i, text in enumerate(truth.texts)}
    some = captions[::7]
    for general in some:
        for specific in some:
            expected = entails(specific.facts, general.facts)
            assert truth.follows[number[general.text], number[specific.text]] == expected
        for photo, scene in enumerate(scenes):
            expected = entails(facts_of(scene), general.facts)
            assert truth.describes[number[general.text], photo] == expected
    assert truth.texts[truth.starts[0, 1]] == captions[0].text


def test_children_have_nothing_between(split):
    truth = world(split)
    known = np.ones(len(truth.texts), bool)
    strict = truth.follows & ~truth.follows.T
    for text in range(0, len(truth.texts), 5):
        expected = [
            below
            for below in np.flatnonzero(strict[text])
            if not any(strict[text, b] and strict[b, below] for b in range(len(truth.texts)))
        ]
        assert truth.children(text, known).tolist() == expected


def test_an_order_of_the_facts_walks_truly(split):
    truth = world(split)
    result = Walks().evaluate(Oracle(truth), PhotoData(split, torch.zeros(PHOTOS, 1)))
    assert result["up"] == 100
    assert result["down"] > 90  # an empty walk, from a caption that nothing follows, is not true
    assert result["steps_up"] > 1
    assert result["children"] > 90
    assert set(result["ci95"]) == {"up", "steps_up", "down", "children", "overlap"}


def test_limits_are_the_largest_with_enough_true_steps(split, monkeypatch):
    truth = world(split)
    model, data = Oracle(truth, truth.texts[:1]), PhotoData(split, torch.zeros(PHOTOS, 1))
    for name in ("TEXTS", "PHOTOS"):
        monkeypatch.setattr(order_limits, name, 1.0)
    limits = order_limits.choose(model, data)
    assert limits == Limits(texts=0, photos=0)  # each wrong pair violates the order
    monkeypatch.setattr(order_limits, "TEXTS", 0.0)
    assert order_limits.choose(model, data).texts > 0


def test_an_exchanged_order_walks_wrongly(split):
    truth = world(split)
    model = Oracle(truth)
    model.encode_image = lambda features: Embeddings(torch.rand(PHOTOS, len(truth.texts)) + 1)
    result = Walks().evaluate(model, PhotoData(split, torch.zeros(PHOTOS, 1)))
    assert result["up"] < 90  # the steps from photos are wrong, those between texts are not


def test_unknown_texts_are_no_items(split):
    truth = world(split)
    unknown = [truth.texts[n] for n in dict.fromkeys(truth.starts.ravel().tolist())]
    measured = Walks().measure(Oracle(truth, unknown), PhotoData(split, torch.zeros(PHOTOS, 1)))
    counts = measured.model
    assert counts.steps_down.sum() == 0
    assert counts.metrics()["down"] == 0


def test_an_empty_walk_is_no_true_walk():
    one, none = np.array([1, 1]), np.array([0, 0])
    counts = WalkCounts(
        up=np.array([3, 0]),
        steps_up=np.array([3, 0]),
        down=none,
        steps_down=one,
        children=none,
        possible=one,
    )
    assert counts.metrics() == {"up": 75, "steps_up": 1.5, "down": 0, "children": 0}
    assert counts.metrics(np.array([0, 0]))["up"] == 100


@pytest.mark.parametrize("score", ["order_reversed", "fragments"])
def test_sets_and_photos_above_captions_are_refused(score):
    class Model:
        pass

    Model.score = {**SCORES, "fragments": FragmentAlignment()}[score]
    with pytest.raises(UserError, match="one vector for each sentence and photo"):
        Walks().check(Model())


def words_of(truth):
    return [set(tokenize(text)) for text in truth.texts]


def test_overlap_walks_by_words(split):
    truth = world(split)
    known = np.ones(len(truth.texts), bool)
    walker = OverlapWalker(Oracle(truth), PhotoData(split, torch.zeros(PHOTOS, 1)), truth, known)
    words, is_caption = words_of(truth), [kind == "caption" for kind in truth.kinds]

    def possible(above, below):
        return is_caption[below] or not is_caption[above]

    for text in range(0, len(words), 9):
        below = [i for i, own in enumerate(words) if own > words[text] and possible(text, i)]
        assert walker.below(text) == sorted(below, key=lambda i: len(words[i]))
    for photo in range(PHOTOS):
        first, *others = walker.up(photo)
        for upper in others:
            above = [i for i, own in enumerate(words) if own < words[first] and possible(i, first)]
            assert upper == max(above, key=lambda i: len(words[i]))
            first = upper
        assert not [i for i, own in enumerate(words) if own < words[first] and possible(i, first)]


def test_cosines_walk_to_fewer_words(split):
    truth = world(split)
    model, counts = Oracle(truth), [len(tokenize(text)) for text in truth.texts]
    model.score = SCORES["cosine"]
    known = np.ones(len(truth.texts), bool)
    walker = walker_of(model, PhotoData(split, torch.zeros(PHOTOS, 1)), truth, known)
    cosines = model.score(*[model.encode_text([Sentence(text) for text in truth.texts])] * 2)
    lower, upper = walker.up(0)[:2]
    fewer = [i for i, count in enumerate(counts) if count < counts[lower]]
    assert cosines[lower, upper] >= cosines[lower, fewer].max() - 1e-6
    texts, photo = walker.down(upper)
    assert [counts[text] for text in texts] == sorted({counts[text] for text in texts})
    assert photo in range(PHOTOS)
    assert Walks().evaluate(model, PhotoData(split, torch.zeros(PHOTOS, 1)))["steps_up"] > 1


def test_captions_that_people_wrote_are_true_by_grammar_and_wordnet(small_wordnet):
    truth, known = world(SPLIT), relations.load(SPLIT)
    count = truth.kinds.index("caption")
    assert truth.texts[:count] == tuple(known.texts[row] for row in known.concepts)
    shared = [known.texts[row] for row in known.common if known.texts[row] != "a dog runs"]
    assert len(shared) == 2  # "a dog runs" is a caption
    assert truth.texts[count:] == (*shared, *dict.fromkeys(SPLIT.captions))
    rows = np.array([known.texts.index(text) for text in truth.texts])
    labels = known.among_texts(rows, rows)
    assert truth.follows[labels == relations.TRUE].all()
    assert not truth.follows[labels == relations.FALSE].any()
    pairs = np.argwhere(labels == relations.UNKNOWN)
    implied = Meanings(SPLIT).implied(truth.texts, pairs)
    assert implied.any()
    assert truth.follows[tuple(pairs.T)].tolist() == implied.tolist()
    photos = known.above_photos(rows, np.arange(4)) == relations.TRUE
    assert truth.describes[photos].all()
    starts = [[truth.texts[text] for text in photo] for photo in truth.starts]
    firsts = [SPLIT.captions[own[0]] for own in SPLIT.captions_of]
    mains = ["a dog", "a cat", "a cat", "a beast"]  # of a dog and a beast, both are beasts
    assert starts == [[main, first] for main, first in zip(mains, firsts, strict=True)]


def test_walks_keep_to_the_concepts_that_a_model_learned(small_wordnet):
    truth = world(SPLIT)
    model, data = Oracle(truth), PhotoData(SPLIT, torch.zeros(4, 1))
    assert Walks().evaluate(model, data)["up"] == 100
    steps = Walks().measure(model, data).model.steps_up.sum()
    model.concepts = ("an entity",)
    assert 0 < Walks().measure(model, data).model.steps_up.sum() < steps


READ = json.loads((Path(__file__).parent / "read_steps.json").read_text())


@pytest.mark.usefixtures("real_data")
@pytest.mark.long
def test_steps_that_a_person_has_read(monkeypatch):
    """Of 200 steps over Flickr8k test that count as true, 97% of those that still do are right.

    `read_steps.json` has the ids of lower and upper items, right or wrong by a person's reading.
    Only the captions of the photos in question are parsed, so a few steps are not known.
    """
    monkeypatch.setattr(caption_nouns, "LEAST", 1)
    monkeypatch.setattr(caption_nouns, "EVERYDAY", 1)
    full = datasets.load("flickr8k", "test")
    names = {name for step in (*READ["right"], *READ["wrong"]) for name in step.split("-")}
    photos = [
        number
        for number, photo in enumerate(full.photos)
        if names & {digest(photo.name), *map(digest, full.own_captions(number))}
    ]
    split = CaptionSet(
        full.name,
        full.split,
        tuple(full.photos[photo] for photo in photos),
        tuple(caption for photo in photos for caption in full.own_captions(photo)),
        tuple(n for n, photo in enumerate(photos) for _ in full.own_captions(photo)),
    )
    truth = world(split)
    text_of = {digest(text): number for number, text in enumerate(truth.texts)}
    photo_of = {digest(photo.name): number for number, photo in enumerate(split.photos)}

    def counts_as_true(step):
        lower, upper = step.split("-")
        if upper not in text_of:
            return False
        if lower in photo_of:
            return truth.describes[text_of[upper], photo_of[lower]]
        return lower in text_of and truth.follows[text_of[upper], text_of[lower]]

    right, wrong = (sum(map(counts_as_true, READ[name])) for name in ("right", "wrong"))
    assert right + wrong >= 0.8 * len([*READ["right"], *READ["wrong"]])
    assert wrong <= max(1, 0.03 * (right + wrong))
