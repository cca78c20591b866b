"""The records that answers are made of, with the names of `--json` and of the API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Record(BaseModel):
    """A part of an answer."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class PhotoHit(Record):
    """A photo of a result."""

    rank: int = Field(description="Counted from 1")
    number: int = Field(exclude=True)  # index in the gallery, for the address of the photo
    photo: str = Field(
        description="File name; for the user's own photos, the path below their folder"
    )
    score: float = Field(description="The model's own score; higher is better")
    unit_score: float = Field(description="The score mapped to 0..1")


class SentenceHit(Record):
    """A sentence of a result."""

    rank: int = Field(description="Counted from 1")
    sentence: str
    score: float = Field(description="The model's own score; higher is better")
    unit_score: float = Field(description="The score mapped to 0..1")


class SearchAnswer(Record):
    """The photos that a sentence describes."""

    sentence: str
    unknown_words: list[str] = Field(description="Words that the model ignores")
    suggestions: dict[str, list[str]] = Field(description="Known words to use instead of others")
    matches: bool = Field(description="False if nothing in the gallery matches well")
    photos: int = Field(description="How many photos meet the conditions")
    unit: str = Field(description="Unit of the scores")
    hits: Sequence[PhotoHit]


class StoreAnswer(Record):
    """The photos of a store of embeddings that a sentence describes."""

    sentence: str
    unknown_words: list[str] = Field(description="Words that the model ignores")
    photos: int = Field(description="How many photos the store has")
    candidates: int = Field(description="How many of them were compared by the exact score")
    is_certain: bool = Field(description="Whether no other photo can be better than these")
    unit: str = Field(description="Unit of the scores")
    hits: Sequence[PhotoHit]


class DescribeAnswer(Record):
    """The sentences that describe a photo."""

    photo: str
    likely: list[str] | None = Field(
        description="What the photo probably shows, the most specific first; empty if the model is "
        "not sure, null if that is unknown"
    )
    unit: str = Field(description="Unit of the scores")
    hits: list[SentenceHit]


class SimilarPhotos(Record):
    """The photos that are similar to a photo."""

    query: str
    unit: str = Field(description="Unit of the scores")
    hits: Sequence[PhotoHit]


class SimilarSentences(Record):
    """The sentences that are similar to a sentence."""

    query: str
    unit: str = Field(description="Unit of the scores")
    hits: list[SentenceHit]


class Part(Record):
    """A part of a sentence that can be aligned with a region."""

    relation: str = Field(
        description="Label of a dependency, or `phrase`, `word`, `bigram` or `sentence`"
    )
    words: list[int] = Field(
        description="Indices of its words; those of a dependency are its head and its dependent"
    )


class LinkRecord(Record):
    """What a sentence says of two things, such as "jumps over"."""

    words: list[int] = Field(description="Indices of the words that say it")
    subject: int = Field(description="Index of the noun or pronoun that names the first thing")
    object: int = Field(description="Index of the one that names the second thing")


class TreeRecord(Record):
    """A dependency tree (Universal Dependencies)."""

    words: list[str]
    heads: list[int] = Field(description="Head of each word, counted from 1; 0 for the root")
    labels: list[str] = Field(description="Relation of each word to its head")
    tags: list[str] = Field(description="Parts of speech")


class AlignAnswer(Record):
    """The scores of a sentence's M fragments with a photo's K regions."""

    photo: str
    sentence: str
    words: list[str]
    tree: TreeRecord | None
    fragments: list[Part] = Field(description="The M fragments")
    boxes: list[tuple[float, float, float, float]] = Field(
        description="(x0, y0, x1, y1) of the K regions, as fractions of width and height"
    )
    scores: list[list[float]] = Field(description="M rows of K scores")
    parts: list[float] = Field(description="Each fragment's share of the total")
    total: float = Field(description="The score of the sentence with the photo")
    unknown: list[int] = Field(description="Indices of the words that the model does not know")
    limit: float = Field(description="Score above which a region shows what a fragment names")
    links: list[LinkRecord] = Field(description="What the sentence says of pairs of things")
    referents: list[tuple[int, int]] = Field(
        description="Indices of pronouns, and of the nouns that they stand for"
    )
    function_words: list[int] = Field(description="Indices of the function words")
    regions: list[int | None] = Field(
        description="The best region of each fragment; null if the picture does not show it"
    )


