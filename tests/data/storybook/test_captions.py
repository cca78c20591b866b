"""Captions of scenes: examples, and invariants of all captions."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.storybook_scenes import group, random_scene, scene, scenes
from vsdemo.core.errors import UserError
from vsdemo.data.storybook.captions import write_captions
from vsdemo.data.storybook.facts import entails, facts_of
from vsdemo.data.storybook.lexicon import load_lexicon
from vsdemo.data.storybook.phrases import to_text
from vsdemo.data.storybook.scene import Link
from vsdemo.data.text import conllu, parser

DOGS = group("dog", 2, "brown", "small", "run")
CHASE = scene(DOGS, group("ball"), links=(Link("chases", 0, 1),), time="sunset")


def texts_of(any_scene, tries: int = 300) -> set[str]:
    return {c.text for n in range(tries) for c in write_captions(any_scene, Random(n))}


def test_captions_get_more_specific():
    assert {"Animals outside.", "Animals and a toy outside."} <= texts_of(CHASE)
    assert {"Two dogs on the beach.", "Two dogs are chasing a ball."} <= texts_of(CHASE)
    last = {write_captions(CHASE, Random(n))[-1].text for n in range(300)}
    assert "Two small brown dogs chase a red ball along the beach at sunset." in last
    assert "A red ball is chased by two little brown dogs along the beach at sunset." in last
    assert {len(write_captions(CHASE, Random(n))) for n in range(20)} == {5}


@pytest.mark.parametrize(
    ("any_scene", "expected"),
    [
        (
            scene(group("woman", colour="red"), group("horse"), links=(Link("rides", 0, 1),)),
            {"A woman on a horse.", "Someone is riding a horse."},
        ),
        (
            scene(group("car"), group("bicycle"), links=(Link("behind", 0, 1),)),
            {"The car is behind the bicycle.", "A car behind a bicycle."},
        ),
        (
            scene(group("dog", pose="sit"), group("oak"), links=(Link("next_to", 0, 1),)),
            {"A dog is sitting next to a tree.", "A dog beside a tree."},
        ),
        (
            scene(group("dog", 2, pose="run"), group("dog"), links=(Link("chases", 0, 1),)),
            {"Two dogs are chasing another dog.", "A dog is being chased by two other dogs."},
        ),
        (
            scene(group("rowing_boat"), group("gull", pose="fly"), setting="lake"),
            {"A rowing boat on the lake.", "A boat outside."},
        ),
        (
            scene(group("banana", 3), setting="kitchen", time="morning"),
            {"Three bananas in the kitchen.", "Some food inside.", "Pieces of fruit inside."},
        ),
    ],
)
def test_possible_captions(any_scene, expected):
    assert expected <= texts_of(any_scene)


def test_only_unusual_colours_are_named():
    banana = texts_of(scene(group("banana"), setting="kitchen"))
    assert not any("yellow" in text for text in banana)
    assert any("green" in text for text in texts_of(scene(group("banana", colour="green"))))
    boy = texts_of(scene(group("boy", colour="pink", pose="jump")))
    assert "A boy in pink is jumping on the beach in the sun." in boy


@given(scenes, st.integers(0, 9))
def test_captions_are_true_and_well_formed(any_scene, seed):
    truth, five = facts_of(any_scene), write_captions(any_scene, Random(seed))
    assert five == write_captions(any_scene, Random(seed))
    assert len(five) == 5
    for caption in five:
        assert caption.text == to_text(caption.tree.words)
        assert caption.text[0].isupper()
        assert caption.text.endswith(".")
        assert "  " not in caption.text
        assert entails(truth, caption.facts), caption.text
        assert entails(caption.facts, caption.facts)
        assert len(caption.tree.bottom_up()) == len(caption.tree.words)
        read = dict(conllu.read(conllu.write(caption.tree, caption.text)))
        assert read == {caption.text: caption.tree}
    assert entails(five[-1].facts, five[0].facts)


@given(scenes, st.integers(0, 9))
def test_links_cover_the_words_that_name_a_group(any_scene, seed):
    lexicon = load_lexicon()
    for caption in write_captions(any_scene, Random(seed)):
        assert len(caption.links) == len(caption.message.mentions)
        by_group = {group: indices for indices, group in caption.links}
        for mention in caption.message.mentions:
            phrase = " ".join(caption.tree.words[i] for i in by_group[mention.group]).lower()
            plural = lexicon.plural(mention.noun) if mention.thing.count > 1 else mention.noun
            assert plural in phrase
            assert lexicon.is_a(any_scene.groups[mention.group].kind, mention.thing.concept)
            heads = [caption.tree.heads[i] for i in by_group[mention.group]]
            outside = [h for h in heads if h - 1 not in by_group[mention.group]]
            assert len(outside) == 1  # only the head of the phrase depends on another word


@given(scenes)
def test_entailment_is_transitive(any_scene):
    captions = [caption for seed in (0, 1) for caption in write_captions(any_scene, Random(seed))]
    facts = [facts_of(any_scene), *(caption.facts for caption in captions)]
    above = {(i, j) for i, a in enumerate(facts) for j, b in enumerate(facts) if entails(a, b)}
    assert {(i, k) for i, j in above for j2, k in above if j == j2} <= above


@pytest.mark.parametrize(
    ("any_scene", "message"),
    [
        (scene(), "no group"),
        (scene(group("dog"), setting="moon"), "'moon'"),
        (scene(group("dog", colour="mauve")), "'mauve'"),
        (scene(group("dog", size="tiny")), "'tiny'"),
        (scene(group("dog"), links=(Link("bites", 0),)), "'bites'"),
        (scene(group("dog"), links=(Link("chases", 0, 1),)), "group 1"),
        (scene(group("dog", 5)), "5 things"),
    ],
)
def test_an_invalid_scene_raises(any_scene, message):
    with pytest.raises(UserError, match=message):
        write_captions(any_scene, Random(0))


def test_the_shipped_parser_agrees_with_the_gold_trees(monkeypatch):
    gold = [c for n in range(60) for c in write_captions(random_scene(n), Random(n))]
    trees = parser.load().parse([caption.text for caption in gold])
    right = words = 0
    for caption, tree in zip(gold, trees, strict=True):
        assert tree.words == caption.tree.words
        pairs = [
            [(h, label.split(":")[0]) for h, label in zip(t.heads, t.labels, strict=True)]
            for t in (caption.tree, tree)
        ]
        right += sum(a == b for a, b in zip(*pairs, strict=True))
        words += len(tree.words)
    assert right >= 0.95 * words
