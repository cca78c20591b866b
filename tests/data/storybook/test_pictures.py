"""Pictures: deterministic, with visible links, and with pairs held out for one split."""

from collections import Counter

import pytest

from vsdemo.data.storybook import pictures, plausibility
from vsdemo.data.storybook.facts import closure, facts_of
from vsdemo.data.storybook.lexicon import load_lexicon
from vsdemo.data.storybook.pictures import generate_picture
from vsdemo.data.storybook.store import SPLITS

WORDS = load_lexicon()


@pytest.fixture(scope="module")
def sample():
    return [generate_picture(n) for n in range(300)]


@pytest.fixture(scope="module")
def compositional():
    return [generate_picture(n, compositional=True) for n in SPLITS["compositional"][:60]]


def hull(boxes):
    left, top, right, bottom = zip(*boxes, strict=True)
    return min(left), min(top), max(right), max(bottom)


def overlap(one, other, axis):
    """Return the overlap of two boxes along x (axis 0) or y (axis 1) as a share of the picture."""
    return min(one[axis + 2], other[axis + 2]) - max(one[axis], other[axis])


def middle(box):
    return (box[0] + box[2]) / 2


def faces(picture, group):
    return {part.flip for part in picture.parts if part.group == group}


def touches(picture, link, s, o):
    return all(overlap(a, b, axis) > -0.01 for a, b in zip(s, o, strict=True) for axis in (0, 1))


def upon(picture, link, s, o):
    """Check that each thing of the subject is on top of one thing of the object."""
    return all(
        any(overlap(a, b, 0) > 0.3 * (a[2] - a[0]) and overlap(a, b, 1) > -0.02 for b in o)
        and a[1] < max(b[3] for b in o)
        for a in s
    )


def pursues(picture, link, s, o):
    (flip,) = faces(picture, link.subject)
    behind, ahead = (hull(o), hull(s)) if flip else (hull(s), hull(o))
    grounded = WORDS.actions[link.action].name == "follows" or behind[2] <= ahead[0] + 0.03
    same_way = faces(picture, link.subject) == faces(picture, link.object)
    return same_way and grounded and middle(behind) < middle(ahead)


def looks(picture, link, s, o):
    (flip,) = faces(picture, link.subject)
    return (middle(hull(o)) < middle(hull(s))) == flip


def kicks(picture, link, s, o):
    near = [abs(overlap(a, o[0], 0)) < 0.08 and abs(a[3] - o[0][3]) < 0.12 for a in s]
    return any(near) and looks(picture, link, s, o)


def above(picture, link, s, o):
    return max(b[3] for b in s) <= min(b[1] for b in o) + 0.03 and overlap(hull(s), hull(o), 0) > 0


def under(picture, link, s, o):
    inside = all(o[0][0] - 0.05 < middle(b) < o[0][2] + 0.05 for b in s)
    return inside and min(b[1] for b in s) > o[0][1] and max(b[3] for b in s) < o[0][3] + 0.06


def behind(s, o):
    higher = max(b[3] for b in s) < min(b[3] for b in o)
    return higher and overlap(hull(s), hull(o), 0) > 0


TRUE = {
    "left_of": lambda picture, link, s, o: hull(s)[2] <= hull(o)[0],
    "right_of": lambda picture, link, s, o: hull(o)[2] <= hull(s)[0],
    "behind": lambda picture, link, s, o: behind(s, o),
    "in_front_of": lambda picture, link, s, o: behind(o, s),
    "next_to": lambda picture, link, s, o: -0.12 < overlap(hull(s), hull(o), 0) <= 0.01,
    "chases": pursues,
    "follows": pursues,
    "looks_at": looks,
    "kicks": kicks,
    "jumps_over": above,
    "flies_over": above,
    "above": above,
    "under": under,
    "lies_under": under,
    "rides": upon,
    "drives": upon,
    "sits_on": upon,
    "sits_in": upon,
    "stands_on": upon,
    "lies_on": upon,
    "on": upon,
    "holds": touches,
    "reads": touches,
    "flies_up": touches,
}


