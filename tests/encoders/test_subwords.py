"""The GRU over words that are read as groups of letters agrees with plain loops."""

from zlib import crc32

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.func import functional_call

from tests.support.half_precision import assert_half_precision_stays_close
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.sentences import Sentence, Tree
from vsdemo.encoders.subwords import LEAST, MOST_WORDS, SubwordGRU, groups_of
from vsdemo.models.scores import fragment_alignment

ROWS, WORD_DIM, DIM = 50, 6, 5
TEXTS = (
    "A dog.",
    "two dogs run on green grass",
    "",
    "?!",
    "🐕",
    "a dog",
    "a bycicle",
    "犬が走る",
    "Ein Café, собака",
)


@pytest.fixture
def encoder():
    encoder = SubwordGRU(rows=ROWS, word_dim=WORD_DIM, dim=DIM).eval()
    for name, bias in encoder.named_parameters():
        if "bias" in name:
            nn.init.normal_(bias)  # zeros would hide a mistake
    return encoder


@pytest.fixture
def sentences():
    return [Sentence(text) for text in TEXTS]


def encoded(encoder: SubwordGRU, items: list[Sentence]) -> Embeddings:
    """The embeddings of the words of a batch of sentences."""
    return encoder(encoder.collate(encoder.prepare(items)))


def letters(word: str) -> set[str]:
    """The groups of letters of a word."""
    groups = set()
    for start in range(len(word) + 2):
        for end in range(start + 2, min(start + 4, len(word) + 2) + 1):
            groups.add(f"<{word}>"[start:end])
    return groups | {f"<{word}>"}


@given(st.text(min_size=1, max_size=12), st.integers(1, 10_000))
def test_groups_are_those_of_the_definition(word, rows):
    expected = sorted(crc32(group.encode()) % rows for group in letters(word))
    assert sorted(groups_of(word, rows)) == expected


def test_the_groups_of_a_word():
    assert letters("cat") == {"<c", "ca", "at", "t>", "<ca", "cat", "at>", "<cat", "cat>", "<cat>"}
    assert len(groups_of("cat", 10**6)) == len(letters("cat"))


def test_a_misspelt_word_shares_groups_with_the_word():
    word, misspelt, other = ({*groups_of(w, 10**6)} for w in ("bicycle", "bycicle", "mountain"))
    assert len(word & misspelt) > len(word) / 3
    assert len(word & other) < 2


def plain(encoder: SubwordGRU, text: str) -> torch.Tensor:
    """The embeddings of one text's words, from the mean of the groups of each word on."""
    words = text.lower().replace(".", "").replace(",", "").split()
    vectors = []
    for word in words if any(map(str.isalnum, text)) else ["<>"]:
        groups = [encoder.table.weight[crc32(g.encode()) % ROWS] for g in letters(word)]
        vectors.append(sum(groups) / len(groups))
    states, _ = encoder.gru(torch.stack(vectors)[None])  # (1, T, 2 WORD_DIM)
    shares = encoder.share(states[0])[:, 0].exp()
    denials = 1 / (1 + (-encoder.denial(states[0])[:, 0]).exp())
    weights = (shares / shares.sum() - denials)[:, None]
    total = max(LEAST, sum(max(0.0, float(weight)) for weight in weights))
    weights = len(vectors) * weights / total
    directions = nn.functional.normalize(encoder.out(states[0]), dim=1)
    return torch.cat([directions * weights.abs(), weights], 1)


def assert_agree(embeddings: Embeddings, expected: list[torch.Tensor]) -> None:
    """Check sets of different sizes."""
    assert embeddings.mask.sum(1).tolist() == [len(rows) for rows in expected]
    assert not embeddings.x[~embeddings.mask].any()
    for row, mask, rows in zip(embeddings.x, embeddings.mask, expected, strict=True):
        torch.testing.assert_close(row[mask], rows, atol=1e-5, rtol=0)


@torch.no_grad()
def test_embeddings_agree_with_loops_in_any_batch(encoder, sentences):
    expected = [plain(encoder, text) for text in TEXTS]
    assert_agree(encoded(encoder, sentences), expected)
    order = [4, 0, 8, 2, 7, 1, 3, 6, 5]
    shuffled = encoded(encoder, [sentences[i] for i in order])
    assert_agree(shuffled, [expected[i] for i in order])
    for sentence, rows in zip(sentences, expected, strict=True):
        assert_agree(encoded(encoder, [sentence]), [rows])


@torch.no_grad()
def test_texts_without_words_are_alike_and_all_others_differ(encoder, sentences):
    x = encoded(encoder, sentences).mean()
    for one, other in ((0, 5), (2, 3), (2, 4)):  # case and punctuation do not matter
        torch.testing.assert_close(x[one], x[other], atol=1e-6, rtol=0)
    assert torch.pdist(x[[0, 1, 2, 6, 7, 8]]).min() > 1e-4


@torch.no_grad()
def test_a_sentence_scores_the_sum_of_its_weights_with_regions_that_match_all_words(
    encoder, sentences
):
    embeddings = encoded(encoder, sentences)
    weights = embeddings.x[..., -1]
    assert weights.min() < 0 < weights.max()
    regions = nn.functional.normalize(embeddings.x[..., :-1], dim=-1)
    regions = Embeddings(nn.functional.pad(regions, (0, 1)), embeddings.mask)
    score = fragment_alignment(smoothing=0.0, best_region=True, signed=True)
    total = weights.sum(1) / embeddings.mask.sum(1)
    torch.testing.assert_close(score.pairs(embeddings, regions), total)


