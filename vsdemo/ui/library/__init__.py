"""What the app offers: models, galleries, and engines that load in the background."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, closing, contextmanager, suppress
from contextvars import copy_context
from dataclasses import dataclass
from pathlib import Path
from threading import Lock, Semaphore
from typing import Any, TypeVar

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError
from vsdemo.core.language import message
from vsdemo.core.paths import short_name, shorten_paths
from vsdemo.data import datasets
from vsdemo.data.catalog.catalog import list_catalogs
from vsdemo.data.galleries import Gallery, galleries, open_gallery
from vsdemo.models import captioner, checkpoint
from vsdemo.models import get as model_named
from vsdemo.search import examples
from vsdemo.search.engine import Engine, Reader
from vsdemo.search.index import Index
from vsdemo.serving.access import is_public
from vsdemo.ui.library import offers
from vsdemo.ui.library.drawn import DrawnPhotos, load_photos
from vsdemo.ui.library.models import has_seen_photos, rank_models
from vsdemo.ui.library.offers import ModelOffer, OfferGroup
from vsdemo.ui.library.pending import Pending, Status

T = TypeVar("T")
EngineKey = tuple[str, str]  # model and gallery
MAX_ENGINES = 6  # each holds up to 200 MB, most of it embedded captions
MAX_THREADS = 64
MAX_PREPARATIONS = 2  # at once; each uses all cores
LOADING = message("Loading the model")
READING = message("Encoding sentences")
ENCODING = message("Encoding photos")
CHECKING = message("Checking examples")
MAX_CHECK = 5  # seconds that a page waits for examples
NO_MODEL = (
    "There is no model yet: train one with "
    "`python -m vsdemo train order --out checkpoints/flickr8k/order`, then start the app again."
)


@dataclass(frozen=True)
class NamedReader:
    """A checkpoint without a gallery, and its name in the app."""

    model: str
    reader: Reader


class Library:
    """Models and galleries by key, and engines cached by (model, gallery).

    A page never waits for a model: it gets a `Pending` value and shows its status meanwhile.
    However many pages want a value, it is loaded once. Long work waits for a slot, so that short
    work is never behind it.

    Args:
        own: A data set, captions file or folder of photos to offer first.

    Raises:
        UserError: If `own` does not exist.
    """

    def __init__(self, own: str | None = None) -> None:
        self._own = own and datasets.full_name(own)
        # Enough threads for every model: those that compute for long wait for a slot first.
        self._pool = ThreadPoolExecutor(MAX_THREADS, "vsdemo")
        self._slots = Semaphore(MAX_PREPARATIONS)
        self._measuring = Semaphore(1)
        self._lock = Lock()
        self._photos: dict[str, Pending[CaptionSet]] = {}
        self._engines: OrderedDict[EngineKey, Pending[Engine]] = OrderedDict()
        self._captions: dict[EngineKey, Pending[Index]] = {}
        self._examples: dict[EngineKey, Pending[tuple[str, ...]]] = {}
        self._readers: dict[tuple[str, ...], Pending[NamedReader]] = {}
        self._all_readers: Pending[dict[str, Reader | str]] | None = None
        self._measurements: dict[str, Pending[None]] = {}
        self._dev: dict[str, Gallery | None] = {}
        self.galleries: dict[str, Gallery] = {}
        self.refresh()

    def refresh(self) -> None:
        """Add galleries and models that became available. Raises UserError as `Library` does."""
        # What the owner of a public server has indexed is shown only if it is named at the start.
        offered = galleries(self._own, with_indexes=not is_public())
        available = {gallery.key: gallery for gallery in offered}
        with self._lock:
            # Known galleries stay as they are: engines may have left out unreadable photos.
            self.galleries = {
                key: self.galleries.get(key, gallery) for key, gallery in available.items()
            }
        first = next(iter(self.galleries.values()), None)
        self.models = rank_models(first.name if first else None)
        self._all_readers = None

    @property
    def labels(self) -> list[tuple[str, str]]:
        """Label and key of each gallery, for a drop-down."""
        return [(gallery.label, gallery.key) for gallery in self.galleries.values()]

    @property
    def problem(self) -> str | None:
        """Why the app has nothing to show, in one sentence."""
        return None if self.models else NO_MODEL

    def find_model(self, name: str) -> str | None:
        """Return the key of a model by that key or by its folder, such as "storybook/clip"."""
        if name in self.models:
            return name
        by_folder = {short_name(folder): key for key, folder in self.models.items()}
        return by_folder.get(name)

    def dev(self, dataset: str) -> Gallery | None:
        """Return the dev split of a data set; None if it is no longer available."""
        if dataset not in self._dev:
            gallery = open_gallery(dataset, "dev")
            # The owner of a public server may have trained on photos that are not shown there.
            is_hidden = gallery and gallery.is_own and is_public() and not self._shows(dataset)
            self._dev[dataset] = None if is_hidden else gallery
        return self._dev[dataset]

    def own_datasets(self) -> list[str]:
        """Return the user's own photos with captions; on a public server none may be trained on."""
        if is_public():
            return []
        galleries = self.galleries.values()
        names = [g.name for g in galleries if g.is_captioned and (g.is_own or g.name == self._own)]
        return [*dict.fromkeys(names)]

    def _shows(self, name: str) -> bool:
        return any(gallery.name == name for gallery in self.galleries.values())

    def forget(self, model: str) -> None:
        """Load a model again when it is needed next, because its training continued."""
        with self._lock:
            for key in [key for key in self._engines if model in key]:
                self._drop_engine(key)
            for name in [name for name in self._readers if model in name]:
                del self._readers[name]
        self.refresh()

    def renew_gallery(self, name: str) -> None:
        """Offer an index as it is now: it was made, has changed or was removed."""
        if self._own == name and name not in list_catalogs():
            self._own = None
        indexed = open_gallery(name, "all")
        with self._lock:
            keys = {key for key, gallery in self.galleries.items() if gallery.name == name}
            keys |= {indexed.key} if indexed else set()
            for key in keys:
                self.galleries.pop(key, None)
                self._photos.pop(key, None)
                self._measurements.pop(key, None)
            for engine in [engine for engine in self._engines if engine[1] in keys]:
                self._drop_engine(engine)
        self.refresh()

    def gallery_of(self, token: str) -> Gallery | None:
        """Return a gallery by its token; None for an unknown token."""
        known = (*self.galleries.values(), *filter(None, self._dev.values()))
        return next((gallery for gallery in known if gallery.token == token), None)

    def status(self, label: str) -> Status:
        """Return the status of new work in the background."""
        return Status(label, self._slots)

    def submit(
        self, status: Status, function: Callable[..., T], *args: Any, keep: bool = False
    ) -> Pending[T]:
        """Call a function in the background.

        Args:
            status: A new status, to which the function reports where it takes long.
            function: The function.
            *args: Its arguments.
            keep: Let it finish, even if no page wants its result any more.
        """
        pending: Pending[T] = Pending(status, keep=keep)
        self._start(pending, function, *args)
        return pending

    def _start(self, pending: Pending[T], function: Callable[..., T], *args: Any) -> None:
        """Let a thread of the pool compute a value for the visitor of the current request.

        With ZeroGPU, its GPU is lent to that visitor.
        """
        self._pool.submit(copy_context().run, pending.run, function, *args)

    def photos(self, gallery: str) -> Pending[CaptionSet]:
        """Return the photos and captions of a gallery.

        Storybook's are drawn on first use; meanwhile those that are drawn are the partial value.
        """
        chosen = _find(gallery, self.galleries)
        with self._lock:
            pending = self._photos.get(gallery)
            if pending is None or pending.failed:
                is_drawn = datasets.is_generated(chosen.name)
                status = self.status(
                    message("Drawing the pictures") if is_drawn else message("Opening the gallery")
                )
                pending = Pending(status)
                self._start(pending, load_photos, chosen, pending)
                self._photos[gallery] = pending
            return pending

    def engine(self, model: str, gallery: str, *, keep: bool = False) -> Pending[Engine]:
        """Return the engine of a model over a gallery; it loads on first use.

        As long as photos are drawn or encoded, an engine over the first ones is the partial value.
        Numbers of photos are those of the complete gallery.

        Args:
            model: Key of the model.
            gallery: Key of the gallery.
            keep: Load it to the end, even if no page wants it any more.
        """
        _find(model, self.models)
        _find(gallery, self.galleries)
        key = (model, gallery)
        with self._lock:
            pending = self._engines.get(key)
            if pending is None or pending.failed:
                self._drop_engine(key)
                pending = Pending(self.status(LOADING), keep=keep)
                self._start(pending, self._load_engine, model, gallery, pending)
                self._engines[key] = pending
            self._engines.move_to_end(key)
            loaded = [key for key, engine in self._engines.items() if engine.future.done()]
            for oldest in loaded[: len(self._engines) - MAX_ENGINES]:
                self._drop_engine(oldest)
            return pending

    def captions(self, model: str, gallery: str) -> Pending[Index]:
        """Return the embedded captions of an engine; the first time takes up to minutes."""
        engine = self.engine(model, gallery)
        key = (model, gallery)
        with self._lock:
            pending = self._captions.get(key)
            if pending is None or pending.failed:
                status = self.status(READING)
                pending = self.submit(status, self._load_captions, engine, status)
                self._captions[key] = pending
            return pending

    def offers(self, gallery: str) -> list[ModelOffer]:
        """Return every model with what it costs to search a gallery with it."""
        return self._offers(self.models, gallery)

    def offer(self, model: str, gallery: str) -> ModelOffer:
        """Return what it costs to search a gallery with a model."""
        (offer,) = self._offers({model: _find(model, self.models)}, gallery)
        return offer

    def groups(self, gallery: str) -> list[OfferGroup]:
        """Return the models for a gallery in groups, the most useful first."""
        return offers.group_offers(self.offers(gallery), _find(gallery, self.galleries))

    def preparations(self, gallery: str) -> list[Future[Engine]]:
        """Return the engines over a gallery that are being prepared."""
        with self._lock:
            engines = [engine for (_, key), engine in self._engines.items() if key == gallery]
        return [engine.future for engine in engines if not engine.future.done()]

    def default_model(self, gallery: str) -> str:
        """Return the model to begin with in a gallery; its files are intact.

        See `offers.default_offer`.
        """
        chosen, candidates = _find(gallery, self.galleries), self.offers(gallery)
        while key := offers.default_offer(offers.group_offers(candidates, chosen)):
            try:
                checkpoint.check_sums(self.models[key])
            except UserError:
                candidates = [offer for offer in candidates if offer.key != key]
            else:
                return key
        return next(iter(self.models))

    def measure(self, gallery: str) -> Pending[None]:
        """Measure the unknown rates of image networks that a gallery may need."""
        chosen = _find(gallery, self.galleries)
        with self._lock:
            pending = self._measurements.get(gallery)
            if pending is None or pending.failed or pending.future.done():
                # Without a slot: a few photos are done before other preparations would be.
                status = Status(message("Measuring"), self._measuring)
                folders = list(self.models.values())
                pending = self.submit(status, offers.measure, folders, chosen, status.report)
                self._measurements[gallery] = pending
            return pending

    def known_examples(self, model: str, gallery: str) -> tuple[str, ...]:
        """Return sentences to try that a model answers correctly in a gallery, as far as known now.

        Those of shipped models are stored for some galleries; others are checked as soon as the
        engine is loaded.
        """
        folder, chosen = _find(model, self.models), _find(gallery, self.galleries)
        drawn = self._drawn_photos(gallery)
        try:
            stored = examples.stored(folder, chosen.name, chosen.split, drawn)
        except (UserError, OSError):  # the model or a file of examples is damaged
            return ()
        if stored is not None:
            return stored
        pending = self._examples.get((model, gallery))
        if pending is None or not pending.future.done() or pending.failed:
            return ()
        return pending.result()

    def _drawn_photos(self, gallery: str) -> set[str] | None:
        """Return the names of the photos of a gallery that is being drawn; else None."""
        pending = self._photos.get(gallery)
        if pending is None or pending.future.done():
            return None
        partial = pending.partial
        return {photo.name for photo in partial.photos} if partial else set()

    def wait_for_examples(self, model: str, gallery: str) -> tuple[str, ...]:
        """Return `known_examples`; if an engine is loaded, wait a few seconds for its check."""
        known = self.known_examples(model, gallery)
        pending = self._examples.get((model, gallery))
        if not known and pending is not None:
            wait([pending.future], MAX_CHECK)
            known = self.known_examples(model, gallery)
        return known

    def reader(self, model: str) -> Pending[NamedReader]:
        """Return a model without a gallery."""
        _find(model, self.models)
        return self._reader(("read", model), _load_reader, [model])

    def describer(self, model: str) -> Pending[NamedReader]:
        """Return a reader that describes a visitor's photo with the sentences of vsdemo.

        It is this model or, if this model has seen only drawings, the best one that has seen
        photos.
        """
        name = model
        if not has_seen_photos(_find(model, self.models)):
            others = (name for name in self.ranked() if has_seen_photos(self.models[name]))
            name = next(others, model)
        return self._reader(("describe", name), _load_describer, [name])

    def aligner(self, model: str, gallery: str) -> Pending[NamedReader]:
        """Return a reader that aligns sentences with photos.

        It is this model or, if this model cannot align, the best one for the gallery that can; if
        none can, this model.
        """
        _find(model, self.models)
        others = self.ranked(gallery)
        return self._reader(("align", model, gallery), _load_aligner, [model, *others])

    def aligners(self, gallery: str) -> list[str]:
        """Return the names of the models that align, the most useful for a gallery first."""
        return [name for name in self.ranked(gallery) if _aligns(self.models[name])]

    def composers(self, gallery: str) -> list[str]:
        """Return the names of the models that compose, the most useful for a gallery first."""
        return [name for name in self.ranked(gallery) if captioner.exists(self.models[name])]

    def all_readers(self) -> Pending[dict[str, Reader | str]]:
        """Return every model by name; in place of one that cannot be loaded, the reason."""
        with self._lock:
            pending = self._all_readers
            if pending is None or pending.failed:
                status = self.status(message("Loading the models"))
                pending = self.submit(status, _load_readers, dict(self.models), status)
                self._all_readers = pending
            return pending

    def _offers(self, folders: Mapping[str, Path], gallery: str) -> list[ModelOffer]:
        chosen = _find(gallery, self.galleries)
        with self._lock:
            engines = {
                model: engine for (model, key), engine in self._engines.items() if key == gallery
            }
        return offers.list_offers(folders, chosen, engines)

    def _drop_engine(self, key: EngineKey) -> None:
        self._engines.pop(key, None)
        self._examples.pop(key, None)
        self._captions.pop(key, None)

    def ranked(self, gallery: str | None = None) -> list[str]:
        """Return the names of the models, the most useful for a gallery (or for any) first.

        A training that has just ended is not among them yet.
        """
        dataset = None if gallery is None else _find(gallery, self.galleries).name
        names = [name for name in rank_models(dataset) if name in self.models]
        return [*dict.fromkeys([*names, *self.models])]

    def contrasts(self, model: str, gallery: str) -> list[str]:
        """Return keys of models to compare a model with, see `offers.contrasts`."""
        own = self.offer(model, gallery)
        return offers.contrasts(own, self.groups(gallery))

    def _reader(
        self,
        key: tuple[str, ...],
        load: Callable[[Mapping[str, Path], list[str], Status], NamedReader],
        names: list[str],
    ) -> Pending[NamedReader]:
        with self._lock:
            pending = self._readers.get(key)
            if pending is None or pending.failed:
                status = self.status(LOADING)
                pending = self.submit(status, load, self.models, names, status)
                self._readers[key] = pending
            return pending

    @contextmanager
    def _wanted_photos(self, gallery: str) -> Iterator[Pending[CaptionSet]]:
        """Yield the photos of a gallery, which nobody cancels while the block runs."""
        with ExitStack() as stack:
            photos = self.photos(gallery)
            stack.enter_context(photos.wanted())
            while photos.status.cancelled.is_set():  # just before it was wanted
                photos = self.photos(gallery)
                stack.enter_context(photos.wanted())
            yield photos

    def _load_engine(self, model: str, gallery: str, pending: Pending[Engine]) -> Engine:
        with self._wanted_photos(gallery) as photos:
            return self._load_engine_over(photos, model, gallery, pending)

    def _load_engine_over(
        self, photos: Pending[CaptionSet], model: str, gallery: str, pending: Pending[Engine]
    ) -> Engine:
        status, chosen = pending.status, self.galleries[gallery]
        drawn = DrawnPhotos(photos, status, complete=chosen.is_complete)

        def report(done: int, total: int) -> None:
            if drawn.complete:
                if status.label != ENCODING:
                    status.begin(ENCODING)
                status.report(done, total)
            else:
                drawn.pause()

        def offer(partial: Engine) -> None:
            pending.partial = partial

        with closing(iter(drawn)) as parts:
            if drawn.complete:
                photos.result(waiting=status)
            engine = Engine(
                self.models[model],
                chosen.listed or chosen.name,
                chosen.split,
                progress=report,
                drawn=None if drawn.complete else parts,
                on_partial=offer,
            )
        # The engine leaves out unreadable photos; numbers of photos are those of the engine.
        resolved: Pending[CaptionSet] = Pending(photos.status)
        resolved.future.set_result(engine.gallery)
        with self._lock:
            self.galleries[gallery] = chosen.with_photos(engine.gallery)
            self._photos[gallery] = resolved
        self._examples[model, gallery] = self.submit(
            self.status(CHECKING), self._check, model, engine, chosen, keep=True
        )
        return engine

    def _check(self, model: str, engine: Engine, gallery: Gallery) -> tuple[str, ...]:
        """Find out from which score a photo matches, then which examples are answered correctly.

        Both take up to seconds, so the first answer does not wait for them.
        """
        _ = engine.match_threshold
        stored = examples.stored(self.models[model], gallery.name, gallery.split)
        return stored or examples.offered(engine)

    def _load_captions(self, engine: Pending[Engine], status: Status) -> Index:
        loaded = engine.result(waiting=status)
        status.begin(READING)
        return loaded.load_captions(status.report)


