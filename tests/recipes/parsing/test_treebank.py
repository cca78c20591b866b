import io
import tarfile
from itertools import pairwise

import pytest

from vsdemo.core.errors import UserError
from vsdemo.recipes.parsing import treebank

TEXT = """# newdoc id = one
# newpar id = p1
# text = I don't run.
1\tI\tI\tPRON\tPRP\tCase=Nom\t4\tnsubj\t4:nsubj\t_
2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
2\tdo\tdo\tAUX\tVBP\t_\t4\taux\t4:aux\t_
3\tn't\tnot\tPART\tRB\t_\t4\tadvmod\t4:advmod\t_
4\trun\trun\tVERB\tVB\t_\t0\troot\t0:root\tSpaceAfter=No
4.1\trun\trun\tVERB\tVB\t_\t_\t_\t0:root\t_
5\t.\t.\tPUNCT\t.\t_\t4\tpunct\t4:punct\t_

# text = Stop!
1\tStop\tstop\tVERB\tVB\t_\t0\troot\t0:root\tSpaceAfter=No
2\t!\t!\tPUNCT\t.\t_\t1\tpunct\t1:punct\t_

# newpar id = p2
# text = See www.a-very-long-address.example.org
1\tSee\tsee\tVERB\tVB\t_\t0\troot\t0:root\t_
2\twww.a-very-long-address.example.org\t_\tX\tADD\t_\t1\tobj\t1:obj\t_

"""


@pytest.fixture
def archive(tmp_path, monkeypatch):
    with tarfile.open(tmp_path / "ud_english_ewt.tar.xz", "w:xz") as tar:
        info = tarfile.TarInfo("ud_english_ewt/en_ewt-ud-dev.conllu")
        info.size = len(TEXT.encode())
        tar.addfile(info, io.BytesIO(TEXT.encode()))
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path))


@pytest.mark.usefixtures("archive")
def test_the_treebank_is_read_from_its_archive():
    assert treebank.read("dev") == TEXT


def test_a_missing_treebank_is_a_user_error():
    with pytest.raises(UserError, match="EWT is missing"):
        treebank.read("dev")


def test_sentences_keep_multi_word_tokens_and_lose_empty_nodes():
    first, second, third = treebank.sentences(TEXT)
    assert [row[0] for row in first] == ["1", "2-3", "2", "3", "4", "5"]
    assert [len(second), len(third)] == [2, 2]


def test_clean_keeps_the_learned_columns_and_cuts_long_addresses():
    first, _, third = map(treebank.clean, treebank.sentences(TEXT))
    assert first[0] == ["1", "I", "_", "PRON", "PRP", "_", "4", "nsubj", "_", "_"]
    assert third[1][1] == "www.a-very-long-address.example.org"[: treebank.LONGEST]


def test_written_rows_are_read_again(tmp_path):
    trees = treebank.sentences(TEXT)
    treebank.write(tmp_path / "a.conllu", trees)
    assert treebank.sentences((tmp_path / "a.conllu").read_text()) == trees


def test_plain_text_has_a_block_per_paragraph():
    assert treebank.plain_text(TEXT) == (
        "I don't run. Stop!\n\nSee www.a-very-long-address.example.org\n"
    )


def test_halves_are_disjoint_and_keep_neighbours_together():
    trees = [[[str(i)]] for i in range(10 * treebank.FOLD + 3)]
    first, second = treebank.halves(trees)
    assert sorted(first + second) == sorted(trees)
    assert abs(len(first) - len(second)) <= 2 * treebank.FOLD  # a block, and a short last one
    numbers = [int(tree[0][0]) for tree in first]
    assert sum(b != a + 1 for a, b in pairwise(numbers)) <= 6
    assert treebank.halves(trees) == (first, second)
