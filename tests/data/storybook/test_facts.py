import pytest

from tests.support.storybook_scenes import group, scene
from vsdemo.data.storybook.facts import Facts, Thing, closure, entails, facts_of
from vsdemo.data.storybook.scene import Link

DOG, CAT = Thing("dog"), Thing("cat")
CHASES = (Link("chases", 0, 1),)


@pytest.mark.parametrize(
    ("specific", "general", "follows"),
    [
        (Facts((DOG,)), Facts((Thing("animal"),)), True),
        (Facts((Thing("animal"),)), Facts((DOG,)), False),
        (Facts((Thing("dog", 2),)), Facts((DOG,)), True),
        (Facts((DOG,)), Facts((Thing("dog", 2),)), False),
        (Facts((Thing("dog", 1, "brown"),)), Facts((DOG,)), True),
        (Facts((Thing("dog", 1, "brown"),)), Facts((Thing("animal", 1, "brown"),)), True),
        (Facts((Thing("dog", 1, "brown"),)), Facts((Thing("dog", 1, "black"),)), False),
        (Facts((Thing("oak", size="small"),)), Facts((Thing("tree", size="small"),)), True),
        # a small elephant is no small animal
        (Facts((Thing("elephant", size="small"),)), Facts((Thing("animal", size="small"),)), False),
        (Facts((DOG, CAT)), Facts((Thing("animal"), Thing("animal"))), True),
        (Facts((DOG,)), Facts((Thing("animal"), Thing("animal"))), False),
        (Facts((DOG, CAT), CHASES), Facts((CAT, DOG), (Link("chases", 1, 0),)), True),
        (Facts((DOG, CAT), CHASES), Facts((DOG, CAT), (Link("chases", 1, 0),)), False),
        (Facts((DOG, CAT), CHASES), Facts((DOG, CAT), (Link("follows", 0, 1),)), True),
        (Facts((DOG, CAT), CHASES), Facts((DOG,), (Link("runs", 0),)), True),
        (Facts((DOG, CAT), CHASES), Facts((CAT,), (Link("runs", 0),)), False),
        (Facts((DOG, CAT), CHASES), Facts((DOG, CAT)), True),
        (Facts((DOG, CAT)), Facts((DOG, CAT), CHASES), False),
        (Facts((DOG,), place="beach"), Facts((DOG,), place="outdoors"), True),
        (Facts((DOG,), place="beach"), Facts((DOG,), place="indoors"), False),
        (Facts((DOG,), place="outdoors"), Facts((DOG,), place="beach"), False),
        (Facts((DOG,)), Facts((DOG,), place="outdoors"), False),
        (Facts((DOG,), time="night", weather="rain"), Facts((DOG,), weather="rain"), True),
        (Facts((DOG,), time="night"), Facts((DOG,), time="sunset"), False),
    ],
)
def test_entails(specific, general, follows):
    assert entails(specific, general) == follows
    assert entails(specific, specific)


def test_inverses_and_chains_are_closed():
    assert Link("right_of", 1, 0) in closure([Link("left_of", 0, 1)])
    assert Link("next_to", 1, 0) in closure([Link("next_to", 0, 1)])
    assert closure([Link("stands_on", 0, 1)]) == {
        Link("stands_on", 0, 1),
        Link("stands", 0),
        Link("on", 0, 1),
    }


def test_facts_of_a_scene_include_its_poses():
    facts = facts_of(scene(group("cat", pose="sit"), group("car"), links=(Link("behind", 0, 1),)))
    assert facts.links == (Link("behind", 0, 1), Link("sits", 0))
    assert facts.things == (Thing("cat", 1, "orange"), Thing("car", 1, "red"))
    assert (facts.place, facts.time, facts.weather) == ("beach", "day", "sunny")
