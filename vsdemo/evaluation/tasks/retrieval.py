"""Caption-image retrieval: Recall@K, median and mean rank in both directions.

`i2t` ranks the captions for each photo, `t2i` the photos for each caption; see
`evaluation.metrics.retrieval`. An item that ties counts as half an item before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from vsdemo.core import markdown
from vsdemo.core.errors import UserError
from vsdemo.core.language import number, percentage, translate
from vsdemo.core.nested import combine
from vsdemo.evaluation.metrics import bootstrap, retrieval
from vsdemo.evaluation.metrics.ranks import RECALLS
from vsdemo.evaluation.metrics.retrieval import DIRECTIONS, Ranks
from vsdemo.evaluation.task import CardText, PairedTask, PhotoData, Quality, Result
from vsdemo.models.checkpoint import Spec
from vsdemo.models.dual_encoder import DualEncoder

FOLD = 1000  # photos in a block of the 1k protocol (Vendrov 2016, section 4.5)


def _description(spec: Spec) -> str:
    return (
        f"Preset `{spec.preset}` of vsdemo ({spec.model}), trained on the train split of "
        f"{spec.dataset};\nthe epoch was chosen on its dev split."
    )


@dataclass(frozen=True)
class Retrieval(PairedTask):
    """Caption-image retrieval.

    Args:
        folds: Whether to average over consecutive blocks of 1,000 photos, without intervals.
    """

    name: ClassVar[str] = "retrieval"
    needs: ClassVar[frozenset[str]] = frozenset({"photos"})
    primary: ClassVar[str] = "rsum"
    options: ClassVar[frozenset[str]] = frozenset({"folds"})
    columns: ClassVar[tuple[str, ...]] = (
        *(
            f"{direction} {name}"
            for direction in DIRECTIONS
            for name in ("r1", "r5", "r10", "medr", "meanr")
        ),
        "rsum",
    )
    card: ClassVar[CardText | None] = CardText(
        tags=("visual-semantic-embeddings", "image-retrieval"),
        description=_description,
        legend="Recalls in percent with 95% bootstrap intervals over photos; `i2t` finds captions "
        "for a photo,\n`t2i` photos for a caption. A tie counts half.",
    )
    folds: bool = False

    def measure(self, model: DualEncoder, data: PhotoData) -> Ranks:
        """Return the ranks of all captions and photos."""
        return retrieval.measure(model, data.split, data.features)

    def evaluate(self, model: DualEncoder, data: PhotoData) -> Result:
        """Return i2t and t2i as `ranks.summary`, rsum, n_images, n_captions and ci95.

        Raises:
            UserError: The split has no captions, or fewer photos than a fold.
        """
        if self.folds:
            return _evaluate_folds(model, data)
        ranks = self.measure(model, data)
        sizes = {"n_images": len(data.features), "n_captions": len(data.split.captions)}
        return {**bootstrap.with_intervals(ranks), **sizes}

    def quality(self, result: Result) -> Quality | None:
        """Return the share of sentences whose photo is ranked first."""
        recall = float(result["t2i"]["r1"])
        return Quality(
            recall,
            translate(
                "finds the right one of {photos} photos first for {share} of {sentences} sentences",
                photos=number(result["n_images"]),
                share=percentage(recall / 100),
                sentences=number(result["n_captions"]),
            ),
        )

    def table(self, results: Mapping[str, Result], *, label: str = "split") -> str:
        """Return recalls and ranks with intervals, a row for each split or model."""
        recalls = ["R@1", "R@5", "R@10", "med r", "mean r"]
        header = [label, "i2t R@1", *recalls[1:], "t2i R@1", *recalls[1:], "rsum"]
        return markdown.table(header, [_row(row, result) for row, result in results.items()])


def _evaluate_folds(model: DualEncoder, data: PhotoData) -> Result:
    captions, photos, owner = retrieval.encode(model, data.split, data.features)
    if len(photos) < FOLD:
        raise UserError(f"{data.split.name} has {len(photos)} photos; a fold needs {FOLD:,}.")
    blocks = []
    for start in range(0, len(photos) - FOLD + 1, FOLD):
        inside = (owner >= start) & (owner < start + FOLD)
        block = retrieval.ranks(
            model,
            captions=captions[inside],
            photos=photos[start : start + FOLD],
            owner=owner[inside] - start,
        )
        blocks.append(block.metrics())
    means: dict[str, Any] = combine(blocks, lambda values: sum(values) / len(values))
    sizes = {"n_images": len(photos), "n_captions": len(captions)}
    return {**means, **sizes, "folds": len(blocks)}


def _row(label: str, result: Result) -> list[str]:
    cells = [label]
    for direction in DIRECTIONS:
        metrics, ci95 = result[direction], result["ci95"][direction]
        cells += [bootstrap.cell(metrics[f"r{k}"], ci95[f"r{k}"]) for k in RECALLS]
        cells += [f"{metrics['medr']:.0f}", f"{metrics['meanr']:.1f}"]
    low, high = result["ci95"]["rsum"]
    return [*cells, f"**{result['rsum']:.1f}** ({low:.1f}-{high:.1f})"]
