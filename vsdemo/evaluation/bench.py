"""How fast towers are: level batching against the plain recursion and against a GRU."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence
from tqdm import tqdm

from vsdemo.core.device import device
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.sentences import Sentence
from vsdemo.data import datasets
from vsdemo.data.text.sentences import add_trees
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.tree import recursion
from vsdemo.encoders.tree.lstm import TreeLSTM
from vsdemo.encoders.tree.rnn import TreeRNN
from vsdemo.encoders.tree.shapes import Chain, Constituents, Positions, Relations
from vsdemo.encoders.words import SequenceEncoder


class _GRU(SequenceEncoder):
    """torch.nn.GRU on the words of trees, packed, so that padding costs nothing."""

    def __init__(self, vocab: Vocab, dim: int) -> None:
        super().__init__(vocab, dim)
        self.gru = nn.GRU(dim, dim, batch_first=True)

    def prepare(self, items: Sequence[Sentence]) -> list[Tensor]:
        return [torch.tensor(self.vocab.ids(s.tree.words)) for s in items if s.tree]

    def forward(self, batch: Any) -> Embeddings:
        x = self.table(batch.ids)
        packed = pack_padded_sequence(x, batch.lengths, batch_first=True, enforce_sorted=False)
        return Embeddings(self.gru(packed)[1][0])


def towers(vocab: Vocab, dim: int) -> dict[str, Any]:
    """The towers to compare, all of words and states of one length."""
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
    """Median milliseconds of collation, forward and backward pass on batches of captions.

    For each tower `ms`, `x_gru` (of nn.GRU's time, on the same words with as many units) and
    `x_recursion` (how many times faster than a node at a time). The towers take turns, so that
    other work on the machine slows them alike.
    """
    captions = datasets.load(dataset, "train").captions
    chosen = torch.randperm(len(captions), generator=torch.Generator().manual_seed(0))
    texts = [Sentence(captions[i]) for i in chosen[: rounds * batch_size].tolist()]
    sentences = add_trees(texts, frozenset({"dep_tree", "const_tree"}))
    batches = [sentences[i : i + batch_size] for i in range(0, len(sentences), batch_size)]
    torch.manual_seed(0)
    found = {n: t.to(device()) for n, t in towers(Vocab.build(sentences), dim).items()}
    times: dict[str, list[float]] = {name: [] for name in found}
    for batch in tqdm([batches[0], *batches], desc="batches"):
        for name, tower in found.items():
            times[name].append(_milliseconds(_batched(tower, batch)))
    ms = {name: statistics.median(seen[1:]) for name, seen in times.items()}  # the first warms up
    rows = {name: {"ms": ms[name], "x_gru": ms[name] / ms["gru"]} for name in found}
    for name, tower in found.items():
        if name != "gru":
            slow = _milliseconds(_recursive(tower, batches[0]))
            rows[name] |= {"recursion_ms": slow, "x_recursion": slow / ms[name]}
    nodes = sum(len(s.tree.words) for s in sentences if s.tree) / len(batches)
    setting = {"dim": dim, "batch": batch_size, "words": round(nodes), "device": str(device())}
    return {"dataset": dataset, **setting, "threads": torch.get_num_threads(), "towers": rows}


def _batched(tower: Any, batch: Sequence[Sentence]) -> Callable[[], None]:
    prepared = tower.prepare(batch)

    def step() -> None:
        tower.zero_grad()
        tower(tower.collate(prepared).to(device())).x.sum().backward()

    return step


def _recursive(tower: TreeRNN | TreeLSTM, batch: Sequence[Sentence]) -> Callable[[], None]:
    run: Any = recursion.rnn if isinstance(tower, TreeRNN) else recursion.lstm

    def step() -> None:
        tower.zero_grad()
        total = torch.stack([run(tower, sentence) for sentence in batch]).sum()
        total.backward()  # type: ignore[no-untyped-call]

    return step


def _milliseconds(step: Callable[[], None]) -> float:
    if device().type == "cuda":
        torch.cuda.synchronize()
    started = time.perf_counter()
    step()
    if device().type == "cuda":
        torch.cuda.synchronize()
    return 1000 * (time.perf_counter() - started)
