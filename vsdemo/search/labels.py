"""Labels that are learned from a few marked photos: which others they fit, and how sure that is.

A label is a logistic regression on the standardised embeddings of the photos. Users mark few photos
that the label does not fit, so a sample of the other photos counts as such too, each for a tenth of
a marked one; on Flickr8k this raises the average precision with ten fitting and two other photos
from 0.33 to 0.43. Both sides have the same total weight.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
import torch
from threadpoolctl import threadpool_limits
from torch import Tensor

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.language import translate
from vsdemo.evaluation.metrics.proportion import wilson
from vsdemo.vision.features import photo_keys

if TYPE_CHECKING:
    from vsdemo.search.engine import Engine

THRESHOLD = 0.5  # probability from which a photo is suggested
OTHERS, OTHER_WEIGHT = 200, 0.1  # photos that count as unfitting, and for how much
STRENGTH = 100.0  # inverse of the regularisation strength, for unit vectors and unit weights
FOLDS = 10
MIN_EACH = 5  # marked photos of either side that an accuracy needs
STATISTICS = 5000  # photos from which mean and deviation are computed
_ONE_FIT = Lock()  # the number of threads of BLAS belongs to the process


@dataclass(frozen=True)
class LabelAccuracy:
    """How many marked photos are classified correctly by a training that did not see them.

    Attributes:
        positives: Marked photos that the label fits.
        positives_right: Those of them with a probability of at least THRESHOLD.
        negatives: Marked photos that it does not fit.
        negatives_right: Those of them with a lower probability.
    """

    positives: int
    positives_right: int
    negatives: int
    negatives_right: int

    @property
    def examples(self) -> int:
        """Number of marked photos that it is based on."""
        return self.positives + self.negatives

    @property
    def right(self) -> int:
        """Number of marked photos that are classified correctly."""
        return self.positives_right + self.negatives_right

    @property
    def accuracy(self) -> float:
        """Share of marked photos that are classified correctly."""
        return self.right / self.examples

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% interval of the accuracy (Wilson 1927)."""
        return wilson(self.right, self.examples)


@dataclass(frozen=True)
class LabelHit:
    """A photo that a label may fit.

    Attributes:
        rank: Counted from 1.
        number: Index of the photo in its gallery.
        key: Its content hash.
        probability: How probable it is that the label fits.
    """

    rank: int
    number: int
    key: str
    probability: float


@dataclass(frozen=True)
class TrainedLabel:
    """What was learned from the marked photos of a gallery.

    Attributes:
        keys: Content hashes of the N photos.
        probabilities: (N,), how probable it is that the label fits.
        positives: Marked photos of the gallery that it fits.
        negatives: Marked photos of the gallery that it does not fit.
        others: Unmarked photos that counted as unfitting.
        missing: Marked photos that are not in the gallery.
        accuracy: None with fewer than MIN_EACH photos of either side.
    """

    keys: tuple[str, ...]
    probabilities: np.ndarray
    positives: frozenset[str]
    negatives: frozenset[str]
    others: int
    missing: int
    accuracy: LabelAccuracy | None

    @property
    def reliability(self) -> str:
        """How sure the label is, in a sentence."""
        if self.accuracy is None:
            return (
                f"How often it is right is unknown: that needs at least {MIN_EACH} photos marked "
                f"as fitting and {MIN_EACH} as not fitting, not {len(self.positives):,} and "
                f"{len(self.negatives):,}."
            )
        low, high = self.accuracy.interval
        return (
            f"Right for {self.accuracy.right:,} of {self.accuracy.examples:,} marked photos that "
            f"it had not seen ({self.accuracy.accuracy:.0%}; 95% interval {low:.0%} to {high:.0%})."
        )

    def suggestions(self, k: int, threshold: float = THRESHOLD) -> list[LabelHit]:
        """Return up to k unmarked photos that the label probably fits, the best first.

        Of several photos with the same content, only one is returned.

        Args:
            k: Number of photos.
            threshold: Their lowest probability.
        """
        order = np.argsort(-self.probabilities, kind="stable")
        return self._unmarked(order[self.probabilities[order] >= threshold], k)

    def uncertain(self, k: int) -> list[LabelHit]:
        """Return the k unmarked photos with a probability nearest to a half, the nearest first.

        Marking these teaches the label most.
        """
        return self._unmarked(np.argsort(np.abs(self.probabilities - 0.5), kind="stable"), k)

    def _unmarked(self, numbers: np.ndarray, k: int) -> list[LabelHit]:
        hits: list[LabelHit] = []
        left_out = {*self.positives, *self.negatives}
        for number in numbers.tolist():
            if len(hits) == k:
                break
            key = self.keys[number]
            if key not in left_out:
                left_out.add(key)
                probability = float(self.probabilities[number])
                hits.append(LabelHit(len(hits) + 1, number, key, probability))
        return hits


def gallery_keys(gallery: CaptionSet) -> tuple[str, ...]:
    """Return the content hash of each photo of a gallery.

    Raises:
        UserError: A photo has to be read for it, and cannot be.
    """
    keys = photo_keys(gallery.photos, gallery.keys)
    if "" in keys:
        gone = gallery.photos[keys.index("")]
        raise UserError(
            translate("The photo {photo} cannot be read; index its folder again.", photo=gone)
        )
    return tuple(keys)


