"""Typed sentences: what may become of a caption, and that it keeps its meaning."""

import re
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.storybook_scenes import WORDS, scenes
from vsdemo.data.storybook.captions import write_captions
from vsdemo.data.storybook.pictures import generate_picture
from vsdemo.data.storybook.realization import Caption, Mention
from vsdemo.data.storybook.store import captions_of
from vsdemo.data.storybook.typing_style import as_typed, mistyped
from vsdemo.data.storybook.typing_words import load_typing_words
from vsdemo.data.text.inflection import article

STYLE = load_typing_words()
NUMBERS = {"two": 2, "three": 3, "four": 4, "couple": 2, "pair": 2, "2": 2, "3": 3, "4": 4}


def ways(text: str, tries: int = 3000) -> set[str]:
    """Return what becomes of a sentence, without final punctuation, in lower case."""
    return {as_typed(text, Random(n)).lower().rstrip(".?") for n in range(tries)}


@pytest.mark.parametrize(
    ("text", "some", "never"),
    [
        (
            "A dog is chasing a ball.",
            {
                "dog chasing ball",
                "is a dog chasing a ball",
                "is there a dog chasing a ball",
                "a picture where a dog is chasing a ball",
                "a dog is running after a ball",
            },
            {"show me a dog is chasing a ball", "are there a dog chasing a ball"},
        ),
        (
            "Two women read a book.",
            {
                "do two women read a book",
                "2 women reading book",
                "two ladies read a book",
                "are there two women reading a book",
                "a couple of women reading a book",
            },
            {"is there two women reading a book", "two women read"},
        ),
        (
            "Two books read by a woman.",
            {"are there two books read by a woman", "two books read by a lady"},
            {"do two books read by a woman", "two books reading by a woman"},
        ),
        (
            "There are animals outside.",
            {"are there any animals outside", "animals outside", "creatures outdoors"},
            {"are there animals outside", "are there any there are animals outside"},
        ),
        (
            "The monkey is to the left of the two cars.",
            {
                "is the monkey to the left of the two cars",
                "monkey to the left of 2 cars",
                "the ape is to the left of the two cars",
                "the monkey is left of the two cars",
            },
            {"is there the monkey to the left of the two cars", "the a pair of cars"},
        ),
        (
            "A woman in grey on the beach in the rain.",
            {
                "a woman in gray on the beach in the rain",
                "a woman wearing grey on the beach in the rain",
                "woman in grey on rainy beach",
                "a woman in grey on the beach when it rains",
            },
            {"woman in grey beach rain"},
        ),
        (
            "A dog on the beach at night.",
            {"dog beach night", "a hound on the beach by night"},
            {"dog on beach night"},
        ),
        (
            "The beach at night.",
            {"beach at night", "a picture of the beach at night", "the beach in the dark"},
            {"are there the beach at night", "are there any the beach at night"},
        ),
        (
            "In the rain.",
            {"in the rain", "when it rains", "rain"},
            {"show me in the rain", "are there any in the rain"},
        ),
        (
            "A dog in the park in the rain at night.",
            {"a dog in the rainy park at night", "a dog in the park when it rains at night"},
            {"a dog in the park on a rainy day at night"},
        ),
        (
            "An owl on a loaf of bread.",
            {"an owl on some bread", "owl on loaf of bread", "an owl on a loaf"},
            {"a owl on a loaf of bread", "an owl on a bread"},
        ),
        (
            "A girl is holding a hat.",
            {"a girl has a hat", "is a girl holding a hat", "girl carrying hat"},
            {"a girl is having a hat", "is a girl has a hat", "a girl is with a hat"},
        ),
    ],
)
def test_ways_to_type(text, some, never):
    typed = ways(text)
    assert some <= typed
    assert not never & typed


