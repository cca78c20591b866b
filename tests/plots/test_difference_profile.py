import re
import xml.etree.ElementTree as ET

from vsdemo.plots import profile_svg
from vsdemo.plots.difference_profile import HIGH, WIDE

SVG = "{http://www.w3.org/2000/svg}"


def columns(picture, name):
    (path,) = (
        p for p in ET.fromstring(as_file(picture)).iter(f"{SVG}path") if p.get("class") == name
    )
    found = re.findall(r"M([\d.]+) ([\d.]+)V([\d.]+)H([\d.]+)V[\d.]+", path.get("d"))
    return [tuple(map(float, f)) for f in found]


def as_file(picture):
    return picture.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1)


def test_columns_stand_on_the_line_the_largest_first():
    picture = profile_svg([-0.1, 0.4, 0.0, 0.2], "two <above>")
    over, below = columns(picture, "over"), columns(picture, "below")
    middle, wide = HIGH / 2, WIDE / 4
    assert over == [(0, middle, 0, wide), (wide, middle, middle / 2, 2 * wide)]
    assert below == [(3 * wide, middle, middle * 1.25, WIDE)]
    assert ET.fromstring(as_file(picture)).get("aria-label") == "two <above>"


def test_nothing_to_show():
    for nothing in ([], [0.0, 0.0]):
        picture = profile_svg(nothing, "")
        assert columns(picture, "over") == columns(picture, "below") == []
