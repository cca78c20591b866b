"""Sentences that follow from a caption join the hierarchy, and a walk up keeps to them."""

from types import SimpleNamespace

import pytest
import torch

from vsdemo.core.embeddings import Embeddings
from vsdemo.data.text.vocab import tokenize
from vsdemo.hierarchy.order import CAPTION, CONCEPT, PHOTO, ROOT, Hierarchy, Item
from vsdemo.hierarchy.walks import truths, walk
from vsdemo.models.scores import SCORES
from vsdemo.search.hierarchies import add_generalizations

WORDS = ("brown", "dog", "runs", "in", "park", "cat", "a", "the", "animal", "pink")
CAPTIONS = ("A brown dog runs in the park.", "A pink cat.")


def encode(sentences) -> Embeddings:
    """Return one coordinate per word, so that fewer words lie above more."""
    word_sets = [set(tokenize(sentence.text)) for sentence in sentences]
    return Embeddings(torch.tensor([[float(w in words) for w in WORDS] for words in word_sets]))


@pytest.fixture
def engine():
    def unknown(sentence):
        return [word for word in tokenize(sentence.text) if word in WORDS], []

    text = SimpleNamespace(unknown=unknown)
    model = SimpleNamespace(text=text, encode_text=encode)
    return SimpleNamespace(model=model, score=SCORES["order"])


@pytest.fixture
def hierarchy():
    photo = torch.tensor([[1.0, 1, 1, 1, 1, 0, 1, 1, 1, 0]])
    items = [Item(ROOT, "anything"), Item(CONCEPT, "an animal")]
    items += [*(Item(CAPTION, caption) for caption in CAPTIONS), Item(PHOTO, "x.jpg")]
    sentences = [SimpleNamespace(text=text) for text in ("", "animal", *CAPTIONS)]
    return Hierarchy(items, torch.cat([encode(sentences).x, photo]), SCORES["order"])


def _without_gap(hierarchy):
    hierarchy.gap = 0.0  # as among candidates, however small the difference in depth
    return hierarchy


@pytest.mark.parametrize("start", [2, 4], ids=["caption", "photo"])
def test_a_walk_contains_only_sentences_entailed_by_its_start(hierarchy, engine, start):
    extended, entailments = add_generalizations(hierarchy, engine, hierarchy.node(start))
    assert extended.items[: len(hierarchy)] == hierarchy.items  # indices stay
    added = {item.text for item in extended.items[len(hierarchy) :]}
    assert {"a brown dog", "a dog"} <= added
    assert not any("cat" in text for text in added)
    anew = Hierarchy(extended.items, extended.x, extended.order)
    torch.testing.assert_close(extended.depths, anew.depths)
    assert extended.gap == pytest.approx(anew.gap)
    for kind, of_kind in anew.of_kind.items():
        assert torch.equal(extended.of_kind[kind], of_kind)
    for node in (extended.node(start), extended.node(len(extended) - 1)):
        assert extended.above(node) == anew.above(node)
        some = {1, 3, len(extended) - 2}
        listed = [step for step in _without_gap(anew).above(node) if step.number in (0, *some)]
        assert extended.above(node, candidates=some) == listed
    up = walk(extended, hierarchy.node(start), entailments).up
    texts = [extended.items[step.number].text for step in up]
    nodes = [extended.node(step.number) for step in up[:-1]]  # but for the root
    assert set(truths(extended, nodes, up=True)) == {True}
    assert texts[-1] == "anything"
    words = set(tokenize(CAPTIONS[0]))
    for text in texts[:-1]:
        if text != "an animal":
            assert set(tokenize(text)) <= words
            words = set(tokenize(text))


def test_sentences_are_added_once(hierarchy, engine):
    extended, _ = add_generalizations(hierarchy, engine, hierarchy.node(2))
    again, entailments = add_generalizations(extended, engine, extended.node(2))
    assert len(again) == len(extended) > len(hierarchy)
    assert entailments[2] == entailments[None] != set()


def test_a_concept_adds_nothing(hierarchy, engine):
    extended, entailments = add_generalizations(hierarchy, engine, hierarchy.node(1))
    assert extended is hierarchy
    assert entailments is None