def test_requests_take_noun_phrases():
    typed = {text for text in ways("A dog is chasing a ball.") if not unknown_words(text)}
    phrase, clause = "a dog chasing a ball", "a dog is chasing a ball"
    requests = {text.replace(phrase, "{}") for text in typed if phrase in text}
    assert len(requests) > 10
    assert requests <= {"{}", "is {}", "is there {}"} | {
        r.rstrip("?") for r in STYLE.requests["noun_phrase"]
    }
    requests = {text.replace(clause, "{}") for text in typed if clause in text}
    assert requests <= {"{}"} | {r.rstrip("?") for r in STYLE.requests["sentence"]}


def forms_of(mention: Mention) -> set[str]:
    """Return all nouns for a mention."""
    concept = WORDS.concepts[mention.thing.concept]
    known = {*concept.nouns, *map(WORDS.plural, concept.nouns), mention.noun}
    known |= {f"a {noun}" for noun in concept.nouns}
    others = {other for noun in known for other in STYLE.others.others.get(noun, ())}
    return {re.sub("^(a|some) ", "", noun) for noun in known | others}


def unknown_words(text: str) -> list[str]:
    words = re.findall("[a-z']+", text.lower())
    return [word for word in words if word not in STYLE.known]


def assert_meaning_is_kept(caption: Caption, text: str) -> None:
    wrong = len(unknown_words(text))  # words with a mistake
    assert wrong <= 1, text
    low = f" {re.sub('[^a-z0-9 -]', '', text.lower())} "
    mentions = caption.message.mentions
    assert sum(not any(f" {f} " in low for f in forms_of(m)) for m in mentions) <= wrong, text
    colours = [m.thing.colour for m in mentions if m.thing.colour]
    spelled = low.replace("gray", "grey").replace("violet", "purple")
    assert sum(f" {colour} " not in spelled for colour in colours) <= wrong, text
    expected = sorted(m.thing.count for m in mentions if m.thing.count > 1 and not m.vague)
    numbers = sorted(NUMBERS[word] for word in low.split() if word in NUMBERS)
    assert numbers == expected or (wrong and len(numbers) == len(expected) - 1), text


def assert_well_formed(text: str) -> None:
    assert not re.search(r"  |[.,?!]\s*[.,?!]| [.,?!]", text), text
    words = text.lower().rstrip(".?").split()
    for word, following in pairwise(words):
        assert (
            word not in ("a", "an") or word == article(word, following) or unknown_words(following)
        )
    assert not re.search(r"\bare there (an|another|some|someone|the)\b", text.lower()), text
    assert not re.search(r"\bare there a (?!couple|pair)", text.lower()), text
    assert not re.search(r"\bis there (two|three|four|[234]|any)\b", text.lower()), text


@given(scenes, st.integers(0, 999))
def test_meaning_is_kept(any_scene, seed):
    for caption in write_captions(any_scene, Random(seed)):
        text = as_typed(caption.text, Random(seed))
        assert text == as_typed(caption.text, Random(seed))
        assert_meaning_is_kept(caption, text)
        assert_well_formed(text)


def test_sentences_vary():
    captions = [c for n in range(40) for c in captions_of(generate_picture(n).scene)]
    typed = [as_typed(caption.text, Random(n)) for n, caption in enumerate(captions)]
    share = len(captions) / 100
    assert sum(text == c.text for text, c in zip(typed, captions, strict=True)) < 10 * share
    assert sum(bool(unknown_words(text)) for text in typed) > 4 * share
    assert sum(text.endswith("?") for text in typed) > 5 * share
    assert sum(text[0].islower() for text in typed) > 50 * share


@given(st.sampled_from(sorted(w for w in STYLE.known if len(w) >= 4 and w.isalpha())), st.randoms())
def test_a_mistake_gives_no_known_word(word, rng):
    wrong = mistyped(word, rng)
    assert wrong == word or wrong not in STYLE.known
    assert wrong[0] == word[0]
    assert abs(len(wrong) - len(word)) <= 1


def test_mistakes_differ_but_are_no_common_words():
    wrong = {mistyped("monkey", Random(n)) for n in range(500)}
    assert {"monky", "mokney", "monkeey"} <= wrong
    assert "money" not in wrong
    assert "boast" not in {mistyped("boats", Random(n)) for n in range(500)}