class ComposedPhrase(Record):
    """A phrase of a composed sentence."""

    phrase: str
    box: tuple[float, float, float, float] | None = Field(
        description="(x0, y0, x1, y1) of its region, as fractions of width and height; null if no "
        "region shows it"
    )
    score: float = Field(description="Its score with the best region")


class ComposedSentence(Record):
    """A sentence that a model composed about a photo."""

    rank: int
    sentence: str
    likelihood: float = Field(description="Mean logarithm of the probability of a word")
    score: float = Field(description="The score of the sentence with the photo")
    phrases: list[ComposedPhrase]


class ComposeAnswer(Record):
    """Sentences that a model composed about a photo, and those that it found."""

    photo: str
    unit: str = Field(description="Unit of the scores")
    composed: list[ComposedSentence]
    retrieved: list[SentenceHit]


class Word(Record):
    """A word of a dependency tree."""

    number: int = Field(description="Counted from 1")
    word: str
    tag: str = Field(description="Part of speech")
    relation: str = Field(description="Relation to the head")
    head: int = Field(description="Number of the head; 0 for the root")


class ParseAnswer(Record):
    """The dependency tree of a sentence."""

    sentence: str
    words: list[Word]


class WalkStep(Record):
    """A step through the hierarchy."""

    kind: str
    text: str
    violation: float = Field(description="0 if the upper item lies above the lower one")
    true: bool | None = Field(
        description="Whether the upper item follows from the lower one; null if it is not known"
    )


class WalkAnswer(Record):
    """A walk up the hierarchy to its root, and down again."""

    start: str
    kind: str
    up: list[WalkStep]
    down: list[WalkStep]


class SentencesAnswer(Record):
    """What models tell about two sentences, by model."""

    first: str
    second: str
    models: dict[str, dict[str, Any]]


class RankedItem(Record):
    """A photo or a sentence that a model ranks among the first."""

    rank: int = Field(description="Counted from 1")
    item: str = Field(description="File name of the photo, or the sentence")
    score: float = Field(description="The model's own score; higher is better")
    unit_score: float = Field(description="The score mapped to 0..1")
    other_ranks: dict[str, int] = Field(description="Its rank in the other rankings, by title")


class RankedList(Record):
    """The first results of a ranking."""

    title: str = Field(description="The model or, where two sentences are compared, the sentence")
    unit: str = Field(description="Unit of the scores")
    items: list[RankedItem]
    problem: str = Field(default="", description="Why there are no results")


class CompareAnswer(Record):
    """What several models rank first for a sentence or a photo."""

    query: str
    agreement: float | None = Field(
        description="Share of the first results that two models have in common, on average"
    )
    models: list[RankedList]


class PairModel(Record):
    """What a model ranks first for two sentences."""

    model: str
    similarity: float | None = Field(description="Cosine of the two sentences")
    agreement: float | None = Field(
        description="Share of the first photos that both sentences have in common"
    )
    sentences: list[RankedList]


class ComparePairAnswer(Record):
    """How differently several models read two sentences."""

    first: str
    second: str
    models: list[PairModel]


class EmbedAnswer(Record):
    """Embeddings of sentences or photos, in the same order.

    An item is one vector, or a set of vectors for a model of fragments.
    """

    kind: Literal["photo", "sentence"]
    dim: int
    embeddings: list[list[float] | list[list[float]]]


class ModelRecord(Record):
    """A checkpoint."""

    model: str
    checkpoint: str = Field(description="Folder, as the command line takes it")
    preset: str = ""
    dataset: str = Field(default="", description="Data that it learned from")
    backbone: str = Field(default="", description="Image network; empty without photos")
    licence: str = Field(default="", description="Licence of the weights")
    problem: str = Field(default="", description="Why it cannot be used")


class GalleryRecord(Record):
    """Photos that can be searched."""

    gallery: str
    label: str
    dataset: str = Field(description="Data set or folder, as the command line takes it")
    split: str
    photos: int = Field(description="Number of photos")
