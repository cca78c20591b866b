"""Trees as SVG: nothing overlaps, any text is escaped, and labels describe the tree."""

import random
import timeit
import xml.etree.ElementTree as ET
from itertools import combinations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vsdemo.core.sentences import Tree
from vsdemo.plots import tree_layout, tree_svg, tree_text, universal_dependencies

SVG = "{http://www.w3.org/2000/svg}"
DOG = Tree(
    ("a", "dog", "swims", "."), (2, 3, 0, 3), ("det", "nsubj", "root", "punct"),
    ("DET", "NOUN", "VERB", "PUNCT"),
)  # fmt: skip
SIZES = {"word": tree_layout.WORD}  # of all other text: tree_layout.SMALL


def random_tree(order, draw_parent, words, labels, tags=()):
    """The first word of `order` is the root; each later one hangs on one before it."""
    heads = [0] * len(order)
    for i, word in enumerate(order[1:], 1):
        heads[word] = order[draw_parent(i)] + 1
    return Tree(tuple(words), tuple(heads), tuple(labels), tuple(tags))


@st.composite
def trees(draw, words, labels, tags):
    """Of any shape, most of them with crossing arcs; tagged or not."""
    n = draw(st.integers(1, 16))

    def some(values):
        return draw(st.lists(values, min_size=n, max_size=n))

    order, tagged = draw(st.permutations(range(n))), draw(st.booleans())
    texts = some(words), some(labels), some(tags) if tagged else ()
    return random_tree(order, lambda i: draw(st.integers(0, i - 1)), *texts)


PLAIN = trees(
    st.text("abcdefghinopqrstuvxyz", min_size=1, max_size=14),
    st.sampled_from(list(universal_dependencies.RELATIONS)),
    st.sampled_from(list(universal_dependencies.TAGS)),
)
STRANGE = st.text(max_size=8) | st.sampled_from(
    [
        *("<script>alert(1)</script>", "]]>", "&amp;", '"><g onclick="x', "\0\x1b", "\ud800"),
        *("\ufffe", "\u202eabc", "שלום", "🙈👩‍👩‍👧", "e" + "\u0301" * 500, "w" * 500, "﷽", " ", ""),
    ]
)


def boxes(svg):
    """Text -> left, top, right, bottom; a letter is 0.6 of the size wide, 0.8 up and 0.25 down."""
    text_boxes = []
    for text in ET.fromstring(svg).iter(f"{SVG}text"):
        size = SIZES.get(text.get("class"), tree_layout.SMALL)
        x, y, half = float(text.get("x")), float(text.get("y")), 0.3 * size * len(text.text)
        text_boxes.append((text, (x - half, y - 0.8 * size, x + half, y + 0.25 * size)))
    return text_boxes


def overlap(a, b):
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


@given(PLAIN)
def test_texts_do_not_overlap_and_are_inside(tree):
    svg = tree_svg(tree)
    wide, high = (float(ET.fromstring(svg).get(side)) for side in ("width", "height"))
    text_boxes = boxes(svg)
    assert len(text_boxes) == len(tree.words) * (3 if tree.tags else 2)
    for (one, a), (two, b) in combinations(text_boxes, 2):
        assert not overlap(a, b), (one.text, two.text)
    for _, (left, top, right, bottom) in text_boxes:
        assert 0 <= left < right <= wide
        assert 0 <= top < bottom <= high


@given(PLAIN)
def test_levels_of_arcs(tree):
    laid = tree_layout.place(tree)
    assert len(laid.arcs) == len(tree.words) - 1
    for one, two in combinations(laid.arcs, 2):
        (a, b), (c, d) = sorted((one.start, one.end)), sorted((two.start, two.end))
        if a <= c and d <= b:
            assert one.level > two.level
        elif c <= a and b <= d:
            assert two.level > one.level
        elif a <= d and c <= b:
            assert one.level != two.level
    for arc in laid.arcs:
        if min(arc.start, arc.end) < laid.root.start < max(arc.start, arc.end):
            assert laid.root.level > arc.level
    ends = [x for arc in laid.arcs for x in (arc.start, arc.end)]
    assert len(set(ends)) == len(ends)
    for arc in laid.arcs:
        half = tree_layout.width(laid.labels[arc.word], tree_layout.SMALL) / 2
        assert min(arc.start, arc.end) < arc.label - half
        assert arc.label + half < max(arc.start, arc.end)


