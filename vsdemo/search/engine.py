"""A checkpoint over one gallery: what every front end calls."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from vsdemo.core import locks
from vsdemo.core.alignment import Alignment
from vsdemo.core.batching import DynamicBatches
from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.device import device
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.hits import BarScale, Hit, RegionHit
from vsdemo.core.images import is_blank
from vsdemo.core.language import translate
from vsdemo.core.paths import AnyPath, home, to_path
from vsdemo.core.progress import Progress
from vsdemo.core.sentences import Sentence
from vsdemo.data import caption_bank, datasets
from vsdemo.data.catalog.catalog import find_catalog
from vsdemo.data.catalog.filters import PhotoOrder
from vsdemo.data.catalog.look import FLAT
from vsdemo.data.catalog.table import PhotoTable
from vsdemo.data.text.near_words import WordList
from vsdemo.data.text.sentences import DEP_TREE, add_trees, parser_version
from vsdemo.evaluation import matching
from vsdemo.evaluation.likely import likely_statements
from vsdemo.evaluation.matching import MatchThreshold
from vsdemo.models import checkpoint
from vsdemo.models.alignment import alignment
from vsdemo.models.composition import compose
from vsdemo.search import calibration, ranking, stored_embeddings
from vsdemo.search.description import Composition, Description
from vsdemo.search.duplicates import group_duplicates
from vsdemo.search.index import Index
from vsdemo.search.query import PhotoScores, Query, Source
from vsdemo.search.ranking import Ranking
from vsdemo.search.suggestions import (
    Suggestions,
    UnreadWord,
    misspelt,
    suggest,
    unread,
    word_list,
)
from vsdemo.vision.features import FeatureCache

MAX_K = 1000
MAX_BATCH = 32  # sentences of different visitors that are encoded together
SHOWN_WORDS = 3  # in the message about unknown words
FEWEST = 100  # captions of the user's own photos that a calibration needs
CALIBRATION = 500  # captions of a gallery that are embedded before the first answer


def check_k(k: Any, most: int = MAX_K) -> int:
    """Return k as an integer.

    Args:
        k: A number of hits, possibly as text.
        most: The largest valid number.

    Raises:
        UserError: k is not a whole number from 1 to `most`.
    """
    try:
        number = int(k)
        whole = number == float(k) and not isinstance(k, bool)
    except (TypeError, ValueError, OverflowError):
        whole, number = False, 0
    if not whole or not 1 <= number <= most:
        raise UserError(f"k must be a whole number from 1 to {most:,}, not {str(k)[:40]!r}.")
    return number


class Reader:
    """A checkpoint without a gallery: it encodes, describes and aligns single photos and sentences.

    Args:
        folder: The checkpoint.
        progress: Called with the number of encoded photos or sentences and the total, unless a
            method is given another one.

    Attributes:
        folder: The checkpoint.
        content_hash: `checkpoint.content_hash` of it.
        model: The model.
        spec: Its config.json.
        score: The score of the model.

    Raises:
        UserError: The checkpoint is missing or damaged; or, as soon as a photo is read, its
            backbone is missing or not that of the training.
    """

    def __init__(self, folder: AnyPath, progress: Progress | None = None) -> None:
        self.folder = folder = to_path(folder)
        self.model, self.spec, self.vocab = checkpoint.load(folder)
        self.score = self.model.score
        self._text: Any = self.model.text
        self.content_hash = checkpoint.content_hash(folder)
        self._stored_threshold = calibration.stored(folder, self.content_hash)
        self._progress = progress
        self._captions: Index | None = None
        self._batches = DynamicBatches(self._encode_each, MAX_BATCH)
        # On a CPU, a sentence has the same embedding to the last digit no matter who else searches.
        self._shares_batches = device().type != "cpu"

    @cached_property
    def _features(self) -> FeatureCache:
        return checkpoint.feature_cache(self.spec)

    @property
    def bar_scale(self) -> BarScale | None:
        """Scale of the bars of a sentence's score with a photo, as stored with the checkpoint."""
        return self._stored_threshold.bar_scale if self._stored_threshold else None

    def check_backbone(self) -> None:
        """Raise UserError if photos cannot be read, before any sentence is encoded."""
        _ = self._features

    def encode(self, text: str) -> Embeddings:
        """Return the embedding of a typed sentence, (1, D), or its set (1, M, D).

        Raises:
            UserError: The sentence is blank or too long, or the model knows no word of it.
        """
        return self._encode_one(self.parse(text))

    def encode_texts(self, texts: Sequence[str]) -> Embeddings:
        """Return the embeddings of N typed sentences, (N, D), or their sets (N, M, D).

        Raises:
            UserError: As `encode`.
        """
        sentences = [Sentence.from_user(text) for text in texts]
        return self._encode(add_trees(sentences, self.model.text.needs))

    def parse(self, text: str) -> Sentence:
        """Return a typed sentence with the trees that the model needs."""
        return add_trees([Sentence.from_user(text)], self.model.text.needs)[0]

    def _encode_one(self, sentence: Sentence) -> Embeddings:
        """Return the embedding of a sentence; on a GPU, batched with those of other visitors."""
        self.check_known(sentence)
        return self._batches(sentence) if self._shares_batches else self._encode([sentence])

    def _encode(self, sentences: Sequence[Sentence]) -> Embeddings:
        for sentence in sentences:
            self.check_known(sentence)
        return self.model.encode_text(sentences)

    def _encode_each(self, sentences: Sequence[Sentence]) -> list[Embeddings]:
        """Return the embedding of each sentence, (1, D), or its set (1, M, D), without padding."""
        embeddings = self.model.encode_text(sentences)
        if embeddings.mask is None:
            return [embeddings[i : i + 1] for i in range(len(sentences))]
        rows = zip(embeddings.x, embeddings.mask, strict=True)
        return [Embeddings(x[mask][None], mask[mask][None]) for x, mask in rows]

    def check_known(self, sentence: Sentence) -> None:
        """Raise UserError if the model knows no word of a sentence."""
        known, unknown = self._text.unknown(sentence)
        if not known:
            shown = ", ".join(map(repr, unknown[:SHOWN_WORDS])) or repr(sentence.text[:40])
            raise UserError(
                translate(
                    "This model knows no word of the sentence ({words}); use everyday English "
                    "words, such as 'a dog runs'.",
                    words=shown,
                )
            )

    def unknown_words(self, text: str) -> list[str]:
        """Return the words of a sentence that the model ignores."""
        unknown: list[str] = self._text.unknown(self.parse(text))[1]
        return unknown

    def suggestions(self, text: str) -> Suggestions:
        """Return up to three known words to offer for each word of a sentence that seems wrong.

        These are the `unknown_words`; to a model that reads characters also misspelt words. A word
        without a near one has an empty tuple.
        """
        words = self.unknown_words(text)
        if self._text.reads_characters:
            words += misspelt(self._word_list, text)
        return suggest(self._word_list, words)

    def unread_words(self, text: str) -> list[UnreadWord]:
        """Return the words of a sentence that the model has not learned, with words to offer.

        For a model that reads characters, these are words that do not occur in its training
        captions, even in another form; it ignores only words in other scripts.
        """
        ignored = self.unknown_words(text)
        words = [*ignored]
        if self._text.reads_characters:
            words += unread(self._word_list, text)
        return [
            UnreadWord(word, is_ignored=word in ignored, near=near)
            for word, near in suggest(self._word_list, words).items()
        ]

    @cached_property
    def _word_list(self) -> WordList:
        return word_list(self._text, self.vocab, self.spec)

    def encode_photo(self, photo: Image.Image) -> Embeddings:
        """Return the embedding of a photo, (1, D), or of its regions, (1, K, D)."""
        return self.encode_photos([photo])

    def encode_photos(self, photos: Iterable[Image.Image]) -> Embeddings:
        """Return the embeddings of N photos, (N, D), or of their regions, (N, K, D)."""
        return self.model.encode_image(self._features.encode(photos))

    @property
    def captions(self) -> Index:
        """The sentences that photos are described with: those of the caption bank."""
        return self.load_captions()

    def load_captions(self, progress: Progress | None = None) -> Index:
        """Return `captions`; the first time, encode them and report the progress."""
        if self._captions is None:
            self._captions = self.index_texts(self.sentences(), progress)
        return self._captions

    def sentences(self) -> Sequence[str]:
        """Return the sentences that describe photos, those of the caption bank."""
        return caption_bank.sentences()

    def describe(self, photo: Image.Image, k: int = 10) -> Description:
        """Return the k sentences that describe a photo best, and what it probably shows."""
        count = check_k(k)
        description = self._describe(self.encode_photo(photo), count)
        if description.likely and is_blank(photo):  # models describe it as sky
            return description._replace(likely=())
        return description

    def _describe(self, photo: Embeddings, k: int) -> Description:
        scores = self.captions.general_scores(photo)
        return Description(self.captions.top(scores, k), self._likely(scores))

    def _likely(self, scores: Tensor) -> tuple[str, ...] | None:
        """Return what a photo probably shows, by its scores with `captions`."""
        temperature, rows = self.model.temperature, self._bank_rows
        if temperature is None or rows is None:
            return None
        return likely_statements(scores[rows][:, None].float().cpu(), temperature)[0]

    @cached_property
    def _bank_rows(self) -> list[int] | None:
        """Where the sentences of the caption bank are in `captions`; None if some are missing."""
        row_of = {text: row for row, text in enumerate(self.captions.items)}
        try:
            return [row_of[text] for text in caption_bank.sentences()]
        except KeyError:
            return None

    def compose(self, photo: Image.Image, k: int = 3) -> Composition:
        """Compose sentences about a photo, at most k, and align them with its regions.

        Raises:
            UserError: The model has no captioner.
        """
        count = check_k(k)
        self.check_can_align()
        features, boxes = self._features.encode_regions(photo)
        regions = self.model.encode_image(features[None])
        (composed,) = compose(self.model, regions, count=count)
        sentences = [(own, self._align(own.text, regions, boxes)) for own in composed]
        return Composition(sentences, regions)

    def rank_sentences(self, photo: Image.Image, texts: Sequence[str], k: int = 10) -> list[Hit]:
        """Return the k typed sentences that describe a photo best.

        Raises:
            UserError: As `encode`, for any of them.
        """
        embeddings = self.encode_texts(texts).to(device())
        index = Index(embeddings, list(texts), self.score, self.bar_scale)
        return index.top_general(self.encode_photo(photo), check_k(k))

    def similar_sentences(self, text: str, k: int = 10) -> list[Hit]:
        """Return the k sentences most similar to a sentence."""
        return self.captions.top_similar(self.encode(text), check_k(k))

    def index_texts(self, texts: Sequence[str], progress: Progress | None = None) -> Index:
        """Return an index of sentences, which are encoded once and cached below VSDEMO_HOME."""
        version = self.content_hash + parser_version(self.model.text.needs)
        key = hashlib.sha256("\n".join([version, *texts]).encode()).hexdigest()[:32]
        path = home() / "captions" / f"{key}.safetensors"
        report = progress or self._progress

        def wait() -> None:
            if report:
                report(0, len(texts))

        def make() -> Index:
            embeddings = self.model.encode_text([Sentence(text) for text in texts], report)
            index = Index(embeddings.to(device()), list(texts), self.score, self.bar_scale)
            index.save(path)
            return index

        read = partial(Index.load, path, self.score, self.bar_scale)
        return locks.made_once(path, read, make, wait)

    @property
    def can_align(self) -> bool:
        """Whether the model tells which words describe which region."""
        return self.score.can_align

    def check_can_align(self) -> None:
        """Raise UserError if the model embeds sentence and photo as a whole."""
        if not self.can_align:
            raise UserError(
                translate(
                    "{model} has one embedding for a whole sentence and one for a whole photo, so "
                    "it cannot tell which words describe which region; use a model of fragments.",
                    model=self.spec.preset,
                )
            )

    def align(self, photo: Image.Image, text: str, boxes: Tensor | None = None) -> Alignment:
        """Return the scores of the parts of a typed sentence with the regions of a photo.

        Args:
            photo: The photo.
            text: The sentence.
            boxes: (K, 4), to be regions instead of those that the model looks at.

        Raises:
            UserError: As `check_can_align` and `encode`.
        """
        self.check_can_align()
        features, boxes = self._features.encode_regions(photo, boxes)
        return self._align(text, self.model.encode_image(features[None]), boxes)

    def _align(self, text: str, photo: Embeddings, boxes: Tensor) -> Alignment:
        """Align a sentence with the regions of one photo.

        Args:
            text: A typed sentence.
            photo: (1, K, D) of its regions.
            boxes: (K, 4) of its regions.
        """
        (sentence,) = add_trees([self.parse(text)], DEP_TREE)  # fragments number its words
        return alignment(self.model, sentence, self._encode_one(sentence), photo.to("cpu"), boxes)


