"""Hierarchies and their maps, loaded in the background and cached."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import copy
from pathlib import Path
from threading import Lock

import numpy as np
from markupsafe import Markup

from vsdemo.core.errors import UserError
from vsdemo.data import caption_bank
from vsdemo.data.pairs import hypernyms
from vsdemo.data.text import parser
from vsdemo.data.text.vocab import tokenize
from vsdemo.hierarchy import map_content, projection
from vsdemo.hierarchy.order import CAPTION, CONCEPT, PHOTO, ROOT, Hierarchy, Node, check_order
from vsdemo.hierarchy.walks import Entailments
from vsdemo.models import checkpoint
from vsdemo.search import hierarchies, stored_hierarchies
from vsdemo.search.engine import Reader
from vsdemo.ui.components import html
from vsdemo.ui.hierarchy.cones import Toy, cones
from vsdemo.ui.hierarchy.state import Additions, HierarchyKey
from vsdemo.ui.library import LOADING, READING, Library
from vsdemo.ui.library.models import concept_models
from vsdemo.ui.library.pending import Pending, Status

MAX_ARROWS = 80  # the most general concepts, whose order is drawn on the map


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
        map_items: Numbers of the items on the map.
        arrows: The order among the most general concepts.
    """

    def __init__(
        self,
        name: str,
        folder: Path,
        reader: Reader,
        hierarchy: Hierarchy,
        points: np.ndarray | None = None,
    ) -> None:
        self.name, self.folder, self.reader, self.hierarchy = name, folder, reader, hierarchy
        self.points = points
        self.additions, self._shared = Additions(), hierarchy
        words = {word for text in caption_bank.sentences() for word in tokenize(text)}
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
        """Return what a visitor sees from a node: in place of earlier additions, what follows.

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

        If the model has no order with known limits, the best model of the gallery that has one is
        used; without any, an order without limits.
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
                status = self.library.status("Drawing the map")
                pending = self.library.submit(status, _project, gallery, status)
                self._maps[key] = pending
            return pending

    def toy(self) -> Markup:
        """Return the smallest two-dimensional model of concepts as an interactive figure."""
        for folder in reversed(concept_models()):
            with suppress(UserError):  # the checkpoint or its taxonomy is damaged
                spec = checkpoint.read_spec(folder)
                if spec.config.dim == 2:
                    hierarchy = hierarchies.from_concepts(Reader(folder))
                    toy = Toy(
                        names=tuple(item.text for item in hierarchy.items),
                        points=tuple((x, y) for x, y in hierarchy.x.tolist()),
                        edges=hypernyms.load(spec.dataset).edges,
                    )
                    return cones(toy)
        return html.message("The two-dimensional model, checkpoints/wordnet/toy, is not available.")

    def _load(self, status: Status, key: HierarchyKey) -> HierarchyGallery:
        model, gallery = key
        if not gallery:
            return _load_concepts()
        models = self.library.models
        candidates = [model, *self.library.ranked(gallery)]
        limited = [name for name in candidates if checkpoint.has_limits(models[name])]
        name, reader = _ordered_reader(models, [*limited, *candidates], model)
        chosen = self.library.galleries[gallery]
        stored = stored_hierarchies.read(reader, models[name], chosen.name, chosen.split)
        # The first path of a sentence needs the parser, which takes seconds to load.
        self.library.submit(self.library.status(LOADING), _has_parser, keep=True)
        if stored:
            return HierarchyGallery(name, models[name], reader, stored.hierarchy, stored.points)
        engine = self.library.engine(name, gallery).result(waiting=status)
        status.begin(READING)
        hierarchy = hierarchies.from_gallery(engine, progress=status.report)
        return HierarchyGallery(name, models[name], engine, hierarchy)


def _has_parser() -> bool:
    with suppress(UserError):
        parser.load("shipped")
        return True
    return False


def _ordered_reader(
    models: Mapping[str, Path], names: Sequence[str], chosen: str
) -> tuple[str, Reader]:
    """Return the first of some models that has an order, with its name.

    Raises:
        UserError: None has an order; the message names the chosen model.
    """
    for name in names:
        with suppress(UserError):  # a model without an order, or a damaged one
            reader = Reader(models[name])
            check_order(reader.score, name)
            return name, reader
    reader = Reader(models[chosen])
    check_order(reader.score, chosen)
    return chosen, reader


def _load_concepts() -> HierarchyGallery:
    problem = UserError(
        "No model of concepts is available; `python -m vsdemo train hypernyms/near --data wordnet "
        "--out checkpoints/wordnet/order` trains one."
    )
    for folder in concept_models():
        try:
            reader = Reader(folder)
            return HierarchyGallery(folder.name, folder, reader, hierarchies.from_concepts(reader))
        except UserError as error:  # a damaged checkpoint; another one may be whole
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
    return projection.cached_map(key, lambda: projection.project(x, status.report))