def test_labels_avoid_crossing_arcs():
    """The arc from a to c comes down where the label of that from d to b would stand."""
    laid = tree_layout.place(Tree(("a", "b", "c", "d"), (0, 4, 1, 1), ("root", "x", "x", "x")))
    of = {arc.word: arc for arc in laid.arcs}
    assert of[1].level < of[2].level
    assert abs(of[2].end - of[1].label) > tree_layout.width("x", tree_layout.SMALL) / 2


@given(trees(STRANGE, STRANGE, STRANGE))
@example(Tree(("a]]>", "\x07"), (0, 1), ("\ud800", "<b>"), ("&", "")))
def test_any_text_gives_wellformed_xml(tree):
    svg = tree_svg(tree)
    root = ET.fromstring(svg.encode())
    allowed = {"svg", "title", "desc", "style", "rect", "path", "g", "text"}
    assert {e.tag.removeprefix(SVG) for e in root.iter()} <= allowed
    assert not [k for e in root.iter() for k in e.attrib if k.startswith("on")]
    words = [w.get("aria-label") for w in root.iter(f"{SVG}g") if w.get("role") == "listitem"]
    assert len(words) == len(tree.words)
    assert root.find(f"{SVG}desc").text == tree_text(tree)


def test_long_words_are_shortened_but_not_in_labels():
    long = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerk"
    root = ET.fromstring(tree_svg(Tree((long,), (0,), ("root",), ("NOUN",))))
    (word,) = (t.text for t in root.iter(f"{SVG}text") if t.get("class") == "word")
    assert word.endswith("…")
    assert long.startswith(word[:-1])
    assert len(word) > 8
    (group,) = (g for g in root.iter(f"{SVG}g") if g.get("role") == "listitem")
    assert group.find(f"{SVG}title").text == f"{long}, noun, root of the sentence"


def test_a_tree_in_words():
    assert tree_text(DOG) == "swims (root); a, det of dog; dog, nsubj of swims; ., punct of swims"
    root = ET.fromstring(tree_svg(DOG))
    groups = [g for g in root.iter(f"{SVG}g") if g.get("role") == "listitem"]
    assert [g.get("tabindex") for g in groups] == ["0"] * 4
    assert [g.get("aria-label") for g in groups] == [
        "a, determiner of dog",
        "dog, noun, subject of swims",
        "swims, verb, root of the sentence",
        "., punctuation of swims",
    ]


@pytest.mark.parametrize(
    ("tag", "label", "head", "expected"),
    [
        ("", "nsubj:pass", "b", "passive subject of b"),
        ("NOUN", "obl:unmarked", "b", "noun, oblique modifier of b"),
        ("NEW", "new", "b", "new of b"),
        ("NOUN", "root", None, "noun, root of the sentence"),
    ],
)
def test_roles(tag, label, head, expected):
    assert universal_dependencies.role(tag, label, head) == expected


def test_the_file_has_a_size_and_white_paper():
    root = ET.fromstring(tree_svg(DOG))
    assert root.get("viewBox") == f"0 0 {root.get('width')} {root.get('height')}"
    style = root.find(f"{SVG}style").text
    assert "fill:#ffffff;fill:var(--paper,#ffffff)" in style
    assert "@" not in style


def test_trees_are_deterministic_and_fast():
    draw = random.Random(0)
    order = draw.sample(range(60), 60)
    words, labels = [f"word{i}" for i in range(60)], ["nsubj:pass"] * 60
    tree = random_tree(order, draw.randrange, words, labels, ["NOUN"] * 60)
    assert tree_svg(tree) == tree_svg(tree)
    assert min(timeit.repeat(lambda: tree_svg(tree), number=1, repeat=5)) < 0.02
