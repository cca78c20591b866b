"""The sentences about what no photo shows are many, varied, and about nothing that photos show."""

import pytest

from vsdemo.data import absent, datasets
from vsdemo.data.storybook.lexicon import load_lexicon
from vsdemo.data.text.vocab import tokenize

GRAMMAR = """
a an the and or of in on at to with is are was its his her their under over through into from by for
before after out up down than more no
"""


def content(text: str) -> set[str]:
    return set(tokenize(text)) - set(tokenize(GRAMMAR))


@pytest.mark.parametrize("name", ["storybook", "photos"])
def test_lists_have_200_different_sentences(name):
    sentences = absent.sentences(name)
    assert len(sentences) == len({tuple(tokenize(s)) for s in sentences}) == 200
    assert all(s == " ".join(s.split()) for s in sentences)
    lengths = [len(tokenize(s)) for s in sentences]
    assert min(lengths) >= 2
    assert max(lengths) >= 11
    assert len(set(lengths)) >= 9
    assert len({tokenize(s)[0] for s in sentences}) >= 80  # varied syntax


def test_storybook_has_its_own_list_and_other_data_sets_share_one():
    assert absent.names() == ("photos", "storybook")
    everyday = absent.sentences("photos")
    assert absent.sentences("flickr8k") == absent.sentences("/my/photos") == everyday
    assert absent.sentences("storybook") != everyday


def test_storybook_cannot_draw_most_of_any_sentence():
    """Captions lack at least half of its words with content, and all kinds but people."""
    lexicon = load_lexicon()
    known = set(lexicon.words())
    kinds = [name for name in lexicon.kinds if not lexicon.is_a(name, "person")]
    nouns = {noun for kind in kinds for noun in lexicon.concepts[kind].nouns}
    nouns |= {lexicon.plural(noun) for noun in nouns}
    for sentence in absent.sentences("storybook"):
        words = content(sentence)
        assert 2 * len(words - known) >= len(words), sentence
        text = f" {' '.join(tokenize(sentence))} "
        assert not [noun for noun in nouns if f" {noun} " in text], sentence


def test_no_photo_of_flickr8k_has_most_words_of_a_sentence(real_data):
    """A photo has fewer than 70% of the words with content in its five captions."""
    split = datasets.load("flickr8k", "all")
    shown = [content(" ".join(split.own_captions(photo))) for photo in range(len(split.photos))]
    for sentence in absent.sentences("flickr8k"):
        words = content(sentence)
        assert max(len(words & photo) for photo in shown) < 0.7 * len(words), sentence
