"""A text that changes a page which does not escape it."""

import re
from collections.abc import Callable
from html.parser import HTMLParser

HOSTILE = """<img src=x onerror=alert(1)>"'`${1}`{{ 7*7 }}{% raw %}</script></pre>&amp;"""


class Reader(HTMLParser):
    """Collects the tags of a page with the names of their attributes, and its texts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, ...]] = []
        self.texts: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, *(name for name, _ in attributes)))
        self.texts += [value for _, value in attributes if value]

    def handle_endtag(self, tag):
        self.tags.append((f"/{tag}",))

    def handle_data(self, data):
        self.texts.append(data)


def check_escaped(page: Callable[[str], str], hostile: str = HOSTILE) -> None:
    """Assert that a page shows a hostile text unchanged, and has the tags of a harmless page.

    Args:
        page: Returns the page with a text.
        hostile: The text. The harmless one has as many words and characters.
    """
    html = Reader(page(hostile))
    assert html.tags == Reader(page(re.sub(r"\S", "a", hostile))).tags
    assert any(hostile in text for text in html.texts)
