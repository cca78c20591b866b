import re
import xml.etree.ElementTree as ET

from vsdemo.plots import profile_svg
from vsdemo.plots.difference_profile import HEIGHT, WIDTH

SVG = "{http://www.w3.org/2000/svg}"


def columns(picture, name):
    (path,) = (
        p for p in ET.fromstring(as_file(picture)).iter(f"{SVG}path") if p.get("class") == name
    )
    bars = re.findall(r"M([\d.]+) ([\d.]+)V([\d.]+)H([\d.]+)V[\d.]+", path.get("d"))
    return [tuple(map(float, f)) for f in bars]


def as_file(picture):
    return picture.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1)


def test_columns_begin_with_the_largest():
    picture = profile_svg([-0.1, 0.4, 0.0, 0.2], "two <above>")
    over, below = columns(picture, "over"), columns(picture, "below")
    middle, wide = HEIGHT / 2, WIDTH / 4
    assert over == [(0, middle, 0, wide), (wide, middle, middle / 2, 2 * wide)]
    assert below == [(3 * wide, middle, middle * 1.25, WIDTH)]
    assert ET.fromstring(as_file(picture)).get("aria-label") == "two <above>"


def test_no_differences():
    for nothing in ([], [0.0, 0.0]):
        picture = profile_svg(nothing, "")
        assert columns(picture, "over") == columns(picture, "below") == []
