from collections import Counter

import pytest

from vsdemo.core.errors import UserError
from vsdemo.core.sentences import BinaryTree, Tree
from vsdemo.data.text import parser
from vsdemo.data.text.trees import TreeCache, count_relations, frequent_relations


class Chain:
    """A parser that makes every word depend on the one before it, and records its calls."""

    version = "1"
    has_constituency = False

    def __init__(self):
        self.calls = []

    def parse(self, texts):
        self.calls.append(list(texts))
        if any("stop" in text for text in texts):
            raise KeyboardInterrupt
        return [self.tree(text.split()) for text in texts]

    def constituency(self, texts):
        self.calls.append(list(texts))
        return [BinaryTree(("a", "b"), ((0, 1),), "constituency parser") for _ in texts]

    @staticmethod
    def tree(words):
        n = len(words)
        return Tree(tuple(words), tuple(range(n)), ("root", *["dep"] * (n - 1)), ("X",) * n)


@pytest.fixture
def chain(monkeypatch, tmp_path):
    chain_parser = Chain()
    monkeypatch.setattr(parser, "load", lambda name: chain_parser)
    monkeypatch.setattr("vsdemo.data.text.trees.SHARD", 2)
    monkeypatch.setenv("VSDEMO_HOME", str(tmp_path))
    return chain_parser


def test_get_parses_each_text_once_and_keeps_the_order(chain):
    texts = ["a b", "c", "a  b", "d e f"]
    reports = []
    trees = TreeCache().get(texts, lambda done, total: reports.append((done, total)))
    assert [t.words for t in trees] == [("a", "b"), ("c",), ("a", "b"), ("d", "e", "f")]
    assert chain.calls == [["a b", "c"], ["d e f"]]
    assert reports == [(2, 3), (3, 3)]
    assert TreeCache().get(texts[::-1]) == trees[::-1]
    assert len(chain.calls) == 2


def test_an_interrupted_run_resumes(chain):
    with pytest.raises(KeyboardInterrupt):
        TreeCache().get(["a", "b", "c stop", "d"])
    TreeCache().get(["a", "b", "c", "d"])
    assert chain.calls[1:] == [["c stop", "d"], ["c", "d"]]


def test_another_parser_version_has_its_own_cache(chain):
    TreeCache().get(["a"])
    chain.version = "2"
    TreeCache().get(["a"])
    assert len(chain.calls) == 2


def test_a_damaged_file_is_parsed_again(chain):
    cache = TreeCache()
    cache.get(["a", "b"])
    (file,) = cache.folder.glob("*.conllu")
    file.write_bytes(b"\xff1\ta")
    assert [t.words for t in cache.get(["a", "b"])] == [("a",), ("b",)]


def test_constituents_come_from_dependencies_without_a_model(chain):
    (binary,) = TreeCache().constituents(["a b"])
    assert binary == BinaryTree(("a", "b"), ((0, 1),), "dependencies")


def test_constituents_of_a_model_are_cached(chain):
    chain.has_constituency = True
    first = TreeCache().constituents(["a b", "c d"])
    assert [tree.source for tree in first] == ["constituency parser"] * 2
    assert TreeCache().constituents(["a b", "c d"]) == first
    assert len(chain.calls) == 1


def test_an_empty_text_is_a_user_error(chain):
    with pytest.raises(UserError, match="empty"):
        TreeCache().get(["a", " \0 "])


def test_frequent_relations_leaves_out_rare_ones():
    trees = [Chain.tree(["a", "b", "c", "d", "e"])] * 20
    counts = count_relations(trees)
    assert counts == Counter(root=20, dep=80)
    assert frequent_relations(counts) == ("dep", "root")
    assert frequent_relations(counts, rare=0.21) == ("dep",)
