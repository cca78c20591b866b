"""What the tab Hierarchy walks on: worlds and their maps, made in the background and kept."""

from __future__ import annotations

import hashlib
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

import numpy as np

from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence
from vsdemo.data import caption_bank
from vsdemo.data.pairs import hypernyms
from vsdemo.data.text.vocab import tokenize
from vsdemo.hierarchy import build, map_content, nodes, projection
from vsdemo.hierarchy.nodes import Node
from vsdemo.hierarchy.order import CONCEPT, PHOTO, ROOT, Hierarchy, check_order
from vsdemo.hierarchy.walks import Entailments
from vsdemo.models import checkpoint
from vsdemo.search.engine import Engine, Reader
from vsdemo.ui.components import html
from vsdemo.ui.hierarchy.cones import Toy, cones
from vsdemo.ui.library import Library
from vsdemo.ui.library.models import by_merit, of_concepts
from vsdemo.ui.library.pending import Work

Key = tuple[str, str]  # model and gallery, both empty for concepts
ARROWS = 80  # concepts, the most general, whose order the map shows


class Ground:
    """A world to walk, by the model of this name, and what reads sentences and photos for it.

    shown: numbers of the items on the map. arrows: the order among the most general concepts.
    world: grows behind its end by the sentences that people come to, so numbers stay what they are.
    """

    def __init__(self, name: str, folder: Path, reader: Reader, world: Hierarchy) -> None:
        self.name, self.folder, self.reader, self.world = name, folder, reader, world
        words = {word for text in caption_bank.sentences() for word in tokenize(text)}
        self.shown = map_content.map_items(world, words)
        numbers = (world.of_kind[CONCEPT] | world.of_kind[ROOT]).nonzero()[:, 0]
        general = numbers[world.depths[numbers].argsort()][:ARROWS]
        self.arrows = map_content.map_arrows(world, general.tolist())
        self._lock = Lock()

    def reach(self, place: Node) -> Entailments | None:
        """What follows from a sentence, or from that nearest above a photo: see `reached`."""
        if not isinstance(self.reader, Engine):
            return None
        with self._lock, suppress(UserError):  # where there is no parser, the walk is freer
            self.world, found = build.add_generalizations(self.world, self.reader, place)
            return found
        return None

    def photo(self, number: int) -> int:
        """The item of a photo by its number in the gallery; of the last where it has fewer."""
        first = self.world.of_kind[PHOTO].nonzero()[:, 0]
        return int(first[min(number, len(first) - 1)])

    @property
    def of_photos(self) -> bool:
        """Whether photos belong to it, and not only concepts."""
        return not nodes.has_concepts_only(self.reader)


@dataclass
class Settling(Work):
    """A ground on its way."""

    ground: Future[Ground] = field(default_factory=Future)


@dataclass
class Drawing(Work):
    """A map on its way: where the items that it shows are, (N, 2)."""

    points: Future[np.ndarray] = field(default_factory=Future)


class Grounds:
    """Grounds by (model, gallery), or of concepts alone, and their maps."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self._pool = ThreadPoolExecutor(2, "vsdemo-ground")
        self._lock = Lock()
        self._settling: dict[Key, Settling] = {}
        self._drawing: dict[Key, Drawing] = {}

    def found(self, key: Key) -> tuple[Settling, Future[Ground]]:
        """The ground of a gallery, by this model or where it has no order by the best that has one;
        without a gallery that of a model of concepts."""
        with self._lock:
            found = self._settling.get(key)
            if found is None or found.failed:
                found = self._settling[key] = Settling("Loading the model")
                make = self._photos if key[1] else self._concepts
                found.ground = self._pool.submit(make, found, *key)
            return found, found.ground

    def map(self, key: Key, ground: Ground) -> tuple[Drawing, Future[np.ndarray]]:
        """The map of a ground; drawn once, then kept below VSDEMO_HOME."""
        with self._lock:
            found = self._drawing.get(key)
            if found is None or found.failed:
                found = self._drawing[key] = Drawing("Drawing the map")
                found.points = self._pool.submit(_drawn, found, ground)
            return found, found.points

    def toy(self) -> str:
        """The smallest model of concepts, of two dimensions, as a picture whose points move."""
        for folder in reversed(of_concepts()):
            model, spec, _ = checkpoint.load(folder)
            if spec.config.dim == 2:
                edges = hypernyms.load(spec.dataset).edges
                points = model.encode_text([Sentence(name) for name in model.text.names]).x
                return cones(Toy(model.text.names, tuple(map(tuple, points.tolist())), edges))
        return html.message("The model of two dimensions, checkpoints/wordnet/toy, is not here.")

    def _photos(self, settling: Settling, model: str, gallery: str) -> Ground:
        others = by_merit(self.library.galleries[gallery].name)
        name = next((n for n in dict.fromkeys((model, *others)) if self._ordered(n)), model)
        check_order(Reader(self.library.models[name]).score, name)
        loading = self.library.loading(name, gallery)
        loading.report = settling.report  # type: ignore[method-assign]
        settling.what = "Looking at the photos"
        engine = loading.engine.result()
        settling.what, settling.done, settling.of = "Reading sentences", 0, 0
        return Ground(name, self.library.models[name], engine, build.from_gallery(engine))

    def _ordered(self, name: str) -> bool:
        with suppress(UserError):  # others may be damaged
            check_order(Reader(self.library.models[name]).score, name)
            return True
        return False

    def _concepts(self, settling: Settling, *_: str) -> Ground:
        for folder in of_concepts():
            reader = Reader(folder)
            return Ground(folder.name, folder, reader, build.from_concepts(reader))
        raise UserError(
            "No model of concepts is here; `python -m vsdemo train hypernyms --data wordnet --out "
            "checkpoints/wordnet/order` makes one."
        )


def _drawn(drawing: Drawing, ground: Ground) -> np.ndarray:
    items = (ground.world.items[n].text for n in ground.shown)
    said = "\n".join([checkpoint.content_hash(ground.folder), *items])
    key = hashlib.sha256(said.encode()).hexdigest()[:32]
    x = ground.world.x[ground.shown].numpy()
    return projection.cached_map(key, lambda: projection.project(x, drawing.report))
