"""The root of 200 random Flickr8k training captions, annotated by a person.

`root` was annotated from the caption alone, without a parser: the main verb, a copula's predicate,
or the head noun of a caption without a finite verb. `parser` is the choice of the shipped parser.
The captions themselves are left out because their licence does not allow copies.
"""

import json
from pathlib import Path

import pytest

from vsdemo.data.datasets import flickr8k
from vsdemo.data.text import parser

CHECK = json.loads(Path(__file__).with_name("flickr8k_roots.json").read_text())


@pytest.mark.usefixtures("real_data")
def test_the_root_is_correct_in_95_percent_of_captions():
    captions, train = flickr8k.read_captions(), set(flickr8k.split_names("train"))
    keys = [row["caption"].rsplit("#", 1) for row in CHECK]
    assert len({tuple(key) for key in keys}) == 200
    assert {name for name, _ in keys} <= train
    trees = parser.load().parse([captions[name][int(number)] for name, number in keys])
    chosen = [tree.words[tree.root] for tree in trees]
    assert chosen == [row.get("parser", row["root"]) for row in CHECK]
    first = [tree.words.index(word) == tree.root for tree, word in zip(trees, chosen, strict=True)]
    right = [a == row["root"] and f for a, f, row in zip(chosen, first, CHECK, strict=True)]
    assert sum(right) >= 0.95 * 200
