"""Encoders: sentences or photo features in, embeddings out.

An encoder works in three steps, each done no more often than necessary:

    prepared = encoder.prepare(items)    # once per data set: look up words, lay out trees
    batch = encoder.collate(prepared)    # once per batch: pad and stack
    embeddings = encoder(batch)          # once per forward pass

The text encoders are in `bow`, `gru`, `chars`, `subwords`, `fragments`, `tree` and `concepts`, the
image encoders in `image`, `regions` and `region_transformer`; `several` combines encoders into one.
Backbones, which turn photos into features, are in `vsdemo.vision`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn

from vsdemo.core.embeddings import Embeddings
from vsdemo.core.sentences import Sentence
from vsdemo.data.text.near_words import WordList
from vsdemo.data.text.vocab import CHARACTERS, Vocab

SEQUENCES = frozenset({"words", "chars", "text"})  # needs of encoders that read word after word

torch.export.register_dataclass(Embeddings)  # so that torch.export can return them


class Encoder(nn.Module):
    """Base class of all encoders.

    Attributes:
        needs: What an item must provide. Sentences: "words", "chars", "dep_tree", "const_tree" or
            "concepts". Photos: "vector" or "regions".
        dim: Length D of an embedding.
        inputs: Names of the tensors that make up a batch, in the order in which `batch_of` takes
            them; () for an encoder whose batches are more than that, such as trees.
        vocab: The vocabulary whose ids a batch holds; None if it holds none.
        weighs_characters: Whether it is a `TextEncoder` with `character_weights`.
    """

    needs: frozenset[str]
    dim: int
    inputs: tuple[str, ...] = ()
    vocab: Vocab | None = None
    weighs_characters = False

    def prepare(self, items: Any) -> list[Any]:
        """Convert items to what `collate` takes, one entry per item.

        Entries have a length, by which callers may sort them into batches with little padding.
        """
        raise NotImplementedError

    def collate(self, prepared: Sequence[Any]) -> Any:
        """Pad and stack B prepared items into one batch, which has a method `to(device)`."""
        raise NotImplementedError

    def batch_of(self, *tensors: Tensor) -> Any:
        """Return the batch that tensors make up; see `inputs`."""
        raise NotImplementedError

    def observe(self, batch: Any) -> None:
        """Observe a whole batch before parts of it are embedded, for what depends on all items.

        Most encoders need not do anything.
        """

    def forward(self, batch: Any) -> Embeddings:
        """Embed a batch: (B, D), or sets (B, K, D) with a mask (B, K)."""
        raise NotImplementedError

    if TYPE_CHECKING:

        def __call__(self, batch: Any) -> Embeddings:
            """Run `forward`."""


class SentencePart(NamedTuple):
    """A part of a sentence that an encoder embeds on the way to the whole.

    Attributes:
        text: Its words.
        prepared: What `TextEncoder.collate` takes.
    """

    text: str
    prepared: Any


class TextEncoder(Encoder):
    """Base class of encoders of sentences.

    Attributes:
        training_words: Words of the training captions, for an encoder that reads characters and so
            has no list of words; None if they are not stored.
    """

    training_words: WordList | None = None

    @property
    def reads_characters(self) -> bool:
        """Whether it reads characters, so that hardly any word is unknown to it."""
        return self.needs >= CHARACTERS

    def known_share(self, sentence: Sentence) -> float:
        """Return the share of a sentence's words that the encoder knows, 0..1.

        An encoder that reads characters can read nearly any word. If its training words are stored,
        it knows only these and words that may be misspelt or inflected forms of them.
        """
        known, unknown = self.unknown(sentence)
        words = len(known) + len(unknown)
        if (training_words := self.training_words) is not None:
            known = [word for word in known if training_words.covers(word)]
        return len(known) / max(1, words)

    def unknown(self, sentence: Sentence) -> tuple[list[str], list[str]]:
        """Return the (known, unknown) words of a sentence; the encoder ignores unknown words."""
        raise NotImplementedError

    def reading_parts(self, sentence: Sentence) -> list[SentencePart]:
        """Return the parts of a sentence in the order in which the encoder composes it.

        These are its first word, its first two words and so on. The last one is the whole. An
        encoder that reads all parts of a tree side by side has none.
        """
        if not self.needs <= SEQUENCES:
            return []
        words = sentence.text.split()
        texts = [" ".join(words[: count + 1]) for count in range(len(words))]
        prepared = self.prepare([Sentence(text) for text in texts])
        return [SentencePart(*pair) for pair in zip(texts, prepared, strict=True)]

    def token_weights(self, sentence: Sentence) -> list[tuple[str, float]]:
        """Return the tokens of a sentence and their shares in its embedding; none if unknown."""
        return []

    def character_weights(self, sentence: Sentence) -> Tensor:
        """Return how much each of the T characters contributes to the embedding, (T,), sum 1."""
        raise NotImplementedError
