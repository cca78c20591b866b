"""The captioner against a plain loop; beam search against every sentence; files."""

import itertools
import math

import pytest
import torch
import torch.nn.functional as F

from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.data.text.vocab import EOS, PAD, UNK
from vsdemo.models import captioner as captioners
from vsdemo.models.captioner import FILE, Captioner

WORDS, DIM = 6, 5


@pytest.fixture
def captioner():
    torch.manual_seed(0)
    network = Captioner(WORDS, DIM, word_dim=4, units=7).double().eval()
    torch.nn.init.normal_(network.bias)
    torch.nn.init.normal_(network.table.weight)
    return network


def regions(count=2):
    torch.manual_seed(1)
    x = torch.randn(count, 3, DIM, dtype=torch.float64)
    mask = torch.tensor([[True, True, True], [True, True, False]])[:count]
    return Embeddings(x * mask[..., None], mask)


def test_logits_are_those_of_a_plain_loop(captioner):
    sentences, photos = torch.tensor([[3, 4], [5, PAD]]), regions()
    logits = captioner(sentences, photos)
    for row in range(2):
        own = photos.x[row, photos.mask[row]]  # (K, D)
        seen = own.mean(0)
        hidden = torch.tanh(captioner.first(seen))
        for step, word in enumerate((EOS, *sentences[row].tolist())):
            read = torch.cat([captioner.table.weight[word], seen])
            hidden = captioner.gru(read[None], hidden[None])[0]
            shares = (own @ captioner.attend(hidden)).softmax(0)
            seen = sum(share * region for share, region in zip(shares, own, strict=True))
            out = captioner.out(torch.cat([hidden, seen]))
            expected = captioner.table.weight @ out + captioner.bias
            torch.testing.assert_close(logits[row, step], expected)


def test_beam_search_with_enough_beams_finds_the_most_probable_sentences(captioner):
    longest, photo = 2, regions(1)
    known = [word for word in range(WORDS) if word not in (PAD, UNK, EOS)]
    expected = []
    for length in (1, 2):
        for words in itertools.product(known, repeat=length):
            logits = captioner(torch.tensor([words]), photo)[0].detach().clone()
            logits[:, [PAD, UNK]] = -math.inf
            chosen = [*words, EOS]
            total = sum(
                F.log_softmax(of_step.detach(), 0)[word].item()
                for of_step, word in zip(logits, chosen, strict=True)
            )
            expected.append((total / (length + 1), words))
    expected.sort(reverse=True)
    (written,) = captioner.write(photo, beams=12, count=12, longest=longest)
    assert [own.words for own in written] == [words for _, words in expected[:12]]
    assert [own.mean for own in written] == pytest.approx([mean for mean, _ in expected[:12]])
    read = captioner.read([own.words for own in written], photo)
    assert [own.words for own in read] == [own.words for own in written]
    assert [own.mean for own in read] == pytest.approx([own.mean for own in written])
    (best,) = captioner.write(photo, beams=12, count=3, longest=longest)
    assert best == written[:3]


def test_samples_are_drawn_as_often_as_they_are_likely(captioner):
    photos, count = regions(), 2000
    drawn = captioner.sample(photos, count, longest=1)
    assert [len(own) for own in drawn] == [count, count]
    for row, own in enumerate(drawn):
        (written,) = captioner.write(photos[row : row + 1], beams=WORDS, count=WORDS, longest=1)
        for words in {each.words for each in written}:
            logits = captioner(torch.zeros(1, 0, dtype=torch.long), photos[row : row + 1])[0, 0]
            logits = logits.detach().clone()
            logits[[PAD, UNK]] = -math.inf
            share = float(logits.softmax(0)[words[0]])
            assert own.count(words) / count == pytest.approx(share, abs=0.05)
    assert captioner.sample(photos, 5) == captioner.sample(photos, 5)
    assert captioner.sample(photos, 5) != captioner.sample(photos, 5, seed=1)
    assert all(
        EOS not in words and len(words) <= 4 for words in captioner.sample(photos, 9, longest=4)[0]
    )


def test_a_captioner_learns_two_sentences(captioner):
    network, photos = captioner.train(), regions()
    network.dropout.p = 0
    sentences = torch.tensor([[3, 4, 3], [5, 4, PAD]])
    wanted = torch.tensor([[3, 4, 3, EOS], [5, 4, EOS, PAD]])
    optimizer = torch.optim.Adam(network.parameters(), lr=0.02)
    for _ in range(150):
        logits = network(sentences, photos)
        loss = F.cross_entropy(logits.flatten(0, 1), wanted.flatten(), ignore_index=PAD)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    first, second = network.eval().write(photos, beams=3)
    assert (first[0].words, second[0].words) == ((3, 4, 3), (5, 4))


def test_a_file_belongs_to_the_weights_of_one_model(captioner, tmp_path):
    captioners.save(tmp_path, captioner.float(), "a" * 16)
    loaded = captioners.load(tmp_path, "a" * 16)
    photos = Embeddings(regions().x.float(), regions().mask)
    sentences = torch.tensor([[3, 4], [5, 3]])
    change = (loaded(sentences, photos) - captioner(sentences, photos)).abs().max()
    assert 0 < change < 1  # 4 bits a number
    with pytest.raises(UserError, match="belongs to other weights"):
        captioners.load(tmp_path, "b" * 16)
    (tmp_path / FILE).write_bytes(b"nothing")
    with pytest.raises(UserError):
        captioners.load(tmp_path, "a" * 16)
