import json

import pytest
from stanza.utils.conll import CoNLL

from vsdemo.core.errors import UserError
from vsdemo.core.paths import ROOT
from vsdemo.data import storybook
from vsdemo.recipes.parsing import score

SHIPPED = ROOT / "checkpoints" / "stanza-en"

GOLD = """1\tdogs\t_\tNOUN\tNNS\t_\t2\tnsubj\t_\t_
2\trun\t_\tVERB\tVBP\t_\t0\troot\t_\t_
3\tin\t_\tADP\tIN\t_\t4\tcase\t_\t_
4\tsnow\t_\tNOUN\tNN\t_\t2\tobl:loc\t_\t_

"""


def test_metrics_are_f1_over_words_without_subtypes():
    predicted = CoNLL.conll2doc(
        input_str=GOLD.replace("2\tnsubj", "2\tobj")  # right head, wrong relation
        .replace("4\tcase", "2\tcase")  # wrong head
        .replace("obl:loc", "obl")
        .replace("NNS", "NN")
    )
    assert score.compare(GOLD, predicted, score.METRICS) == {
        "upos": 100,
        "xpos": 75,
        "uas": 75,
        "las": 50,
    }


def test_the_model_card_shows_the_metrics(monkeypatch, tmp_path):
    metrics = {"upos": 95.0, "xpos": 94.0, "uas": 88.12, "las": 85.04}
    monkeypatch.setattr(score, "evaluate", lambda folder, split: {"gold_tokens": metrics})
    score.finish(tmp_path, 1234)
    card = (tmp_path / "README.md").read_text()
    assert "| test | gold tokens | 95.0 | 94.0 | 88.1 | 85.0 |" in card
    assert "1,234 silver trees" in card
    assert json.loads((tmp_path / "metrics.json").read_text())["dev"]["gold_tokens"] == metrics


@pytest.mark.usefixtures("real_data")
def test_the_treebank_agrees_with_itself():
    from vsdemo.recipes.parsing import treebank

    text = treebank.read("test")
    metrics = score.compare(text, CoNLL.conll2doc(input_str=text), score.RAW_METRICS)
    assert set(metrics.values()) == {100}


def test_the_shipped_parser_agrees_with_the_trees_of_storybook(monkeypatch):
    monkeypatch.setitem(storybook.store.SPLITS, "test", range(4500, 4520))
    metrics = score.on_storybook(SHIPPED, "test")
    assert metrics["words"] == 100
    assert metrics["las"] >= 95
    with pytest.raises(UserError, match="There is no split 'val'"):
        score.on_storybook(SHIPPED, "val")
