import pytest

from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence
from vsdemo.data.text.constituents import from_dependencies
from vsdemo.data.text.sentences import MAX_UNCACHED, add_trees, parser_version
from vsdemo.data.text.trees import TreeCache

MANY = [f"a dog number {i}" for i in range(MAX_UNCACHED + 1)]
DEPENDENCIES, CONSTITUENTS = frozenset({"dep_tree"}), frozenset({"words", "const_tree"})


@pytest.fixture
def counted(fake_parser, monkeypatch, tmp_path):
    """The fake parser with a list of the numbers of texts per call."""
    monkeypatch.setenv("VSDEMO_HOME", str(tmp_path))
    parse, fake_parser.calls = fake_parser.parse, []
    fake_parser.parse = lambda texts: fake_parser.calls.append(len(texts)) or parse(texts)
    return fake_parser


def test_word_encoders_need_no_parser(monkeypatch):
    monkeypatch.setattr("vsdemo.data.text.parser.load", None)
    sentences = [Sentence(""), Sentence("a dog")]
    assert add_trees(sentences, frozenset({"words"})) == sentences
    assert parser_version(frozenset({"words"})) == ""


@pytest.mark.parametrize("texts", [MANY[:2], MANY])
def test_add_trees_adds_the_trees_that_are_needed(counted, texts):
    trees = counted.parse(texts)
    sentences = [Sentence(text) for text in texts]
    assert [s.tree for s in add_trees(sentences, DEPENDENCIES)] == trees
    binary = add_trees(sentences, CONSTITUENTS)
    assert [s.constituents for s in binary] == [from_dependencies(tree) for tree in trees]
    assert {s.tree for s in binary} == {None}
    both = add_trees(sentences, DEPENDENCIES | CONSTITUENTS)
    assert all(s.tree and s.constituents for s in both)
    assert [s.text for s in both] == texts
    assert parser_version(DEPENDENCIES) == parser_version(CONSTITUENTS) == counted.version


def test_add_trees_keeps_existing_trees(counted):
    own = counted.tree(["another", "one"])
    first, second = add_trees([Sentence("a dog", own), Sentence("a cat")], DEPENDENCIES)
    assert first.tree is own
    assert second.tree.words == ("a", "cat")
    assert counted.calls == [1]


def test_many_captions_are_parsed_once_and_cached_on_disk(counted):
    sentences = [Sentence(text) for text in MANY]
    assert add_trees(sentences, DEPENDENCIES) == add_trees(sentences, DEPENDENCIES)
    assert counted.calls == [len(MANY)]
    assert list(TreeCache().folder.iterdir())


def test_few_sentences_are_not_cached_on_disk(counted):
    add_trees([Sentence("a dog")], DEPENDENCIES)
    assert not TreeCache().folder.exists()


def test_a_text_without_words_is_a_user_error(fake_parser):
    with pytest.raises(UserError, match="is empty"):
        add_trees([Sentence(" ")], DEPENDENCIES)
