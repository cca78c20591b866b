"""SICK: sentence pairs with relatedness and entailment (Marelli et al. 2014), 4,500 / 500 / 4,927.

Its sentences are made from captions of Flickr8k and of MSRvid.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from vsdemo.core.errors import UserError
from vsdemo.core.paths import require_data
from vsdemo.data.pairs.tsv import Line, rows
from vsdemo.data.sources import source_below_data

SOURCE = source_below_data(
    "sick",
    marker="SICK_train.txt",
    how_to_get=(
        "get the train, trial and annotated test files of "
        "https://alt.qcri.org/semeval2014/task1/ and unpack them to $VSDEMO_DATA/sick/"
    ),
)
FILES = {"train": "SICK_train.txt", "dev": "SICK_trial.txt", "test": "SICK_test_annotated.txt"}
COLUMNS = ("sentence_A", "sentence_B", "relatedness_score", "entailment_judgment")
MIN_SCORE, MAX_SCORE = 1, 5  # relatedness
LABELS = ("entailment", "neutral", "contradiction")


@dataclass(frozen=True)
class SickPair:
    """Two sentences with both annotations.

    Args:
        a: The first sentence.
        b: The second sentence.
        relatedness: From 1 to 5.
        label: One of `LABELS`: whether `b` follows from `a`.
    """

    a: str
    b: str
    relatedness: float
    label: str


def load(split: str) -> tuple[SickPair, ...]:
    """Return the pairs of train, dev (called trial in SICK) or test.

    Raises:
        UserError: The file is missing, or malformed in the line that the message names.
    """
    return _read(require_data("sick", FILES[split], what="SICK"))


@lru_cache(maxsize=3)
def _read(path: Path) -> tuple[SickPair, ...]:
    lines = list(rows(path, len(COLUMNS) + 1))
    header = [name.strip() for name in lines[0].cells] if lines else []
    if missing := [name for name in COLUMNS if name not in header]:
        raise UserError(
            f"{path}, line 1: the column {missing[0]} is missing; download the file again."
        )
    if len(lines) == 1:
        raise UserError(f"{path} contains no pairs; download the file again.")
    a, b, relatedness, label = (header.index(name) for name in COLUMNS)
    return tuple(
        SickPair(
            a=line.sentence(a),
            b=line.sentence(b),
            relatedness=line.score(relatedness, MIN_SCORE, MAX_SCORE),
            label=_label(line, label),
        )
        for line in lines[1:]
    )


def _label(line: Line, column: int) -> str:
    label = line.cells[column].strip().lower()
    if label not in LABELS:
        raise line.error(f"{label!r} is none of the labels {', '.join(LABELS)}")
    return label
