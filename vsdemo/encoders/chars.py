"""Recurrent networks over characters, pooled by attention."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence
from vsdemo.data.text.vocab import CHARACTERS, Vocab, tokenize
from vsdemo.encoders.dropout import WordDropout
from vsdemo.encoders.heads import Head
from vsdemo.encoders.pooling import maximum
from vsdemo.encoders.recurrent import initialise, run
from vsdemo.encoders.words import SequenceEncoder, Words

CELLS = {"gru": nn.GRU, "lstm": nn.LSTM}
POOLINGS = ("attention", "max")


class Attention(nn.Module):
    """Vectorial self-attention: states (B, T, D) -> weights (B, T, D), which sum to 1 over T.

        a_t = softmax_t(V tanh(W h_t + b_w) + b_v)      (Merckx & Frank 2019, section 3.1.2)

    The softmax leaves padding out.

    Args:
        dim: Length D of the states.
        hidden: Number of hidden units, the rows of W.
    """

    def __init__(self, dim: int, hidden: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(dim, hidden)
        self.out = nn.Linear(hidden, dim)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """Weigh states (B, T, D); the mask (B, T, 1) is true for real ones."""
        logits: Tensor = self.out(self.hidden(states).tanh())  # V tanh(W h_t + b_w) + b_v
        logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
        return logits.masked_fill(~mask, -torch.inf).softmax(1)  # a_t


class CharRNN(SequenceEncoder):
    """A bidirectional GRU or LSTM over characters (Merckx & Frank 2019, section 3.1.2).

        h_1 ... h_T = RNN(e_1 ... e_T)        f(s) = sum_t a_t * h_t, normalised to length 1

    or, with `pooling="max"`, the maximum over all h_t instead of the sum. Case and punctuation are
    kept; characters outside the vocabulary are read as `<unk>`.

    Args:
        vocab: The known characters.
        char_dim: Length of a character vector.
        dim: Length D of the embeddings; each direction has D / 2 units.
        cell: One of `CELLS`.
        pooling: One of `POOLINGS`.
        attention: Number of hidden units of the attention.
        dropout: Share of character vectors and of pooled states set to 0.
        word_dropout: Share of words dropped in training, see `WordDropout`.

    Raises:
        UserError: If `dim` is odd.
    """

    needs = CHARACTERS
    weighs_characters = True

    def __init__(  # noqa: PLR0913 -- hyperparameters, keyword-only
        self,
        vocab: Vocab,
        *,
        char_dim: int,
        dim: int,
        cell: str = "gru",
        pooling: str = "attention",
        attention: int = 128,
        dropout: float = 0.0,
        word_dropout: float = 0.0,
    ) -> None:
        super().__init__(vocab, char_dim)
        if dim % 2:
            raise UserError(
                f"A bidirectional network over characters needs an even dim, not {dim}; "
                f"set dim to {dim + 1}."
            )
        self.dim = dim
        self.onward = CELLS[cell](char_dim, dim // 2, batch_first=True)
        self.backward = CELLS[cell](char_dim, dim // 2, batch_first=True)
        self.attention = Attention(dim, attention) if pooling == "attention" else None
        self.dropout = nn.Dropout(dropout)
        self.word_dropout = WordDropout(word_dropout, space=vocab.encode_characters(" ")[0])
        self.head = Head()
        initialise(self.onward)
        initialise(self.backward)

    def prepare(self, items: Sequence[Sentence]) -> list[Tensor]:
        """Look up the ids of each sentence's characters, (T,)."""
        return [torch.tensor(self.vocab.encode_characters(sentence.text)) for sentence in items]

    def unknown(self, sentence: Sentence) -> tuple[list[str], list[str]]:
        """Return the (known, unknown) words; a word with one known character is known."""
        known: list[str] = []
        unknown: list[str] = []
        letters = set(self.vocab.words)
        for word in tokenize(sentence.text):
            words = unknown if letters.isdisjoint(word) else known
            words.append(word)
        return known, unknown

    def states(self, batch: Words) -> Tensor:
        """Run both directions: (B, T, D), the two states after each character.

        The backward network reads each sentence reversed within its own length.
        """
        x = self.dropout(self.table(batch.ids))  # (B, T, char_dim)
        steps = torch.arange(x.shape[1], device=x.device)
        reverse = batch.lengths.to(x.device)[:, None] - 1 - steps  # (B, T)
        reverse = torch.where(reverse < 0, steps, reverse)[..., None]  # (B, T, 1), its own inverse
        onward = run(self.onward, x, batch.lengths)[0]  # (B, T, D / 2)
        # `take_along_dim` would need no `expand_as`, but fixes the shapes of an exported model.
        reverse_x = x.gather(1, reverse.expand_as(x))
        backward = run(self.backward, reverse_x, batch.lengths)[0]
        return torch.cat([onward, backward.gather(1, reverse.expand_as(backward))], -1)

    def pool(self, states: Tensor, mask: Tensor) -> Tensor:
        """Pool states (B, T, D) with a mask (B, T, 1): (B, D)."""
        if self.attention is not None:
            weights: Tensor = self.attention(states, mask)
            return (weights * states).sum(1)  # sum_t a_t * h_t
        return maximum(states, mask)

    def forward(self, batch: Words) -> Embeddings:
        """Embed a batch: (B, D)."""
        batch = self.word_dropout(batch)
        pooled = self.pool(self.states(batch), batch.mask)
        return Embeddings(self.head(self.dropout(pooled)))

    @torch.inference_mode()
    def character_weights(self, sentence: Sentence) -> Tensor:
        """Return how much each of the T characters contributes to the embedding, (T,), sum 1.

        With attention, its weights averaged over dimensions; otherwise the share of dimensions
        whose maximum is at the character.
        """
        was_training = self.training
        self.eval()
        batch = self.collate(self.prepare([sentence])).to(self.table.weight.device)
        states = self.states(batch)  # (1, T, D)
        self.train(was_training)
        if self.attention is not None:
            weights: Tensor = self.attention(states, batch.mask)
            return weights[0].mean(1).cpu()
        best = states[0].argmax(0)  # (D,)
        return torch.bincount(best, minlength=states.shape[1]).cpu() / states.shape[2]
