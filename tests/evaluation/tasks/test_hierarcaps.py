"""HierarCaps on a small set, by plain loops."""

import csv

import numpy as np
import pytest
import torch
from PIL import Image

from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.data.datasets import hierarcaps
from vsdemo.evaluation.task import PhotoData
from vsdemo.evaluation.tasks.hierarcaps import LEVELS, HierarCaps
from vsdemo.models.scores import SCORES

CHAINS = (
    ("animal", "dog", "a dog runs", "a brown dog runs on grass"),
    ("animal", "cat", "a cat sits", "a white cat sits on a red sofa"),
    ("vehicle", "a car", "a car on a street", "a blue car drives on a wet street"),
)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "images").mkdir()
    rows = [("id", "captions", "image")]
    for number, chain in enumerate(CHAINS):
        Image.new("RGB", (8, 8)).save(tmp_path / "images" / f"{number}.png")
        rows.append((number, " => ".join(chain), f"{number}.png"))
    with (tmp_path / "hierarcaps.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    return tmp_path


class Model:
    """Texts and photos with given embeddings."""

    def __init__(self, texts, photos, score="order"):
        self.texts, self.photos, self.score = texts, photos, SCORES[score]

    def encode_text(self, sentences):
        return Embeddings(torch.stack([self.texts[s.text] for s in sentences]))

    def encode_image(self, features):
        return Embeddings(self.photos)


@pytest.fixture
def perfect():
    """An order in which each text of a chain has the coordinates of those above it."""
    texts = dict.fromkeys(text for chain in CHAINS for text in chain)
    places = {text: i for i, text in enumerate(texts)}
    for chain in CHAINS:
        for depth, text in enumerate(chain):
            x = torch.zeros(len(places))
            x[[places[above] for above in chain[: depth + 1]]] = 1
            texts[text] = x
    return Model(texts, torch.stack([texts[chain[-1]] for chain in CHAINS]))


def data(folder):
    split = hierarcaps.load(folder)
    return PhotoData(split, torch.zeros(len(split.photos), 1))


def test_the_file_is_read(folder):
    split = hierarcaps.load(folder)
    assert split.captions == tuple(text for chain in CHAINS for text in chain)
    assert split.photo_of == (0,) * 4 + (1,) * 4 + (2,) * 4
    assert HierarCaps(folder).own_photos() == split


def test_a_perfect_order_has_the_levels_in_order(folder, perfect):
    result = HierarCaps(folder).evaluate(perfect, data(folder))
    assert result["tau"] == 1
    assert result["recall"] == 100
    assert result["words"] == pytest.approx(1 - (1 - 0.9128709) * 2 / 3, abs=1e-6)  # two ties
    assert result["tau_above_words"] == pytest.approx(1 - result["words"])
    assert result["n_photos"] == 3
    assert {"tau", "precision", "recall", "tau_above_words"} <= set(result["ci95"])


@pytest.mark.parametrize("score", ["order", "cosine"])
def test_measures_equal_plain_loops(folder, score):
    draw = torch.Generator().manual_seed(0)
    texts = {
        text: torch.rand(5, generator=draw)
        for text in dict.fromkeys(text for chain in CHAINS for text in chain)
    }
    model = Model(texts, torch.rand(3, 5, generator=draw), score)
    names = list(texts)
    x = model.encode_text([type("S", (), {"text": name}) for name in names])
    scores = model.score(x, model.encode_image(None))
    heights = x.x.norm(dim=1) if score == "order" else -scores.mean(1)
    height = dict(zip(names, heights.tolist(), strict=True))
    counts = HierarCaps(folder).measure(model, data(folder))
    for photo, chain in enumerate(CHAINS):
        signs = [np.sign(height[chain[b]] - height[chain[a]]) for b in range(4) for a in range(b)]
        assert counts.tau[photo] == pytest.approx(sum(signs) / 6)
        low, high = min(height.values()), max(height.values())
        chosen = []
        for level in np.linspace(low, high, LEVELS):
            allowed = [i for i, name in enumerate(names) if height[name] <= level + 1e-6]
            chosen.append(names[max(allowed, key=lambda i: float(scores[i, photo]))])
        right = len(set(chosen) & set(chain))
        assert counts.precision[photo] == pytest.approx(right / len(set(chosen)))
        assert counts.recall[photo] == right / 4


@pytest.mark.parametrize("damage", ["no file", "no column", "three captions", "no photo"])
def test_damaged_data_are_refused_in_one_sentence(folder, damage):
    path = folder / "hierarcaps.csv"
    if damage == "no file":
        path.unlink()
    elif damage == "no column":
        path.write_text("id,texts\n0,a => b => c => d\n")
    elif damage == "three captions":
        path.write_text("id,captions,image\n0,a => b => c,0.png\n")
    else:
        (folder / "images" / "1.png").unlink()
    with pytest.raises(UserError, match=r"^/.* is (missing|damaged)"):
        hierarcaps.load(folder)
