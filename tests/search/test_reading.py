"""What a model makes of a sentence part by part."""

import pytest

from vsdemo.core.errors import UserError
from vsdemo.search.engine import Engine
from vsdemo.search.reading import read, violations

TEXT = "a red circle on a green ground"


@pytest.fixture
def engine(toy_checkpoint):
    return Engine(toy_checkpoint, "toy", "test")


def test_a_part_is_read_like_a_sentence(engine):
    steps = read(engine, TEXT, 3)
    words = TEXT.split()
    assert [step.text for step in steps] == [" ".join(words[: i + 1]) for i in range(len(words))]
    for step in steps[1:]:
        alone = engine.search(step.text, 3)
        assert [hit.number for hit in step.hits] == [hit.number for hit in alone]
        assert [h.score for h in step.hits] == pytest.approx([h.score for h in alone], abs=1e-5)


def test_what_reads_all_parts_side_by_side_has_no_steps(engine, monkeypatch):
    monkeypatch.setattr(type(engine.model.text), "needs", frozenset({"dep_tree"}))
    assert engine.model.text.reading_parts(engine.parse("a bar")) == []


@pytest.mark.parametrize("text", ["", "xyzzy", "a" * 2000])
def test_bad_sentences_get_one_sentence(engine, text):
    with pytest.raises(UserError):
        read(engine, text)


def test_the_violations_are_those_of_the_score(toy_order, engine):
    order = Engine(toy_order, "toy", "test")
    for hit in order.search(TEXT, 8):
        excess = violations(order, TEXT, hit.number)
        assert sum(e * e for e in excess if e > 0) == pytest.approx(-hit.score, abs=1e-5)
    assert violations(engine, TEXT, 0) == []