def alone(picture, link):
    """Check the pose: things that jump or fly are in the air, and others are on the ground."""
    pose = picture.scene.groups[link.subject].pose
    parts = [f for f in picture.parts if f.group == link.subject]
    lifted = [f.ground is None or f.y < f.ground - 2 for f in parts]
    right = all(lifted) if pose in ("jump", "fly") else not any(lifted)
    return pose in WORDS.actions[link.action].poses and right


def test_every_link_is_true_in_the_picture(sample):
    for picture in sample:
        groups = picture.scene.groups
        assert picture.scene.links
        for link in picture.scene.links:
            case = picture.scene.number, link
            if link.object is None:
                assert alone(picture, link), case
            else:
                boxes = groups[link.subject].boxes, groups[link.object].boxes
                assert TRUE[link.action](picture, link, *boxes), case


def test_boxes_are_within_the_picture_and_large_enough(sample):
    for picture in sample:
        for group in picture.scene.groups:
            case = picture.scene.number, group
            assert len(group.boxes) == group.count, case
            for left, top, right, bottom in group.boxes:
                assert 0 <= left < right <= 1, case
                assert 0 <= top < bottom <= 1, case
                assert (right - left) * (bottom - top) * 480 * 360 > 120, case
                assert max((right - left) * 480, (bottom - top) * 360) > 18, case
        facts_of(picture.scene)


def covered(box, others):
    area = (box[2] - box[0]) * (box[3] - box[1])
    return sum(max(overlap(box, o, 0), 0) * max(overlap(box, o, 1), 0) / area for o in others)


def test_things_behind_others_stay_visible(sample):
    for picture in sample:
        link = picture.scene.links[0]
        if link.action in ("behind", "in_front_of"):
            back, front = (picture.scene.groups[n].boxes for n in (link.subject, link.object))
            if link.action == "in_front_of":
                back, front = front, back
            assert all(covered(box, front) < 0.62 for box in back), picture.scene.number


def test_kinds_are_in_their_settings_unless_surprising(sample):
    for picture in sample:
        strangers = {g.kind for g in picture.scene.groups if not lives(picture.scene, g.kind)}
        assert bool(strangers) == picture.scene.surprising
    assert 0 < sum(picture.scene.surprising for picture in sample) < 30


def lives(scene, kind):
    return scene.setting in WORDS.kinds[kind].settings


def test_the_same_number_gives_the_same_bytes():
    for n in (0, 7, 5003):
        one, other = (generate_picture(n, compositional=n >= 5000) for _ in range(2))
        assert one == other
        assert one.png() == other.png()


def test_scenes_differ(sample, compositional):
    scenes = [(m.scene.setting, m.scene.groups) for m in sample + compositional]
    assert len(set(scenes)) == len(scenes)


def pairs(picture):
    scene = picture.scene
    links = closure(facts_of(scene).links)
    colours = {(g.kind, g.colour) for g in scene.groups}
    return colours | {(scene.groups[link.subject].kind, link.action) for link in links}


def test_held_out_pairs_are_in_compositional_scenes_only(sample, compositional):
    known = set().union(*map(pairs, sample))
    assert not any(pictures.is_held_out(picture.scene) for picture in sample)
    for picture in compositional:
        assert pairs(picture) - known


def test_each_kind_keeps_a_colour_and_each_action_a_subject():
    for kind in WORDS.kinds.values():
        colours = dict.fromkeys((*kind.colours, *kind.extra_colours))
        left = [c for c in colours if not pictures.colour_held_out(kind.name, c)]
        assert left[:1] == [kind.colours[0]]
    for action in plausibility.all_actions():
        subjects = [k for k in WORDS.kinds if plausibility.partners(action, "subject", k)]
        assert any(not pictures.action_held_out(k, action) for k in subjects)


def test_training_shows_every_colour_and_setting_and_most_kinds_and_actions(sample):
    groups = [g for picture in sample for g in picture.scene.groups]
    assert {g.colour for g in groups} == set(WORDS.colours)
    assert {picture.scene.setting for picture in sample} == set(WORDS.settings)
    kinds = Counter(g.kind for g in groups)
    assert len(kinds) > 0.95 * len(WORDS.kinds)
    assert max(kinds.values()) < 60
    actions = {picture.scene.links[0].action for picture in sample}
    assert len(actions) > 0.9 * len(plausibility.all_actions())
