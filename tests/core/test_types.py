import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.support.random_trees import random_trees
from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.sentences import MAX_CHARACTERS, Sentence, Tree


@pytest.mark.parametrize(
    "text", ["", "   \t\n", " " * 5000, "a" * 100_000, "a\0b", "a \ud800 b", "\x7f", "\x1b[31mred"]
)
def test_a_bad_sentence_is_told_in_one_sentence(text):
    with pytest.raises(UserError, match=r"The sentence .*\.$"):
        Sentence.from_user(text)


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("a dog", "a dog"),
        ("  a\tdog\n runs ", "a dog runs"),
        ("a 🐕 runs", "a 🐕 runs"),
        ("ein Hund läuft", "ein Hund läuft"),
        ("a" * MAX_CHARACTERS, "a" * MAX_CHARACTERS),
    ],
)
def test_a_good_sentence_keeps_its_words(typed, kept):
    assert Sentence.from_user(typed).text == kept


@given(st.text(st.characters(), max_size=2 * MAX_CHARACTERS))
def test_any_text_becomes_a_sentence_or_a_user_error(text):
    try:
        sentence = Sentence.from_user(text)
    except UserError:
        return
    assert sentence.text == " ".join(text.split())
    assert 0 < len(sentence.text) <= MAX_CHARACTERS
    sentence.text.encode("utf-8")


def test_embeddings_slice_and_join_with_their_masks():
    x, mask = torch.arange(24.0).view(4, 3, 2), torch.arange(12).view(4, 3) % 2 == 0
    sets = Embeddings(x, mask)
    joined = Embeddings.cat([sets[:1], sets[torch.tensor([1, 2])], sets[3:]])
    assert len(sets) == 4
    assert torch.equal(joined.x, x)
    assert torch.equal(joined.mask, mask)
    assert Embeddings.cat([Embeddings(x[0]), Embeddings(x[1])]).mask is None


def test_sets_of_several_sizes_join_in_the_order_asked_for():
    small = Embeddings(torch.ones(2, 1, 2), torch.ones(2, 1).bool())
    large = Embeddings(torch.full((1, 3, 2), 2.0), torch.ones(1, 3).bool())
    joined = Embeddings.cat([small, large], torch.tensor([2, 0, 1]))
    assert joined.x.sum((1, 2)).tolist() == [2, 12, 2]
    assert joined.mask.sum(1).tolist() == [1, 3, 1]


def test_captions_of_reads_the_correspondence_list():
    split = CaptionSet("toy", "all", ("p", "q", "r"), ("a", "b", "c", "d"), (2, 0, 2, 0))
    assert split.captions_of == [[1, 3], [], [0, 2]]


@pytest.mark.parametrize(
    ("heads", "why"),
    [
        ((2, 1, 0), "cycle"),
        ((0, 3, 2), "cycle"),
        ((1, 0, 2), "cycle"),
        ((2, 3, 1), "one root; this one has 0"),
        ((0, 0, 1), "one root; this one has 2"),
        ((0, 1, 4), "cannot have the head 4"),
        ((0, 1, -1), "cannot have the head -1"),
        ((0, 1), "for each of its words"),
    ],
)
def test_what_is_no_tree_is_told_in_one_sentence(heads, why):
    with pytest.raises(UserError, match=f"{why}.*\\.$"):
        Tree(("a", "b", "c"), heads, ("x", "x", "x"))


@given(random_trees())
def test_every_dependent_comes_before_its_head_and_the_root_last(tree):
    order = tree.bottom_up()
    assert sorted(order) == list(range(len(tree.words)))
    assert order[-1] == tree.root
    for word, head in enumerate(tree.heads):
        if head:
            assert order.index(word) < order.index(head - 1)
            assert word in tree.children()[head - 1]
