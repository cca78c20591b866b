"""What a task is: how it is declared, what it is measured on, and how it reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from torch import Tensor

from vsdemo.core import markdown
from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.nested import flatten
from vsdemo.evaluation.metrics.bootstrap import Measurement
from vsdemo.models.checkpoint import Spec
from vsdemo.models.dual_encoder import DualEncoder

Result = dict[str, Any]  # nested: name -> value, with counts and the intervals `ci95`

NEEDS = frozenset(
    {
        "photos",  # a split with captions, and the features of its photos: `PhotoData`
        "boxes",  # the regions' boxes too, and a model that aligns
        "storybook",  # photos of Storybook, whose facts are known
        "relations",  # photos for whose captions it is known what follows from them
        "sentences",  # sentence pairs of the task itself: `SentenceData`
        "seen",  # with sentences: the captions that the model has read
        "concepts",  # a hierarchy of concepts, and a model of its concepts: `ConceptData`
    }
)


@dataclass(frozen=True)
class PhotoData:
    """A split with photos and captions.

    Args:
        split: The photos and captions.
        features: (P, F) of the photos, or (P, K, F) of their regions.
        boxes: (P, K, 4) of the regions relative to the photo's size, for tasks that need boxes.
    """

    split: CaptionSet
    features: Tensor
    boxes: Tensor | None = None


@dataclass(frozen=True)
class SentenceData:
    """The name of a split of the task's own sentence pairs.

    Args:
        split: Name of the split.
        seen: Captions that the model has read in training, normalized as in
            `vsdemo.data.pairs.contamination`; only for tasks that need them.
    """

    split: str = "test"
    seen: frozenset[str] = frozenset()


@dataclass(frozen=True)
class ConceptData:
    """Pairs of concepts.

    Args:
        split: Name of the split.
        dataset: Name of the hierarchy.
        protocol: The protocol that the model was trained by; by default that of each measurement.
    """

    split: str = "test"
    dataset: str = "wordnet"
    protocol: str = ""


@dataclass(frozen=True)
class CardText:
    """What the model cards of one task say in addition to the settings and the metrics.

    Args:
        tags: Tags for the Hugging Face Hub.
        description: The first paragraph.
        legend: Explains the table.
        contents: What the checkpoint holds.
    """

    tags: tuple[str, ...]
    description: Callable[[Spec], str]
    legend: str
    contents: str = "The checkpoint holds weights and a list of words, no sentence and no photo."


@dataclass(frozen=True)
class Quality:
    """How good a model is, in one figure.

    Args:
        value: Higher is better.
        text: The figure with its task, to follow the model's name in a sentence.
    """

    value: float
    text: str


class Task(Protocol):
    """Something that models are measured on.

    Subclasses are dataclasses; their fields are the options named in `options`.
    """

    name: ClassVar[str]
    """Name in the registry, in metrics.json and on the command line."""
    needs: ClassVar[frozenset[str]]
    """What it is given and what the model must have; out of NEEDS."""
    primary: ClassVar[str]
    """Key of the metric, or of the group of metrics, that sums it up."""
    options: ClassVar[frozenset[str]] = frozenset()
    """Names of its constructor's arguments."""
    columns: ClassVar[tuple[str, ...]] = ()
    """Names of the metrics in tables of several runs, such as "t2i r1"; () shows all."""
    card: ClassVar[CardText | None] = None
    """What its model cards say; None for a task that no model is trained for."""

    def check(self, model: DualEncoder) -> None:
        """Raise UserError for a model that cannot be measured on the task."""
        return

    def own_photos(self) -> CaptionSet | None:
        """Return the photos of a task that has its own; None if it measures any data set."""
        return None

    def evaluate(self, model: DualEncoder, data: Any) -> Result:
        """Return metrics, counts, and 95% intervals as `ci95`.

        Args:
            model: The model.
            data: PhotoData, SentenceData or ConceptData, as `needs` says.
        """
        ...

    def quality(self, result: Result) -> Quality | None:
        """Return one figure for people who choose a model; None if the task has none.

        Args:
            result: What `evaluate` returned, of one split.
        """
        return None

    def table(self, results: Mapping[str, Result], *, label: str = "split") -> str:
        """Return results as a Markdown table.

        Args:
            results: Results by split or model.
            label: Heading of the first column.
        """
        flat = {row: flatten(result, separator=" ") for row, result in results.items()}
        names = list(dict.fromkeys(name for metrics in flat.values() for name in metrics))
        rows = [
            [row, *(f"{metrics[name]:.1f}" if name in metrics else "" for name in names)]
            for row, metrics in flat.items()
        ]
        return markdown.table([label, *names], rows)


class PairedTask(Task, Protocol):
    """A task whose results of two models on one split can be compared, paired by item."""

    def measure(self, model: DualEncoder, data: Any) -> Measurement:
        """Return what the metrics of all photos, or of a sample of photos, are computed from."""
        ...
