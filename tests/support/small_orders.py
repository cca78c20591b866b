"""Order-embeddings with known answers.

A model of concepts with a perfect order, and a model of photos that knows a few words of
Storybook's concepts.
"""

import dataclasses
from pathlib import Path

import torch
from safetensors.torch import load_file

from tests.support.small_runs import preset_trainer, trainer
from vsdemo.data.pairs import hypernyms
from vsdemo.data.text.vocab import Vocab
from vsdemo.models import checkpoint

WORDS = ("an", "animal", "dog", "cat", "vehicle", "boat")
PHRASES = ("an animal", "a vehicle", "a boat", "a dog", "a cat")  # in the order of the lexicon


def truth() -> tuple[tuple[str, ...], torch.Tensor]:
    """Return the N names of the data set `toy`, and embeddings (N, N - 1) in perfect order.

    Each name but the root has a coordinate, which is 2 for the name and its hyponyms, else 0. So E
    is 4 for each missing name, and every negative pair violates the margin of 1.
    """
    hierarchy = hypernyms.load("toy")
    x = 2 * torch.eye(len(hierarchy.names))
    for general, specific in hierarchy.closure().tolist():
        x[specific, general] = 2
    root = hierarchy.names.index("entity")
    return hierarchy.names, torch.cat([x[:, :root], x[:, root + 1 :]], 1)


def write_concepts(folder: Path) -> Path:
    """Train a checkpoint on the data set `toy`, then replace its embeddings by those of `truth`."""
    names, x = truth()
    settings = ["epochs=1", f"dim={x.shape[1]}", "evaluate_every=1"]
    preset_trainer(folder, "hypernyms/toy", *settings).run()
    spec = checkpoint.read_spec(folder)
    checkpoint.save(folder, spec, Vocab(names), {"text.table.weight": x})
    return folder


def write_order(folder: Path) -> Path:
    """Train the preset `order` for one epoch on the photos of `toy`, and add WORDS to it."""
    trainer(folder, "epochs=1", preset="order").run()
    _, spec, vocab = checkpoint.load(folder)
    state = load_file(folder / "model.safetensors")
    draw = torch.Generator().manual_seed(0)
    table = state["text.table.weight"].float()
    more = torch.rand(len(WORDS), table.shape[1], generator=draw)
    state["text.table.weight"] = torch.cat([table, more])
    words = dataclasses.replace(vocab, words=(*vocab.words, *WORDS))
    checkpoint.save(folder, spec, words, state)
    return folder
