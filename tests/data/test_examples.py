"""Sentences to try: what they state, and the photos that they are true of."""

import json

import pytest

from vsdemo.core.caption_set import CaptionSet
from vsdemo.data import datasets, examples
from vsdemo.data.storybook import store
from vsdemo.data.storybook.lexicon import FUNCTION_WORDS, load_lexicon
from vsdemo.data.storybook.pictures import generate_picture
from vsdemo.data.text.vocab import tokenize

DRAWN, EVERYDAY = examples.examples("storybook"), examples.examples("flickr8k")


def words_for(facts):
    """Return groups of words; a sentence that states the facts has one word of each."""
    words = load_lexicon()
    groups = []
    for thing in facts.things:
        nouns = words.concepts[words.named_concept(thing.concept)].nouns
        groups.append(
            {word for noun in nouns for word in [*noun.split(), *words.plural(noun).split()]}
        )
        groups += [{thing.colour}] if thing.colour else []
    for link in facts.links:
        wordings = words.actions[link.action].wordings
        groups += (
            [{word for wording in wordings for word in wording.verb}] if wordings[0].verb else []
        )
        if prepositions := {word for w in wordings for word in w.preposition.split()}:
            groups.append(prepositions)
    if facts.place:
        setting = words.settings[facts.place]
        phrases = (*setting.ground, *setting.surface)
        groups.append({word for phrase in phrases for word in phrase.split()})
    if facts.time:
        groups.append(
            {word for phrase in words.times[facts.time].phrases for word in phrase.split()}
        )
    return groups


@pytest.mark.parametrize("example", DRAWN, ids=lambda example: example.text)
def test_a_sentence_about_storybook_says_what_it_states_and_nothing_else(example):
    said, groups = set(tokenize(example.text)), words_for(example.facts)
    assert not [group for group in groups if said.isdisjoint(group)]
    assert said <= {word for group in groups for word in group} | set(FUNCTION_WORDS)


def test_examples_are_short_different_and_of_every_topic():
    for sentences in (DRAWN, EVERYDAY):
        texts = [example.text for example in sentences]
        assert len(set(texts)) == len(texts)
        assert max(len(text.split()) for text in texts) <= 8
        assert {example.topic for example in sentences} == set(examples.TOPICS)
        assert {example.topic for example in sentences[:3]} == set(examples.TOPICS)


def stored_photos(dataset):
    values = json.loads((examples.FOLDER / f"{dataset}.json").read_text())
    return {text: frozenset(names) for text, names in values["photos"].items()}


def test_stored_photos_of_storybook_follow_from_its_scenes(monkeypatch):
    def read(photo):
        return store.Example(generate_picture(int(photo.stem), compositional=False).scene, ())

    monkeypatch.setattr(store, "read_example", read)
    photos = tuple(store.photo(number) for number in store.SPLITS["test"])
    gallery = CaptionSet("storybook", "test", photos, (), ())
    assert examples.true_photos(gallery) == stored_photos("storybook")
    some = CaptionSet("storybook", "test", photos[:60], (), ())
    names = {photo.name for photo in photos[:60]}
    expected = {text: of & names for text, of in stored_photos("storybook").items()}
    assert examples.true_photos(some) == expected


@pytest.mark.usefixtures("real_data")
def test_stored_photos_of_flickr8k_follow_from_its_captions():
    assert examples.true_photos(datasets.load("flickr8k", "test")) == stored_photos("flickr8k")


def gallery_of(tmp_path, *captions):
    """Return a gallery with these captions of a photo each."""
    photos = tuple(tmp_path / f"{number}.jpg" for number in range(len(captions)))
    texts = tuple(text for of_photo in captions for text in of_photo)
    owners = tuple(n for n, of_photo in enumerate(captions) for _ in of_photo)
    return CaptionSet("mine", "all", photos, texts, owners)


def test_two_captions_must_state_all_of_a_sentence(tmp_path):
    gallery = gallery_of(
        tmp_path,
        ["A dog runs on the beach .", "Two dogs are running along the shore."],
        ["A dog runs on the beach .", "A dog sits on the beach ."],
        ["A dog runs .", "A dog ran on the beach", "dogs running on a beach"],
        ["A hotdog runs on the beachside", "A hotdog runs on the beachside"],
    )
    assert examples.true_photos(gallery)["a dog runs on the beach"] == {"0.jpg"}


def test_colours_belong_to_the_noun(tmp_path):
    dog = ["A white dog with a black collar", "The white dog has a black ball"]
    assert examples.true_photos(gallery_of(tmp_path, dog))["a black dog"] == frozenset()
    assert examples.true_photos(gallery_of(tmp_path, dog))["a white dog"] == {"0.jpg"}


def test_short_captions_are_plain_and_of_one_photo(tmp_path):
    gallery = gallery_of(
        tmp_path,
        ["A dog runs over grass .", "A brown dog runs over grass in a garden of flowers ."],
        ["A man , a plan and a canal"],
        ["A cat on a mat", "A cat lies there"],
        ["a cat on a mat.", "Two birds"],
    )
    captions = {e.text: photo for e, photo in examples.short_captions(gallery).items()}
    assert captions == {"A dog runs over grass": "0.jpg", "A cat lies there": "2.jpg"}


def test_short_captions_are_spread_over_a_gallery(tmp_path):
    names = ["".join(chr(97 + int(digit)) for digit in f"{n:03}") for n in range(400)]
    gallery = gallery_of(tmp_path, *([f"a dog called {n}"] for n in names))
    captions = examples.short_captions(gallery)
    assert len(captions) == examples.CAPTIONS
    assert max(int(photo.removesuffix(".jpg")) for photo in captions.values()) > 350


def test_without_captions_no_sentence_is_true_of_a_photo(tmp_path):
    gallery = CaptionSet("mine", "all", (tmp_path / "a.jpg",), (), ())
    assert set(examples.true_photos(gallery).values()) == {frozenset()}
    assert examples.short_captions(gallery) == {}
