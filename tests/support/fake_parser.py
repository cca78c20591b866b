"""A fast parser that returns a fixed, meaningless tree for each text."""

from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Tree
from vsdemo.data.text import parser

LABELS = ("det", "nsubj", "obj", "case")


class FakeParser:
    """Returns trees whose root is the middle word.

    The head of a word before the root is the next word; the head of a word after it is the root.
    The relation depends on the length of the word.
    """

    version, has_constituency = "fake", False

    def load_models(self):
        """There are none."""

    def parse(self, texts):
        return [self.tree(text.split()) for text in map(parser.normalize, texts)]

    @staticmethod
    def tree(words):
        if not words:
            raise UserError("The sentence contains no words; type at least one.")
        root = len(words) // 2
        heads = [i + 2 if i < root else 0 if i == root else root + 1 for i in range(len(words))]
        labels = [LABELS[len(word) % len(LABELS)] for word in words]
        labels[root] = "root"
        return Tree(tuple(words), tuple(heads), tuple(labels))
