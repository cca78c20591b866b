"""What follows from a caption joins the world, and a walk up keeps to it."""

from types import SimpleNamespace

import pytest
import torch

from vsdemo.core.embeddings import Embeddings
from vsdemo.data.text.vocab import tokenize
from vsdemo.hierarchy import build
from vsdemo.hierarchy.build import Place
from vsdemo.hierarchy.space import CAPTION, CONCEPT, PHOTO, ROOT, Item, World
from vsdemo.models.scores import SCORES

WORDS = ("brown", "dog", "runs", "in", "park", "cat", "a", "the", "animal", "pink")
CAPTIONS = ("A brown dog runs in the park.", "A pink cat.")


def encode(sentences) -> Embeddings:
    """A coordinate a word: what says less lies above."""
    said = [set(tokenize(s.text)) for s in sentences]
    return Embeddings(torch.tensor([[float(w in words) for w in WORDS] for words in said]))


@pytest.fixture
def engine():
    def unknown(sentence):
        return [w for w in tokenize(sentence.text) if w in WORDS], []

    return SimpleNamespace(
        model=SimpleNamespace(text=SimpleNamespace(unknown=unknown), encode_text=encode)
    )


@pytest.fixture
def world():
    photo = torch.tensor([[1.0, 1, 1, 1, 1, 0, 1, 1, 1, 0]])
    items = [Item(ROOT, "anything"), Item(CONCEPT, "an animal")]
    items += [*(Item(CAPTION, c) for c in CAPTIONS), Item(PHOTO, "x.jpg")]
    texts = [SimpleNamespace(text=t) for t in ("", "animal", *CAPTIONS)]
    return World(items, torch.cat([encode(texts).x, photo]), SCORES["order"])


def place(world, number) -> Place:
    item = world.items[number]
    return Place(item.text, item.kind, world.x[[number]], number)


@pytest.mark.parametrize("start", [2, 4], ids=["caption", "photo"])
def test_a_walk_keeps_to_what_follows(world, engine, start):
    more, follows = build.reached(world, engine, place(world, start))
    assert more.items[: len(world)] == world.items  # numbers stay
    new = {item.text for item in more.items[len(world) :]}
    assert {"a brown dog", "a dog"} <= new
    assert not any("cat" in text for text in new)
    torch.testing.assert_close(more.heights, World(more.items, more.x, more.score).heights)
    up, _ = build.walk(more, place(world, start), follows)
    texts = [more.items[step.number].text for step in up]
    assert texts[-1] == "anything"
    last = set(tokenize(CAPTIONS[0]))
    for text in texts[:-1]:
        if text != "an animal":
            assert set(tokenize(text)) <= last
            last = set(tokenize(text))


def test_what_is_there_is_not_added_again(world, engine):
    more, _ = build.reached(world, engine, place(world, 2))
    again, follows = build.reached(more, engine, place(more, 2))
    assert len(again) == len(more) > len(world)
    assert follows[2] == follows[None] != set()


def test_nothing_is_added_for_a_concept(world, engine):
    more, follows = build.reached(world, engine, place(world, 1))
    assert more is world
    assert follows is None
