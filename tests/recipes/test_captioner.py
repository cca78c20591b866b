"""Training a captioner: its batches, its loss, and what it leaves beside the model."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from vsdemo.core.embeddings import Embeddings
from vsdemo.core.sentences import Sentence, Tree
from vsdemo.data.text.vocab import EOS, PAD
from vsdemo.models import captioner
from vsdemo.models.captioner import Captioner
from vsdemo.recipes.captioner import train as recipe
from vsdemo.recipes.captioner.train import LONGEST, Captions, Settings, Split, train, written

FIRST_WORD = 3  # after PAD, UNK and EOS
WORDS, DIM, COUNT = 12, 6, 40


@pytest.fixture
def split() -> Split:
    """40 captions of one to seven words, two of each photo."""
    draw = np.random.default_rng(0)
    lengths = draw.integers(1, 8, COUNT)
    captions = [torch.tensor(draw.integers(FIRST_WORD, WORDS, length)) for length in lengths]
    torch.manual_seed(0)
    regions = Embeddings(torch.randn(COUNT // 2, 3, DIM), torch.ones(COUNT // 2, 3) > 0)
    return Split(captions, np.arange(COUNT) // 2, regions)


@pytest.fixture
def material(split, tmp_path) -> Captions:
    material = Captions(tmp_path, Settings(batch=4, smoothing=0.0, dropout=0.0))
    material.train = material.dev = split
    material.steps_per_epoch = COUNT // 4
    torch.manual_seed(0)
    material.model = Captioner(WORDS, DIM, word_dim=5, units=7, dropout=0.0)
    return material


def rows_of(batches) -> list[list[int]]:
    return [row.tolist() for batch in batches for row in batch.captions]


def test_an_epoch_has_every_caption_once(material, split):
    seen = [[word for word in row if word != PAD] for row in rows_of(material.batches(0))]
    assert sorted(seen) == sorted(caption.tolist() for caption in split.captions)


def test_a_resumed_epoch_goes_on_with_the_same_batches(material):
    whole = [batch.captions for batch in material.batches(1)]
    rest = [batch.captions for batch in material.batches(1, start=6)]
    assert len(rest) == len(whole) - 6
    assert all(map(torch.equal, whole[6:], rest))
    other = [batch.captions for batch in material.batches(2)]
    assert not all(
        a.shape == b.shape and torch.equal(a, b) for a, b in zip(whole, other, strict=True)
    )


def test_captions_of_a_batch_are_about_equally_long(material, split):
    padding = sum((batch.captions == PAD).sum() for batch in material.batches(0))
    words = sum(map(len, split.captions))
    assert padding < 0.2 * words


def test_the_loss_is_the_mean_over_words_and_ends(material, split):
    batch = split.batch(np.array([0, 1, 5]))
    loss = material.loss(*material.embed(batch), progress=0.0)["loss"]
    nats = []
    for row in (0, 1, 5):
        caption = split.captions[row][None]
        photo = split.regions[torch.tensor([split.photo_of[row]])]
        shares = material.model(caption, photo).detach().softmax(-1)[0]  # (T + 1, V)
        wanted = [*caption[0].tolist(), EOS]
        nats += [-float(shares[step, word].log()) for step, word in enumerate(wanted)]
    assert float(loss.detach()) == pytest.approx(sum(nats) / len(nats), rel=1e-4)
    assert material.measure(material.model)["perplexity"] > 1


def test_a_captioner_learns_words_and_commas_in_lower_case():
    words = ("A", "dog", ",", "wet", "!", *["very"] * LONGEST)
    count = len(words)
    tree = Tree(words, (0, *[1] * (count - 1)), ("root", *["dep"] * (count - 1)))
    result = written(Sentence(" ".join(words), tree))
    assert result[:5] == ["a", "dog", ",", "wet", "very"]
    assert len(result) == LONGEST


def test_the_captioner_is_put_beside_its_model(split, tmp_path, monkeypatch):
    folder = tmp_path / "model"
    folder.mkdir()
    model = SimpleNamespace(score=SimpleNamespace(can_align=True), text=SimpleNamespace(dim=DIM))
    spec = SimpleNamespace(dataset="toy")
    monkeypatch.setattr(recipe.checkpoint, "load", lambda _: (model, spec, range(WORDS)))
    monkeypatch.setattr(recipe.checkpoint, "feature_cache", lambda _: None)
    monkeypatch.setattr(recipe.checkpoint, "content_hash", lambda _: "abc")
    monkeypatch.setattr(recipe.Split, "load", lambda *_: split)
    settings = Settings(epochs=30, batch=8, dropout=0.0, smoothing=0.0, warmup=10)
    assert train(folder, settings) == "done"
    read = captioner.load(folder, "abc")
    material = Captions(folder, settings)
    material.dev = split
    assert material.measure(read)["perplexity"] < 3  # of 12 words
    assert (tmp_path / "model.captioner.work" / "events.jsonl").is_file()
