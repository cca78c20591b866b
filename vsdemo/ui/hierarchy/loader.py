"""Hierarchies and their maps, loaded in the background and cached."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from threading import Lock

import numpy as np
from markupsafe import Markup

from vsdemo.core.errors import UserError
from vsdemo.core.language import message, translate
from vsdemo.data import caption_bank
from vsdemo.data.pairs import hypernyms
from vsdemo.data.text import parser
from vsdemo.hierarchy import map_content, projection
from vsdemo.hierarchy.order import CAPTION, CONCEPT, PHOTO, ROOT, Hierarchy, Node, check_order
from vsdemo.hierarchy.walks import Entailments
from vsdemo.models import checkpoint
from vsdemo.models.limits import NO_LIMITS
from vsdemo.models.scores import Order
from vsdemo.search import hierarchies, stored_hierarchies
from vsdemo.search.engine import Reader
from vsdemo.ui.components import html
from vsdemo.ui.hierarchy.cones import Toy, cones
from vsdemo.ui.hierarchy.state import Additions, HierarchyKey
from vsdemo.ui.library import LOADING, READING, Library
from vsdemo.ui.library.models import concept_models
from vsdemo.ui.library.pending import Pending, Status

MAX_ARROWS = 80  # the most general concepts, whose order is drawn on the map
NO_ORDER = "{model} has no order"
NOT_CALIBRATED = "The order of {model} has not been calibrated on this data"
NO_CONCEPTS = message(
    "No model of concepts is available; `python -m vsdemo train hypernyms/near --data wordnet "
    "--out checkpoints/wordnet/order` trains one."
)
NO_TOY = message("The two-dimensional model, checkpoints/wordnet/toy, is not available.")


@dataclass(frozen=True)
class Replaced:
    """A chosen model in whose place the hierarchy of another one is shown.

    Attributes:
        model: Name of the model.
        cause: Why its own is not shown, NO_ORDER or NOT_CALIBRATED.
    """

    model: str
    cause: str


class HierarchyGallery:
    """A hierarchy, and the model that embeds sentences and photos for it.

    Attributes:
        name: Name of the model.
        folder: Folder of the model.
        reader: The model.
        hierarchy: The hierarchy. That of a visitor has sentences of their own at its end, so the
            numbers of items that all visitors see are the same.
        additions: These sentences.
        points: (N, 2) where they lie on the map, if that is stored.
        replaced: The chosen model, if this is not its hierarchy.
        map_items: Numbers of the items on the map.
        arrows: The order among the most general concepts.
    """

    def __init__(
        self,
        name: str,
        folder: Path,
        reader: Reader,
        hierarchy: Hierarchy,
        *,
        points: np.ndarray | None = None,
        replaced: Replaced | None = None,
    ) -> None:
        self.name, self.folder, self.reader, self.hierarchy = name, folder, reader, hierarchy
        self.points, self.replaced = points, replaced
        self.additions, self._shared = Additions(), hierarchy
        words = set() if self.has_photos else {*caption_bank.words()}  # they take half a second
        self.map_items = map_content.map_items(hierarchy, words)
        concepts = (hierarchy.of_kind[CONCEPT] | hierarchy.of_kind[ROOT]).nonzero()[:, 0]
        most_general = concepts[hierarchy.depths[concepts].argsort()][:MAX_ARROWS]
        self.arrows = map_content.map_arrows(hierarchy, most_general.tolist())

    def with_additions(self, additions: Additions) -> HierarchyGallery:
        """Return the hierarchy that a visitor sees."""
        result = copy(self)
        result.additions, result.hierarchy = additions, self._shared
        if additions.x is not None:
            result.hierarchy = self._shared.extended(additions.items, additions.x)
            result.hierarchy.grammar = additions.grammar
        return result

    def reach(self, node: Node) -> tuple[HierarchyGallery, Entailments | None]:
        """Return what a visitor sees from a node: what follows from it replaces earlier additions.

        Returns:
            The hierarchy with the sentences that follow from a sentence, or from the nearest
            sentence above a photo; and its entailments. These are None for a concept, and if there
            is no parser or no photos; then the path to the root is not restricted.

        Raises:
            UserError: If too many sentences follow.
        """
        if node.kind not in (CAPTION, PHOTO) or not self.has_photos or not _has_parser():
            return self.with_additions(Additions()), None
        result, count = copy(self), len(self._shared)
        result.hierarchy, entailments = hierarchies.add_generalizations(
            self._shared, self.reader, node
        )
        x = result.hierarchy.x[count:].clone()  # a view would keep all of it in memory
        result.additions = Additions(result.hierarchy.items[count:], x, result.hierarchy.grammar)
        return result, entailments

    def is_shared(self, number: int) -> bool:
        """Return whether all visitors see an item."""
        return number < len(self._shared)

    def photo(self, number: int) -> int:
        """Return the item of a photo by its number in the gallery, clipped to the last photo."""
        items = self.hierarchy.of_kind[PHOTO].nonzero()[:, 0]
        return int(items[min(number, len(items) - 1)])

    @property
    def reason(self) -> str:
        """Why this is not the hierarchy of the chosen model, in English; empty if it is."""
        chosen = self.replaced
        return chosen.cause.format(model=chosen.model) if chosen else ""

    @property
    def has_photos(self) -> bool:
        """Whether the hierarchy has photos, and not only concepts."""
        return not hierarchies.has_concepts_only(self.reader)


class Hierarchies:
    """Hierarchies by model and gallery, or of concepts alone, and their maps."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self._lock = Lock()
        self._hierarchies: dict[HierarchyKey, Pending[HierarchyGallery]] = {}
        self._maps: dict[HierarchyKey, Pending[np.ndarray]] = {}

    def get(self, key: HierarchyKey) -> Pending[HierarchyGallery]:
        """Return the hierarchy of a model and gallery, or of concepts.

        A model without an order, or one trained for an order whose limits are not known, is
        replaced by the best model for the gallery whose order has limits. If there is none, an
        order without limits is used.
        """
        with self._lock:
            pending = self._hierarchies.get(key)
            if pending is None or pending.failed:
                status = self.library.status(LOADING)
                pending = self.library.submit(status, self._load, status, key)
                self._hierarchies[key] = pending
            return pending

    def map(self, key: HierarchyKey, gallery: HierarchyGallery) -> Pending[np.ndarray]:
        """Return the positions of the map's items, (N, 2), computed once and cached on disk."""
        with self._lock:
            pending = self._maps.get(key)
            if pending is None or pending.failed:
                status = self.library.status(message("Drawing the map"))
                pending = self.library.submit(status, _project, gallery, status)
                self._maps[key] = pending
            return pending

    def toy(self) -> Markup:
        """Return the smallest two-dimensional model of concepts as an interactive figure."""
        return cones(self._toy) if self._toy else html.message(translate(NO_TOY))

    @cached_property
    def _toy(self) -> Toy | None:
        for folder in reversed(concept_models()):
            with suppress(UserError):  # the checkpoint or its taxonomy is damaged
                spec = checkpoint.read_spec(folder)
                if spec.config.dim == 2:
                    hierarchy = hierarchies.from_concepts(Reader(folder))
                    return Toy(
                        names=tuple(item.text for item in hierarchy.items),
                        points=tuple((x, y) for x, y in hierarchy.x.tolist()),
                        edges=hypernyms.load(spec.dataset).edges,
                    )
        return None

    def _load(self, status: Status, key: HierarchyKey) -> HierarchyGallery:
        model, gallery = key
        if not gallery:
            return _load_concepts()
        models, ranked = self.library.models, self.library.ranked(gallery)
        limited = [name for name in ranked if checkpoint.has_limits(models[name])]
        name, reader, replaced = _ordered_reader(models, model, limited, ranked)
        chosen = self.library.galleries[gallery]
        stored = stored_hierarchies.read(reader, models[name], chosen.name, chosen.split)
        # The first path of a sentence needs the parser, which takes seconds to load.
        self.library.submit(self.library.status(LOADING), _has_parser, keep=True)
        if stored:
            return HierarchyGallery(
                name,
                models[name],
                reader,
                stored.hierarchy,
                points=stored.points,
                replaced=replaced,
            )
        engine = self.library.engine(name, gallery).result(waiting=status)
        status.begin(READING)
        hierarchy = hierarchies.from_gallery(engine, progress=status.report)
        return HierarchyGallery(name, models[name], engine, hierarchy, replaced=replaced)


