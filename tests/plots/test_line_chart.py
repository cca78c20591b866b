import re
import xml.etree.ElementTree as ElementTree
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vsdemo.plots import lines_svg

LINES = {"up & on": [(1, 10.0), (2, 20.0), (4, 40.0)], "flat": [(1, 39.0), (4, 39.0)]}


def paths(svg: str) -> list[list[tuple[float, float]]]:
    lines = re.findall(r'polyline points="([^"]*)"', svg)
    return [[tuple(map(float, p.split(","))) for p in line.split()] for line in lines]


def test_points_are_at_their_values():
    svg = lines_svg("R@10 < 100", LINES, "epoch")
    ElementTree.fromstring(svg)
    assert "up &amp; on" in svg
    assert "R@10 &lt; 100" in svg
    (one, two, four), flat = paths(svg)
    assert one[1] > two[1] > four[1]  # up is a smaller y
    assert (four[0] - two[0]) == pytest.approx(2 * (two[0] - one[0]), abs=0.2)
    assert (one[1] - two[1]) * 2 == pytest.approx(two[1] - four[1], abs=0.2)
    assert flat[0][1] == flat[1][1]


def test_logarithmic_scale():
    (one, two, four), _ = paths(lines_svg("", LINES, "epoch", logarithmic=True))
    assert four[0] - two[0] == pytest.approx(two[0] - one[0], abs=0.2)


def test_names_do_not_overlap():
    svg = lines_svg("", {str(i): [(1, 5.0), (2, 5.0)] for i in range(4)}, "x")
    ends = [float(y) for y in re.findall(r'<text x="[\d.]+" y="([\d.]+)">\d</text></g>', svg)]
    assert all(b - a >= 14 for a, b in pairwise(ends))


@given(st.lists(st.tuples(st.integers(1, 99), st.floats(0, 1000)), max_size=30), st.booleans())
def test_any_values_are_inside_the_figure(points, logarithmic):
    svg = lines_svg("t", {"line": sorted(points)}, "x", logarithmic=logarithmic)
    root = ElementTree.fromstring(svg)
    wide, high = float(root.get("width")), float(root.get("height"))
    for line in paths(svg):
        assert all(0 <= x <= wide and 0 <= y <= high for x, y in line)
