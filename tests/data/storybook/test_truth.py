"""Entailment of many facts at once equals that of each pair."""

import numpy as np
import pytest

from vsdemo.data import storybook
from vsdemo.data.storybook.facts import Facts, Thing, entails, facts_of
from vsdemo.data.storybook.pictures import generate_picture
from vsdemo.data.storybook.truth import entailed, fact_table


def plain(specific, general):
    return np.array([[entails(s, g) for s in specific] for g in general])


@pytest.fixture(scope="module")
def world():
    """The facts of some scenes and of their captions."""
    scenes = [generate_picture(number).scene for number in range(4500, 4530)]
    captions = [caption.facts for scene in scenes for caption in storybook.captions_of(scene)]
    return [facts_of(scene) for scene in scenes], captions


def test_all_pairs_are_those_of_the_plain_function(world):
    scenes, captions = world
    for specific in (scenes, captions):
        expected = plain(specific, captions)
        result = entailed(fact_table(specific), fact_table(captions))
        assert (result == expected).all()
        assert 0.005 < expected.mean() < 0.5
    diagonal = entailed(fact_table(captions), fact_table(captions)).diagonal()
    assert diagonal.all()


def test_blocks_and_rows_change_nothing(world, monkeypatch):
    scenes, captions = world
    table, photos = fact_table(captions), fact_table(scenes)
    whole = entailed(photos, table)
    monkeypatch.setattr("vsdemo.data.storybook.truth.BLOCK", 100)
    assert (entailed(photos, table) == whole).all()
    rows = np.array([7, 3, 90])
    assert (entailed(photos, table.rows(rows)) == whole[rows]).all()
    assert len(table.rows(rows)) == 3


@pytest.mark.parametrize(
    ("specific", "general", "expected"),
    [
        (Thing("dog", 2), Thing("dog"), True),
        (Thing("dog"), Thing("dog", 2), False),
        (Thing("dog", colour="brown"), Thing("animal", colour="brown"), True),
        (Thing("dog", size="small"), Thing("animal", size="small"), False),
        (Thing("dog"), Thing("dog", colour="brown"), False),
    ],
)
def test_one_thing(specific, general, expected):
    tables = [fact_table([Facts((thing,))]) for thing in (specific, general)]
    assert entailed(*tables).tolist() == [[expected]]


def test_two_alike_need_two(world):
    two, one = Facts((Thing("dog"), Thing("animal"))), Facts((Thing("dog"),))
    assert entailed(fact_table([one, two]), fact_table([two])).tolist() == [[False, True]]
    nothing = Facts((), place="outdoors")
    beach = Facts((Thing("dog"),), place="beach")
    assert entailed(fact_table([one, beach]), fact_table([nothing])).tolist() == [[False, True]]


def test_a_general_sentence_names_two_things_at_most():
    three = fact_table([Facts((Thing("dog"), Thing("cat"), Thing("bear")))])
    with pytest.raises(ValueError, match="at most 2 things"):
        entailed(three, three)
    assert entailed(three, fact_table([])).shape == (0, 1)
