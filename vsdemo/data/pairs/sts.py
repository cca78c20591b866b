"""Sentence pairs with similarity scores: STS 2012-2015, the STS Benchmark and SICK's relatedness.

STS of a year is a folder of files STS.input.SUBSET.txt, two sentences a line, and STS.gs.SUBSET.txt
with their scores, as SentEval has them. A pair whose line of the latter is empty is not scored, and
scores without sentences (SMT of 2013, whose text is not free) are not read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from vsdemo.core.errors import UserError
from vsdemo.core.paths import data_root, require_data
from vsdemo.data.pairs import sick
from vsdemo.data.pairs.tsv import Line, read_lines, rows

HOW_TO_GET = {
    "sts": "unpack STS12-en-test ... STS15-en-test of SentEval to $VSDEMO_DATA/sts/",
    "stsbenchmark": "get http://ixa2.si.ehu.eus/stswiki/images/4/48/Stsbenchmark.tar.gz and unpack "
    "it to $VSDEMO_DATA/",
    "sick": sick.HOW_TO_GET,
}
ALL = "STS"  # what the mean of all years is called
INPUT, GOLD = "STS.input.", "STS.gs."
MIN_SCORE, MAX_SCORE = 0, 5  # similarity


@dataclass(frozen=True)
class ScoredPair:
    """Two sentences, and how similar people found them."""

    a: str
    b: str
    score: float


def load_years(folder: Path | None = None) -> dict[str, tuple[ScoredPair, ...]]:
    """The scored pairs of every subset, such as `STS12.MSRvid`, of sts/ below VSDEMO_DATA.

    folder: more of them, read too, or in place of those of the same year: one with files
    STS.input.*, or with such folders. A folder STS16-en-test holds the year STS16.
    Raises UserError when nothing is there, and naming file and line where one is damaged.
    """
    root = data_root()
    found = {} if folder and not (root and (root / "sts").exists()) else _folders(_official())
    if folder:
        if not folder.is_dir():
            raise UserError(f"There is no folder {folder}; give one with files {INPUT}*.txt.")
        found |= _folders(folder)
    parts = {year: subsets(path) for year, path in sorted(found.items())}
    return {f"{year}.{name}": pairs for year, of in parts.items() for name, pairs in of.items()}


def _official() -> Path:
    return require_data("sts", what="STS 2012-2015")


def _folders(folder: Path) -> dict[str, Path]:
    """Year -> the folder of its files."""
    inside = [folder, *sorted(p for p in folder.iterdir() if p.is_dir())]
    holding = [p for p in inside if any(p.glob(f"{INPUT}*.txt"))]
    if not holding:
        raise UserError(f"{folder} holds no files {INPUT}*.txt; give a folder that does.")
    found: dict[str, Path] = {}
    for path in holding:
        year = path.resolve().name.split("-")[0]
        if year in found:
            raise UserError(f"{found[year]} and {path} are both {year}; rename or leave one out.")
        if year == ALL:
            raise UserError(f"{path} would be all years together; name it as a year, as STS16.")
        found[year] = path
    return found


def subsets(folder: Path) -> dict[str, tuple[ScoredPair, ...]]:
    """The scored pairs of a year by subset, such as `MSRvid`, without `surprise.` in front."""
    found = {}
    for path in sorted(folder.glob(f"{INPUT}*.txt")):
        name = path.name.removeprefix(INPUT).removesuffix(".txt")
        found[name.removeprefix("surprise.")] = _subset(path, folder / f"{GOLD}{name}.txt")
    return found


def _subset(path: Path, gold: Path) -> tuple[ScoredPair, ...]:
    pairs, scores = list(rows(path, 2)), read_lines(gold)
    if len(pairs) != len(scores):
        raise UserError(
            f"{path} has {len(pairs):,} lines but {gold.name} {len(scores):,}; get both anew."
        )
    told = [Line(gold, number, [score]) for number, score in enumerate(scores, 1)]
    found = tuple(
        ScoredPair(pair.sentence(0), pair.sentence(1), score.score(0, MIN_SCORE, MAX_SCORE))
        for pair, score in zip(pairs, told, strict=True)
        if score.cells[0].strip()
    )
    if not found:
        raise UserError(f"{gold} holds no score; get the file anew.")
    return found


def benchmark(split: str) -> tuple[ScoredPair, ...]:
    """The pairs of the STS Benchmark's train, dev or test, scores from 0 to 5.

    Raises UserError when the files are missing, and naming file and line where one is damaged.
    """
    path = require_data("stsbenchmark", f"sts-{split}.csv", what="The STS Benchmark")
    return _scored(path, list(rows(path, 7)))


def _scored(path: Path, lines: Sequence[Line]) -> tuple[ScoredPair, ...]:
    if not lines:
        raise UserError(f"{path} holds no pair; get the file anew.")
    return tuple(
        ScoredPair(line.sentence(5), line.sentence(6), line.score(4, MIN_SCORE, MAX_SCORE))
        for line in lines
    )


def relatedness(split: str) -> tuple[ScoredPair, ...]:
    """SICK's pairs of train, dev or test with their relatedness, from 1 to 5."""
    return tuple(ScoredPair(pair.a, pair.b, pair.relatedness) for pair in sick.load(split))
