"""Sentence pairs with entailment labels: SNLI (Bowman et al. 2015) and SICK's.

SNLI is read from the official files snli_1.0_SPLIT.jsonl. Pairs without a majority label
(gold_label `-`) are left out. Its train file is used if it is available.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from vsdemo.core import json_files
from vsdemo.core.errors import UserError
from vsdemo.core.paths import data_root, require_data
from vsdemo.data.pairs import sick
from vsdemo.data.pairs.sick import LABELS
from vsdemo.data.pairs.tsv import Line, read_lines
from vsdemo.data.sources import source_below_data

SOURCE = source_below_data(
    "snli_1.0",
    marker="snli_1.0_test.jsonl",
    how_to_get=(
        "get https://nlp.stanford.edu/projects/snli/snli_1.0.zip and unpack it to $VSDEMO_DATA/"
    ),
)
DATASETS = ("SNLI", "SICK")
FIELDS = ("sentence1", "sentence2", "gold_label")
UNDECIDED = "-"
HELD_OUT = 2000  # pairs
TRAINING_DATA = {  # what a checkpoint was trained on, in words
    "snli": "SNLI's train split; the epoch was chosen on the last 2,000 pairs of its dev split",
    "sick+snli-dev": "SICK's train split and, as SNLI's was not available, the pairs of SNLI's dev "
    "split whose premise occurs in none of its last 2,000 pairs; the epoch was chosen on SICK's "
    "trial split",
}


@dataclass(frozen=True)
class NliPair:
    """A premise, a hypothesis, and the label (one of `LABELS`) that says whether it follows."""

    premise: str
    hypothesis: str
    label: str

    @property
    def entailed(self) -> bool:
        """Whether the hypothesis follows from the premise.

        `neutral` and `contradiction` form one class (Vendrov 2016, section 5.2).
        """
        return self.label == "entailment"


class TrainingPairs(NamedTuple):
    """What a model learns entailment from.

    Args:
        source: A key of `TRAINING_DATA`.
        train: Pairs to learn from.
        dev: Pairs to choose the epoch on.
    """

    source: str
    train: tuple[NliPair, ...]
    dev: tuple[NliPair, ...]


def load(dataset: str, split: str) -> tuple[NliPair, ...]:
    """Return the pairs of one of `DATASETS`.

    Args:
        dataset: `SNLI` or `SICK`.
        split: `train`, `dev` or `test`.

    Raises:
        UserError: The file is missing, or malformed in the line that the message names.
    """
    if dataset == "SICK":
        return tuple(NliPair(pair.a, pair.b, pair.label) for pair in sick.load(split))
    return _read(require_data("snli_1.0", f"snli_1.0_{split}.jsonl", what="SNLI"))


def held_out(dataset: str) -> tuple[NliPair, ...]:
    """Return the last `HELD_OUT` pairs of dev, which no model learns from.

    Thresholds are chosen on them.
    """
    return load(dataset, "dev")[-HELD_OUT:]


def training_pairs() -> TrainingPairs:
    """Return the paper's pairs if SNLI's train file is available, and a substitute otherwise."""
    root = data_root()
    if root is not None and (root / "snli_1.0" / "snli_1.0_train.jsonl").exists():
        return TrainingPairs("snli", load("SNLI", "train"), held_out("SNLI"))
    premises = {pair.premise for pair in held_out("SNLI")}
    from_dev = tuple(pair for pair in load("SNLI", "dev") if pair.premise not in premises)
    return TrainingPairs("sick+snli-dev", load("SICK", "train") + from_dev, held_out("SICK"))


@lru_cache(maxsize=3)
def _read(path: Path) -> tuple[NliPair, ...]:
    lines = enumerate(read_lines(path), start=1)
    pairs = (_pair(path, number, text) for number, text in lines)
    labelled = tuple(pair for pair in pairs if pair)
    if not labelled:
        raise UserError(f"{path} contains no pair with a label; download the file again.")
    return labelled


def _pair(path: Path, number: int, text: str) -> NliPair | None:
    """Return the pair of a line; None if it has no majority label."""
    try:
        values = json_files.parse(text)
        cells = [values[field] for field in FIELDS]
    except (ValueError, LookupError, TypeError):
        cells = []
    line = Line(path, number, cells)
    if not cells or not all(isinstance(cell, str) for cell in cells):
        raise line.error(f"expected JSON with the texts {', '.join(FIELDS)}")
    label = cells[2]
    if label == UNDECIDED:
        return None
    if label not in LABELS:
        raise line.error(f"{label!r} is none of the labels {', '.join(LABELS)} and -")
    return NliPair(line.sentence(0), line.sentence(1), label)
