import pytest
import torch

from vsdemo.core.embeddings import Embeddings
from vsdemo.core.sentences import Sentence, Tree
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.fragments import Fragments
from vsdemo.models.checkpoint import MAX_FILE

TREE = Tree(
    ("A", "black", "dog", "runs", "."), (3, 3, 4, 0, 4), ("det", "amod", "nsubj", "root", "punct")
)
WORD = Tree(("Snow",), (0,), ("root",))
MARK = Tree(("!",), (0,), ("punct",))
SENTENCES = [Sentence("A black dog runs.", TREE), Sentence("Snow", WORD), Sentence("!", MARK)]


@pytest.fixture
def vocab():
    return Vocab.build(SENTENCES[:2])


def encoder(vocab, parts="triplets", shared=False) -> Fragments:
    return Fragments(vocab, word_dim=6, dim=5, parts=parts, shared=shared)


def parts_of(encoder, sentence):
    words = sentence.tree.words
    return [(f.relation, *(words[w] for w in f.words)) for f in encoder.fragments(sentence)]


def test_triplets_are_the_edges_and_the_root_without_punctuation(vocab):
    root = ("root", "runs", "runs")
    edges = [("det", "dog", "A"), ("amod", "dog", "black"), ("nsubj", "runs", "dog")]
    assert parts_of(encoder(vocab), SENTENCES[0]) == [root, *edges]
    assert parts_of(encoder(vocab), SENTENCES[1]) == [("root", "Snow", "Snow")]
    assert parts_of(encoder(vocab), SENTENCES[2]) == [("root", "!", "!")]


def test_matrices_of_the_paper_fit_into_files_of_10_mb():
    vocab = Vocab(("<pad>", "<unk>", "<eos>"), tuple(f"r{i}" for i in range(20)), (2, 2))
    paper = Fragments(vocab, word_dim=200, dim=1000)
    assert max(2 * p.numel() for p in paper.parameters()) < MAX_FILE


def test_relations_outside_the_vocabulary_are_left_out():
    vocab = Vocab(("<pad>", "<unk>", "<eos>", "dog"), ("amod",), (2, 2))
    assert [f[0] for f in parts_of(encoder(vocab), SENTENCES[0])] == ["root", "amod"]


def test_words_and_bigrams(vocab):
    words = [("word", w, w) for w in ("A", "black", "dog", "runs")]
    assert parts_of(encoder(vocab, "words"), SENTENCES[0]) == words
    pairs = [("bigram", "A", "black"), ("bigram", "black", "dog"), ("bigram", "dog", "runs")]
    assert parts_of(encoder(vocab, "bigrams"), SENTENCES[0]) == pairs
    assert parts_of(encoder(vocab, "bigrams"), SENTENCES[1]) == [("word", "Snow", "Snow")]


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("parts", ["triplets", "words", "bigrams"])
def test_embedding_is_equation_1_of_each_part(vocab, parts, shared):
    model = encoder(vocab, parts, shared).double()
    torch.nn.init.normal_(model.biases)
    embeddings = model(model.collate(model.prepare(SENTENCES)))
    for row, sentence in enumerate(SENTENCES):
        rows = model.fragments(sentence)
        ids = vocab.ids(sentence.tree.words)
        for column, part in enumerate(rows):
            group = 0 if shared or parts != "triplets" else model.relations.index(part.relation)
            words = torch.cat([model.table.weight[ids[w]] for w in part.words])
            expected = (model.weights[group] @ words + model.biases[group]).clamp(min=0)
            torch.testing.assert_close(embeddings.x[row, column], expected.float())
        assert embeddings.mask[row].tolist() == [
            i < len(rows) for i in range(embeddings.x.shape[1])
        ]
        assert not embeddings.x[row, len(rows) :].any()
    assert len(model.weights) == (1 if shared or parts != "triplets" else 4)


def test_embedding_does_not_depend_on_the_batch(vocab):
    model = encoder(vocab).eval()
    prepared = model.prepare(SENTENCES)
    whole = model(model.collate(prepared))
    alone = Embeddings.cat([model(model.collate([p])) for p in prepared])
    torch.testing.assert_close(alone.x, whole.x)
    assert torch.equal(alone.mask, whole.mask)


def test_gradients_agree_with_differences(vocab):
    model = encoder(vocab).double()
    torch.nn.init.uniform_(model.biases, 0.5, 1)  # away from the corner of the ReLU
    batch = model.collate(model.prepare(SENTENCES))
    weights = (*model.weights, model.biases)

    def run(*_):
        rows = batch[batch[..., 0] >= 0]
        return model._embed(rows).square().sum()

    assert torch.autograd.gradcheck(run, weights)


def test_sentence_without_a_tree_is_refused(vocab):
    with pytest.raises(ValueError, match="no tree"):
        encoder(vocab).prepare([Sentence("a dog")])
