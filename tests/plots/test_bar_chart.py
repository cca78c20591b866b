import xml.etree.ElementTree as ET

import pytest

from vsdemo.plots import bars_svg

SVG = "{http://www.w3.org/2000/svg}"


def test_bars_are_proportional_to_their_numbers():
    root = ET.fromstring(bars_svg("Norms & names", [("nsubj", 4.0), ("<det>", 1.0), ("case", 0)]))
    _, *bars = root.iter(f"{SVG}rect")
    widths = [float(bar.get("width")) for bar in bars]
    assert widths[0] == 4 * widths[1] > widths[2] == 0
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert texts == ["Norms & names", "nsubj", "4.00", "<det>", "1.00", "case", "0.00"]


def test_the_start_is_a_vertical_line():
    root = ET.fromstring(bars_svg("Norms", [("a", 4.0), ("b", 1.0)], start=1.0))
    _, _, short = root.iter(f"{SVG}rect")
    (line,) = root.iter(f"{SVG}line")
    assert line.get("x1") == line.get("x2")
    assert float(line.get("x1")) == float(short.get("x")) + float(short.get("width"))


def test_no_rows_and_rows_of_zero():
    for rows in ([], [("a", 0.0)]):
        root = ET.fromstring(bars_svg("Nothing", rows))
        assert len(list(root.iter(f"{SVG}rect"))) == 1 + len(rows)


def test_intervals_cross_the_ends_and_nothing_is_left_of_0():
    rows, spans = [("a", 2.0), ("b", -1.0)], [(1.0, 4.0), (-2.0, 0.5)]
    root = ET.fromstring(bars_svg("Correlations", rows, spans=spans))
    _, long, none = root.iter(f"{SVG}rect")
    assert float(none.get("width")) == 0
    first, second = (
        path.get("d")[1:].replace("H", " ").split() for path in root.iter(f"{SVG}path")
    )
    x, width = float(long.get("x")), float(long.get("width"))
    assert [float(first[0]), float(first[2])] == pytest.approx([x + width / 2, x + width * 2])
    assert [float(second[0]), float(second[2])] == pytest.approx([x, x + width / 4])
    assert [text.text for text in root.iter(f"{SVG}text")][2::2] == ["2.00", "-1.00"]
