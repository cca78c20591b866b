"""A network that writes sentences about a photo, from the embeddings of its regions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch
import torch.nn.functional as F
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from vsdemo.core import checksums, four_bits, tensors
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.data.text.vocab import EOS, PAD, UNK

START = EOS  # the word before the first one
NEVER = (PAD, UNK)  # words that are not written
FILE = "captioner.safetensors"  # in the folder of the model whose regions it reads
MODEL, UNITS = "model", "units"  # in its metadata: `checkpoint.content_hash`, and its size


class Written(NamedTuple):
    """A sentence that was written.

    Attributes:
        words: Ids of its words.
        log_probability: Of the sentence and its end, given the photo; the natural logarithm.
    """

    words: tuple[int, ...]
    log_probability: float

    @property
    def mean(self) -> float:
        """The mean of the logarithms over the words and the end."""
        return self.log_probability / (len(self.words) + 1)


class State(NamedTuple):
    """What is known before the next word of B sentences.

    Attributes:
        hidden: Of the GRU, (B, H).
        seen: The mean of the regions that it attends to, (B, D).
    """

    hidden: Tensor
    seen: Tensor


class Captioner(nn.Module):
    """A GRU that attends to regions (Xu et al., "Show, attend and tell", ICML 2015).

        h_0 = tanh(A mean_k v_k)                c_0 = mean_k v_k
        h_t = GRU([E w_t-1, c_t-1], h_t-1)
        c_t = sum_k a_tk v_k                    a_t = softmax_k(v_k . B h_t)
        p(w_t) = softmax(E U [h_t, c_t] + b)

    Args:
        words: Size of the vocabulary.
        dim: Length D of the embedding of a region.
        word_dim: Length of a word vector.
        units: Units H of the GRU.
        dropout: Share of word vectors, and of [h_t, c_t], set to 0.
    """

    def __init__(
        self, words: int, dim: int, *, word_dim: int = 300, units: int = 512, dropout: float = 0.3
    ) -> None:
        super().__init__()
        self.table = nn.Embedding(words, word_dim)
        nn.init.normal_(self.table.weight, std=0.1)
        self.first = nn.Linear(dim, units)
        self.gru = nn.GRUCell(word_dim + dim, units)
        self.attend = nn.Linear(units, dim, bias=False)
        self.out = nn.Linear(units + dim, word_dim)
        self.bias = nn.Parameter(torch.zeros(words))
        self.dropout = nn.Dropout(dropout)

    def start(self, regions: Embeddings) -> State:
        """Return the state before the first word: (B, K, D) -> State."""
        mean = regions.mean()
        return State(torch.tanh(self.first(mean)), mean)

    def step(self, words: Tensor, state: State, regions: Embeddings) -> tuple[Tensor, State]:
        """Read words (B,) and return the logits of the next ones, (B, V), and the state."""
        assert regions.mask is not None
        read = torch.cat([self.dropout(self.table(words)), state.seen], -1)
        hidden = self.gru(read, state.hidden)
        fit = torch.einsum("bkd,bd->bk", regions.x, self.attend(hidden))
        shares = fit.masked_fill(~regions.mask, -torch.inf).softmax(-1)
        seen = torch.einsum("bk,bkd->bd", shares, regions.x)
        word = self.out(self.dropout(torch.cat([hidden, seen], -1)))
        return word @ self.table.weight.T + self.bias, State(hidden, seen)

    def forward(self, sentences: Tensor, regions: Embeddings) -> Tensor:
        """Return the logits of each word of sentences (B, T), padded, and of their ends.

        Returns:
            (B, T + 1, V).
        """
        state = self.start(regions)
        before = F.pad(sentences, (1, 0), value=START)  # (B, T + 1)
        logits = []
        for words in before.unbind(1):
            of_step, state = self.step(words, state, regions)
            logits.append(of_step)
        return torch.stack(logits, 1)

    @torch.inference_mode()
    def write(
        self, regions: Embeddings, *, beams: int = 8, count: int = 8, longest: int = 20
    ) -> list[list[Written]]:
        """Write sentences about N photos by beam search.

        Args:
            regions: (N, K, D).
            beams: Sentences that are continued at a time.
            count: Sentences of each photo, at most.
            longest: Words of a sentence, at most.

        Returns:
            The sentences of each photo, those with the highest mean first.
        """
        rows = range(len(regions))
        return [self._write_one(regions[row : row + 1], beams, longest)[:count] for row in rows]

    @torch.inference_mode()
    def read(self, sentences: Sequence[tuple[int, ...]], regions: Embeddings) -> list[Written]:
        """Return how likely sentences about one photo are.

        Args:
            sentences: Ids of the words of each.
            regions: (1, K, D).
        """
        rows = regions[torch.zeros(len(sentences), dtype=torch.long, device=regions.x.device)]
        ids = [torch.tensor(words, device=regions.x.device) for words in sentences]
        padded = pad_sequence(ids, batch_first=True, padding_value=PAD)  # (B, T)
        logits = self(padded, rows)  # (B, T + 1, V)
        logits[..., NEVER] = -torch.inf
        log_p = logits.log_softmax(-1)
        result = []
        for words, of_words in zip(sentences, log_p, strict=True):
            steps = torch.tensor([*words, EOS], device=of_words.device)
            own = of_words[: len(steps)].gather(1, steps[:, None]).sum()
            result.append(Written(words, float(own)))
        return result

    @torch.inference_mode()
    def sample(
        self, regions: Embeddings, count: int, *, longest: int = 20, seed: int = 0
    ) -> list[list[tuple[int, ...]]]:
        """Draw sentences about N photos, each as likely as the network thinks.

        Args:
            regions: (N, K, D).
            count: Sentences of each photo.
            longest: Words of a sentence, at most.
            seed: Of the draws.

        Returns:
            Ids of the words of the sentences of each photo.
        """
        assert regions.mask is not None
        draw = torch.Generator(regions.x.device).manual_seed(seed)
        photos = torch.arange(len(regions), device=regions.x.device).repeat_interleave(count)
        every = regions[photos]  # (N count, K, D)
        state, words = self.start(every), torch.full_like(photos, START)
        has_ended = torch.zeros_like(photos, dtype=torch.bool)
        steps = []
        for _ in range(longest):
            logits, state = self.step(words, state, every)
            logits[:, NEVER] = -torch.inf
            words = logits.softmax(-1).multinomial(1, generator=draw)[:, 0]
            has_ended |= words == EOS
            words = words.masked_fill(has_ended, EOS)
            steps.append(words)
        drawn = [
            tuple(word for word in row if word != EOS) for row in torch.stack(steps, 1).tolist()
        ]
        return [drawn[row * count : (row + 1) * count] for row in range(len(regions))]

    def _write_one(self, regions: Embeddings, beams: int, longest: int) -> list[Written]:
        assert regions.mask is not None
        every = Embeddings(
            regions.x.expand(beams, -1, -1), regions.mask.expand(beams, -1)
        )  # (B, K, D)
        state = self.start(every)
        words = regions.x.new_full((beams,), START, dtype=torch.long)
        total = regions.x.new_full((beams,), -torch.inf)
        total[0] = 0  # all beams are the same at first
        begun: list[tuple[int, ...]] = [()] * beams
        done: list[Written] = []
        for _ in range(longest + 1):
            logits, state = self.step(words, state, every)
            logits[:, NEVER] = -torch.inf
            extended = total[:, None] + logits.log_softmax(-1)  # (B, V)
            ended = extended[:, EOS].tolist()
            done += [
                Written(b, t) for b, t in zip(begun, ended, strict=True) if b and t > -torch.inf
            ]
            extended[:, EOS] = -torch.inf
            total, best = extended.flatten().topk(beams)
            rows, words = best // extended.shape[1], best % extended.shape[1]
            state = State(*(x[rows] for x in state))
            begun = [
                (*begun[row], word) for row, word in zip(rows.tolist(), words.tolist(), strict=True)
            ]
        return sorted(done, key=lambda written: -written.mean)


def save(folder: Path, captioner: Captioner, content_hash: str) -> None:
    """Write a captioner, matrices with 4 bits a number.

    Args:
        folder: That of the model whose regions it reads, or of its training.
        captioner: The network.
        content_hash: `checkpoint.content_hash` of the model.
    """
    about = {MODEL: content_hash, UNITS: str(captioner.gru.hidden_size)}
    content = tensors.to_bytes(four_bits.encode(captioner.state_dict()), about)
    checksums.write_files(folder, {FILE: content})


def exists(folder: Path) -> bool:
    """Return whether a model has a captioner."""
    return (folder / FILE).is_file()


def load(folder: Path, content_hash: str) -> Captioner:
    """Load the captioner of a model.

    Args:
        folder: That of the model.
        content_hash: `checkpoint.content_hash` of the model.

    Raises:
        UserError: It is damaged, or belongs to other weights of the model.
    """
    path = folder / FILE
    checksums.check(path)
    try:
        with safe_open(path, "pt") as file:
            about = file.metadata() or {}
            stored = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        state = four_bits.decode(stored)
        (words, word_dim), (_, dim) = state["table.weight"].shape, state["first.weight"].shape
        captioner = Captioner(words, dim, word_dim=word_dim, units=int(about[UNITS]))
        captioner.load_state_dict({name: weights.float() for name, weights in state.items()})
    except (SafetensorError, OSError, LookupError, ValueError, RuntimeError) as error:
        raise UserError(f"{path} is damaged: {error}") from None
    if about.get(MODEL) != content_hash:
        raise UserError(
            f"{path} belongs to other weights of the model; train it again "
            f"(`python -m vsdemo train-captioner {folder}`)."
        )
    return captioner.eval()
