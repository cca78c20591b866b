import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.random_trees import random_trees
from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Tree
from vsdemo.data.text import conllu

TEXTS = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1)


@given(st.lists(st.tuples(TEXTS, random_trees())))
def test_write_and_read_are_inverse(pairs):
    text = "".join(conllu.write(tree, sentence) for sentence, tree in pairs)
    assert list(conllu.read(text)) == pairs


def test_write_uses_the_format_of_universal_dependencies():
    tree = Tree(("Dogs", "run"), (2, 0), ("nsubj", "root"), ("NOUN", "VERB"))
    assert conllu.write(tree, "Dogs run").splitlines() == [
        "# text = Dogs run",
        "1\tDogs\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_",
        "2\trun\t_\tVERB\t_\t_\t0\troot\t_\t_",
        "",
    ]


def test_read_skips_multi_word_tokens_and_empty_nodes():
    rows = [
        "1-2 don't _ _ _ _ _ _ _ _",
        "1 do _ AUX _ _ 3 aux _ _",
        "2 n't _ PART _ _ 3 advmod _ _",
    ]
    rows += ["3 run _ VERB _ _ 0 root _ _", "3.1 away _ ADV _ _ _ _ 3:advmod _"]
    text = "# sent_id = 7\n" + "\n".join(rows).replace(" ", "\t") + "\n\n"
    ((sentence, tree),) = conllu.read(text.replace("#\tsent_id\t=\t7", "# sent_id = 7"))
    assert tree.words == ("do", "n't", "run")
    assert sentence == "do n't run"


@pytest.mark.parametrize("text", ["1\tdog\n\n", "1\tdog\t_\t_\t_\t_\tx\troot\t_\t_\n\n"])
def test_malformed_text_is_a_user_error(text):
    with pytest.raises(UserError, match="not CoNLL-U"):
        list(conllu.read(text))
