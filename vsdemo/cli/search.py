"""`search`, `describe` and `similar`: queries over a gallery."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vsdemo.cli.options import (
    Checkpoint,
    Gallery,
    Json,
    K,
    PhotoFile,
    Split,
    index_name,
    is_photo,
    load_engine,
)
from vsdemo.cli.output import NO_PHOTO, print_hits, print_json, print_table, print_unknown
from vsdemo.cli.stores import answer_from_store, show_stored
from vsdemo.core.errors import UserError
from vsdemo.core.paths import short_name
from vsdemo.data.catalog.filters import Orientation, PhotoFilter, PhotoOrder
from vsdemo.search.stores.addresses import is_store
from vsdemo.serving import running_app
from vsdemo.serving.records import ComposeAnswer, SearchAnswer

if TYPE_CHECKING:
    from vsdemo.search.engine import Engine
    from vsdemo.search.query import Query
    from vsdemo.serving.records import SimilarPhotos, SimilarSentences


SHOWN_NUMBERS = 4  # of an embedding
DAY = "%Y-%m-%d"
NO_MORE = "There are no more results."
NO_MATCH = "Nothing in this gallery matches this sentence well; the nearest photos are shown."


def search(  # noqa: PLR0913 (a command's parameters are its options)
    checkpoint: Checkpoint,
    sentence: Annotated[
        str,
        typer.Argument(
            help="Sentence to search for; several are separated by semicolons. One that begins "
            "with a minus is what the photos should not show, one that ends with ^0.5 counts half."
        ),
    ] = "",
    k: K = "10",
    gallery: Gallery = None,
    split: Split = "all",
    photos: Annotated[
        list[Path] | None,
        typer.Option("--photo", help="Photo that the results should be like; may be repeated."),
    ] = None,
    photo_weight: Annotated[
        float, typer.Option(help="Weight of these photos; a sentence has weight 1.")
    ] = 1.0,
    folder: Annotated[str, typer.Option(help="Only photos in this folder of an index.")] = "",
    since: Annotated[
        datetime | None, typer.Option(formats=[DAY], help="Only photos of this day or later.")
    ] = None,
    until: Annotated[
        datetime | None, typer.Option(formats=[DAY], help="Only photos of this day or earlier.")
    ] = None,
    camera: Annotated[str, typer.Option(help="Only photos by cameras with this in the name.")] = "",
    orientation: Annotated[
        Orientation, typer.Option(help="Only photos of this shape.")
    ] = Orientation.ANY,
    megapixels: Annotated[float, typer.Option(help="Only photos of at least this size.")] = 0,
    order: Annotated[PhotoOrder, typer.Option(help="Sort order of the photos.")] = PhotoOrder.FIT,
    start: Annotated[int, typer.Option(min=0, help="Results to skip, for the next page.")] = 0,
    target: Annotated[
        Path | None,
        typer.Option(
            "--to", help="Write the photos to NAME.zip, NAME.csv or a folder of links of this name."
        ),
    ] = None,
    save: Annotated[str, typer.Option(help="Save this search of an index under a name.")] = "",
    saved: Annotated[str, typer.Option(help="Repeat a saved search, with its filters.")] = "",
    app: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="URL of a running app to search with, such as http://127.0.0.1:7860; it must have "
            "a model and a gallery of these names. This is faster, as no model is loaded.",
        ),
    ] = "",
    fallback: Annotated[
        str,
        typer.Option(
            metavar="FOLDER",
            help="Merged embeddings to search if the store of --gallery cannot be reached.",
        ),
    ] = "",
    *,
    group_copies: Annotated[
        bool,
        typer.Option("--group-copies", help="Show only one of several nearly identical photos."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Find the photos that a sentence describes, or that are like a photo.

    In JSON, `score` is the model's own and `unit_score` the same mapped to 0..1; `matches` is false
    if nothing in the gallery matches well, and `suggestions` has words for those unknown.
    """
    conditions = PhotoFilter(
        folder=folder,
        since=since and since.date(),
        until=until and until.date(),
        camera=camera,
        orientation=orientation,
        megapixels=megapixels,
    )
    if gallery and is_store(gallery):
        if photos or target or save or saved or app or start or group_copies:
            raise UserError(
                "Stored embeddings are searched with one sentence and conditions on the photos; "
                "leave out the other options."
            )
        stored = answer_from_store(checkpoint, gallery, sentence, k, conditions, fallback)
        show_stored(stored, as_json=as_json)
        return
    if app:
        if gallery is None or target or save or saved:
            raise UserError(
                "--app needs --gallery, and cannot be combined with --to, --save or --saved."
            )
        parameters = {
            "sentence": sentence,
            "model": short_name(checkpoint),
            "gallery": running_app.gallery_key(gallery, split),
            "k": k,
            "start": start,
            "photos": [running_app.encoded(photo) for photo in photos or ()],
            "photo_weight": photo_weight,
            "conditions": conditions.model_dump(mode="json"),
            "order": order.value,
            "groups_copies": group_copies,
        }
        remote = running_app.RunningApp(app).search(parameters)
        values = {name: getattr(remote, name) for name in SearchAnswer.model_fields}
        _show(SearchAnswer(**values), as_json=as_json)
        return
    from vsdemo.core.images import open_photo
    from vsdemo.core.sentences import Sentence
    from vsdemo.search.engine import check_k
    from vsdemo.search.photo_export import check_target
    from vsdemo.search.query import make_query
    from vsdemo.serving import answers

    check_k(k)  # before photos are read, which takes long
    query = make_query(
        sentence,
        [open_photo(photo) for photo in photos or ()],
        photo_weight=photo_weight,
        conditions=conditions,
        order=order,
        groups_copies=group_copies,
    )
    if saved:
        query = _saved_query(saved, gallery)
    for text in [""] if query.is_empty else query.texts:
        Sentence.from_user(text)
    if target:
        check_target(target)
    if save:
        _save(save, gallery, checkpoint, query, photos or ())
    engine = load_engine(checkpoint, gallery, split)
    answer = answers.search(engine, query, check_k(k), start=start)
    if target:
        _export(engine, answer, target)
    _show(answer, as_json=as_json)


