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

HOW_TO_GET = (
    "get the train, trial and annotated test files of https://alt.qcri.org/semeval2014/task1/ and "
    "unpack them to $VSDEMO_DATA/sick/"
)
FILES = {"train": "SICK_train.txt", "dev": "SICK_trial.txt", "test": "SICK_test_annotated.txt"}
COLUMNS = ("sentence_A", "sentence_B", "relatedness_score", "entailment_judgment")
MIN_SCORE, MAX_SCORE = 1, 5  # relatedness
LABELS = ("entailment", "neutral", "contradiction")


@dataclass(frozen=True)
class SickPair:
    """relatedness: from 1 to 5. label: of LABELS, whether b follows from a."""

    a: str
    b: str
    relatedness: float
    label: str


def load(split: str) -> tuple[SickPair, ...]:
    """The pairs of train, dev (the trial set) or test.

    Raises UserError when the files are missing, and naming file and line where one is damaged.
    """
    return _read(require_data("sick", FILES[split], what="SICK"))


@lru_cache(maxsize=3)
def _read(path: Path) -> tuple[SickPair, ...]:
    lines = list(rows(path, len(COLUMNS) + 1))
    head = [name.strip() for name in lines[0].cells] if lines else []
    if missing := [name for name in COLUMNS if name not in head]:
        raise UserError(f"{path}, line 1: the header lacks {missing[0]}; get the file anew.")
    if len(lines) == 1:
        raise UserError(f"{path} holds no pair; get the file anew.")
    columns = [head.index(name) for name in COLUMNS]
    return tuple(_pair(line, *columns) for line in lines[1:])


def _pair(line: Line, a: int, b: int, relatedness: int, label: int) -> SickPair:
    judged = line.cells[label].strip().lower()
    if judged not in LABELS:
        raise line.wrong(f"{judged!r} is none of the labels {', '.join(LABELS)}")
    score = line.score(relatedness, MIN_SCORE, MAX_SCORE)
    return SickPair(line.sentence(a), line.sentence(b), score, judged)
