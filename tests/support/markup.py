"""The structure and the texts of HTML."""

from html.parser import HTMLParser


class Markup(HTMLParser):
    """HTML as a browser reads it.

    Attributes:
        outline: Start and end tags, start tags with the names of their attributes.
        texts: Texts and values of attributes.
    """

    def __init__(self, html):
        super().__init__()
        self.outline, self.texts = [], []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.outline.append((tag, *(name for name, _ in attrs)))
        self.texts += [value for _, value in attrs if value]

    def handle_endtag(self, tag):
        self.outline.append(f"/{tag}")

    def handle_data(self, data):
        self.texts.append(data)
