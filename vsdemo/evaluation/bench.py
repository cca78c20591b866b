"""Speed of tree encoders compared with recursion and a GRU, and of CLIP with open_clip."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence
from tqdm import tqdm

from vsdemo.core.device import autocast, device
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.images import open_photo
from vsdemo.core.sentences import Sentence
from vsdemo.data import datasets
from vsdemo.data.text.sentences import add_trees
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.tree import recursion
from vsdemo.encoders.tree.lstm import TreeLSTM
from vsdemo.encoders.tree.rnn import TreeRNN
from vsdemo.encoders.tree.shapes import Chain, Constituents, Positions, Relations
from vsdemo.encoders.words import SequenceEncoder
from vsdemo.vision.backbones import family_of, find_weights, load_backbone
from vsdemo.vision.backbones.clip import load_clip
from vsdemo.vision.features import VECTOR, FeatureCache, batch_views, encode_views


class _GRU(SequenceEncoder):
    """torch.nn.GRU on the words of trees, packed, so that padding costs nothing."""

    def __init__(self, vocab: Vocab, dim: int) -> None:
        super().__init__(vocab, dim)
        self.gru = nn.GRU(dim, dim, batch_first=True)

    def prepare(self, items: Sequence[Sentence]) -> list[Tensor]:
        """Return the word ids of the trees."""
        return [torch.tensor(self.vocab.ids(s.tree.words)) for s in items if s.tree]

    def forward(self, batch: Any) -> Embeddings:
        """Return the last states, (N, D)."""
        x = self.table(batch.ids)
        packed = pack_padded_sequence(x, batch.lengths, batch_first=True, enforce_sorted=False)
        return Embeddings(self.gru(packed)[1][0])


def encoders(vocab: Vocab, dim: int) -> dict[str, Any]:
    """Return the encoders to compare, with words and states of `dim` numbers."""
    positions = Positions(*vocab.children, beyond=True)
    relations = Relations(vocab.relations)
    return {
        "gru": _GRU(vocab, dim),
        "rnn": TreeRNN(vocab, Chain(), word_dim=dim, dim=dim),
        "ct_rnn": TreeRNN(vocab, Constituents(), word_dim=dim, dim=dim),
        "dt_rnn": TreeRNN(vocab, positions, word_dim=dim, dim=dim, weighted=True),
        "sdt_rnn": TreeRNN(vocab, relations, word_dim=dim, dim=dim, weighted=True),
        "dt_lstm": TreeLSTM(
            vocab, Positions(2, 2), word_dim=dim, units=dim, dim=dim, layer=nn.Identity()
        ),
    }


def trees(
    dataset: str = "flickr8k", dim: int = 50, batch_size: int = 128, rounds: int = 10
) -> dict[str, Any]:
    """Time collation, forward and backward pass on batches of captions.

    The encoders take turns, so that other work on the machine slows them equally.

    Args:
        dataset: Name of the data set whose captions are read.
        dim: Length of words and states.
        batch_size: Captions in a batch.
        rounds: Number of batches.

    Returns:
        The settings, and for each encoder `ms`, the median time in milliseconds; `x_gru`, that time
        relative to nn.GRU on the same words with as many units; and `x_recursion`, how many times
        faster it is than one node at a time.
    """
    sentences = _parsed_captions(dataset, count=rounds * batch_size)
    batches = [sentences[i : i + batch_size] for i in range(0, len(sentences), batch_size)]
    torch.manual_seed(0)
    vocab = Vocab.build(sentences)
    timed = {name: encoder.to(device()) for name, encoder in encoders(vocab, dim).items()}
    times: dict[str, list[float]] = {name: [] for name in timed}
    for batch in tqdm([batches[0], *batches], desc="batches"):
        for name, encoder in timed.items():
            times[name].append(_milliseconds(_batched(encoder, batch)))
    ms = {name: statistics.median(of_one[1:]) for name, of_one in times.items()}  # after a warm-up
    rows = {name: {"ms": ms[name], "x_gru": ms[name] / ms["gru"]} for name in timed}
    for name, encoder in timed.items():
        if not isinstance(encoder, _GRU):
            slow = _milliseconds(_recursive(encoder, batches[0]))
            rows[name] |= {"recursion_ms": slow, "x_recursion": slow / ms[name]}
    words = sum(len(s.tree.words) for s in sentences if s.tree) / len(batches)
    return {
        "dataset": dataset,
        "dim": dim,
        "batch": batch_size,
        "words": round(words),
        "device": str(device()),
        "threads": torch.get_num_threads(),
        "towers": rows,
    }


def _parsed_captions(dataset: str, *, count: int) -> list[Sentence]:
    """Return random captions of the train split with both kinds of trees."""
    captions = datasets.load(dataset, "train").captions
    order = torch.randperm(len(captions), generator=torch.Generator().manual_seed(0))
    chosen = [Sentence(captions[number]) for number in order[:count].tolist()]
    return add_trees(chosen, frozenset({"dep_tree", "const_tree"}))


def _batched(encoder: Any, batch: Sequence[Sentence]) -> Callable[[], None]:
    prepared = encoder.prepare(batch)

    def step() -> None:
        encoder.zero_grad()
        encoder(encoder.collate(prepared).to(device())).x.sum().backward()

    return step


def _recursive(encoder: TreeRNN | TreeLSTM, batch: Sequence[Sentence]) -> Callable[[], None]:
    run: Any = recursion.rnn if isinstance(encoder, TreeRNN) else recursion.lstm

    def step() -> None:
        encoder.zero_grad()
        total = torch.stack([run(encoder, sentence) for sentence in batch]).sum()
        total.backward()

    return step


def clip(name: str, photos: int, rounds: int) -> dict[str, Any]:
    """Measure how fast photos are encoded by a model of open_clip.

    Args:
        name: A backbone, `clip:NAME`.
        photos: Number of photos of Storybook.
        rounds: How often to encode them; the medians are returned.

    Returns:
        The device, its threads, and `photos_per_second`: `bare` by open_clip's `encode_image`,
        `network` by our backbone from the same pixels, `files` from photos on disk.

    Raises:
        UserError: There is no such model, or its weights are missing.
    """
    weights = find_weights(name)
    backbone = load_backbone(weights)
    model = load_clip(family_of(name)[1], weights.path).model
    batch = batch_views()
    files = datasets.load("storybook", "test", limit=photos).photos
    views = torch.stack([backbone.views(open_photo(path), "own") for path in files])

    @torch.inference_mode()
    def bare() -> None:
        for part in views[:, 0].split(batch):
            pixels = (part.to(device()).float() / 255 - backbone.mean) / backbone.std
            with autocast():
                model.encode_image(pixels).cpu()

    def network() -> None:
        for part in views.split(batch):
            encode_views(weights, VECTOR, part, None)

    def from_files() -> None:
        with TemporaryDirectory() as folder:
            cache = FeatureCache(name, "own")
            cache.folder = Path(folder)
            cache.get(files)

    methods = {"bare": bare, "network": network, "files": from_files}
    seconds: dict[str, list[float]] = {method: [] for method in methods}
    for _ in tqdm(range(rounds), desc=name):
        for method, run in methods.items():  # in turns, as the speed of a machine varies
            begin = time.perf_counter()
            run()
            seconds[method].append(time.perf_counter() - begin)
    return {
        "device": str(device()),
        "threads": torch.get_num_threads(),
        "photos_per_second": {
            method: len(files) / statistics.median(times) for method, times in seconds.items()
        },
    }


def _milliseconds(step: Callable[[], None]) -> float:
    if device().type == "cuda":
        torch.cuda.synchronize()
    started = time.perf_counter()
    step()
    if device().type == "cuda":
        torch.cuda.synchronize()
    return 1000 * (time.perf_counter() - started)
