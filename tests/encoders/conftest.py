import pytest
import torch

from vsdemo.core.sentences import Sentence
from vsdemo.data.text.vocab import Vocab


@pytest.fixture
def vocab():
    return Vocab.build([Sentence("a red dog runs on green grass near the blue sea")])


@pytest.fixture
def sentences():
    """Sentences of 0 to 10 known words, and one with an unknown word."""
    words = ["a", "red", "dog", "runs", "on", "green", "grass", "near", "the", "sea"]
    return [Sentence(" ".join(words[:n])) for n in (3, 10, 0, 1, 7)] + [Sentence("a zebra runs")]


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


@pytest.fixture
def embed():
    """Embeds sentences as one batch."""
    return lambda encoder, items: encoder(encoder.collate(encoder.prepare(items))).x