class Engine(Reader):
    """A checkpoint over the photos and captions of a data set, or over a folder of photos.

    Args:
        folder: The checkpoint.
        gallery: Photos with their captions, or the name of a data set, captions.json or folder; the
            data set of the training by default.
        split: Name of the split.
        progress: Called with the number of encoded photos or sentences and the total, unless a
            method is given another one.
        drawn: Yields the first photos of a gallery that is still being drawn, again each time there
            are more; they are encoded before the complete gallery is loaded. None if all photos are
            there.
        on_partial: Called with an engine over the first n photos whenever n has grown, while the
            others are being encoded.

    Attributes:
        gallery: The photos and captions.
        photos: Index of the photos.
        unreadable: Photos of a folder that cannot be read, and why.
        is_partial: Whether photos of the gallery are missing that are still being encoded.

    Raises:
        UserError: The gallery is missing, or as `Reader` for a photo.
    """

    def __init__(
        self,
        folder: AnyPath,
        gallery: AnyPath | CaptionSet | None = None,
        split: str = "all",
        progress: Progress | None = None,
        drawn: Iterable[CaptionSet] | None = None,
        on_partial: Callable[[Engine], None] | None = None,
    ) -> None:
        super().__init__(folder, progress)
        checkpoint.check_photos(self.spec)
        self.gallery: CaptionSet
        self.is_partial = False
        self.unreadable: dict[Path, str] = {}
        offered = 0

        def offer(features: Tensor) -> None:
            nonlocal offered
            if on_partial and len(features) > offered:
                offered = len(features)
                on_partial(self._over_first(features))

        if drawn is not None:
            self._features.load()  # while the first photos are drawn
            for self.gallery in drawn:
                offer(self._read_gallery(offer))
        if not isinstance(gallery, CaptionSet):
            gallery = datasets.load(gallery or self.spec.gallery, split)
        self.gallery = gallery
        self.photos = self._stored_photos() or self._index(self._read_gallery(offer))

    def _index(self, features: Tensor) -> Index:
        """Return the index of the first photos of the gallery, those that have features."""
        return self._index_of(self.model.encode_image(features))

    def _index_of(self, embeddings: Embeddings) -> Index:
        """Return the index of the first photos of the gallery, (N, D) or sets (N, K, D)."""
        names = [self.gallery.photo_name(number) for number in range(len(embeddings))]
        return Index(embeddings.to(device()), names, self.score, self.bar_scale)

    def _stored_photos(self) -> Index | None:
        """Return the index of a large gallery whose features are all there; None for others."""
        keys = self.gallery.keys
        if (
            len(keys) < stored_embeddings.MIN_PHOTOS
            or not all(keys)
            or not self._features.has_views
        ):
            return None
        if self._features.missing(keys):
            return None

        def embed(numbers: Sequence[int]) -> Embeddings:
            features = self._features.get(
                [self.gallery.photos[number] for number in numbers],
                keys=[keys[number] for number in numbers],
            )
            return self.model.encode_image(features)

        name = hashlib.sha256(self.gallery.name.encode()).hexdigest()[:16]
        path = stored_embeddings.stored_path(name, self.content_hash)
        return self._index_of(stored_embeddings.read_or_embed(path, keys, embed))

    def _over_first(self, features: Tensor) -> Engine:
        """Return an engine over the first photos of the gallery, those that have features."""
        first = copy(self)
        first.is_partial = True
        first.gallery = self.gallery.first(len(features))
        first.photos = self._index(features)
        return first

    def _read_gallery(self, offer: Callable[[Tensor], None]) -> Tensor:
        """Return the features of the gallery, (P, F) or (P, K, F).

        Unreadable photos of the user's own are left out; in another data set they are an error.
        Meanwhile, `offer` is called with the features of the first photos.
        """
        self.gallery, features, self.unreadable = self._features.get_readable(
            self.gallery, self._progress, offer
        )
        return features

    def sentences(self) -> Sequence[str]:
        """Return the captions of the gallery, each once.

        The user's own photos, which have few captions or none, get the caption bank as well.
        """
        captions = list(dict.fromkeys(self.gallery.captions))
        if captions and not self.gallery.is_own:
            return captions
        return list(dict.fromkeys([*captions, *super().sentences()]))

    def search(self, text: str, k: int = 10) -> list[Hit]:
        """Return the k photos that a sentence describes best."""
        return self.photos.top_specific(self.encode(text), check_k(k))

    def rank(self, query: Query) -> Ranking:
        """Return all photos that answer a query, in order; see `vsdemo.search.ranking`.

        Raises:
            UserError: The model knows no word of a sentence, or the query has conditions or an
                order by date and the gallery is not indexed.
        """
        needs_table = not query.filter.is_empty or query.order is not PhotoOrder.FIT
        terms = [self._score_term(term.source) for term in query.terms]
        return ranking.rank(
            query,
            [scores for scores, _ in terms],
            self.photos,
            table=self.known_table if needs_table else None,
            groups=self.copies if query.groups_copies else None,
            offsets=[offset for _, offset in terms],
        )

    def _score_term(self, source: Source) -> tuple[Tensor, float]:
        """Return the scores of a part of a query with the N photos, (N,), and `Score.offset`.

        The scores are on the CPU.
        """
        offset = 0.0
        match source:
            case str(text):
                sentence = self.encode(text)
                scores, offset = self.photos.scores(sentence), self._offset(sentence)
            case int(number):
                scores = self.photos.similarities(self.photo(number))
            case PhotoScores():
                scores = source.scores
            case photo:
                scores = self.photos.similarities(self.encode_photo(photo))
        return scores.float().cpu(), offset

    def _offset(self, sentence: Embeddings) -> float:
        return float(self.score.offset(sentence))

    @cached_property
    def table(self) -> PhotoTable | None:
        """What is known about the photos; None if they are not indexed."""
        return PhotoTable.of(self.gallery)

    @property
    def known_table(self) -> PhotoTable:
        """What is known about the photos. Raises UserError if they are not indexed."""
        if self.table is None:
            raise UserError(
                "Folder, date, camera, shape and size are known for indexed photos only; run "
                "`python -m vsdemo index FOLDER` first."
            )
        return self.table

    @cached_property
    def copies(self) -> Tensor:
        """For each photo the first one that is nearly the same, or itself, (N,).

        Photos that are not indexed are compared by their content alone, if it is known.
        """
        keys = self.gallery.keys or ("",) * len(self.photos)
        catalog = find_catalog(self.gallery.name) if any(keys) else None
        looks = catalog.looks(keys) if catalog else np.full(len(keys), FLAT).view(np.uint64)
        x = self.photos.embeddings.float().mean()
        return torch.from_numpy(group_duplicates(looks, x, keys))

    @cached_property
    def match_threshold(self) -> MatchThreshold | None:
        """The lowest match score at which a photo matches a sentence; None if unknown.

        It is that of the checkpoint if this was calibrated on the gallery's data set. Otherwise it
        is calibrated on the gallery's captions, if possible on those of photos in the dev split; a
        gallery with too few captions uses that of the checkpoint. See `vsdemo.evaluation.matching`.
        """
        if not self._needs_calibration:
            return self._stored_threshold
        return matching.calibrate(
            self.model,
            self.gallery,
            self.photos.embeddings,
            captions=matching.spread(self._captions_of_dev(), CALIBRATION),
        )

    @property
    def knows_threshold(self) -> bool:
        """Whether `match_threshold` is known without a calibration, which may take seconds."""
        return "match_threshold" in self.__dict__ or not self._needs_calibration

    @property
    def _needs_calibration(self) -> bool:
        """Whether the gallery has captions of another data set than the stored threshold."""
        stored = self._stored_threshold
        is_stored = stored is not None and stored.dataset == self.gallery.name
        needed = FEWEST if self.gallery.is_own else 1
        return len(self.gallery.captions) >= needed and not is_stored

    def _captions_of_dev(self) -> list[int]:
        """Return the captions of photos in the dev split, all captions if there are none."""
        try:
            dev = set(datasets.photos(self.gallery.name, "dev"))
        except UserError:
            dev = set()
        photos = self.gallery.photos
        owners = enumerate(self.gallery.photo_of)
        of_dev = [caption for caption, photo in owners if photos[photo] in dev]
        return of_dev or list(range(len(self.gallery.captions)))

    def matches(self, text: str, hits: Sequence[Hit]) -> bool:
        """Return whether anything in the gallery matches a sentence.

        Args:
            text: The sentence.
            hits: Its hits among the photos, the best one first.
        """
        if not hits:
            return True
        best = torch.tensor(hits[0].score) - self._offset(self.encode(text))
        return self._matches(text, float(self.score.to_unit(best)), len(self.photos))

    def _matches(self, text: str, best: float, photos: int) -> bool:
        """Return whether the best score among photos means that one matches a sentence.

        It is a unit score without `Score.offset`.
        """
        threshold = self.match_threshold
        if threshold is None:
            return True
        known = float(self._text.known_share(self.parse(text)))
        return best * known >= threshold.at(photos, text)

    def unmatched(self, result: Ranking) -> list[str]:
        """Return the sentences of a query that no photo meeting its conditions matches."""
        pairs = result.best
        return [text for text, best in pairs if not self._matches(text, best, result.candidates)]

    def describe_photo(self, number: int, k: int = 10) -> Description:
        """Return the k sentences that describe a photo of the gallery best; see `describe`."""
        return self._describe(self.photo(number), check_k(k))

    def rank_sentences_for(self, photo: Image.Image | int) -> Ranking:
        """Return all sentences of the gallery for a photo or the number of one, the best first."""
        embedding = self.photo(photo) if isinstance(photo, int) else self.encode_photo(photo)
        return ranking.rank_scores(self.captions.general_scores(embedding), self.captions)

    def photos_like(self, photo: Image.Image, k: int = 10) -> list[Hit]:
        """Return the k photos of the gallery most similar to a photo."""
        return self.photos.top_similar(self.encode_photo(photo), check_k(k))

    def similar_photos(self, number: int, k: int = 10) -> list[Hit]:
        """Return the k photos most similar to another photo of the gallery."""
        return self.photos.top_similar(self.photo(number), check_k(k), exclude=number)

    def photo(self, number: int) -> Embeddings:
        """Return the embedding of a photo of the gallery, (1, D), or of its regions, (1, K, D)."""
        return self.photos.embeddings[number : number + 1].float()

    def align_photo(self, number: int, text: str) -> Alignment:
        """Return the alignment of a typed sentence with a photo of the gallery; see `align`."""
        self.check_can_align()
        boxes = self._features.boxes([self.gallery.photos[number]])[0]
        return self._align(text, self.photo(number), boxes)

    def regions(self, text: str, k: int = 10) -> list[RegionHit]:
        """Return the k regions of the gallery with the highest mean score with a sentence's parts.

        Each photo has one hit, its best region (Karpathy 2014, Figure 5).

        Raises:
            UserError: As `align`.
        """
        count = check_k(k)
        self.check_can_align()
        photos = self.photos.embeddings
        assert photos.mask is not None
        aligned = self.score.align(self.encode(text).to(device()), photos)[0]  # (P, M, K)
        scores = aligned.mean(1).masked_fill(~photos.mask, -torch.inf)  # (P, K)
        best, region = scores.max(1)  # (P,)
        numbers = best.argsort(descending=True, stable=True)[:count].tolist()
        boxes = self._features.boxes([self.gallery.photos[number] for number in numbers])
        return [
            RegionHit(
                rank=rank,
                number=number,
                item=self.photos.items[number],
                box=tuple(of_photo[region[number]].tolist()),
                score=float(best[number]),
            )
            for rank, (number, of_photo) in enumerate(zip(numbers, boxes, strict=True), start=1)
        ]