@torch.no_grad()
def test_at_first_nearly_no_word_denies_anything(sentences):
    embeddings = encoded(SubwordGRU(rows=ROWS, word_dim=WORD_DIM, dim=DIM), sentences)
    weights = embeddings.x[..., -1]
    assert weights[embeddings.mask].min() > 0
    torch.testing.assert_close(weights.sum(1), embeddings.mask.sum(1).float())


def test_a_batch_has_each_different_word_once(encoder):
    prepared = encoder.prepare([Sentence("a dog and a dog"), Sentence("a cat"), Sentence("")])
    assert prepared[:2] == [("a", "dog", "and", "a", "dog"), ("a", "cat")]
    batch = encoder.collate(prepared)
    assert batch.words.tolist() == [[0, 1, 2, 0, 1], [0, 3, 0, 0, 0], [4, 0, 0, 0, 0]]
    assert batch.lengths.tolist() == batch.mask.sum((1, 2)).tolist() == [5, 2, 1]
    assert len(batch.starts) == 5
    *groups, of_no_word = batch.groups.tensor_split(batch.starts[1:])
    for word, own in zip(("a", "dog", "and", "cat"), groups, strict=True):
        assert own.tolist() == list(groups_of(word, ROWS))
    assert len(of_no_word) > 0
    assert encoder(batch).x.shape == (3, 5, DIM)
    assert encoder.needs == {"chars"}


@torch.no_grad()
def test_padding_does_not_matter(encoder, sentences):
    batch = encoder.collate(encoder.prepare(sentences))
    dirty = batch.words.masked_fill(~batch.mask[..., 0], 3)
    assert (dirty != batch.words).any()
    torch.testing.assert_close(encoder(batch._replace(words=dirty)).x, encoder(batch).x)


@torch.no_grad()
def test_a_long_sentence_is_read_up_to_a_limit(encoder):
    words = [f"word{number}" for number in range(500)]
    long, cut, shorter = (Sentence(" ".join(words[:n])) for n in (500, MOST_WORDS, MOST_WORDS - 1))
    x = encoded(encoder, [long, cut, shorter]).x
    assert x.shape[1] == MOST_WORDS
    largest = x.abs().max()  # weights are multiplied by the number of words
    torch.testing.assert_close(x[0] / largest, x[1] / largest, atol=1e-6, rtol=0)
    assert (x[1] - x[2]).abs().max() > 1e-5
    assert encoded(encoder, [Sentence("x" * 1000)]).x.isfinite().all()
    words = tuple(words)
    tree = Tree(words, tuple(range(500)), ("root", *["dep"] * 499))
    assert len(encoder.fragments(Sentence(" ".join(words), tree=tree))) == MOST_WORDS


@torch.no_grad()
def test_fragments_are_the_words_of_a_tree_without_punctuation(encoder):
    tree = Tree(("A", "T-shirt", "is", "n't", "red", "."), (2, 5, 5, 5, 0, 5), ("dep",) * 6)
    sentence = Sentence("A T-shirt isn't red.", tree=tree)
    fragments = encoder.fragments(sentence)
    assert [fragment.words[0] for fragment in fragments] == [0, 1, 1, 2, 3, 3, 4]
    assert {fragment.relation for fragment in fragments} == {"word"}
    assert encoder.prepare([sentence]) == [("a", "t", "shirt", "is", "n", "t", "red")]
    assert encoded(encoder, [sentence]).x.shape == (1, len(fragments), DIM)
    with pytest.raises(ValueError, match="no tree"):
        encoder.fragments(Sentence("A dog."))


@torch.no_grad()
def test_word_order_matters(encoder):
    texts = ("red dog near blue sea", "blue dog near red sea")
    x = encoded(encoder, [Sentence(text) for text in texts]).x
    assert (x[0, 1] - x[1, 1]).abs().max() > 1e-3  # "dog", next to another word


def test_no_word_is_unknown(encoder):
    assert encoder.unknown(Sentence("A zxqy, 犬!")) == (["a", "zxqy", "犬"], [])
    assert encoder.known_share(Sentence("A zxqy")) == 1


def test_gradients_agree_with_differences(encoder):
    encoder.double().head = nn.Identity()  # the head computes in float32
    batch = encoder.collate(encoder.prepare([Sentence("a red dog"), Sentence("dogs")]))
    names, weights = zip(*encoder.named_parameters(), strict=True)

    def run(*values: torch.Tensor) -> torch.Tensor:
        return functional_call(encoder, dict(zip(names, values, strict=True)), (batch,)).x

    assert torch.autograd.gradcheck(run, weights, fast_mode=True)


def test_every_weight_gets_a_gradient(encoder, sentences, embed):
    (embed(encoder, sentences) * torch.randn(DIM)).sum().backward()
    assert [name for name, p in encoder.named_parameters() if not p.grad.any()] == []


def test_dropout_acts_in_training_only(sentences, embed):
    encoder = SubwordGRU(rows=ROWS, word_dim=WORD_DIM, dim=DIM, dropout=0.5)
    assert not torch.equal(embed(encoder, sentences), embed(encoder, sentences))
    encoder.eval()
    assert torch.equal(embed(encoder, sentences), embed(encoder, sentences))


@torch.no_grad()
def test_half_precision_stays_close(encoder, sentences, monkeypatch):
    def directions(encoder: SubwordGRU, items: list[Sentence]) -> torch.Tensor:
        return nn.functional.normalize(encoded(encoder, items).mean(), dim=1)

    assert_half_precision_stays_close(encoder, sentences, directions, monkeypatch)
