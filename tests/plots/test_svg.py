"""SVG elements: attributes and texts are escaped, children that are elements are not."""

import xml.etree.ElementTree as ElementTree

from hypothesis import given
from hypothesis import strategies as st

from vsdemo.plots.svg import document, element, join

TEXT = st.text(st.characters(min_codepoint=32, exclude_categories=["Cs", "Cc"]))


def test_elements_are_nested_and_texts_escaped():
    inner = element("text", {"x": 1, "aria-label": 'a "b"'}, "<b> & c")
    svg = element("g", None, inner, element("rect"))
    assert svg == '<g><text x="1" aria-label="a &#34;b&#34;">&lt;b&gt; &amp; c</text><rect/></g>'
    assert join("<", inner) == f"&lt;{inner}"


@given(TEXT, TEXT)
def test_any_text_is_read_back(title, label):
    svg = document(title, 10, 20, element("text", {"aria-label": label}, label), ink="#000000")
    root = ElementTree.fromstring(svg)
    assert root[0].text == (title or None)
    assert (root[-1].get("aria-label"), root[-1].text) == (label, label or None)
