import lzma

import numpy as np
import pytest
import torch

from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence
from vsdemo.data.text import vectors
from vsdemo.data.text.vocab import SPECIAL, Vocab

ANIMALS, CARS = ("dog", "cat", "cow"), ("car", "bus", "van")
TEXTS = [f"a {noun} eats green grass ." for noun in ANIMALS] * 4
TEXTS += [f"the {noun} stands on gray asphalt ." for noun in CARS] * 4


@pytest.fixture
def corpus(monkeypatch, tmp_path):
    """A VSDEMO_DATA and a VSDEMO_HOME of its own, with the text to learn from."""
    (tmp_path / "flickr30k_entities").mkdir()
    file = tmp_path / "flickr30k_entities" / "other_sentences.txt.xz"
    file.write_bytes(lzma.compress("\n".join(TEXTS).encode()))
    monkeypatch.setenv("VSDEMO_DATA", str(tmp_path))
    monkeypatch.setenv("VSDEMO_HOME", str(tmp_path / "home"))
    return file


def test_counts_without_offsets_are_summed_over_both_sides():
    words, sentences = ["a", "b", "c"], [["a", "b", "c"], ["c", "a"]]
    separate = vectors.ppmi(sentences, words, 3, (-1, 1), by_offset=True)
    joined = vectors.ppmi(sentences, words, 3, (-1, 1), by_offset=False)
    assert (separate.shape, joined.shape) == ((3, 6), (3, 3))
    assert ((joined.toarray() > 0) == (joined.toarray() > 0).T).all()
    assert (separate.toarray()[0] > 0).tolist() == [False, False, True, False, True, False]


def test_factorize_scales_rows_to_the_given_mean_length():
    matrix = vectors.ppmi([t.split() for t in TEXTS], TEXTS[0].split(), 4, (-1, 1), by_offset=False)
    result = vectors.factorize(matrix, 2, norm=3)
    assert result.shape == (6, 2)
    assert np.linalg.norm(result, axis=1).mean() == pytest.approx(3)


def test_similar_words_have_similar_vectors(corpus):
    vocab = Vocab.build([Sentence(text) for text in TEXTS])
    result = torch.nn.functional.normalize(vectors.vectors_for(vocab, ["a dog ."], 4), dim=1)
    dog, cat, car = (result[vocab.words.index(word)] for word in ("dog", "cat", "car"))
    assert dog @ cat > dog @ car + 0.5


def test_vectors_for_covers_every_word(corpus):
    vocab = Vocab((*SPECIAL, "dog", "bus", "dog-bus", ".", "zebra"))
    result = dict(zip(vocab.words, vectors.vectors_for(vocab, [], 4), strict=True))
    assert result["<pad>"].tolist() == [0] * 4
    assert all(result[word].abs().sum() > 0 for word in vocab.words[1:])
    torch.testing.assert_close(result["zebra"], result["<unk>"])
    torch.testing.assert_close(result["dog-bus"], (result["dog"] + result["bus"]) / 2)


def test_vectors_are_cached_by_captions(corpus):
    vocab = Vocab.build([Sentence("a dog")])
    first = vectors.vectors_for(vocab, ["a dog runs"], 4)
    corpus.unlink()
    assert torch.equal(vectors.vectors_for(vocab, ["a dog runs"], 4), first)
    with pytest.raises(UserError, match="caption text is missing"):
        vectors.vectors_for(vocab, ["another caption"], 4)
