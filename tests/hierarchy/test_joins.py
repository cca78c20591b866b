"""What items say together and have in common, with limits: by plain loops."""

from hypothesis import given

from tests.hierarchy.test_order import FAN, TREE
from tests.support.small_hierarchies import hierarchies, hierarchy_of, texts
from tests.support.small_hierarchies import violation as violation_by_loops
from vsdemo.hierarchy.joins import in_common, is_by_distance, together
from vsdemo.hierarchy.order import CAPTION, CONCEPT, PHOTO, ROOT
from vsdemo.models.scores import RADIAL


def test_together_and_in_common_in_a_tree():
    both = (CAPTION, "a dog and a cat", (1, 1, 1, 0, 0))
    tree = hierarchy_of([*TREE, both, (PHOTO, "both.jpg", (1, 1, 1, 0, 2))], limit=0.01)
    assert tree.has_limits
    dog, cat = tree.node(2), tree.node(3)
    joined = together(tree, [dog, cat], 5)
    assert {kind: texts(tree, steps) for kind, steps in joined.items()} == {
        CAPTION: ["a dog and a cat"],
        PHOTO: ["both.jpg"],
    }
    shared = in_common(tree, [dog, cat], 5)
    assert {kind: texts(tree, steps) for kind, steps in shared.items()} == {
        ROOT: ["anything"],
        CONCEPT: ["an animal"],
    }
    of_photos = in_common(tree, [tree.node(6), tree.node(9)], 2)
    assert texts(tree, of_photos[CONCEPT]) == ["a dog", "an animal"]
    assert together(tree, [tree.node(4), tree.node(5)], 5) == {}


@given(hierarchies(limits=(0.1, 0.5)))
def test_each_item_fits_every_node(hierarchy):
    nodes = [hierarchy.node(1), hierarchy.node(0)]
    for join, up in ((together, False), (in_common, True)):
        for kind, steps in join(hierarchy, nodes, 99).items():
            for step in steps:
                x = hierarchy.x[step.number]
                pairs = [(x, n.embedding[0]) if up else (n.embedding[0], x) for n in nodes]
                violations = [violation_by_loops(*pair) for pair in pairs]
                assert hierarchy.items[step.number].kind == kind
                assert abs(max(violations) - step.violation) < 1e-5
                assert max(violations) <= hierarchy.limits.texts + 1e-5
                assert step.number not in {0, 1}


def test_by_angles_without_limits_what_fits_all_is_taken():
    fan = hierarchy_of(FAN, order=RADIAL)
    assert not is_by_distance(fan)
    dog, cat = fan.node(2), fan.node(3)
    shared = in_common(fan, [dog, cat], 2)
    assert texts(fan, shared[CONCEPT])[0] == "an animal"
    assert texts(fan, shared[ROOT]) == ["anything"]
    joined = together(fan, [fan.node(1), dog], 1)
    assert texts(fan, joined[CAPTION]) == ["a dog runs"]
    assert texts(fan, joined[PHOTO]) == ["dog.jpg"]


def test_without_limits_the_nearest_items_are_taken():
    tree = hierarchy_of(TREE)
    assert is_by_distance(tree)
    nearest = in_common(tree, [tree.node(2), tree.node(3)], 1)
    assert texts(tree, nearest[CONCEPT]) == ["an animal"]
