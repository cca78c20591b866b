import json
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.random_trees import random_trees
from vsdemo.core.sentences import Sentence, Tree
from vsdemo.data.text.vocab import EOS, PAD, SPECIAL, UNK, Vocab, tokenize


def test_tokenize_lowercases_and_drops_punctuation():
    assert tokenize("A dog's 2 BALLS, run_fast -- über!") == [
        "a",
        "dog",
        "s",
        "2",
        "balls",
        "run",
        "fast",
        "über",
    ]
    assert tokenize(" ... ") == []


def test_ids_are_sorted_by_frequency_then_alphabet():
    vocab = Vocab.build(map(Sentence, ["b a", "a c b", "d a"]))
    assert vocab.words == (*SPECIAL, "a", "b", "c", "d")
    assert (PAD, UNK, EOS) == (0, 1, 2)
    assert vocab.encode("A z b.") == [3, UNK, 4, EOS]
    assert vocab.encode("") == [EOS]


def test_rare_words_are_unknown():
    vocab = Vocab.build(map(Sentence, ["a a b", "c c"]), min_count=2)
    assert vocab.words == (*SPECIAL, "a", "c")
    assert vocab.encode("b") == vocab.encode("never") == [UNK, EOS]
    assert vocab.split_known(Sentence("a B c d a")) == (["a", "c", "a"], ["b", "d"])


def test_special_words_cannot_be_typed():
    vocab = Vocab.build([Sentence("a <unk> <pad>")])
    assert vocab.words == (*SPECIAL, "a", "pad", "unk")
    assert vocab.encode("<eos> <pad>") == [UNK, vocab.words.index("pad"), EOS]


@given(st.lists(st.text()), st.integers(1, 3), st.text())
def test_encode_handles_any_text(captions, min_count, text):
    vocab = Vocab.build(map(Sentence, captions), min_count)
    numbers = vocab.encode(text)
    known, unknown = vocab.split_known(Sentence(text))
    assert len(set(vocab.words)) == len(vocab)
    assert numbers[-1] == EOS
    assert [vocab.words[i] for i in numbers[:-1] if i != UNK] == known
    assert numbers.count(UNK) == len(unknown)
    assert all(0 <= i < len(vocab) and i not in (PAD, EOS) for i in numbers[:-1])
    if min_count == 1:
        assert not any(vocab.split_known(Sentence(caption))[1] for caption in captions)


def test_character_vocabularies_do_not_depend_on_the_sentences():
    vocab = Vocab.build([Sentence("é 犬")], needs=frozenset({"chars"}))
    assert vocab.words == (*SPECIAL, *string.printable)
    assert vocab.encode_characters("aA é") == [vocab.words.index(c) for c in "aA "] + [UNK]
    assert vocab.encode_characters("") == [EOS]
    assert Vocab.from_json(json.loads(json.dumps(vocab.to_json()))) == vocab


@given(st.lists(st.text()))
def test_build_does_not_depend_on_the_order_of_captions(captions):
    sentences = [Sentence(c) for c in captions]
    assert Vocab.build(sentences) == Vocab.build(reversed(sentences))


DONT = Tree(
    ("Dogs", "do", "n't", "run", "."), (4, 4, 4, 0, 4), ("nsubj", *["aux"] * 2, "root", "punct")
)


def test_words_of_a_sentence_with_a_tree_are_those_of_the_tree():
    sentence = Sentence("Dogs don't run.", DONT)
    vocab = Vocab.build([sentence])
    assert set(vocab.words) == {*SPECIAL, "dogs", "do", "n't", "run", "."}
    assert vocab.ids(("DO", "cats")) == [vocab.words.index("do"), UNK]
    assert vocab.split_known(sentence) == (["dogs", "do", "n't", "run"], [])
    assert vocab.split_known(Sentence("cats don't !"))[0] == []


def test_build_keeps_relations_and_children_of_trees():
    vocab = Vocab.build([Sentence("", DONT), Sentence("a dog")])
    assert vocab.relations == ("aux", "nsubj", "punct")
    assert vocab.children == (3, 1)
    rare = Tree(("a", "b"), (0, 1), ("root", "dep"))
    assert "dep" not in Vocab.build([Sentence("", DONT)] * 50 + [Sentence("", rare)]).relations


@given(st.lists(random_trees()))
def test_to_json_and_from_json_are_inverse(trees):
    vocab = Vocab.build(Sentence("", tree) for tree in trees)
    assert Vocab.from_json(json.loads(json.dumps(vocab.to_json()))) == vocab


@pytest.mark.parametrize("value", [None, 3, {}, {"words": []}, {"words": [], "children": [1]}])
def test_from_json_rejects_other_values(value):
    with pytest.raises((TypeError, ValueError, LookupError)):
        Vocab.from_json(value)