def train_on_gallery(engine: Engine, examples: Mapping[str, bool]) -> TrainedLabel:
    """Return what is learned from the marked photos of an engine's gallery.

    Args:
        engine: The engine.
        examples: As for `train_label`.

    Raises:
        UserError: As `train_label` and `gallery_keys`.
    """
    return train_label(engine.photos.embeddings, gallery_keys(engine.gallery), examples)


def train_label(
    embeddings: Embeddings, keys: Sequence[str], examples: Mapping[str, bool]
) -> TrainedLabel:
    """Return what is learned from marked photos; the same input has the same result.

    Args:
        embeddings: Embeddings of the N photos: (N, D), or sets (N, K, D).
        keys: Their N content hashes.
        examples: Content hash of a marked photo -> whether the label fits it. Those of photos that
            are not there are ignored.

    Raises:
        UserError: The label fits none of the marked photos that are there, or there are no photos
            to distinguish them from.
    """
    marked = sorted(examples)
    rows = _first_rows(keys, [*marked, *nsmallest(OTHERS + len(marked), {*keys} - {*marked})])
    positives = [key for key in marked if key in rows and examples[key]]
    negatives = [key for key in marked if key in rows and not examples[key]]
    # Content hashes are random, so the smallest are a sample that is stable as photos are added.
    others = sorted(key for key in rows if key not in examples)[:OTHERS]
    if not positives:
        raise UserError(
            translate("No photo of this gallery is marked as fitting; mark at least one.")
        )
    if not negatives and not others:
        raise UserError(
            translate(
                "All photos are marked as fitting, so there is nothing to distinguish them from."
            )
        )
    x = embeddings.float().mean()  # (N, D)
    used = [rows[key] for key in (*positives, *negatives, *others)]
    mean, deviation = _statistics(x)  # (D,)
    z = (x[used].double().cpu().numpy() - mean) / deviation  # (M, D)
    fits = np.arange(len(used)) < len(positives)
    is_marked = np.arange(len(used)) < len(positives) + len(negatives)
    with _ONE_FIT, threadpool_limits(1, user_api="blas"):  # threads only wait for each other
        weights, bias = _fit(z, fits, is_marked)
        accuracy = _cross_validate(z, fits, is_marked)
    weights = weights / deviation
    logits = x @ torch.as_tensor(weights, dtype=x.dtype, device=x.device)  # (N,)
    return TrainedLabel(
        keys=tuple(keys),
        probabilities=_sigmoid(logits.double().cpu().numpy() + bias - mean @ weights),
        positives=frozenset(positives),
        negatives=frozenset(negatives),
        others=len(others),
        missing=len(marked) - len(positives) - len(negatives),
        accuracy=accuracy,
    )


def _first_rows(keys: Sequence[str], wanted: Sequence[str]) -> dict[str, int]:
    """Return the first row of each wanted key that is there."""
    known = {*wanted}
    rows: dict[str, int] = {}
    for row, key in enumerate(keys):
        if key in known:
            rows.setdefault(key, row)
    return rows


def _statistics(x: Tensor) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and deviation of each dimension; vectors divided by it have lengths around 1."""
    sample = x[:: math.ceil(len(x) / STATISTICS)].double()
    deviation, mean = torch.std_mean(sample, dim=0, correction=0)
    deviation[deviation < 1e-12] = 1.0
    return mean.cpu().numpy(), deviation.cpu().numpy() * math.sqrt(x.shape[1])


def _fit(z: np.ndarray, fits: np.ndarray, is_marked: np.ndarray) -> tuple[np.ndarray, float]:
    """Return weights (D,) and bias of the logistic regression.

    Args:
        z: (M, D), standardised.
        fits: (M,), whether the label fits.
        is_marked: (M,), whether somebody has said so.
    """
    from sklearn.linear_model import LogisticRegression  # takes seconds to import

    weight = np.where(is_marked, 1.0, OTHER_WEIGHT)
    for side in (fits, ~fits):
        weight[side] /= 2 * weight[side].sum()
    model = LogisticRegression(C=STRENGTH, max_iter=1000)
    model.fit(z, fits, sample_weight=weight)
    return model.coef_[0], float(model.intercept_[0])


def _cross_validate(z: np.ndarray, fits: np.ndarray, is_marked: np.ndarray) -> LabelAccuracy | None:
    """Return the accuracy for marked photos in up to FOLDS parts; None if these are too few."""
    sides = [np.flatnonzero(fits), np.flatnonzero(~fits & is_marked)]
    if min(map(len, sides)) < MIN_EACH:
        return None
    parts = [[side[i::FOLDS] for side in sides] for i in range(FOLDS)]
    right = np.zeros(len(z), dtype=bool)
    for part in parts:
        held_out = np.concatenate(part)
        if not len(held_out):
            continue
        kept = np.ones(len(z), dtype=bool)
        kept[held_out] = False
        weights, bias = _fit(z[kept], fits[kept], is_marked[kept])
        predicted = _sigmoid(z[held_out] @ weights + bias) >= THRESHOLD
        right[held_out] = predicted == fits[held_out]
    positive, negative = sides
    return LabelAccuracy(
        positives=len(positive),
        positives_right=int(right[positive].sum()),
        negatives=len(negative),
        negatives_right=int(right[negative].sum()),
    )


def _sigmoid(logits: np.ndarray) -> np.ndarray:
    result: np.ndarray = np.exp(-np.logaddexp(0.0, -logits))
    return result