def _has_parser() -> bool:
    with suppress(UserError):
        parser.load("shipped").load_models()
        return True
    return False


def _ordered_reader(
    models: Mapping[str, Path], chosen: str, limited: Sequence[str], ranked: Sequence[str]
) -> tuple[str, Reader, Replaced | None]:
    """Return the model whose order is shown for a chosen one.

    Args:
        models: Key of a model -> its checkpoint.
        chosen: The chosen model.
        limited: Models whose order has limits, the best first.
        ranked: All models, the best first.

    Returns:
        The key of the model, its reader, and the chosen one if it is another.

    Raises:
        UserError: The chosen model cannot be loaded, or no model has an order.
    """
    own = Reader(models[chosen])
    order = own.score.order
    # The limits of an order that was not trained are not known for most data.
    is_first = order is not None and (order.is_emergent or own.model.limits != NO_LIMITS)
    names = [chosen, *limited, *ranked] if is_first else [*limited, chosen, *ranked]
    for name in names:
        with suppress(UserError):  # a model without an order, or a damaged one
            reader = own if name == chosen else Reader(models[name])
            check_order(reader.score, name)
            return name, reader, None if name == chosen else Replaced(chosen, _cause(order))
    check_order(own.score, chosen)
    return chosen, own, None


def _cause(order: Order | None) -> str:
    """Return why the hierarchy of a model with this order is not shown."""
    return NO_ORDER if order is None or order.reversed else NOT_CALIBRATED


def _load_concepts() -> HierarchyGallery:
    problem = UserError(NO_CONCEPTS)
    for folder in concept_models():
        try:
            reader = Reader(folder)
            return HierarchyGallery(folder.name, folder, reader, hierarchies.from_concepts(reader))
        except UserError as error:  # a damaged checkpoint; another one may be intact
            problem = error
    raise problem


def _project(gallery: HierarchyGallery, status: Status) -> np.ndarray:
    """Return the positions of the map's items, (N, 2), stored or cached if possible."""
    if gallery.points is not None:
        return gallery.points
    texts = (gallery.hierarchy.items[number].text for number in gallery.map_items)
    content = "\n".join([checkpoint.content_hash(gallery.folder), *texts])
    key = hashlib.sha256(content.encode()).hexdigest()[:32]
    x = gallery.hierarchy.x[gallery.map_items].numpy()  # (N, D)
    return projection.cached_map(
        key, lambda: projection.project(x, status.report), wait=partial(status.report, 0, 1)
    )
