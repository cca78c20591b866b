"""The endpoints: each takes its parameters and returns its answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, TypeVar

from PIL import Image

from vsdemo.core.errors import Cancelled, UserError
from vsdemo.core.paths import short_name
from vsdemo.search.engine import MAX_K, Engine, Reader
from vsdemo.search.model_comparison import check_count
from vsdemo.search.query import make_query
from vsdemo.serving import answers, records
from vsdemo.serving.api_records import DescribeAnswer, PhotoHit, SearchAnswer, SimilarPhotos
from vsdemo.serving.request_errors import RequestError
from vsdemo.ui import images
from vsdemo.ui.api import requests
from vsdemo.ui.api.photos import open_api_photo
from vsdemo.ui.hierarchy.loader import Hierarchies
from vsdemo.ui.library import Library
from vsdemo.ui.library.pending import Pending

T = TypeVar("T")
WAIT = 60.0  # seconds that a request waits for a model or gallery that is being prepared
RETRY = 15  # seconds
WORKERS = 4  # requests that compute at the same time


@dataclass(frozen=True)
class Endpoint:
    """A function that programs may call.

    Args:
        name: Its name in addresses.
        summary: What it does, in one sentence.
        parameters: The type of its parameters.
        call: Answers a request.
        answer: The type of the answer.
    """

    name: str
    summary: str
    parameters: type[requests.Request]
    call: Callable[[Any], Awaitable[Any]]
    answer: Any


class Endpoints:
    """The endpoints over a library. They compute in separate threads."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self._hierarchies = Hierarchies(library)
        self._workers = ThreadPoolExecutor(WORKERS, "vsdemo-api")

    def all(self) -> list[Endpoint]:
        """Return every endpoint."""
        many = "Several sentences have several answers."
        return [
            Endpoint(
                "models",
                "List the models.",
                requests.NoParameters,
                self.models,
                list[records.ModelRecord],
            ),
            Endpoint(
                "galleries",
                "List the galleries: photos that can be searched.",
                requests.NoParameters,
                self.galleries,
                list[records.GalleryRecord],
            ),
            Endpoint(
                "search",
                f"Find the photos that a sentence describes. {many}",
                requests.SearchRequest,
                self.search,
                SearchAnswer | list[SearchAnswer],
            ),
            Endpoint(
                "describe",
                "Find the sentences that describe a photo.",
                requests.DescribeRequest,
                self.describe,
                DescribeAnswer,
            ),
            Endpoint(
                "similar",
                "Find photos that are similar to a photo, or sentences similar to a sentence.",
                requests.SimilarRequest,
                self.similar,
                SimilarPhotos | records.SimilarSentences,
            ),
            Endpoint(
                "align",
                "Tell which words of a sentence describe which region of a photo.",
                requests.AlignRequest,
                self.align,
                records.AlignAnswer,
            ),
            Endpoint(
                "parse",
                f"Parse a sentence: its words and their dependencies. {many}",
                requests.ParseRequest,
                self.parse,
                records.ParseAnswer | list[records.ParseAnswer],
            ),
            Endpoint(
                "walk",
                "Walk up the hierarchy from a sentence or photo, and down again.",
                requests.WalkRequest,
                self.walk,
                records.WalkAnswer,
            ),
            Endpoint(
                "sentences",
                "Compare two sentences by every model.",
                requests.SentencesRequest,
                self.sentences,
                records.SentencesAnswer,
            ),
            Endpoint(
                "compare",
                "Compare what several models rank first for a sentence, two of them, or a photo.",
                requests.CompareRequest,
                self.compare,
                records.CompareAnswer | records.ComparePairAnswer,
            ),
            Endpoint(
                "embed",
                "Embed sentences or photos.",
                requests.EmbedRequest,
                self.embed,
                records.EmbedAnswer,
            ),
        ]

    async def models(self, _: requests.NoParameters) -> list[records.ModelRecord]:
        """List the models."""
        return await self._compute(answers.models, dict(self.library.models))

    async def galleries(self, _: requests.NoParameters) -> list[records.GalleryRecord]:
        """List the galleries."""
        return answers.galleries(self.library.galleries.values())

    async def search(self, request: requests.SearchRequest) -> SearchAnswer | list[SearchAnswer]:
        """Answer one sentence, or each of several."""
        model, gallery = self._choose(request.model, request.gallery)
        texts = [request.sentence] if isinstance(request.sentence, str) else request.sentence
        answers.check_batch(texts)
        engine = await self._engine(model, gallery)
        photos = [(await self._photo(photo))[0] for photo in request.photos]

        def search(text: str) -> SearchAnswer:
            query = make_query(
                text,
                photos,
                photo_weight=request.photo_weight,
                conditions=request.conditions,
                order=request.order,
                groups_copies=request.groups_copies,
            )
            answer = answers.search(engine, query, request.k, start=request.start)
            values = dict(answer) | {"hits": self._with_addresses(answer.hits, gallery)}
            return SearchAnswer(**values, model=model, gallery=gallery)

        results = [await self._compute(search, text) for text in texts]
        return results[0] if isinstance(request.sentence, str) else results

    async def describe(self, request: requests.DescribeRequest) -> DescribeAnswer:
        """Describe a photo with the captions of a gallery, or the sentences of vsdemo."""
        photo, name = await self._photo(request.photo)
        reader: Reader
        if request.gallery:
            model, gallery = self._choose(request.model, request.gallery)
            reader = await self._engine(model, gallery)
            await self._result(self.library.captions(model, gallery))
        else:
            model, _ = self._choose(request.model, "")
            named = await self._result(self.library.describer(model))
            model, reader = named.model, named.reader
        answer = await self._compute(answers.describe, reader, photo, _count(request), name=name)
        hits = answer.hits[request.start :]
        return DescribeAnswer(**dict(answer) | {"hits": hits}, model=model)

    async def similar(
        self, request: requests.SimilarRequest
    ) -> SimilarPhotos | records.SimilarSentences:
        """Find photos like a photo, or sentences like a sentence."""
        _check_one(sentence=request.sentence, photo=request.photo)
        model, gallery = self._choose(request.model, request.gallery)
        if request.photo is None:
            engine = await self._engine(model, gallery)
            await self._result(self.library.captions(model, gallery))
            result = await self._compute(
                answers.similar_sentences, engine, request.sentence, _count(request)
            )
            return result.model_copy(update={"hits": result.hits[request.start :]})
        photo, name = await self._photo(request.photo)
        engine = await self._engine(model, gallery)
        answer = await self._compute(
            answers.similar_photos, engine, photo, _count(request), name=name
        )
        hits = self._with_addresses(answer.hits[request.start :], gallery)
        return SimilarPhotos(query=name, unit=answer.unit, hits=hits, model=model, gallery=gallery)

    async def align(self, request: requests.AlignRequest) -> records.AlignAnswer:
        """Align the words of a sentence with the regions of a photo."""
        model, gallery = self._choose(request.model, "")
        photo, name = await self._photo(request.photo)
        named = await self._result(self.library.aligner(model, gallery))
        if request.model and named.model != model:
            raise RequestError(
                f"{model} cannot tell which words describe which region; use {named.model}.",
                code="cannot_align",
            )
        return await self._compute(answers.align, named.reader, photo, request.sentence, name=name)

    async def parse(
        self, request: requests.ParseRequest
    ) -> records.ParseAnswer | list[records.ParseAnswer]:
        """Parse one sentence, or each of several."""
        if isinstance(request.sentence, str):
            return await self._compute(answers.parse, request.sentence)
        answers.check_batch(request.sentence)
        return [await self._compute(answers.parse, text) for text in request.sentence]

    async def walk(self, request: requests.WalkRequest) -> records.WalkAnswer:
        """Walk through the hierarchy of a model and gallery."""
        _check_one(sentence=request.sentence, photo=request.photo)
        model, gallery = self._choose(request.model, request.gallery)
        start: str | Image.Image = request.sentence
        name = ""
        if request.photo is not None:
            start, name = await self._photo(request.photo)
        loaded = await self._result(self._hierarchies.get((model, gallery)))
        if request.model and loaded.name != model:
            raise RequestError(f"{loaded.reason}; use {loaded.name}.", code="no_order")
        return await self._compute(
            answers.walk, loaded.reader, start, hierarchy=loaded.hierarchy, name=name
        )

    async def sentences(self, request: requests.SentencesRequest) -> records.SentencesAnswer:
        """Compare two sentences by every model."""
        readers = await self._result(self.library.all_readers())
        return await self._compute(answers.sentences, readers, request.first, request.second)

    async def compare(
        self, request: requests.CompareRequest
    ) -> records.CompareAnswer | records.ComparePairAnswer:
        """Compare what several models rank first."""
        _check_one(sentence=request.sentence, photo=request.photo)
        chosen = [self._choose(model, request.gallery) for model in request.models]
        check_count(chosen)
        engines = {
            short_name(self.library.models[model]): await self._engine(model, gallery)
            for model, gallery in chosen
        }
        if request.photo is not None:
            photo, name = await self._photo(request.photo)
            for model, gallery in chosen:
                await self._result(self.library.captions(model, gallery))
            return await self._compute(answers.compare_photo, engines, photo, request.k, name=name)
        texts = [text for text in (request.sentence, request.second) if text]
        compare = answers.compare_pair if request.second else answers.compare
        return await self._compute(compare, engines, *texts, request.k)

    async def embed(self, request: requests.EmbedRequest) -> records.EmbedAnswer:
        """Embed sentences or photos."""
        _check_one(sentences=request.sentences, photos=request.photos)
        model, _ = self._choose(request.model, "")
        reader = (await self._result(self.library.reader(model))).reader
        if request.sentences:
            return await self._compute(answers.embed_sentences, reader, request.sentences)
        photos = [(await self._photo(photo))[0] for photo in request.photos]
        return await self._compute(answers.embed_photos, reader, photos)

    def _choose(self, model: str, gallery: str) -> tuple[str, str]:
        """Return the keys of a model and a gallery; empty ones are the default."""
        gallery = gallery or next(iter(self.library.galleries))
        _check_known("gallery", gallery, self.library.galleries)
        model = model or self.library.default_model(gallery)
        model = self.library.find_model(model) or model
        _check_known("model", model, self.library.models)
        return model, gallery

    async def _engine(self, model: str, gallery: str) -> Engine:
        return await self._result(self.library.engine(model, gallery))

    async def _photo(self, value: str | dict[str, Any]) -> tuple[Image.Image, str]:
        return await self._compute(open_api_photo, self.library, value)

    async def _compute(self, function: Callable[..., T], *args: Any, **options: Any) -> T:
        """Call a function in a thread of the API's own."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._workers, lambda: function(*args, **options))

    async def _result(self, pending: Pending[T]) -> T:
        """Wait for a value that loads in the background.

        Raises:
            RequestError: It takes longer than WAIT seconds.
        """
        with pending.wanted():
            future = asyncio.wrap_future(pending.future)
            try:
                return await asyncio.wait_for(asyncio.shield(future), WAIT)
            except (TimeoutError, Cancelled):
                status = pending.status
                done = f", {status.done:,} of {status.total:,}" if status.total else ""
                raise RequestError(
                    f"This is still being prepared ({status.label}{done}); try again later.",
                    code="preparing",
                    status=HTTPStatus.SERVICE_UNAVAILABLE,
                    retry_after=RETRY,
                ) from None

    def _with_addresses(self, hits: Sequence[records.PhotoHit], gallery: str) -> list[PhotoHit]:
        """Return hits with the addresses of their photos."""
        token = self.library.galleries[gallery].token
        return [
            PhotoHit(**dict(hit), url=images.address(token, hit.number, size="large"))
            for hit in hits
        ]


def _count(request: requests.PagedRequest) -> int:
    """Return how many results to compute for a page."""
    return min(request.start + request.k, MAX_K)


def _check_known(kind: str, name: str, known: Mapping[str, Any]) -> None:
    if name not in known:
        raise RequestError(
            f"There is no {kind} {name[:60]!r} here; choose one of {', '.join(known)}.",
            code=f"unknown_{kind}",
            status=HTTPStatus.NOT_FOUND,
        )


def _check_one(**given: Any) -> None:
    """Raise UserError unless exactly one of several values is given."""
    if sum(bool(value) for value in given.values()) != 1:
        raise UserError(f"Send either {' or '.join(given)}.")
