"""What typed sentences mean, and that each is true of some picture."""

import pytest

from vsdemo.data.storybook.facts import Facts, Thing, facts_of
from vsdemo.data.storybook.pictures import generate_picture
from vsdemo.data.storybook.scene import Group, Link, Scene
from vsdemo.data.storybook.store import SPLITS
from vsdemo.data.storybook.typed import TypedSentence, parse, typed_sentences

BOX = (0.1, 0.1, 0.2, 0.2)


def scene(*groups: Group, links=()) -> Facts:
    return facts_of(Scene(0, "beach", "night", "rain", groups, links))


GIRL = Group("girl", 2, "red", None, "hold", (BOX, BOX))
HAT = Group("hat", 1, "brown", "small", "stand", (BOX,))


@pytest.mark.parametrize(
    ("clauses", "facts"),
    [
        (["cat"], Facts((Thing("cat"),))),
        (["2 small red cat"], Facts((Thing("cat", 2, "red", "small"),))),
        (["cat runs"], Facts((Thing("cat"),), (Link("runs", 0),))),
        (
            ["girl holds hat", "girl runs", "place beach", "time night", "weather rain"],
            Facts(
                (Thing("girl"), Thing("hat")),
                (Link("holds", 0, 1), Link("runs", 0)),
                place="beach",
                time="night",
                weather="rain",
            ),
        ),
        (["red cat", "cat"], Facts((Thing("cat", colour="red"), Thing("cat")))),
        (["place indoors"], Facts((), place="indoors")),
    ],
)
def test_a_meaning_is_parsed(clauses, facts):
    assert parse(clauses) == facts


@pytest.mark.parametrize("clause", ["unicorn", "cat dog", "cat eats", "place moon", "time rain"])
def test_an_unknown_word_is_refused(clause):
    with pytest.raises(ValueError, match=clause.split()[-1]):
        parse([clause])


def test_a_sentence_is_true_of_a_scene():
    with_hat = scene(GIRL, HAT, links=(Link("holds", 0, 1),))
    beside = scene(GIRL, HAT, links=(Link("next_to", 0, 1),))
    hat = parse(["girl with hat"])
    assert TypedSentence("a girl with a hat", hat).is_true(with_hat)
    assert not TypedSentence("a girl with a hat", hat).is_true(beside)
    without = TypedSentence("a girl without a hat", parse(["girl"]), absent=(hat,))
    assert without.is_true(beside)
    assert not without.is_true(with_hat)
    assert not TypedSentence("three girls", parse(["3 girl"])).is_true(beside)


@pytest.mark.parametrize("split", ["dev", "test"])
def test_each_sentence_is_true_of_some_picture_but_not_of_many(split):
    pictures = [facts_of(generate_picture(number).scene) for number in SPLITS[split]]
    sentences = typed_sentences(split)
    assert len(sentences) == 100
    for sentence in sentences:
        assert 1 <= sum(map(sentence.is_true, pictures)) < 100, sentence.text
    assert sum(bool(sentence.absent) for sentence in sentences) >= 4


def test_other_splits_have_none():
    assert typed_sentences("compositional") == ()
