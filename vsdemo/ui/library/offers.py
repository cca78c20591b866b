"""The models that a gallery can be searched with: what each one is, and what it costs.

The state of a model comes from the same code that the engine uses (checkpoint, image network, keys
of cached features), without loading any weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import islice
from pathlib import Path

from vsdemo import models
from vsdemo.core.errors import Cancelled, UserError
from vsdemo.core.language import message, translate
from vsdemo.core.paths import shorten_paths
from vsdemo.core.progress import Progress
from vsdemo.data import datasets
from vsdemo.data.galleries import TITLES, Gallery
from vsdemo.evaluation.task import Quality
from vsdemo.evaluation.tasks import task
from vsdemo.models import checkpoint, licences
from vsdemo.models.checkpoint import Spec
from vsdemo.search.engine import Engine
from vsdemo.ui.library.pending import Pending
from vsdemo.vision import features
from vsdemo.vision.backbones import TUNED, base_of
from vsdemo.vision.crops import CROPS
from vsdemo.vision.features import PROBE, FeatureCache

QUICK = 1000  # photos that another image network reads in about a minute
Networks = dict[tuple[str, str], "Network"]  # backbone and crops -> facts about its features


class State(Enum):
    """What choosing a model costs."""

    READY = "ready"  # it answers in about a second
    PREPARING = "preparing"
    COSTS = "costs"  # `ModelOffer.seconds`
    UNMEASURED = "unmeasured"
    FAILED = "failed"  # choosing it tries again
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True)
class ModelOffer:
    """A model for a gallery.

    Attributes:
        key: Name of the model in the app.
        state: What choosing it costs.
        kind: What it does, in plain words; empty if unknown, like all others below.
        paper: Authors of the paper.
        year: Year of the paper.
        dataset: Name of the data set that it was trained on.
        network: Its image network, and how it looks at a photo.
        effort: How much its network reads of a photo, in squares of its usual size; stands for the
            cost of a photo where nothing was measured.
        quality: How good it is, in one figure.
        licence: How its weights may be used.
        photos: Photos of the gallery without cached features.
        seconds: How long these take; None if that is not measured yet.
        reason: Why it is not available, or could not be opened, in a sentence.
    """

    key: str
    state: State
    kind: str = ""
    paper: str = ""
    year: int | None = None
    dataset: str = ""
    network: str = ""
    effort: int = 0
    quality: Quality | None = None
    licence: str = ""
    photos: int = 0
    seconds: float | None = None
    reason: str = ""

    @property
    def can_be_chosen(self) -> bool:
        """Whether a visitor can choose it."""
        return self.state is not State.UNAVAILABLE

    @property
    def data(self) -> str:
        """Title of the data set that it was trained on."""
        return TITLES.get(self.dataset, self.dataset)


@dataclass(frozen=True)
class OfferGroup:
    """Models with something in common, the best first.

    Attributes:
        title: A heading.
        description: One line.
        offers: The models.
        fits: Whether they were trained on photos like those of the gallery.
    """

    title: str
    description: str
    offers: tuple[ModelOffer, ...]
    fits: bool


@dataclass(frozen=True)
class Network:
    """The features of a gallery's photos by an image network, for the models that share it.

    Attributes:
        missing: Number of photos without cached features.
        seconds_per_photo: How long such a photo takes; None if that was never measured.
    """

    missing: int
    seconds_per_photo: float | None


def list_offers(
    folders: Mapping[str, Path],
    gallery: Gallery,
    engines: Mapping[str, Pending[Engine]],
) -> list[ModelOffer]:
    """Return every model for a gallery, in the order of `folders`.

    Args:
        folders: Key of a model -> its checkpoint.
        gallery: The gallery.
        engines: Key of a model -> its engine over the gallery, if that was wanted before.
    """
    keys = features.photo_keys(gallery.photos, gallery.keys)
    drawing = _drawing_seconds(gallery, keys.count(""))
    networks: Networks = {}
    offers = []
    for key, folder in folders.items():
        try:
            offer = _describe(key, folder)
            checkpoint.check_files(folder)
            network = _network(checkpoint.read_spec(folder), keys, networks)
        except UserError as error:
            described = _describe_or_nothing(key, folder)
            offers.append(
                replace(described, state=State.UNAVAILABLE, reason=shorten_paths(str(error)))
            )
            continue
        offers.append(_with_state(offer, network, engines.get(key), drawing))
    return offers


def measure(folders: Iterable[Path], gallery: Gallery, progress: Progress) -> None:
    """Measure how long a photo takes by each image network for which that is unknown.

    Args:
        folders: Checkpoints of the models.
        gallery: The gallery, whose first photos without cached features are used.
        progress: Called with image networks done and all of them.
    """
    keys = features.photo_keys(gallery.photos, gallery.keys)
    caches: dict[tuple[str, str], FeatureCache] = {}
    for folder in folders:
        try:
            spec = checkpoint.read_spec(folder)
            if features.is_available(spec.config.backbone, spec.config.crops):
                key = (spec.network, spec.config.crops)
                caches[key] = caches.get(key) or checkpoint.feature_cache(spec)
        except UserError:
            continue
    unmeasured = [cache for cache in caches.values() if cache.seconds_per_photo is None]
    for done, cache in enumerate(unmeasured):
        progress(done, len(unmeasured))
        missing = (gallery.photos[number] for number in cache.missing(keys))
        photos = list(islice(filter(Path.exists, missing), PROBE + 1))
        if len(photos) > PROBE:
            try:
                cache.measure(photos)
            except UserError:
                continue


def group_offers(offers: Sequence[ModelOffer], gallery: Gallery) -> list[OfferGroup]:
    """Return the models in groups: trained on the gallery's data set, on its kind, on another.

    The last group has those that are not available. Groups without models are left out.
    """
    dataset = datasets.base_name(gallery.name)
    is_drawn = datasets.is_generated(dataset)
    title = TITLES.get(dataset, dataset)
    description = (
        "Trained on drawings of {title}, so they know its words and scenes."
        if is_drawn
        else "Trained on photos of {title}, so they know its words and scenes."
    )
    groups = [
        OfferGroup(
            translate("For {title}", title=title),
            translate(description, title=title),
            _best_first(o for o in offers if o.can_be_chosen and o.dataset == dataset),
            fits=True,
        ),
        *(
            _group_of_kind(
                [o for o in offers if o.can_be_chosen and o.dataset != dataset],
                of_drawings=of_drawings,
                for_drawings=is_drawn,
            )
            for of_drawings in (is_drawn, not is_drawn)
        ),
        OfferGroup(
            translate("Not available"),
            translate("The reason is shown for each model."),
            _best_first(o for o in offers if not o.can_be_chosen),
            fits=False,
        ),
    ]
    return [group for group in groups if group.offers]


def default_offer(groups: Sequence[OfferGroup]) -> str | None:
    """Return the key of the model to begin with; None if none is available.

    It is the first model that is ready in a group that fits the gallery: models of the gallery's
    own data set come before others, and better models first. If none is ready, it is one that soon
    will be: the one whose network reads least of a photo, or the first of several. (How long that
    takes is not known on a new machine.) If no model fits, the same holds for all groups.

    If a model of open_clip comes first, only such models are considered: in the user's own photos
    they find so much more that they are worth the wait.
    """
    usable = [group for group in groups if any(offer.can_be_chosen for offer in group.offers)]
    usable = [group for group in usable if group.fits] or usable
    offers = [offer for group in usable for offer in group.offers if offer.can_be_chosen]
    promising = [offer for offer in offers if offer.state is not State.FAILED]
    if promising and not promising[0].dataset:
        promising = [offer for offer in promising if not offer.dataset]
    for offer in promising:
        if offer.state is State.READY:
            return offer.key
    return min(promising, key=lambda offer: offer.effort).key if promising else None


def contrasts(own: ModelOffer, groups: Sequence[OfferGroup]) -> list[str]:
    """Return keys of models to compare a model with: first of the latest paper, then the earliest.

    After these two, the best model of each other paper follows, and then all others. Left out are
    models that do not fit the gallery and those whose preparation would take long.

    Args:
        own: The model.
        groups: The models for a gallery, see `group_offers`.
    """
    offers = [offer for group in groups if group.fits for offer in group.offers]
    quick = [offer for offer in offers if offer.key != own.key and _is_quick(offer, own)]
    best: dict[str, ModelOffer] = {}
    for offer in quick:
        if offer.paper and offer.paper != own.paper:
            best.setdefault(offer.paper, offer)
    by_year = sorted(best.values(), key=lambda offer: offer.year or 0)
    ends = [by_year[-1], by_year[0]] if len(by_year) > 1 else by_year
    return [offer.key for offer in dict.fromkeys([*ends, *best.values(), *quick])]


def _is_quick(offer: ModelOffer, own: ModelOffer) -> bool:
    """Whether a model can be compared with another one without a long preparation."""
    if offer.state is State.READY or offer.network == own.network:
        return offer.can_be_chosen
    is_small = offer.photos <= QUICK and offer.effort <= own.effort
    return is_small and offer.state in (State.COSTS, State.UNMEASURED, State.PREPARING)


def _group_of_kind(
    offers: Sequence[ModelOffer], *, of_drawings: bool, for_drawings: bool
) -> OfferGroup:
    """Return the models that were trained on photos, or on drawings."""
    if of_drawings and for_drawings:
        text = message("Trained on other drawings; less reliable for words that are rare in them.")
    elif of_drawings:
        text = message("Trained on drawings only; unreliable on photos.")
    elif for_drawings:
        text = message("Trained on photos only; unreliable on drawings.")
    else:
        text = message("Trained on other photos; less reliable for words that are rare in them.")
    return OfferGroup(
        translate("For drawings") if of_drawings else translate("For photos"),
        translate(text),
        _best_first(o for o in offers if datasets.is_generated(o.dataset) == of_drawings),
        fits=of_drawings == for_drawings,
    )


def _best_first(offers: Iterable[ModelOffer]) -> tuple[ModelOffer, ...]:
    """Return models by quality; those without a figure come last.

    Figures of different data sets are not compared: larger data sets come first, in the order of
    `datasets.DATASETS`. Models of open_clip, which name none, have seen the most.
    """
    known = ["", *datasets.DATASETS]

    def place(offer: ModelOffer) -> tuple[int, bool, float]:
        position = known.index(offer.dataset) if offer.dataset in known else len(known)
        return position, offer.quality is None, -offer.quality.value if offer.quality else 0.0

    return tuple(sorted(offers, key=place))


def _describe_or_nothing(key: str, folder: Path) -> ModelOffer:
    try:
        return _describe(key, folder)
    except UserError:
        return ModelOffer(key, State.UNAVAILABLE)


def _describe(key: str, folder: Path) -> ModelOffer:
    """Return what a model is. Raises UserError if its configuration is damaged."""
    spec = checkpoint.read_spec(folder)
    first = spec.members[0] if spec.members else spec
    model = models.get(first.model)
    kind = model.kind_of(first.preset)
    kind = translate(kind) if kind else ""
    if spec.members and kind:
        count = len(spec.members)
        kind = translate("ensemble of {count} networks: {kind}", count=count, kind=kind)
    crops = CROPS[spec.config.crops]
    return ModelOffer(
        key=key,
        state=State.UNMEASURED,
        kind=kind,
        paper=model.paper,
        year=model.year,
        dataset=datasets.base_name(spec.dataset),
        network=_network_label(spec),
        effort=crops.squares,
        quality=_quality(spec, folder),
        licence=licences.label(spec),
    )


def _network_label(spec: Spec) -> str:
    """Return the image network and how it looks at a photo, such as "densenet169, 10 views"."""
    crops = CROPS[spec.config.crops]
    name = _short_name(spec.config.backbone)
    if spec.config.backbone.startswith(TUNED):
        model = spec.config.backbone.removeprefix(TUNED)
        name = translate("{name}, tuned with {model}", name=name, model=model)
    if crops.vectors > 1:
        return translate("{name}, {count} regions per photo", name=name, count=crops.vectors)
    if crops.views > 1:
        return translate("{name}, {count} views per photo", name=name, count=crops.views)
    return name


def _short_name(backbone: str) -> str:
    """Return the name of a backbone, or of what it was before it was tuned: "densenet169"."""
    return base_of(backbone).rpartition("/")[2]


def _quality(spec: Spec, folder: Path) -> Quality | None:
    """Return the figure of the test split, or of dev where there is no test split."""
    try:
        metrics = checkpoint.read_metrics(folder)
        result = metrics.get("test") or metrics["dev"]
        return task(spec.config.task).quality(result)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _network(spec: Spec, keys: Sequence[str], networks: Networks) -> Network:
    """Return what is known about the features that a model needs.

    Raises:
        UserError: They are not available.
    """
    backbone, crops = spec.config.backbone, spec.config.crops
    if not features.is_available(backbone, crops):
        raise UserError(f"Its image network {_short_name(backbone)} is not downloaded.")
    cache = checkpoint.feature_cache(spec)
    if (spec.network, crops) not in networks:
        missing = len(cache.missing(keys))
        networks[spec.network, crops] = Network(missing, cache.seconds_per_photo)
    return networks[spec.network, crops]


def _drawing_seconds(gallery: Gallery, photos: int) -> float | None:
    """Return how long the photos that vsdemo has yet to draw take; None if that is unknown."""
    if not photos or not datasets.is_generated(gallery.name):
        return 0.0
    rate = datasets.find(gallery.name).seconds_per_photo()
    return None if rate is None else photos * rate


def _with_state(
    offer: ModelOffer, network: Network, engine: Pending[Engine] | None, drawing: float | None
) -> ModelOffer:
    """Return an offer with its state and cost.

    Args:
        offer: The model.
        network: What is known about the features that it needs.
        engine: Its engine, if that was wanted before.
        drawing: Seconds that generating missing photos takes first; None if unknown.
    """
    missing, rate = network.missing, network.seconds_per_photo
    seconds = None if rate is None or drawing is None else missing * rate + drawing
    offer = replace(offer, photos=missing, seconds=seconds)
    if engine is not None and not engine.failed:
        if engine.future.done():
            return replace(offer, state=State.READY, photos=0, seconds=0.0)
        return replace(offer, state=State.PREPARING, seconds=engine.status.seconds_left)
    error = engine.future.exception() if engine is not None and engine.future.done() else None
    if isinstance(error, UserError) and not isinstance(error, Cancelled):
        return replace(offer, state=State.FAILED, reason=shorten_paths(str(error)))
    if not missing:
        return replace(offer, state=State.READY, seconds=0.0)
    return replace(offer, state=State.UNMEASURED if seconds is None else State.COSTS)
