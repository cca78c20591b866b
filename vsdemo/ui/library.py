"""What the app can show: models, galleries, and engines that load in the background.

A page never waits for a model: it asks for a `Future` and tells its progress meanwhile.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TypeVar

from vsdemo import checkpoint, data
from vsdemo.backbones import is_here
from vsdemo.engine import Engine, Reader
from vsdemo.index import Index
from vsdemo.paths import data_root
from vsdemo.types import CaptionSet, UserError

T = TypeVar("T")
TITLES = {"flickr8k": "Flickr8k", "pascal1k": "Pascal1K", "storybook": "Storybook"}
EXAMPLES = ("two dogs play in the snow", "children at the beach", "a man climbs a rock wall")
EXAMPLES_OF = {
    "storybook": (
        "a girl flying a kite on the beach",
        "two small brown dogs chase a red ball",
        "an animal in the snow",
    )
}
KEPT_ENGINES = 6  # each holds up to 200 MB, most of it the embedded captions
NO_MODEL = (
    "There is no model yet: train one with "
    "`python -m vsdemo train order --out checkpoints/flickr8k/order`, then start the app again."
)


@dataclass(frozen=True)
class Gallery:
    """Photos that can be searched: a split of a data set, or a folder."""

    key: str
    label: str
    name: str
    split: str
    photos: tuple[Path, ...]

    @cached_property
    def token(self) -> str:
        """Names the gallery in addresses of photos; another list of photos has another one."""
        listed = "\n".join([self.key, *map(str, self.photos)])
        return hashlib.sha256(listed.encode()).hexdigest()[:12]

    @property
    def examples(self) -> tuple[str, ...]:
        """Sentences to try."""
        return EXAMPLES_OF.get(self.name, EXAMPLES)


@dataclass
class Work:
    """What is on its way, and how far it is."""

    what: str
    done: int = 0
    of: int = 0

    def report(self, done: int, of: int) -> None:
        """Takes what the core reports while it works."""
        self.done, self.of = done, of


@dataclass
class Opening(Work):
    """The photos and captions of a gallery on their way."""

    photos: Future[CaptionSet] = field(default_factory=Future)

    @property
    def failed(self) -> bool:
        """Whether to start anew: the cause may have been mended since."""
        return self.photos.done() and self.photos.exception() is not None


@dataclass
class Loading(Work):
    """An engine on its way, and its captions."""

    engine: Future[Engine] = field(default_factory=Future)
    captions: Future[Index] | None = None

    def report(self, done: int, of: int) -> None:
        """What is counted first are photos."""
        super().report(done, of)
        if self.captions is None:
            self.what = "Looking at the photos"

    @property
    def failed(self) -> bool:
        """Whether to start anew: the cause may have been mended since."""
        futures = [f for f in (self.engine, self.captions) if f is not None]
        return any(f.done() and f.exception() for f in futures)


@dataclass
class Reading(Work):
    """A model that describes photos from elsewhere, on its way."""

    model: str = ""
    reader: Future[Reader] = field(default_factory=Future)

    @property
    def failed(self) -> bool:
        """Whether to start anew: the cause may have been mended since."""
        return self.reader.done() and self.reader.exception() is not None


def _merit(folder: Path, dataset: str) -> tuple[bool, bool, float]:
    """Orders models: those trained on what is shown first, of these those whose image network
    is here, then by their sum of recalls on dev."""
    try:
        figures = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
        spec = checkpoint.read_spec(folder)
        here = is_here(spec.config.backbone)
        return spec.dataset == dataset, here, float(figures["dev"]["rsum"])
    except (UserError, OSError, ValueError, KeyError, TypeError):
        return False, False, 0.0


def _reads_photos(folder: Path) -> tuple[bool, bool, float]:
    """Orders models by how well they describe photos: as `_merit`, but drawings teach nothing."""
    try:
        dataset = checkpoint.read_spec(folder).dataset
    except UserError:
        return False, False, 0.0
    return dataset not in data.MADE, *_merit(folder, dataset)[1:]


def _models(dataset: str) -> dict[str, Path]:
    """Checkpoints, the best first, by their folder's name; by two names where one is not enough."""
    folders = sorted(checkpoint.shipped(), key=lambda f: _merit(f, dataset), reverse=True)
    names = [f.name for f in folders]
    return {f.name if names.count(f.name) == 1 else f"{f.parent.name} {f.name}": f for f in folders}


def _gallery(name: str, split: str, own: bool = False) -> Gallery | None:
    """None when the data set is not here or has no such split."""
    try:
        photos = data.photos(name, split)
    except (UserError, OSError, ValueError, KeyError):
        if own:  # asked for by name: its absence is the user's business
            raise
        return None
    title = TITLES.get(name, Path(name).stem if own else name)
    return Gallery(
        f"{title}-{split}".lower(), f"{title} {split} ({len(photos):,})", name, split, photos
    )


