"""Figures of an alignment: numbers and colours, boxes over the photo, the saved image."""

import xml.etree.ElementTree as ElementTree

import pytest
from PIL import Image

from tests.support.fake_alignment import BEST, alignment
from vsdemo.core.alignment import Alignment, Fragment
from vsdemo.plots import boxes_svg, crop, crops_png, overlay_png, tree_svg
from vsdemo.plots.alignment_overlay import reach, sum_of
from vsdemo.plots.alignment_page import ROW, WIDTH
from vsdemo.plots.region_marks import (
    COLOURS,
    badge_places,
    contrast,
    decimals,
    mark,
    marks,
    marks_of_words,
    phrase,
    regions_of_words,
    rest_phrase,
)

HOSTILE = '<img src=x onerror="alert(1)">&'
FRAME = (0.0, 0.0, 1.0, 1.0)
HALVES = ((0.0, 0.0, 0.5, 1.0), (0.5, 0.0, 1.0, 1.0), FRAME)


def small(words=("red", "ball", "flies"), scores=((0.5, 0.1, 0), (0.1, 0.9, 0), (-1, -1, -1))):
    fragments = (Fragment("amod", (1, 0)), Fragment("nsubj", (2, 1)), Fragment("word", (2, 2)))
    return Alignment(words, None, fragments, HALVES, scores, (0.3, 0.5, 0.0), 0.8)


def test_a_word_has_the_region_of_its_best_fragment():
    assert regions_of_words(small()) == [0, 1, 1]
    nothing = small(scores=((-1, -1, -1),) * 3)
    assert regions_of_words(nothing) == [None] * 3
    assert marks(nothing) == {}


def test_regions_are_numbered_in_the_order_of_the_sentence():
    swapped = small(scores=((0, 0.5, 0.1), (0.9, 0.1, 0), (-1, -1, -1)))
    assert {r: m.number for r, m in marks(swapped).items()} == {1: 1, 0: 2}
    assert [m.number for m in marks_of_words(swapped)] == [1, 2, 2]


def test_colours_repeat_but_numbers_do_not():
    assert [mark(n).colour for n in (1, 8)] == [COLOURS[0]] * 2
    assert mark(8).number == 8
    for n in range(1, 8):
        assert contrast(mark(n).ink, mark(n).colour) >= 4.5


def test_phrases_have_the_order_of_the_sentence():
    assert [phrase(small(), m) for m in range(3)] == ["red ball", "ball flies", "flies"]


@pytest.mark.parametrize(
    ("values", "digits"), [([0, 0], 2), ([12], 2), ([0.3], 2), ([0.03], 3), ([1e-9], 6), ([], 2)]
)
def test_decimals(values, digits):
    assert decimals(values) == digits


def test_numbers_at_one_corner_do_not_overlap():
    boxes = [(0.0, 0.0, 1.0, 1.0)] * 3 + [(0.0, 0.0, 0.05, 0.05)] * 3
    places = badge_places(boxes, (400, 300), 15)
    for i, (x, y) in enumerate(places):
        assert 0 <= x <= 400
        assert all(abs(x - a) >= 30 or abs(y - b) >= 30 for a, b in places[:i])


def test_boxes_are_buttons_in_the_proportions_of_the_photo(fake_parser):
    example = alignment("a small dog runs after one red ball")
    svg = ElementTree.fromstring(boxes_svg(example, (800, 400)))
    assert svg.get("viewBox") == "0 0 480.0 240.0"
    buttons = [g for g in svg if g.get("role") == "button"]
    assert {int(g.get("data-region")) for g in buttons} == set(marks(example))
    assert {int(g.get("data-region")) for g in svg} <= {*BEST, *(c + 1 for c in BEST)}
    boxes = [example.boxes[int(g.get("data-region"))] for g in buttons]
    sizes = [(x1 - x0) * (y1 - y0) for x0, y0, x1, y1 in boxes]
    assert sizes == sorted(sizes, reverse=True)  # the small ones on top
    assert all(g.get("aria-label").startswith("Region ") for g in buttons)


def test_words_are_escaped():
    example = small(words=(HOSTILE, HOSTILE, "x"))
    assert "<img" not in boxes_svg(example, (10, 10))


@pytest.mark.parametrize("size", [(640, 480), (300, 900), (8, 8), (160, 8)])
def test_the_overlay_has_the_colours_of_all_regions(size, fake_parser):
    example = alignment("a small dog runs after one red ball " * 5)
    picture = overlay_png(Image.new("RGB", size, "#123456"), example)
    assert picture.width == WIDTH + 48
    colours = {c for _, c in picture.getcolors(1 << 22)}
    for region_mark in marks(example).values():
        assert tuple(bytes.fromhex(region_mark.colour[1:])) in colours


def test_overlay_of_a_sentence_without_regions():
    example = small(scores=((-1, -1, -1),) * 3)
    picture = overlay_png(Image.new("RGB", (64, 48)), example)
    assert (0x67, 0x62, 0x5A) in {c for _, c in picture.getcolors(1 << 22)}


def test_function_words_are_one_row_without_a_region(fake_parser):
    example = alignment("a small a dog runs a ball")
    assert len(example.content_fragments) == 3
    assert sum_of(example) == "the sum of 4 parts"
    picture = overlay_png(Image.new("RGB", (64, 48)), example)
    alone = overlay_png(Image.new("RGB", (64, 48)), alignment("small dog runs ball"))
    assert picture.height == alone.height + ROW
    assert rest_phrase(example) == "function words: a"


def test_reach_of_the_running_sum():
    assert reach(small()) == (0.0, 0.8)
    some = small()
    back = Alignment(*[*vars(some).values()][:5], (0.5, -0.7, 0.1), -0.1)
    assert reach(back) == pytest.approx((-0.2, 0.7))


def test_the_tree_has_the_numbers_of_its_regions(fake_parser):
    example = alignment("a small dog runs after one red ball")
    svg = tree_svg(example.tree, marks_of_words(example), example.function_words)
    root = ElementTree.fromstring(svg)
    words = [g for g in root.iter() if g.get("data-word")]
    assert [g.get("data-word") for g in words] == [str(i) for i in range(1, 8)]  # but "a"
    for g, region_mark in zip(words, marks_of_words(example)[1:], strict=True):
        numbers = [c.text for c in g if c.get("class") == "disc-number"]
        assert numbers == ([str(region_mark.number)] if region_mark else [])
        suffix = f"region {region_mark.number}" if region_mark else "no region"
        assert g.get("aria-label").endswith(suffix)
    (function_word,) = (g for g in root.iter() if g.get("class") == "function")
    assert function_word.keys() == ["class"]  # no button, and no stop of the keyboard
    assert "data-word" not in tree_svg(example.tree)


def test_crops_keep_their_proportions():
    photo = Image.new("RGB", (100, 50), "red")
    assert crop(photo, (0.5, 0.0, 1.0, 0.5)).size == (50, 25)
    assert crop(photo, (1.0, 1.0, 1.0, 1.0)).size == (1, 1)
    sheet = crops_png([(photo, "a very long name of a file " * 3)] * 7)
    assert sheet.width > sheet.height
    reds = next(n for n, c in sheet.getcolors(1 << 22) if c == (255, 0, 0))
    assert reds == 7 * 220 * 110
