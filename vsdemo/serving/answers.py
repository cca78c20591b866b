"""What every front end answers: the same in Python, on the command line and over HTTP."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from PIL import Image

from vsdemo.core.alignment import Alignment
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.hits import Hit
from vsdemo.core.paths import ROOT, home, short_name, shorten_paths
from vsdemo.core.sentences import Sentence, Tree
from vsdemo.data.catalog.filters import PhotoFilter
from vsdemo.data.galleries import Gallery
from vsdemo.data.text import parser as parsers
from vsdemo.hierarchy import walks
from vsdemo.hierarchy.order import Hierarchy, Node, Step
from vsdemo.models import checkpoint, licences
from vsdemo.plots.region_marks import phrase
from vsdemo.search import hierarchies, model_comparison
from vsdemo.search.engine import Engine, Reader, check_k
from vsdemo.search.model_comparison import RankingComparison
from vsdemo.search.query import Query, make_query
from vsdemo.search.sentence_comparison import compare_sentences
from vsdemo.search.stores import opening
from vsdemo.search.stores.store import check_model, search_store
from vsdemo.serving.records import (
    AlignAnswer,
    CompareAnswer,
    ComparePairAnswer,
    ComposeAnswer,
    ComposedPhrase,
    ComposedSentence,
    DescribeAnswer,
    EmbedAnswer,
    GalleryRecord,
    ModelRecord,
    PairModel,
    ParseAnswer,
    PhotoHit,
    RankedItem,
    RankedList,
    SearchAnswer,
    SentenceHit,
    SentencesAnswer,
    SimilarPhotos,
    SimilarSentences,
    StoreAnswer,
    WalkAnswer,
    WalkStep,
    Word,
)

MAX_BATCH = 64  # sentences or photos of a request


def search(engine: Engine, query: str | Query, k: int = 10, *, start: int = 0) -> SearchAnswer:
    """Return k of the photos that answer a query, the best first, starting with the one at `start`.

    Args:
        engine: A model over a gallery.
        query: A sentence that the photos should match, or several as for `query.parse_terms`; or
            what `query.make_query` returns, with photos and conditions.
        k: Number of photos.
        start: Results to skip.

    Raises:
        UserError: The query is empty, a sentence is too long, k is out of range, the model knows no
            word of a sentence, or the gallery is not indexed and there are conditions.
    """
    count = check_k(k)
    if isinstance(query, str):
        query = make_query(query)
    if query.is_empty:
        Sentence.from_user("")  # says what to do
    result = engine.rank(query)
    suggestions = [engine.suggestions(text) for text in query.texts]
    return SearchAnswer(
        sentence=query.text,
        unknown_words=[word for text in query.texts for word in engine.unknown_words(text)],
        suggestions={word: [*words] for of_text in suggestions for word, words in of_text.items()},
        matches=not engine.unmatched(result),
        photos=result.candidates,
        unit=result.unit,
        hits=_photo_hits(result.hits(start, count)),
    )


def search_stored(
    reader: Reader,
    address: str,
    sentence: str,
    query: Embeddings,
    k: int,
    conditions: PhotoFilter,
) -> StoreAnswer:
    """Return the k photos of a store of embeddings that a sentence describes best.

    Args:
        reader: The model of the embeddings.
        address: Address of the store, see `vsdemo.search.stores`.
        sentence: The sentence.
        query: Its embedding, (1, D).
        k: Number of photos.
        conditions: What the photos must meet.

    Raises:
        UserError: The store cannot be read or reached, holds embeddings of another model, or does
            not know what a condition needs.
    """
    store = opening.open_store(address)
    check_model(store.about, short_name(reader.folder), reader.content_hash, reader.score)
    result = search_store(store, query, reader.score, k, conditions)
    return StoreAnswer(
        sentence=sentence,
        unknown_words=reader.unknown_words(sentence),
        photos=store.about.photos,
        candidates=result.candidates,
        is_certain=result.is_certain,
        unit=reader.score.unit,
        hits=_photo_hits(result.hits),
    )


def describe(
    reader: Reader,
    photo: Image.Image,
    k: int = 10,
    *,
    name: str = "",
    texts: Sequence[str] = (),
) -> DescribeAnswer:
    """Return the k sentences that describe a photo best.

    Args:
        reader: A model; an `Engine` describes with the captions of its gallery, a `Reader` with the
            sentences that ship with vsdemo.
        photo: The photo.
        k: Number of sentences.
        name: Name of the photo in the answer.
        texts: Sentences to choose from instead of those.

    Raises:
        UserError: k is out of range, the image network is missing, or a sentence is not valid.
    """
    count = check_k(k)
    if texts:
        hits, likely = reader.rank_sentences(photo, texts, count), None
    else:
        hits, likely = reader.describe(photo, count)
    return DescribeAnswer(
        photo=name,
        likely=None if likely is None else list(likely),
        unit=reader.score.unit,
        hits=_sentence_hits(hits),
    )


def compose(reader: Reader, photo: Image.Image, k: int = 3, *, name: str = "") -> ComposeAnswer:
    """Return up to k sentences that a model composes about a photo, beside those that it finds.

    Raises:
        UserError: k is out of range, the image network is missing, or the model has no captioner.
    """
    count = check_k(k)
    composed = reader.compose(photo, count)
    return ComposeAnswer(
        photo=name,
        unit=reader.score.unit,
        composed=[
            ComposedSentence(
                rank=rank,
                sentence=sentence.text,
                likelihood=sentence.likelihood,
                score=sentence.score,
                phrases=list(_composed_phrases(alignment)),
            )
            for rank, (sentence, alignment) in enumerate(composed.sentences, start=1)
        ],
        retrieved=_sentence_hits(reader.captions.top_general(composed.photo, count)),
    )


def _composed_phrases(alignment: Alignment) -> Iterator[ComposedPhrase]:
    for m in alignment.content_fragments:
        region = alignment.best_region(m)
        yield ComposedPhrase(
            phrase=phrase(alignment, m),
            box=None if region is None else alignment.boxes[region],
            score=max(alignment.scores[m]),
        )


def similar_photos(
    engine: Engine, photo: Image.Image, k: int = 10, *, name: str = ""
) -> SimilarPhotos:
    """Return the k photos of a gallery most similar to a photo. Raises as `describe`."""
    hits = engine.photos_like(photo, check_k(k))
    return SimilarPhotos(query=name, unit=engine.score.unit, hits=_photo_hits(hits))


def similar_sentences(reader: Reader, sentence: str, k: int = 10) -> SimilarSentences:
    """Return the k sentences most similar to a sentence. Raises as `search`."""
    text = Sentence.from_user(sentence).text
    hits = reader.similar_sentences(text, check_k(k))
    return SimilarSentences(query=text, unit=reader.score.unit, hits=_sentence_hits(hits))


def align(reader: Reader, photo: Image.Image, sentence: str, *, name: str = "") -> AlignAnswer:
    """Return which words of a sentence describe which region of a photo.

    Raises:
        UserError: As `search`, or the model embeds sentence and photo as a whole.
    """
    text = Sentence.from_user(sentence).text
    return alignment(reader.align(photo, text), text, name=name)


def alignment(value: Alignment, sentence: str, *, name: str = "") -> AlignAnswer:
    """Return the record of an alignment of a sentence with a photo."""
    return AlignAnswer.model_validate({"photo": name, "sentence": sentence, **value.to_json()})


def parse(sentence: str, parser: str = "shipped") -> ParseAnswer:
    """Return the dependency tree of a sentence.

    Raises:
        UserError: The sentence is blank or too long, or the parser is not available.
    """
    text = Sentence.from_user(sentence).text
    return tree(parsers.load(parser).parse([text])[0], text)


def tree(value: Tree, sentence: str) -> ParseAnswer:
    """Return the record of the dependency tree of a sentence."""
    rows = zip(value.words, value.tags, value.labels, value.heads, strict=True)
    return ParseAnswer(
        sentence=sentence,
        words=[
            Word(number=number, word=word, tag=tag, relation=label, head=head)
            for number, (word, tag, label, head) in enumerate(rows, start=1)
        ],
    )


def walk(
    reader: Reader,
    start: str | Image.Image,
    *,
    hierarchy: Hierarchy | None = None,
    name: str = "",
) -> WalkAnswer:
    """Return a walk up the hierarchy from a sentence, photo or concept, and down again.

    Args:
        reader: An `Engine` with an order; or a model of concepts.
        start: A sentence, a photo or, for a model of concepts, a word.
        hierarchy: What `hierarchies.build_hierarchy` returns, if it is already built.
        name: Name of a photo in the answer.

    Raises:
        UserError: The model has no order, or does not know the start.
    """
    hierarchy = hierarchy or hierarchies.build_hierarchy(reader)
    if isinstance(start, str):
        return walk_from(reader, hierarchy, hierarchies.text_node(hierarchy, reader, start))
    return walk_from(reader, hierarchy, hierarchies.photo_node(reader, start, name))


def walk_from(reader: Reader, hierarchy: Hierarchy, node: Node) -> WalkAnswer:
    """Return a walk up the hierarchy from a node, and down again."""
    entailments = None
    if isinstance(reader, Engine):
        hierarchy, entailments = hierarchies.add_generalizations(hierarchy, reader, node)
    path = walks.walk(hierarchy, node, entailments)
    return WalkAnswer(
        start=node.text,
        kind=node.kind,
        up=_steps(hierarchy, path.start, path.up, up=True),
        down=_steps(hierarchy, path.top, path.down, up=False),
    )


def _steps(hierarchy: Hierarchy, start: Node, path: Sequence[Step], *, up: bool) -> list[WalkStep]:
    nodes = [start, *(hierarchy.node(step.number) for step in path)]
    are_true = walks.truths(hierarchy, nodes, up=up)
    return [
        WalkStep(kind=node.kind, text=node.text, violation=step.violation, true=is_true)
        for node, step, is_true in zip(nodes[1:], path, are_true, strict=True)
    ]


def sentences(readers: Mapping[str, Reader | str], first: str, second: str) -> SentencesAnswer:
    """Return what models say about two sentences.

    Args:
        readers: Models by name; in place of one that cannot be loaded, the reason.
        first: A sentence.
        second: Another one.

    Raises:
        UserError: A sentence is blank or too long.
    """
    texts = [Sentence.from_user(text).text for text in (first, second)]
    models: dict[str, dict[str, Any]] = {}
    for name, reader in readers.items():
        if isinstance(reader, str):
            models[name] = {"problem": reader}
            continue
        try:
            models[name] = compare_sentences(reader, *texts).record()
        except UserError as error:  # it knows no word of a sentence
            models[name] = {"problem": str(error)}
    return SentencesAnswer(first=texts[0], second=texts[1], models=models)


def compare(engines: Mapping[str, Engine], sentence: str, k: int = 6) -> CompareAnswer:
    """Return which photos several models rank first for a sentence.

    Args:
        engines: 2 to 4 models by name, over the same gallery.
        sentence: The sentence.
        k: Photos of each model.

    Raises:
        UserError: The sentence is blank or too long, or k or the number of models is out of range.
    """
    return _compared(model_comparison.compare_searches(engines, sentence, k), sentence.strip())


def compare_photo(
    engines: Mapping[str, Engine], photo: Image.Image, k: int = 6, *, name: str = ""
) -> CompareAnswer:
    """Return which sentences several models rank first for a photo.

    Args:
        engines: As in `compare`.
        photo: The photo.
        k: Sentences of each model.
        name: Name of the photo in the answer.

    Raises:
        UserError: k or the number of models is out of range.
    """
    return _compared(model_comparison.compare_descriptions(engines, photo, k), name)


def compare_pair(
    engines: Mapping[str, Engine], first: str, second: str, k: int = 6
) -> ComparePairAnswer:
    """Return which photos several models rank first for either of two sentences.

    Raises:
        UserError: As `compare`.
    """
    pairs = model_comparison.compare_pair(engines, first, second, k)
    return ComparePairAnswer(
        first=first.strip(),
        second=second.strip(),
        models=[
            PairModel(
                model=pair.model,
                similarity=pair.similarity,
                agreement=pair.rankings.agreement,
                sentences=_ranked_lists(pair.rankings),
            )
            for pair in pairs
        ],
    )


def _compared(comparison: RankingComparison, query: str) -> CompareAnswer:
    return CompareAnswer(
        query=query, agreement=comparison.agreement, models=_ranked_lists(comparison)
    )


def _ranked_lists(comparison: RankingComparison) -> list[RankedList]:
    columns = comparison.columns
    return [
        RankedList(
            title=column.title,
            unit=column.ranking.unit if column.ranking else "",
            items=[
                RankedItem(
                    rank=hit.rank,
                    item=hit.item,
                    score=hit.score,
                    unit_score=hit.unit_score,
                    other_ranks={
                        other.title: other.ranks[hit.number]
                        for other in columns
                        if other is not column and hit.number in other.ranks
                    },
                )
                for hit in column.hits
            ],
            problem=column.problem,
        )
        for column in columns
    ]


def embed_sentences(reader: Reader, texts: Sequence[str]) -> EmbedAnswer:
    """Return the embeddings of sentences.

    Raises:
        UserError: A sentence is blank or too long, or the model knows no word of it; or there are
            more than MAX_BATCH.
    """
    check_batch(texts)
    return _embed_answer("sentence", reader.encode_texts(texts))


def embed_photos(reader: Reader, photos: Sequence[Image.Image]) -> EmbedAnswer:
    """Return the embeddings of photos.

    Raises:
        UserError: The image network is missing; or there are more than MAX_BATCH photos.
    """
    check_batch(photos)
    return _embed_answer("photo", reader.encode_photos(photos))


def check_batch(items: Sequence[Any]) -> None:
    """Raise UserError unless there are 1 to MAX_BATCH items."""
    if not 1 <= len(items) <= MAX_BATCH:
        raise UserError(
            f"A request takes 1 to {MAX_BATCH} sentences or photos, not {len(items):,}."
        )


def models(folders: Mapping[str, Path]) -> list[ModelRecord]:
    """Return the records of checkpoints by name."""
    return [_model(name, folder) for name, folder in folders.items()]


def galleries(known: Iterable[Gallery]) -> list[GalleryRecord]:
    """Return the records of galleries."""
    return [
        GalleryRecord(
            gallery=gallery.key,
            label=gallery.label,
            dataset=gallery.name,
            split=gallery.split,
            photos=len(gallery.photos),
        )
        for gallery in known
    ]


def _model(name: str, folder: Path) -> ModelRecord:
    try:
        spec = checkpoint.read_spec(folder)
    except UserError as error:  # a damaged checkpoint
        problem = shorten_paths(str(error))
        return ModelRecord(model=name, checkpoint=shown_folder(folder), problem=problem)
    return ModelRecord(
        model=name,
        checkpoint=shown_folder(folder),
        preset=spec.preset,
        dataset=spec.dataset,
        backbone=spec.config.backbone if spec.features else "",
        licence=licences.label(spec),
    )


def shown_folder(folder: Path) -> str:
    """Return a folder as text, without the path of ROOT or VSDEMO_HOME if it is below them."""
    for root in (ROOT, home()):
        with suppress(ValueError):
            return str(folder.resolve().relative_to(root.resolve()))
    return str(folder)


def _photo_hits(hits: Sequence[Hit]) -> list[PhotoHit]:
    return [
        PhotoHit(
            rank=hit.rank,
            number=hit.number,
            photo=hit.item,
            score=hit.score,
            unit_score=hit.unit_score,
        )
        for hit in hits
    ]


def _sentence_hits(hits: Sequence[Hit]) -> list[SentenceHit]:
    return [
        SentenceHit(rank=hit.rank, sentence=hit.item, score=hit.score, unit_score=hit.unit_score)
        for hit in hits
    ]


def _embed_answer(kind: Literal["photo", "sentence"], embeddings: Embeddings) -> EmbedAnswer:
    """Return the answer for embeddings (N, D), or for the unmasked vectors of sets (N, K, D)."""
    x, mask = embeddings.x.float().cpu(), embeddings.mask
    rows = [*x] if mask is None else [row[kept] for row, kept in zip(x, mask.cpu(), strict=True)]
    return EmbedAnswer(kind=kind, dim=x.shape[-1], embeddings=[row.tolist() for row in rows])
