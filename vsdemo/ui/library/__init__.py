"""What the app can show: models, galleries, and engines that load in the background.

A page never waits for a model: it asks for a `Future` and tells its progress meanwhile.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import TypeVar

from vsdemo.core.errors import UserError
from vsdemo.data import datasets
from vsdemo.search.engine import Engine, Reader
from vsdemo.search.index import Index
from vsdemo.ui.library.galleries import Gallery, galleries, gallery
from vsdemo.ui.library.models import by_merit, knows_photos
from vsdemo.ui.library.pending import Gathering, Loading, Opening, Reading, Work

T = TypeVar("T")
KEPT_ENGINES = 6  # each holds up to 200 MB, most of it the embedded captions
NO_MODEL = (
    "There is no model yet: train one with "
    "`python -m vsdemo train order --out checkpoints/flickr8k/order`, then start the app again."
)


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
        self._readings: dict[tuple[str, ...], Reading] = {}
        self._loading: OrderedDict[tuple[str, str], Loading] = OrderedDict()
        self._gathering: Gathering | None = None
        self.galleries: dict[str, Gallery] = {}
        self._dev: dict[str, Gallery | None] = {}
        self.refresh()

    def refresh(self) -> None:
        """Takes up galleries and models that are here since. Raises UserError as `Library` does."""
        found = {g.key: g for g in galleries(self._own)}
        with self._lock:
            # Those that were here stay as they are: engines may have left photos out.
            self.galleries = {key: self.galleries.get(key, found[key]) for key in found}
        self.models = by_merit(next((g.name for g in self.galleries.values()), None))
        self._gathering = None

    @property
    def labels(self) -> list[tuple[str, str]]:
        """Label and key of each gallery, for a drop-down."""
        return [(g.label, g.key) for g in self.galleries.values()]

    @property
    def problem(self) -> str | None:
        """Why nothing can be shown, in one sentence."""
        return None if self.models else NO_MODEL

    def dev(self, dataset: str) -> Gallery | None:
        """The photos that a training chooses by; None where they are not here any more."""
        if dataset not in self._dev:
            self._dev[dataset] = gallery(dataset, "dev")
        return self._dev[dataset]

    def forget(self, model: str) -> None:
        """The next who asks for a model reads it anew: its training has gone on."""
        with self._lock:
            for kept in (self._loading, self._readings):
                for key in [key for key in kept if model in key]:
                    del kept[key]
        self.refresh()

    def photos(self, token: str) -> tuple[Path, ...]:
        """The photos of a gallery by its token; none where there is no such gallery."""
        known = (*self.galleries.values(), *filter(None, self._dev.values()))
        return next((g.photos for g in known if g.token == token), ())

    def opening(self, gallery: str) -> Opening:
        """The photos and captions of a gallery; what is to be drawn is drawn when asked for."""
        chosen = _known(gallery, self.galleries)
        with self._lock:
            found = self._openings.get(gallery)
            if found is None or found.failed:
                drawn = datasets.is_generated(chosen.name)
                found = Opening("Drawing the pictures" if drawn else "Opening the gallery")
                found.photos = self._pool.submit(
                    datasets.load, chosen.name, chosen.split, found.report
                )
                self._openings[gallery] = found
            return found

    def loading(self, model: str, gallery: str) -> Loading:
        """The engine of a model over a gallery; it starts to load when asked for first."""
        folder, opening = _known(model, self.models), self.opening(gallery)
        with self._lock:
            found = self._loading.get((model, gallery))
            if found is None or found.failed:
                found = self._loading[model, gallery] = Loading("Loading the model")
                found.engine = self._pool.submit(self._load, found, folder, opening, gallery)
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
        if not knows_photos(_known(model, self.models)):
            readers = (name for name, folder in by_merit(None).items() if knows_photos(folder))
            name = next(readers, model)
        return self._reading(("describe", name), self._read, [name])

    def aligning(self, model: str, gallery: str) -> Reading:
        """What aligns sentences with photos: this model, or where it cannot the best one for the
        gallery that can; where none can, this model."""
        _known(model, self.models)
        others = by_merit(_known(gallery, self.galleries).name)
        return self._reading(("align", model, gallery), self._align, [model, *others])

    def gathering(self) -> Gathering:
        """Every model, to read sentences with."""
        with self._lock:
            found = self._gathering
            if found is None or found.failed:
                found = self._gathering = Gathering("Loading the models")
                found.readers = self._pool.submit(_gather, found, dict(self.models))
        return found

    def _reading(
        self,
        key: tuple[str, ...],
        read: Callable[[Reading, list[str]], Reader],
        names: list[str],
    ) -> Reading:
        with self._lock:
            found = self._readings.get(key)
            if found is None or found.failed:
                found = self._readings[key] = Reading("Loading the model", model=names[0])
                found.reader = self._pool.submit(read, found, names)
            return found

    def _read(self, reading: Reading, names: list[str]) -> Reader:
        reader = Reader(self.models[names[0]], reading.report)
        reader.check_backbone()
        reading.what = "Reading sentences"
        _ = reader.captions
        return reader

    def _align(self, reading: Reading, names: list[str]) -> Reader:
        first = Reader(self.models[names[0]])
        for name in names[1:] if not first.can_align else ():
            with suppress(UserError):  # others may be damaged, or lack their image network
                reader = Reader(self.models[name])
                reader.check_backbone()
                if reader.can_align:
                    reading.model = name
                    return reader
        return first

    def _load(self, loading: Loading, folder: Path, opening: Opening, gallery: str) -> Engine:
        opening.photos.result()  # nothing is drawn twice
        chosen = self.galleries[gallery]
        engine = Engine(folder, chosen.name, chosen.split, loading.report)
        # Photos that cannot be read are left out: numbers are those of the engine.
        with self._lock:
            self.galleries[gallery] = replace(chosen, photos=engine.gallery.photos)
        opening.photos = Future()
        opening.photos.set_result(engine.gallery)
        return engine


def _gather(work: Work, folders: Mapping[str, Path]) -> dict[str, Reader | str]:
    found: dict[str, Reader | str] = {}
    for done, (name, folder) in enumerate(folders.items()):
        work.report(done, len(folders))
        try:
            found[name] = Reader(folder)
        except UserError as error:
            found[name] = str(error)
    return found


def _known(key: str, known: Mapping[str, T]) -> T:
    if key not in known:
        raise UserError(f"There is no {key!r} here; choose one of {', '.join(known)}.")
    return known[key]