def _aligns(folder: Path) -> bool:
    """Return whether the model of a checkpoint aligns; False for a damaged checkpoint."""
    try:
        spec = checkpoint.read_spec(folder)
        return not spec.members and model_named(spec.model).aligns
    except UserError:
        return False


def _load_reader(models: Mapping[str, Path], names: list[str], status: Status) -> NamedReader:
    (name,) = names
    return NamedReader(name, Reader(models[name], status.report))


def _load_describer(models: Mapping[str, Path], names: list[str], status: Status) -> NamedReader:
    (name,) = names
    reader = Reader(models[name], status.report)
    reader.check_backbone()
    status.begin(READING)
    reader.load_captions(status.report)
    return NamedReader(name, reader)


def _load_aligner(models: Mapping[str, Path], names: list[str], status: Status) -> NamedReader:
    first, *others = names
    chosen = NamedReader(first, Reader(models[first], status.report))
    if chosen.reader.can_align:
        return chosen
    for name in others:
        with suppress(UserError):  # a damaged checkpoint, or one without its image network
            reader = Reader(models[name], status.report)
            reader.check_backbone()
            if reader.can_align:
                return NamedReader(name, reader)
    return chosen


def _load_readers(folders: Mapping[str, Path], status: Status) -> dict[str, Reader | str]:
    readers: dict[str, Reader | str] = {}
    for done, (name, folder) in enumerate(folders.items()):
        status.report(done, len(folders))
        try:
            readers[name] = Reader(folder)
        except UserError as error:
            readers[name] = shorten_paths(str(error))
    return readers


def _find(key: str, known: Mapping[str, T]) -> T:
    if key not in known:
        raise UserError(f"There is no {key!r} here; choose one of {', '.join(known)}.")
    return known[key]
