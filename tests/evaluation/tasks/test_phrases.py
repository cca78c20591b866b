from dataclasses import replace

import pytest
import torch

from tests.evaluation.tasks.test_retrieval import OWNER, SCORES, split_of
from tests.support import small_entities
from tests.support.fake_parser import FakeParser
from vsdemo.core.errors import UserError
from vsdemo.data.datasets.flickr8k import Flickr8k
from vsdemo.data.storybook.lexicon import load_lexicon
from vsdemo.evaluation.phrases import Phrase, match_words, phrases
from vsdemo.evaluation.storybook_facts import stories


def make_phrase(sentence: str, *words: int) -> Phrase:
    return Phrase(0, tuple(sentence.split()), words, torch.ones(1, 4), ())


def test_phrases_of_flickr8k_are_those_of_entities(tmp_path, monkeypatch):
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path))
    small_entities.write(tmp_path)
    split = small_entities.load(tmp_path)
    result = phrases(split)
    texts = [(p.caption, " ".join(p.tokens[w] for w in p.words), len(p.boxes)) for p in result]
    assert texts == [
        (0, "The red-haired man", 2),
        (1, "a man in his car", 2),
        (2, "A man", 2),
        (2, "a gray t-shirt", 1),
        (2, "two balls", 2),
        (3, "Two dogs", 2),
    ]
    assert result[1].types == ("people", "vehicles")
    trees = [FakeParser.tree(text.split()) for text in split.captions]
    words = [
        [trees[p.caption].words[w] for w in sorted(own)]
        for p, own in zip(result, match_words(result, trees), strict=True)
    ]
    assert words == [
        ["the", "red", "haired", "man"],
        ["a", "man", "in", "his", "car"],
        ["A", "man"],
        ["a", "grey", "shirt"],
        ["two", "balls"],
        ["Two", "dogs"],
    ]


def test_phrases_of_storybook_are_its_gold_links(small_storybook):
    split = small_storybook.load("test")
    scenes, captions = stories(split)
    links = [(n, *link) for n, caption in enumerate(captions) for link in caption.links]
    result = phrases(split)
    for phrase, (number, words, group) in zip(result, links, strict=True):
        kind = scenes[split.photo_of[number]].groups[group].kind
        assert (phrase.caption, phrase.words) == (number, words)
        assert phrase.tokens == captions[number].tree.words
        (known,) = phrase.types
        assert known == "thing" or load_lexicon().is_a(kind, known)
    assert {"person", "animal", "thing"} <= {kind for phrase in result for kind in phrase.types}
    own = [frozenset(phrase.words) for phrase in result]
    assert match_words(result, [caption.tree for caption in captions]) == own


@pytest.mark.parametrize(
    ("sentence", "words", "written", "expected"),
    [
        ("its front paws", (0, 1, 2), "it s front paws", {0, 1, 2, 3}),
        ("a boy skips", (0, 1), "a skips", set()),  # most of the phrase is missing
        ("a young boy skips", (0, 1, 2), "a young skips", {0, 1}),
        ("a grey dog", (1,), "A gray dog", {1}),
        ("snow man", (0,), "snowman", {0}),
        ("snow manikins", (0,), "snowmanikins", set()),  # most of the word is outside the phrase
        ("nothing like it", (0,), "zzz", set()),
    ],
)
def test_words_are_matched_by_their_letters(sentence, words, written, expected):
    queries = [make_phrase(sentence, *words)]
    assert match_words(queries, [FakeParser.tree(written.split())]) == [expected]


def test_phrases_are_matched_within_their_caption():
    queries = [make_phrase("a dog", 1), replace(make_phrase("the old man", 2), caption=1)]
    trees = [FakeParser.tree(text.split()) for text in ("a dog", "the old man")]
    assert match_words(queries, trees) == [{1}, {2}]


def test_phrases_of_another_data_set_are_a_user_error():
    with pytest.raises(UserError, match=r"needs Flickr8k or Storybook, .* not fake"):
        phrases(split_of(SCORES, OWNER)[0])


@pytest.mark.usefixtures("real_data")
def test_real_phrases_match_the_words_of_the_trees():
    split = Flickr8k().load("test")
    result = phrases(split)
    assert len(result) == 13_063
    assert all(len(phrase.boxes) for phrase in result)
    assert len({split.photo_of[phrase.caption] for phrase in result}) == 1000
    trees = [FakeParser.tree(text.split()) for text in split.captions]
    words = match_words(result, trees)
    assert all(words)
    same = [
        [p.tokens[w] for w in p.words] == [trees[p.caption].words[w] for w in sorted(own)]
        for p, own in zip(result, words, strict=True)
    ]
    assert sum(same) / len(same) > 0.98
