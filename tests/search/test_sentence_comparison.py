"""Comparisons of two sentences, compared with plain loops over their embeddings."""

import json
import math

import pytest
import torch

from tests.support.small_runs import trainer
from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence
from vsdemo.models import checkpoint, ensemble
from vsdemo.search.engine import Reader
from vsdemo.search.sentence_comparison import SentenceComparison, compare_sentences

A, B = "a red circle on a blue ground", "There is a circle."
PRESETS = ("gru", "order", "order/reversed", "char_gru")


@pytest.fixture(scope="module")
def runs(own_folders, tmp_path_factory):
    root = tmp_path_factory.mktemp("runs")
    for name in PRESETS:
        trainer(root / name, "epochs=2", "snapshot_every=1", preset=name).run()
    return root


@pytest.fixture(params=PRESETS)
def reader(request, runs):
    return Reader(runs / request.param)


def embedding(reader, text):
    return reader.encode(text).x[0].tolist()


def test_cosine_and_excess_equal_plain_loops(reader):
    result = compare_sentences(reader, A, B)
    a, b = embedding(reader, A), embedding(reader, B)
    dot = sum(x * y for x, y in zip(a, b, strict=True))
    assert result.cosine == pytest.approx(dot / (math.hypot(*a) * math.hypot(*b)), abs=1e-5)
    if not reader.spec.preset.startswith("order"):
        assert result.excess == ()
        return
    sign = -1 if reader.spec.preset == "order/reversed" else 1
    excess = [sign * (y - x) for x, y in zip(a, b, strict=True)]
    assert result.excess == pytest.approx(excess)
    over = sum(max(0, e) ** 2 for e in excess), sum(max(0, -e) ** 2 for e in excess)
    assert result.violations == pytest.approx(over)
    assert sum(result.violated) + excess.count(0) == len(a)


def test_exchanged_sentences_exchange_the_results(reader):
    one, other = compare_sentences(reader, A, B), compare_sentences(reader, B, A)
    assert one.cosine == pytest.approx(other.cosine)
    assert one.violations == pytest.approx(other.violations[::-1])
    assert one.violated == other.violated[::-1]
    assert one.attention == other.attention[::-1]


def test_a_sentence_follows_from_itself(reader):
    result = compare_sentences(reader, A, A)
    assert result.cosine == pytest.approx(1)
    assert result.violations == (0, 0) == result.violated


def test_characters_have_weights_that_sum_to_1(runs):
    result = compare_sentences(Reader(runs / "char_gru"), A, B)
    assert [len(weights) for weights in result.attention] == [len(A), len(B)]
    assert [sum(weights) for weights in result.attention] == pytest.approx([1, 1])


def test_an_ensemble_has_the_mean_attention_of_its_members(runs, tmp_path):
    members = ensemble.make([runs / "char_gru"], tmp_path / "both")
    assert len(members) == 2
    attention = compare_sentences(Reader(tmp_path / "both"), A, B).attention[0]
    parts = [checkpoint.load(member)[0].text.character_weights(Sentence(A)) for member in members]
    assert attention == pytest.approx(torch.stack(parts).mean(0).tolist(), abs=1e-6)


def test_the_record_is_json(reader):
    record = json.loads(json.dumps(compare_sentences(reader, A, "a zebra").record()))
    assert ("order" in record) == reader.spec.preset.startswith("order")
    assert ("attention" in record) == (reader.spec.preset == "char_gru")
    if "order" in record:
        assert record["order"].keys() == {"second from first", "first from second"}
    if reader.spec.preset != "char_gru":
        assert record["unknown"] == [[], ["zebra"]]


@pytest.mark.parametrize("bad", ["", " \n ", "a\x00b", "a" * 2001, "犬が走る"])
def test_invalid_input_on_either_side_is_a_user_error(reader, bad):
    for pair in ((bad, A), (A, bad)):
        with pytest.raises(UserError) as caught:
            compare_sentences(reader, *pair)
        assert "\n" not in str(caught.value)


def test_a_comparison_without_an_order_has_no_violations():
    assert SentenceComparison(0.5).violations == (0, 0) == SentenceComparison(0.5).violated
