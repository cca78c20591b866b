"""A parser for tests: no sense, no time, the same tree for the same text."""

from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Tree
from vsdemo.data.text import parser

LABELS = ("det", "nsubj", "obj", "case")


class FakeParser:
    """The middle word is the root; words before it hang on their neighbour, those after it on the
    root. A relation goes with the length of its word."""

    version, has_constituency = "fake", False

    def parse(self, texts):
        return [self.tree(text.split()) for text in map(parser.normalize, texts)]

    @staticmethod
    def tree(words):
        if not words:
            raise UserError("The sentence holds no word; type at least one.")
        root = len(words) // 2
        heads = [i + 2 if i < root else 0 if i == root else root + 1 for i in range(len(words))]
        labels = [LABELS[len(word) % len(LABELS)] for word in words]
        labels[root] = "root"
        return Tree(tuple(words), tuple(heads), tuple(labels))
