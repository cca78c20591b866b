"""`search`, `describe` and `similar`: queries over a gallery."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vsdemo.cli.options import Checkpoint, Gallery, Json, K, PhotoFile, Split, load_engine
from vsdemo.cli.output import print_hits
from vsdemo.core.errors import UserError

if TYPE_CHECKING:
    from vsdemo.search.engine import Reader


NO_MATCH = "Nothing in this gallery matches this sentence well; the nearest photos are shown."


def search(
    checkpoint: Checkpoint,
    sentence: Annotated[str, typer.Argument(help="Sentence to search for.")],
    k: K = "10",
    gallery: Gallery = None,
    split: Split = "all",
    *,
    as_json: Json = False,
) -> None:
    """Find the photos that a sentence describes.

    In JSON, `score` is the model's own and `unit_score` the same mapped to 0..1; `matches` is false
    if nothing in the gallery matches well, and `suggestions` has words for those unknown.
    """
    from vsdemo.core.sentences import Sentence
    from vsdemo.search.engine import check_k

    count, text = check_k(k), Sentence.from_user(sentence).text
    engine = load_engine(checkpoint, gallery, split)
    hits = engine.search(text, count)
    unknown, suggestions = engine.unknown_words(text), engine.suggestions(text)
    matches = engine.matches(text, hits)
    if not as_json:
        if unknown:
            print(f"Words this model does not know: {', '.join(unknown)}", file=sys.stderr)
        for word, offered in suggestions.items():
            if offered:
                print(f"Instead of {word!r} try: {', '.join(offered)}", file=sys.stderr)
        if not matches:
            print(NO_MATCH)
    query = {
        "sentence": text,
        "unknown_words": unknown,
        "suggestions": suggestions,
        "matches": matches,
    }
    print_hits(hits, kind="photo", unit=engine.score.unit, query=query, as_json=as_json)


def describe(
    checkpoint: Checkpoint,
    photo: PhotoFile,
    k: K = "10",
    gallery: Gallery = None,
    split: Split = "all",
    *,
    as_json: Json = False,
) -> None:
    """Find the sentences that describe a photo.

    They come from the captions of --gallery, by default from the sentences that ship with vsdemo.
    In JSON, `score` is the model's own and `unit_score` the same mapped to 0..1.
    """
    from vsdemo.core.images import open_photo
    from vsdemo.search.engine import Reader, check_k

    if gallery is None and split != "all":
        raise UserError("--split is a part of --gallery; name that too.")
    count, image = check_k(k), open_photo(photo)
    reader: Reader
    reader = Reader(checkpoint) if gallery is None else load_engine(checkpoint, gallery, split)
    hits = reader.describe(image, count)
    query = {"photo": str(photo)}
    print_hits(hits, kind="sentence", unit=reader.score.unit, query=query, as_json=as_json)


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
    from vsdemo.core.images import SUFFIXES, open_photo
    from vsdemo.search.engine import check_k

    count = check_k(k)
    engine = load_engine(checkpoint, gallery, split)
    if Path(query[:255]).suffix.lower() in SUFFIXES:
        hits, kind = engine.photos_like(open_photo(query), count), "photo"
    else:
        hits, kind = engine.similar_sentences(query, count), "sentence"
    unit = engine.score.unit
    print_hits(hits, kind=kind, unit=unit, query={"query": query}, as_json=as_json)
