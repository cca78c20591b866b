"""Sentence pairs with entailment labels: SNLI (Bowman et al. 2015) and SICK's.

SNLI is read from the official files snli_1.0_SPLIT.jsonl; pairs on which people did not agree
(gold_label `-`) are left out. Its train file is used where a user has it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from vsdemo.core.errors import UserError
from vsdemo.core.paths import data_root, require_data
from vsdemo.data.pairs import sick
from vsdemo.data.pairs.sick import LABELS
from vsdemo.data.pairs.tsv import Line, read_lines

HOW_TO_GET = {
    "snli_1.0": "get https://nlp.stanford.edu/projects/snli/snli_1.0.zip and unpack it to "
    "$VSDEMO_DATA/",
    "sick": sick.HOW_TO_GET,
}
DATASETS = ("SNLI", "SICK")
FIELDS = ("sentence1", "sentence2", "gold_label")
UNDECIDED = "-"
HELD_OUT = 2000  # pairs
TRAINING_DATA = {  # what a model learnt from
    "snli": "SNLI's train split; the epoch was chosen on the last 2,000 pairs of its dev split",
    "sick+snli-dev": "SICK's train split and, as SNLI's was not here, the pairs of SNLI's dev "
    "split whose premise is none of its last 2,000 pairs'; the epoch was chosen on SICK's trial "
    "split",
}


@dataclass(frozen=True)
class NliPair:
    """label: of sick.LABELS, whether the hypothesis follows from the premise."""

    premise: str
    hypothesis: str
    label: str

    @property
    def entailed(self) -> bool:
        """Vendrov 2016, section 5.2: `neutral` and `contradiction` are one class."""
        return self.label == "entailment"


def load(name: str, split: str) -> tuple[NliPair, ...]:
    """The pairs of one of DATASETS, of train, dev or test.

    Raises UserError when the files are missing, and naming file and line where one is damaged.
    """
    if name == "SICK":
        return tuple(NliPair(pair.a, pair.b, pair.label) for pair in sick.load(split))
    return _read(require_data("snli_1.0", f"snli_1.0_{split}.jsonl", what="SNLI"))


def held_out(name: str) -> tuple[NliPair, ...]:
    """The pairs to choose thresholds on, which no model learns from: dev, of SNLI its last
    HELD_OUT pairs."""
    return load(name, "dev")[-HELD_OUT:]


def training_pairs() -> tuple[str, tuple[NliPair, ...], tuple[NliPair, ...]]:
    """Return (key of TRAINING_DATA, pairs to train on, pairs to choose the epoch on).

    With SNLI's train file these are the paper's; without it the pairs that are available.
    """
    root = data_root()
    if root is not None and (root / "snli_1.0" / "snli_1.0_train.jsonl").exists():
        return "snli", load("SNLI", "train"), held_out("SNLI")
    kept = {pair.premise for pair in held_out("SNLI")}
    part = tuple(pair for pair in load("SNLI", "dev") if pair.premise not in kept)
    return "sick+snli-dev", load("SICK", "train") + part, held_out("SICK")


@lru_cache(maxsize=3)
def _read(path: Path) -> tuple[NliPair, ...]:
    lines = enumerate(read_lines(path), 1)
    found = [_pair(path, number, text) for number, text in lines]
    pairs = tuple(pair for pair in found if pair)
    if not pairs:
        raise UserError(f"{path} holds no pair with a label; get the file anew.")
    return pairs


def _pair(path: Path, number: int, text: str) -> NliPair | None:
    """The pair of a line, None where nobody agrees on its label."""
    try:
        values: Any = json.loads(text)
        cells = [values[field] for field in FIELDS]
    except (ValueError, LookupError, TypeError):
        cells = []
    line = Line(path, number, cells)
    if not cells or not all(isinstance(cell, str) for cell in cells):
        raise line.wrong(f"this is no JSON with the texts {', '.join(FIELDS)}")
    if cells[2] == UNDECIDED:
        return None
    if cells[2] not in LABELS:
        raise line.wrong(f"{cells[2]!r} is none of the labels {', '.join(LABELS)} and -")
    return NliPair(line.sentence(0), line.sentence(1), cells[2])
