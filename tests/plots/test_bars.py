import xml.etree.ElementTree as ET

from vsdemo.plots import bars_svg

SVG = "{http://www.w3.org/2000/svg}"


def test_a_bar_is_as_long_as_its_number():
    root = ET.fromstring(bars_svg("Norms & names", [("nsubj", 4.0), ("<det>", 1.0), ("case", 0)]))
    _, *bars = root.iter(f"{SVG}rect")
    widths = [float(bar.get("width")) for bar in bars]
    assert widths[0] == 4 * widths[1] > widths[2] == 0
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert texts == ["Norms & names", "nsubj", "4.00", "<det>", "1.00", "case", "0.00"]


def test_a_line_stands_where_the_numbers_began():
    root = ET.fromstring(bars_svg("Norms", [("a", 4.0), ("b", 1.0)], start=1.0))
    _, _, short = root.iter(f"{SVG}rect")
    (line,) = root.iter(f"{SVG}line")
    assert line.get("x1") == line.get("x2")
    assert float(line.get("x1")) == float(short.get("x")) + float(short.get("width"))


def test_no_row_and_rows_of_nothing():
    for rows in ([], [("a", 0.0)]):
        root = ET.fromstring(bars_svg("Nothing", rows))
        assert len(list(root.iter(f"{SVG}rect"))) == 1 + len(rows)
