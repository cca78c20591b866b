import json
import re
from itertools import product

import pytest

from tests.support.storybook_wordnet import Nouns
from vsdemo.core.errors import UserError
from vsdemo.core.paths import ROOT
from vsdemo.data.storybook import lexicon
from vsdemo.data.storybook.pictures import generate_picture
from vsdemo.data.storybook.store import captions_of
from vsdemo.data.text.vocab import SPECIAL, tokenize

WORDS = lexicon.load_lexicon()
KINDS, ACTIONS = WORDS.kinds.values(), WORDS.actions.values()


@pytest.fixture
def nouns(real_data):
    return Nouns(real_data / "wordnet3.0-nouns.tar.xz")


def test_the_hierarchy_is_that_of_wordnet(nouns):
    for concept in WORDS.concepts.values():
        assert nouns.find(concept.synset)
        if concept.parent:
            above = nouns.find(WORDS.concepts[concept.parent].synset)
            assert (above not in nouns.above(concept.synset)) == concept.not_in_wordnet, (
                concept.name
            )


def test_wordnet_has_no_wrong_edges(nouns):
    assert nouns.find("animal.n.01") in nouns.above("dog.n.01")
    assert nouns.find("animal.n.01") not in nouns.above("dog.n.05")  # a sausage
    with pytest.raises(LookupError):
        nouns.find("dog.n.99")


def test_the_lexicon_has_the_planned_size():
    assert len(WORDS.kinds) >= 60
    assert len(WORDS.actions) >= 16
    assert len(WORDS.colours) >= 10
    assert len(WORDS.sizes) == 2  # and the usual one
    assert WORDS.counts == ("one", "two", "three", "four")
    assert len(WORDS.settings) >= 10
    for kind in KINDS:
        assert list(WORDS.ancestors(kind.name))[-1] == "entity"
        assert len(list(WORDS.ancestors(kind.name))) >= 3
    assert list(WORDS.ancestors("owl")) == [
        "bird",
        "animal",
        "living_thing",
        "object",
        "thing",
        "entity",
    ]


def test_every_name_is_an_entry():
    for kind in KINDS:
        assert WORDS.concepts[WORDS.named_concept(kind.name)].nouns
        assert set(kind.colours) | set(kind.extra_colours) <= set(WORDS.colours)
        assert kind.colours
        assert set(kind.settings) <= set(WORDS.settings)
        assert kind.settings
    for action in ACTIONS:
        assert set(action.subjects) | set(action.objects) <= set(WORDS.concepts)
        if action.inverse:
            assert WORDS.actions[action.inverse].inverse == action.name
        for name, roles in action.entails:
            assert WORDS.actions[name].takes_object == (len(roles) == 2)
            assert set(roles) <= {"subject", "object"}
        for wording in action.wordings:
            assert len(wording.verb) in (0, 4)
            assert wording.verb or wording.preposition
    for group in WORDS.setting_groups.values():
        assert set(group) <= set(WORDS.settings)
    for weather in WORDS.weathers.values():
        assert set(weather.times) <= set(WORDS.times)


def test_affordances_are_those_that_actions_need():
    done = {action.object_affordance for action in ACTIONS} - {""}
    assert {ability for kind in KINDS for ability in kind.affordances} == done
    assert {pose for action in ACTIONS for pose in action.poses} <= {
        p for k in KINDS for p in k.poses
    }


@pytest.mark.parametrize("action", WORDS.actions)
def test_every_action_has_a_possible_subject(action):
    alone = any(WORDS.allows(action, kind) for kind in WORDS.kinds)
    pairs = any(WORDS.allows(action, a, b) for a, b in product(WORDS.kinds, repeat=2))
    assert (alone, pairs) == (not WORDS.actions[action].takes_object, not alone)


def test_allows():
    assert WORDS.allows("rides", "woman", "horse")
    assert not WORDS.allows("rides", "horse", "woman")
    assert not WORDS.allows("rides", "woman", "apple")
    assert not WORDS.allows("rides", "woman")
    assert WORDS.allows("swims", "duck")
    assert not WORDS.allows("swims", "dog")
    assert not WORDS.allows("swims", "duck", "fish")


def test_colours_sizes_and_heights_can_be_drawn():
    for colour in WORDS.colours.values():
        for tone in (colour.main, colour.dark, colour.light):
            assert re.fullmatch("#[0-9a-f]{6}", tone)
    assert all(0.25 <= kind.height <= 6 for kind in KINDS)
    assert WORDS.sizes["small"].factor < 1 < WORDS.sizes["large"].factor


@pytest.mark.parametrize("setting", WORDS.settings)
def test_a_setting_is_indoors_or_outdoors_and_has_ten_kinds(setting):
    assert sum(setting in WORDS.setting_groups[side] for side in WORDS.sides) == 1
    assert sum(setting in kind.settings for kind in KINDS) >= 10


def test_no_two_concepts_share_a_noun():
    nouns = [noun for concept in WORDS.concepts.values() for noun in concept.nouns]
    assert len(nouns) == len(set(nouns))


@pytest.mark.parametrize(
    ("noun", "plural"),
    [
        ("dog", "dogs"),
        ("woman", "women"),
        ("bunny", "bunnies"),
        ("donkey", "donkeys"),
        ("box", "boxes"),
        ("bench", "benches"),
        ("bus", "buses"),
        ("sheep", "sheep"),
        ("loaf of bread", "loaves of bread"),
        ("hot air balloon", "hot air balloons"),
        ("piece of fruit", "pieces of fruit"),
        ("snowman", "snowmen"),
        ("lorry", "lorries"),
    ],
)
def test_plurals(noun, plural):
    assert WORDS.plural(noun) == plural


def test_hypernyms_posture_and_medium():
    assert WORDS.hypernyms("sunflower") == ["flower", "plant"]
    assert WORDS.named_concept("oak") == "tree"
    assert WORDS.hypernyms("oak") == ["plant"]
    assert WORDS.posture("dog", "lie") == "lies"
    assert WORDS.posture("man", "hold") is None
    assert [lexicon.medium(p) for p in ("fly", "swim", "float", "run")] == [
        "air",
        "water",
        "surface",
        "ground",
    ]


@pytest.mark.parametrize("text", ["[kinds", "[kinds]", "[kinds]\ndog = { colour = 3 }"])
def test_a_damaged_file_is_a_user_error(text, tmp_path, monkeypatch):
    (tmp_path / "lexicon.toml").write_text(text)
    monkeypatch.setattr(lexicon, "FILE", tmp_path / "lexicon.toml")
    with pytest.raises(UserError, match="is damaged"):
        lexicon.load_lexicon.__wrapped__()


def test_words_are_all_words_of_captions():
    words = WORDS.words()
    assert len(words) == len(set(words))
    scenes = [generate_picture(number).scene for number in range(60)]
    captions = [caption.text for scene in scenes for caption in captions_of(scene)]
    assert {word for text in captions for word in tokenize(text)} <= set(words)
    file = ROOT / "checkpoints" / "storybook" / "gru" / "vocab.json"
    assert set(json.loads(file.read_text())[len(SPECIAL) :]) <= set(words)
