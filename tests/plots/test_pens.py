"""Both pens draw the same; the SVG is one file that shows everything."""

import base64
import io
from xml.etree import ElementTree

from PIL import Image

from tests.support.fake_alignment import alignment
from vsdemo.plots import overlay_png, overlay_svg
from vsdemo.plots.pens import PixelPen, SvgPen, text_width

SVG = "{http://www.w3.org/2000/svg}"


def drawn(pen):
    pen.area((2, 2, 20, 10), "#ff0000")
    pen.outline((30, 2, 50, 22), "#00ff00", 4)
    pen.disc((70, 12), 8, "#0000ff")
    pen.line((2, 40), (90, 40), "#ff00ff", 2)
    return pen


def test_pixels_are_where_they_were_asked_for():
    page = drawn(PixelPen(100, 60)).page
    assert page.getpixel((10, 5)) == (255, 0, 0)
    assert page.getpixel((31, 10)) == (0, 255, 0)
    assert page.getpixel((40, 12)) == (255, 255, 255)  # only the outline
    assert page.getpixel((70, 12)) == (0, 0, 255)
    assert page.getpixel((50, 40)) == (255, 0, 255)


def test_an_svg_has_the_same_places():
    root = ElementTree.fromstring(drawn(SvgPen(100, 60)).svg("shapes"))
    paper, area, outline = root.findall(f"{SVG}rect")
    assert (paper.get("width"), paper.get("height")) == ("100", "60")
    assert (area.get("x"), area.get("width"), area.get("fill")) == ("2.0", "18.0", "#ff0000")
    assert (outline.get("x"), outline.get("width")) == ("32.0", "16.0")  # within the box
    assert root.find(f"{SVG}circle").get("cx") == "70.0"
    assert root.find(f"{SVG}title").text == "shapes"


def test_texts_are_escaped_and_as_wide_as_measured():
    pen = SvgPen(100, 60)
    pen.text((90, 20), "<b> & c", "#000000", 18, "r")
    svg = pen.svg("<title>")
    text = ElementTree.fromstring(svg).find(f"{SVG}text")
    assert text.text == "<b> & c"
    width = text_width("<b> & c", 18)
    assert float(text.get("textLength")) == round(width, 1)
    assert abs(float(text.get("x")) + width - 90) < 0.1


def test_the_file_of_an_alignment_has_the_photo_and_all_words(fake_parser):
    example = alignment("a small dog runs after one red ball")
    photo = Image.new("RGB", (64, 48), "#123456")
    root = ElementTree.fromstring(overlay_svg(photo, example))
    picture = overlay_png(photo, example)
    assert (int(root.get("width")), int(root.get("height"))) == picture.size
    kind, _, content = root.find(f"{SVG}image").get("href").partition(",")
    assert kind == "data:image/jpeg;base64"
    embedded = Image.open(io.BytesIO(base64.b64decode(content)))
    assert abs(embedded.getpixel((5, 5))[2] - 0x56) < 6
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert set(example.words) <= set(texts)
