import xml.etree.ElementTree as ElementTree

import pytest

from vsdemo import cli
from vsdemo.data.text import conllu

SENTENCE = "A dog with a tennis ball is swimming in murky water"


def run(monkeypatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["vsdemo", *arguments])
    with pytest.raises(SystemExit) as end:
        cli.main()
    return end.value.code or 0


def test_parse_prints_a_row_per_word(monkeypatch, capsys):
    assert run(monkeypatch, "parse", SENTENCE) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(SENTENCE.split())
    assert lines[7].split() == ["8", "swimming", "VERB", "root", "-"]


def test_parse_prints_conllu(monkeypatch, capsys):
    assert run(monkeypatch, "parse", SENTENCE, "--conllu") == 0
    ((text, tree),) = conllu.read(capsys.readouterr().out)
    assert text == SENTENCE
    assert tree.words == tuple(SENTENCE.split())


def test_parse_draws_a_tree(monkeypatch, tmp_path):
    assert run(monkeypatch, "parse", SENTENCE, "--svg", str(tmp_path / "new" / "tree.svg")) == 0
    root = ElementTree.parse(tmp_path / "new" / "tree.svg").getroot()
    assert root.tag.endswith("svg")
    assert "swimming" in "".join(root.itertext())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["parse", ""], "The sentence is empty"),
        (["parse", "a" * 3000], "3,000 characters"),
        (["parse", "a\x01b"], "control characters"),
        (["parse", "a dog", "--parser", "spacy"], "There is no parser 'spacy'"),
        (["parse", "a dog", "--svg", "/proc/none/tree.svg"], "/proc/none"),
    ],
)
def test_bad_input_is_refused(monkeypatch, capsys, arguments, message):
    assert run(monkeypatch, *arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith("vsdemo: ")
    assert message in error
    assert len(error.splitlines()) == 1


def test_data_trees_lists_relations_and_caches_trees(monkeypatch, capsys):
    assert run(monkeypatch, "data", "trees", "toy", "--split", "dev") == 0
    first = capsys.readouterr()
    assert "relations of at least 1%" in first.out
    assert "  det " in first.out
    assert "parsing" in first.err
    assert run(monkeypatch, "data", "trees", "toy", "--split", "dev") == 0
    again = capsys.readouterr()
    assert again.out == first.out
    assert again.err == ""


def test_a_parser_is_evaluated_on_its_own_splits_only(monkeypatch, capsys):
    assert run(monkeypatch, "evaluate", "checkpoints/stanza-en", "--split", "all") == 2
    assert "no split 'all'" in capsys.readouterr().err
    assert run(monkeypatch, "evaluate", "checkpoints/stanza-en") == 2
    assert "EWT is missing" in capsys.readouterr().err
