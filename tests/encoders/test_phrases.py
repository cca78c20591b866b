import pytest
import torch
import torch.nn.functional as F

from vsdemo.core.alignment import WHOLE
from vsdemo.core.sentences import Sentence, Tree
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.phrases import PhraseGRU

DOG = Tree(
    ("A", "black", "dog", "runs", "on", "grass", "."),
    (3, 3, 4, 0, 6, 4, 4),
    ("det", "amod", "nsubj", "root", "case", "obl", "punct"),
    ("DET", "ADJ", "NOUN", "VERB", "ADP", "NOUN", "PUNCT"),
)
SNOW = Tree(("Snow",), (0,), ("root",), ("NOUN",))
STOP = Tree(("!",), (0,), ("punct",), ("PUNCT",))
SENTENCES = [
    Sentence("A black dog runs on grass.", DOG),
    Sentence("Snow", SNOW),
    Sentence("!", STOP),
]


@pytest.fixture
def encoder() -> PhraseGRU:
    vocab = Vocab.build(SENTENCES)
    return PhraseGRU(vocab, word_dim=6, units=4, dim=5, certainty=0.3, dropout=0.5).double().eval()


def embed(encoder, sentences):
    return encoder(encoder.collate(encoder.prepare(sentences)))


def test_phrases_are_the_sentence_noun_phrases_and_other_content_words(encoder):
    parts = [
        [(f.relation, " ".join(s.tree.words[w] for w in f.words)) for f in encoder.fragments(s)]
        for s in SENTENCES
    ]
    assert parts == [
        [
            (WHOLE, "A black dog runs on grass ."),
            ("phrase", "A black dog"),
            ("word", "runs"),
            ("phrase", "grass"),
        ],
        [(WHOLE, "Snow"), ("phrase", "Snow")],
        [(WHOLE, "!")],
    ]


def test_a_particle_is_no_phrase(encoder):
    tree = Tree(
        ("A", "dog", "sits", "up"),
        (2, 3, 0, 3),
        ("det", "nsubj", "root", "compound:prt"),
        ("DET", "NOUN", "VERB", "ADV"),
    )
    words = [fragment.words for fragment in encoder.fragments(Sentence("A dog sits up", tree))]
    assert words == [(0, 1, 2, 3), (0, 1), (2,)]


def test_an_embedding_is_that_of_the_states_of_its_words(encoder):
    embeddings = embed(encoder, SENTENCES)
    for row, sentence in enumerate(SENTENCES):
        ids = torch.tensor(encoder.vocab.ids(sentence.tree.words))
        states, _ = encoder.gru(encoder.table(ids)[None])
        fragments = encoder.fragments(sentence)
        for column, fragment in enumerate(fragments):
            if fragment.relation == WHOLE:
                u = encoder.whole(torch.stack(list(states[0])).amax(0))
            else:
                u = encoder.out(
                    sum(states[0, word] for word in fragment.words) / len(fragment.words)
                )
            expected = torch.cat([F.normalize(u, dim=0), torch.tensor([0.3])])
            if fragment.relation == WHOLE:  # counts as all others together
                expected *= max(1, len(fragments) - 1)
            torch.testing.assert_close(
                embeddings.x[row, column], expected.float(), atol=1e-5, rtol=1e-5
            )
        assert embeddings.mask[row].sum() == len(fragments)
        assert not embeddings.x[row, len(fragments) :].any()


def test_an_embedding_does_not_depend_on_the_batch(encoder):
    together = embed(encoder, SENTENCES)
    for row, sentence in enumerate(SENTENCES):
        alone = embed(encoder, [sentence])
        count = alone.x.shape[1]
        torch.testing.assert_close(together.x[row, :count], alone.x[0], atol=1e-6, rtol=1e-5)


def test_a_sentence_without_a_tree_is_an_error(encoder):
    with pytest.raises(ValueError, match="parse it first"):
        encoder.prepare([Sentence("A dog")])
