from hypothesis import given
from hypothesis import strategies as st

from vsdemo.data.vocab import EOS, PAD, SPECIAL, UNK, Vocab, tokenize


def test_tokenize_lowers_words_and_drops_punctuation():
    assert tokenize("A dog's 2 BALLS, run_fast -- über!") == [
        *("a", "dog", "s", "2", "balls", "run", "fast", "über")
    ]
    assert tokenize(" ... ") == []


def test_words_are_numbered_by_frequency_then_alphabet():
    vocab = Vocab.build(["b a", "a c b", "d a"])
    assert vocab.words == (*SPECIAL, "a", "b", "c", "d")
    assert (PAD, UNK, EOS) == (0, 1, 2)
    assert vocab.encode("A z b.") == [3, UNK, 4, EOS]
    assert vocab.encode("") == [EOS]


def test_rare_words_share_the_number_of_unknown_ones():
    vocab = Vocab.build(["a a b", "c c"], min_count=2)
    assert vocab.words == (*SPECIAL, "a", "c")
    assert vocab.encode("b") == vocab.encode("never") == [UNK, EOS]
    assert vocab.unknown("a B c d a") == (["a", "c", "a"], ["b", "d"])


def test_special_words_cannot_be_typed():
    vocab = Vocab.build(["a <unk> <pad>"])
    assert vocab.words == (*SPECIAL, "a", "pad", "unk")
    assert vocab.encode("<eos> <pad>") == [UNK, vocab.words.index("pad"), EOS]


@given(st.lists(st.text()), st.integers(1, 3), st.text())
def test_encoding_any_text(captions, min_count, text):
    vocab = Vocab.build(captions, min_count)
    numbers = vocab.encode(text)
    known, unknown = vocab.unknown(text)
    assert len(set(vocab.words)) == len(vocab)
    assert numbers[-1] == EOS
    assert [vocab.words[i] for i in numbers[:-1] if i != UNK] == known
    assert numbers.count(UNK) == len(unknown)
    assert all(0 <= i < len(vocab) and i not in (PAD, EOS) for i in numbers[:-1])
    if min_count == 1:
        assert not any(vocab.unknown(caption)[1] for caption in captions)


@given(st.lists(st.text()))
def test_the_order_of_captions_does_not_matter(captions):
    assert Vocab.build(captions) == Vocab.build(reversed(captions))