def _show(answer: SearchAnswer, *, as_json: bool) -> None:
    """Print an answer as JSON, or as a table, and on stderr which words were not known."""
    if as_json:
        print_json(answer.model_dump())
        return
    print_unknown(answer.unknown_words)
    for word, offered in answer.suggestions.items():
        if offered:
            print(f"Instead of {word!r} try: {', '.join(offered)}", file=sys.stderr)
    if not answer.hits:
        print(NO_PHOTO if answer.photos == 0 else NO_MORE)
    elif not answer.matches:
        print(NO_MATCH)
    print_hits(answer)


def _save(
    name: str, gallery: str | None, checkpoint: Path, query: Query, photos: Sequence[Path]
) -> None:
    """Save a search of an index under a name."""
    from vsdemo.data.catalog.annotations import Annotations
    from vsdemo.data.catalog.examine import content_hash
    from vsdemo.data.catalog.saved_search import SavedSearch, checked_name

    weights = [abs(term.weight) for term in query.terms if not isinstance(term.source, str)]
    search = SavedSearch(
        name=checked_name(name),
        sentences=query.text,
        photos=tuple(content_hash(photo) for photo in photos),
        photo_weight=sum(weights) or 1.0,
        filter=query.filter,
        order=query.order,
        groups_copies=query.groups_copies,
        model=short_name(checkpoint),
    )
    Annotations(index_name(gallery)).save_search(search)


def _saved_query(name: str, gallery: str | None) -> Query:
    """Return the query of a saved search; its photos are read from the index."""
    from vsdemo.core.images import open_photo
    from vsdemo.data.catalog.annotations import Annotations
    from vsdemo.data.catalog.catalog import Catalog
    from vsdemo.search.query import make_query

    index = index_name(gallery)
    search = Annotations(index).search(name)
    photos = []
    if search.photos:
        catalog = Catalog(index)
        files = dict(zip(*reversed(catalog.photos()), strict=True))
        if any(key not in files for key in search.photos):
            raise UserError(f"A photo of the search {name!r} is no longer in the index.")
        photos = [open_photo(catalog.folder / files[key]) for key in search.photos]
    return make_query(
        search.sentences,
        photos,
        photo_weight=search.photo_weight,
        conditions=search.filter,
        order=search.order,
        groups_copies=search.groups_copies,
    )


def _export(engine: Engine, answer: SearchAnswer, target: Path) -> None:
    """Write the photos of an answer to a file or folder."""
    from tqdm import tqdm

    from vsdemo.data.catalog.catalog import find_catalog
    from vsdemo.search.photo_export import ExportedPhoto, export_photos

    gallery = engine.gallery
    catalog = find_catalog(gallery.name)
    entries = catalog.entries_of(hit.photo for hit in answer.hits) if catalog else {}
    photos = [
        ExportedPhoto.of(
            gallery.photos[hit.number],
            hit.photo,
            hit.rank,
            hit.score,
            entry=entries.get(hit.photo),
        )
        for hit in answer.hits
    ]
    with tqdm(total=len(photos), unit="photo", disable=None) as bar:
        export_photos(photos, target, progress=lambda done, total: bar.update(done - bar.n))
    print(f"{len(photos):,} photos written to {target}.", file=sys.stderr)