def _galleries(own: str | None) -> Iterator[Gallery]:
    if own is not None and own not in data.DATASETS and (found := _gallery(own, "all", own=True)):
        yield found
    root = data_root()
    here = {*data.DATASETS, *data.karpathy_files()} if root and root.is_dir() else set()
    # Nobody has to wait for drawings, unless there is nothing else.
    for name in sorted({*here, *data.MADE}, key=lambda n: (n != own, n in data.MADE, n)):
        for split in ("test",) if name in data.MADE else ("test", "all"):
            if found := _gallery(name, split):
                yield found


class Library:
    """Models and galleries by key, and engines cached by (model, gallery).

    `own` is a data set, captions file or folder of photos to put first. Raises UserError when it
    is not there.
    """

    def __init__(self, own: str | None = None) -> None:
        self._own = own
        self._pool = ThreadPoolExecutor(4, "vsdemo")
        self._lock = Lock()
        self._openings: dict[str, Opening] = {}
        self._readings: dict[str, Reading] = {}
        self._loading: OrderedDict[tuple[str, str], Loading] = OrderedDict()
        self.galleries: dict[str, Gallery] = {}
        self.refresh()

    def refresh(self) -> None:
        """Takes up galleries and models that are here since. Raises UserError as `Library` does."""
        found = {g.key: g for g in _galleries(self._own)}
        with self._lock:
            # Those that were here stay as they are: engines may have left photos out.
            self.galleries = {key: self.galleries.get(key, found[key]) for key in found}
        self.models = _models(next((g.name for g in self.galleries.values()), ""))

    @property
    def labels(self) -> list[tuple[str, str]]:
        """Label and key of each gallery, for a drop-down."""
        return [(g.label, g.key) for g in self.galleries.values()]

    @property
    def problem(self) -> str | None:
        """Why nothing can be shown, in one sentence."""
        return None if self.models else NO_MODEL

    def photos(self, token: str) -> tuple[Path, ...]:
        """The photos of a gallery by its token; none where there is no such gallery."""
        return next((g.photos for g in self.galleries.values() if g.token == token), ())

    def opening(self, gallery: str) -> Opening:
        """The photos and captions of a gallery; what is to be drawn is drawn when asked for."""
        chosen = _known(gallery, self.galleries)
        with self._lock:
            found = self._openings.get(gallery)
            if found is None or found.failed:
                drawn = chosen.name in data.MADE
                found = Opening("Drawing the pictures" if drawn else "Opening the gallery")
                found.photos = self._pool.submit(data.load, chosen.name, chosen.split, found.report)
                self._openings[gallery] = found
            return found

    def loading(self, model: str, gallery: str) -> Loading:
        """The engine of a model over a gallery; it starts to load when asked for first."""
        folder, opening = _known(model, self.models), self.opening(gallery)
        with self._lock:
            found = self._loading.get((model, gallery))
            if found is None or found.failed:
                found = self._loading[model, gallery] = Loading("Loading the model")
                self._pool.submit(self._load, found, folder, opening, gallery)
            self._loading.move_to_end((model, gallery))
            while len(self._loading) > KEPT_ENGINES:
                self._loading.popitem(last=False)
        return found

    def captions(self, loading: Loading) -> Future[Index]:
        """The embedded captions of a loaded engine; the first time this takes up to minutes."""
        with self._lock:
            if loading.captions is None:
                loading.what, loading.done, loading.of = "Reading sentences", 0, 0
                loading.captions = self._pool.submit(lambda: loading.engine.result().captions)
            return loading.captions

    def reading(self, model: str) -> Reading:
        """What describes a visitor's photo with sentences of our own: this model, or where it has
        only seen drawings the best that has seen photos."""
        name = model
        if checkpoint.read_spec(_known(model, self.models)).dataset in data.MADE:
            name = max(self.models, key=lambda other: _reads_photos(self.models[other]))
        with self._lock:
            found = self._readings.get(name)
            if found is None or found.failed:
                found = self._readings[name] = Reading("Loading the model", model=name)
                self._pool.submit(self._read, found, self.models[name])
            return found

    @staticmethod
    def _read(reading: Reading, folder: Path) -> None:
        try:
            reader = Reader(folder, reading.report)
            reading.what = "Reading sentences"
            _ = reader.bank
        except BaseException as error:  # it belongs to those who wait for the result
            reading.reader.set_exception(error)
        else:
            reading.reader.set_result(reader)

    def _load(self, loading: Loading, folder: Path, opening: Opening, gallery: str) -> None:
        chosen = self.galleries[gallery]
        try:
            opening.photos.result()  # nothing is drawn twice
            engine = Engine(folder, chosen.name, chosen.split, loading.report)
        except BaseException as error:  # it belongs to those who wait for the result
            loading.engine.set_exception(error)
        else:
            # Photos that cannot be read are left out: numbers are those of the engine.
            with self._lock:
                self.galleries[gallery] = replace(chosen, photos=engine.gallery.photos)
            opening.photos = Future()
            opening.photos.set_result(engine.gallery)
            loading.engine.set_result(engine)


def _known(key: str, known: Mapping[str, T]) -> T:
    if key not in known:
        raise UserError(f"There is no {key!r} here; choose one of {', '.join(known)}.")
    return known[key]
