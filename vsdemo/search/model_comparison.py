"""Several models on one query: what each of them ranks where, and what they agree on.

A query is a sentence, for which photos are ranked; a photo, for which sentences are ranked; or two
sentences, for which each model ranks photos twice, so that it shows which models notice the
difference.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError
from vsdemo.core.hits import Hit
from vsdemo.core.language import translate
from vsdemo.core.sentences import Sentence
from vsdemo.evaluation.matching import spread
from vsdemo.evaluation.metrics.ranks import best_ranks
from vsdemo.evaluation.storybook_facts import has_facts
from vsdemo.evaluation.tasks.truth import truth_of_captions
from vsdemo.evaluation.text_embeddings import similarity
from vsdemo.search.engine import Engine, check_k
from vsdemo.search.query import make_query
from vsdemo.search.ranking import Ranking

FEWEST, MOST = 2, 4  # models that are compared
SAMPLE = 200  # captions that are searched for an example


@dataclass(frozen=True)
class RankedColumn:
    """The first results of a ranking.

    Attributes:
        title: Whose ranking it is: the name of a model, or a sentence.
        hits: Its first results, best first.
        ranks: Number of an item -> its rank, counted from 1, for the items of all columns.
        ranking: The whole ranking; None where there are no results.
        problem: Why there are no results, in a sentence; empty if there are.
    """

    title: str
    hits: tuple[Hit, ...] = ()
    ranks: Mapping[int, int] = field(default_factory=dict)
    ranking: Ranking | None = None
    problem: str = ""

    @property
    def total(self) -> int:
        """How many items were ranked."""
        return 0 if self.ranking is None else len(self.ranking)

    def rank(self, number: int) -> int | None:
        """Return the rank of any item by its number; None if it was not ranked."""
        if number in self.ranks or self.ranking is None:
            return self.ranks.get(number)
        places = self.ranking.places_of([number])
        return places[number] + 1 if places else None

    @property
    def numbers(self) -> tuple[int, ...]:
        """Numbers of the first results."""
        return tuple(hit.number for hit in self.hits)


@dataclass(frozen=True)
class RankingComparison:
    """Rankings of the same items, side by side."""

    columns: tuple[RankedColumn, ...]

    @classmethod
    def of(
        cls, titles: Iterable[str], rankings: Iterable[Ranking | str], k: int
    ) -> RankingComparison:
        """Compare rankings by their first k items.

        Args:
            titles: The title of each ranking.
            rankings: The rankings; in place of one that could not be made, the reason.
            k: Number of items of each.
        """
        rows = list(zip(titles, rankings, strict=True))
        made = [ranking for _, ranking in rows if isinstance(ranking, Ranking)]
        shown = {number for ranking in made for number in ranking.numbers[:k].tolist()}
        return cls(tuple(_column(title, ranking, k, shown) for title, ranking in rows))

    @property
    def answered(self) -> tuple[RankedColumn, ...]:
        """The columns that have results."""
        return tuple(column for column in self.columns if not column.problem)

    @property
    def agreement(self) -> float | None:
        """Which share of the first results two columns have in common, on average over all pairs.

        None with fewer than two columns that have results.
        """
        pairs = list(combinations(self.answered, 2))
        if not pairs:
            return None
        return sum(share_in_common(a, b) for a, b in pairs) / len(pairs)


def _column(title: str, ranking: Ranking | str, k: int, shown: Collection[int]) -> RankedColumn:
    """Return the column of a ranking, with the ranks of the items that all columns show."""
    if isinstance(ranking, str):
        return RankedColumn(title, problem=ranking)
    return RankedColumn(
        title=title,
        hits=tuple(ranking.hits(0, k)),
        ranks={number: place + 1 for number, place in ranking.places_of(shown).items()},
        ranking=ranking,
    )


def share_in_common(a: RankedColumn, b: RankedColumn) -> float:
    """Return the share of the first results of one column that are among those of another."""
    shorter = min(len(a.hits), len(b.hits))
    return len({*a.numbers} & {*b.numbers}) / shorter if shorter else 0.0


@dataclass(frozen=True)
class PairComparison:
    """What a model ranks for two sentences.

    Attributes:
        model: Name of the model.
        rankings: The photos for the first sentence and for the second.
        similarity: Cosine of the two sentences; see `text_embeddings.similarity`. None if the model
            cannot read one of them.
    """

    model: str
    rankings: RankingComparison
    similarity: float | None = None

    @classmethod
    def of(cls, model: str, engine: Engine | str, texts: Sequence[str], k: int) -> PairComparison:
        """Rank k photos for each of two sentences; for a reason, rank none."""
        if isinstance(engine, str):
            return cls(model, RankingComparison.of(texts, [engine] * len(texts), k))
        try:
            first, second = (engine.encode(text) for text in texts)
            rankings = [engine.rank(make_query(text)) for text in texts]
        except UserError as error:
            return cls(model, RankingComparison.of(texts, [str(error)] * len(texts), k))
        return cls(
            model=model,
            rankings=RankingComparison.of(texts, rankings, k),
            similarity=float(similarity(first, second, engine.score)),
        )


def compare_searches(
    engines: Mapping[str, Engine | str], text: str, k: int = 6
) -> RankingComparison:
    """Return which photos each model ranks first for a sentence.

    Args:
        engines: 2 to 4 models by name, over the same gallery; in place of one that cannot be used,
            the reason.
        text: The sentence, or several as for `query.parse_terms`.
        k: Photos of each model.

    Raises:
        UserError: The sentence is blank or too long, k is out of range, or the number of models is.
    """
    check_count(engines)
    query = make_query(text)
    for sentence in [""] if query.is_empty else query.texts:
        Sentence.from_user(sentence)
    return _compare(engines, lambda engine: engine.rank(query), check_k(k))


def compare_descriptions(
    engines: Mapping[str, Engine | str], photo: Image.Image | int, k: int = 6
) -> RankingComparison:
    """Return which sentences of the gallery each model ranks first for a photo.

    Args:
        engines: 2 to 4 models by name, over the same gallery; in place of one that cannot be used,
            the reason.
        photo: The photo, or its number in the gallery.
        k: Sentences of each model.

    Raises:
        UserError: k or the number of models is out of range.
    """
    check_count(engines)
    return _compare(engines, lambda engine: engine.rank_sentences_for(photo), check_k(k))


def compare_pair(
    engines: Mapping[str, Engine | str], first: str, second: str, k: int = 6
) -> list[PairComparison]:
    """Return which photos each model ranks first for either of two sentences.

    Args:
        engines: 2 to 4 models by name, over the same gallery; in place of one that cannot be used,
            the reason.
        first: A sentence.
        second: Another one.
        k: Photos for each sentence.

    Raises:
        UserError: A sentence is blank or too long, or k or the number of models is out of range.
    """
    check_count(engines)
    count = check_k(k)
    texts = [Sentence.from_user(text).text for text in (first, second)]
    return [PairComparison.of(model, engine, texts, count) for model, engine in engines.items()]


@dataclass(frozen=True)
class TellingCaption:
    """A caption for which one model ranks a right photo first, and another one far behind.

    Attributes:
        text: The caption.
        photo: Number of the first photo by the model that wins.
        rank: Rank of the first right photo by the model that loses.
    """

    text: str
    photo: int
    rank: int


def telling_caption(winner: Engine, loser: Engine) -> TellingCaption | None:
    """Return the caption at which one model beats another most clearly.

    Both rank the photos of the gallery for some of its captions. Right photos are those that a
    caption is true of where that is known, as in Storybook, and else its own photo. None if the
    loser's first photo is right wherever the winner's is.

    Raises:
        UserError: The gallery has no captions.
    """
    gallery = winner.gallery
    if not gallery.captions:
        raise UserError(
            translate("This gallery has no captions, so it is not known which answers are right.")
        )
    numbers = spread(range(len(gallery.captions)), SAMPLE)
    right = torch.from_numpy(_right_photos(gallery)[numbers])  # (C, P)
    by_winner, by_loser = (_scores(engine, numbers) for engine in (winner, loser))
    ranks = best_ranks(by_loser, right)
    ranks[best_ranks(by_winner, right) > 1] = 0
    best = int(ranks.argmax())
    if ranks[best] <= 1:
        return None
    return TellingCaption(
        text=gallery.captions[numbers[best]],
        photo=int(by_winner[best].argmax()),
        rank=round(float(ranks[best])),
    )


def _right_photos(gallery: CaptionSet) -> np.ndarray:
    """Return which photos each caption is right for, (C, P)."""
    if has_facts(gallery):
        return truth_of_captions(gallery)
    right: np.ndarray = np.array(gallery.photo_of)[:, None] == np.arange(len(gallery.photos))
    return right


def _scores(engine: Engine, numbers: Sequence[int]) -> Tensor:
    """Return the scores of some captions of the gallery with all its photos, (C, P)."""
    texts = engine.encode_texts([engine.gallery.captions[number] for number in numbers])
    photos = engine.photos.embeddings.float()
    return engine.score(texts.to(photos.x.device), photos).cpu()


def check_count(models: Sized) -> None:
    """Raise UserError unless there are 2 to 4 models."""
    if not FEWEST <= len(models) <= MOST:
        raise UserError(
            translate(
                "Compare {fewest} to {most} models, not {count}.",
                fewest=FEWEST,
                most=MOST,
                count=len(models),
            )
        )


def _compare(
    engines: Mapping[str, Engine | str], rank: Callable[[Engine], Ranking], k: int
) -> RankingComparison:
    """Compare the rankings of models by their first k items."""
    rankings: list[Ranking | str] = []
    for engine in engines.values():
        try:
            rankings.append(engine if isinstance(engine, str) else rank(engine))
        except UserError as error:
            rankings.append(str(error))
    return RankingComparison.of(engines, rankings, k)