def embed(
    checkpoint: Checkpoint,
    items: Annotated[list[str], typer.Argument(help="Sentences, or photo files.")],
    *,
    as_json: Json = False,
) -> None:
    """Embed sentences or photos.

    In JSON, each has one vector, or a set of vectors by a model of fragments. Without it, their
    lengths and their first numbers are printed.
    """
    from vsdemo.core.images import open_photo
    from vsdemo.search.engine import Reader
    from vsdemo.serving import answers

    if len({is_photo(item) for item in items}) > 1:
        raise UserError("Give either sentences or photo files, not both.")
    if is_photo(items[0]):
        photos = [open_photo(item) for item in items]
        answer = answers.embed_photos(Reader(checkpoint), photos)
    else:
        answer = answers.embed_sentences(Reader(checkpoint), items)
    if as_json:
        print_json(answer.model_dump())
        return
    rows = []
    for item, embedding in zip(items, answer.embeddings, strict=True):
        vectors = embedding if isinstance(embedding[0], list) else [embedding]
        numbers = " ".join(f"{number:.3f}" for number in vectors[0][:SHOWN_NUMBERS])
        rows.append((f"{len(vectors)} x {answer.dim}", f"{numbers} ...", item))
    print_table(rows)


def describe(  # noqa: PLR0913 (a command's parameters are its options)
    checkpoint: Checkpoint,
    photo: PhotoFile,
    k: K = "10",
    gallery: Gallery = None,
    split: Split = "all",
    texts: Annotated[
        list[str] | None,
        typer.Option("--text", help="Word or sentence to rank in place of others; repeat it."),
    ] = None,
    *,
    compose: Annotated[
        bool, typer.Option("--compose", help="Write new sentences, beside those that exist.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Find the sentences that describe a photo.

    They come from the captions of --gallery, by default from the sentences that ship with vsdemo.
    In JSON, `score` is the model's own and `unit_score` the same mapped to 0..1.
    """
    from vsdemo.core.images import open_photo
    from vsdemo.search.description import likely_text
    from vsdemo.search.engine import Reader, check_k
    from vsdemo.serving import answers

    if gallery is None and split != "all":
        raise UserError("--split needs --gallery.")
    count, image = check_k(k), open_photo(photo)
    reader = Reader(checkpoint) if gallery is None else load_engine(checkpoint, gallery, split)
    if compose:
        if texts:
            raise UserError("--compose writes its own sentences; leave --text out.")
        composed = answers.compose(reader, image, count, name=str(photo))
        if as_json:
            print_json(composed.model_dump())
        else:
            _print_composed(composed)
        return
    answer = answers.describe(reader, image, count, name=str(photo), texts=texts or ())
    if as_json:
        print_json(answer.model_dump())
    else:
        if answer.likely is not None:
            print(likely_text(answer.likely))
        print_hits(answer)


def _print_composed(answer: ComposeAnswer) -> None:
    """Print each sentence with its phrases and their regions, then the sentences that exist."""
    for sentence in answer.composed:
        print(f"{sentence.sentence}  (score {sentence.score:.2f})")
        rows = []
        for phrase in sentence.phrases:
            box = " ".join(f"{edge:.2f}" for edge in phrase.box or ())
            rows.append(("", phrase.phrase, f"{phrase.score:.2f}", box or "not in the picture"))
        print_table(rows)
    print("Retrieved:")
    for hit in answer.retrieved:
        print(f"{hit.sentence}  (score {hit.score:.2f})")


def similar(
    checkpoint: Checkpoint,
    query: Annotated[str, typer.Argument(help="Sentence, or photo file.")],
    k: K = "10",
    gallery: Gallery = None,
    split: Split = "all",
    *,
    as_json: Json = False,
) -> None:
    """Find similar photos or sentences.

    A photo file finds photos, a sentence finds captions of the gallery. In JSON, `score` is the
    model's own and `unit_score` the same mapped to 0..1.
    """
    from vsdemo.core.images import open_photo
    from vsdemo.search.engine import check_k
    from vsdemo.serving import answers

    count = check_k(k)
    engine = load_engine(checkpoint, gallery, split)
    answer: SimilarPhotos | SimilarSentences
    if is_photo(query):
        answer = answers.similar_photos(engine, open_photo(query), count, name=query)
    else:
        answer = answers.similar_sentences(engine, query, count)
    if as_json:
        print_json(answer.model_dump())
    else:
        print_hits(answer)
