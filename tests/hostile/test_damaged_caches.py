"""Each damaged file below VSDEMO_HOME is silently made again, and the result is the same."""

import numpy as np
import pytest
import torch

from tests.support.damage import DAMAGES, damage
from tests.support.fake_parser import FakeParser
from vsdemo.core import rates
from vsdemo.core.errors import UserError
from vsdemo.data.storybook import store
from vsdemo.data.text import parser, vectors
from vsdemo.data.text.trees import TreeCache
from vsdemo.data.text.vocab import Vocab
from vsdemo.hierarchy import projection
from vsdemo.search.engine import Reader
from vsdemo.training import state
from vsdemo.vision.features import MAP, FeatureCache

NUMBERS = range(4500, 4502)  # pictures of Storybook
BACKBONE = "torchvision/mobilenet_v3_small"
TEXTS = ("a red circle", "the ground is blue", "a bar")


@pytest.fixture
def photos(toy_root):
    return sorted((toy_root / "toy" / "images").iterdir())[:5]


@pytest.fixture
def caches(own_home, photos, toy_checkpoint, monkeypatch):
    """For each kind of cache a function that reads it, after making what is missing."""
    monkeypatch.setattr(parser, "load", lambda name: FakeParser())
    monkeypatch.setattr(vectors, "corpus_sentences", lambda: ["a red circle on a blue ground"] * 5)
    features = FeatureCache(BACKBONE, "windows")
    reader = Reader(toy_checkpoint)
    vocab = Vocab(("<pad>", "<unk>", "<eos>", "red", "blue"))
    return {
        "pictures": lambda: [
            (example, store.photo(number).read_bytes())
            for number, example in zip(NUMBERS, store.read_examples(NUMBERS), strict=True)
        ],
        "features": lambda: features.get(photos),
        "boxes": lambda: features.boxes(photos),
        "maps of features": lambda: features.get(photos, MAP),
        "captions": lambda: reader.index_texts(TEXTS).embeddings.x,
        "places": lambda: projection.cached_map("key", lambda: np.eye(2, dtype=np.float32)),
        "word vectors": lambda: vectors.vectors_for(vocab, TEXTS * 5, 2),
        "trees": lambda: TreeCache().get(TEXTS),
    }


KINDS = {
    "pictures": "storybook-*/04500.png",
    "scenes": "storybook-*/04500.json",
    "features": "features/*/vector-*/*.safetensors",
    "boxes": "features/*/vector-*/*.safetensors",
    "maps of features": "features/*/map/*.safetensors",
    "captions": "captions/*.safetensors",
    "places": "maps/*.safetensors",
    "word vectors": "vectors/*.safetensors",
    "trees": "trees/*/*.conllu",
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_cache_is_made_again(caches, own_home, kind):
    read = caches[{"scenes": "pictures"}.get(kind, kind)]
    whole = read()
    for way in DAMAGES:
        (path,) = own_home.glob(KINDS[kind])
        damage(path, way)
        assert same(read(), whole), way
        (healed,) = own_home.glob(KINDS[kind])
        before = healed.stat().st_mtime_ns
        assert same(read(), whole), way
        assert healed.stat().st_mtime_ns == before, f"{way} is made again each time"


def same(a, b):
    if isinstance(a, torch.Tensor | np.ndarray):
        return np.array_equal(a, b)
    return a == b


@pytest.mark.parametrize("way", DAMAGES)
def test_damaged_rates_are_measured_again(own_home, way):
    rates.record("work", 100, 50.0)
    damage(own_home / "rates.json", way)
    assert rates.seconds_per_item("work") in (None, 0.5)
    rates.record("work", 100, 50.0)
    assert rates.seconds_per_item("work") == 0.5


@pytest.mark.parametrize("number", ["Infinity", "NaN", "-1", "1e999", '"5"', "true", "[]"])
def test_odd_rates_are_unknown(own_home, number):
    own_home.mkdir()
    text = f'{{"work": {{"items": 10, "seconds": {number}}}}}'
    (own_home / "rates.json").write_text(text)
    assert rates.seconds_per_item("work") in (None, 0.5, 0.1)


@pytest.mark.parametrize("way", DAMAGES)
def test_the_damaged_state_of_a_training_is_refused_in_one_sentence(tmp_path, way):
    module = torch.nn.Linear(2, 2)
    optimizer = torch.optim.Adam(module.parameters())
    state.save(tmp_path, {"model": module}, optimizer, {"spec": {}, "step": 3})
    assert state.read(tmp_path)[0]["step"] == 3
    damage(tmp_path / state.STATE, way)
    with pytest.raises(UserError, match="is damaged") as caught:
        state.read(tmp_path)
    assert "\n" not in str(caught.value)
