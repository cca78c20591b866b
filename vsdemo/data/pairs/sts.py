"""Sentence pairs with similarity scores: STS 2012-2015, the STS Benchmark, SICK's relatedness.

Each year of STS is a folder in SentEval's layout. STS.input.SUBSET.txt has two sentences per line,
STS.gs.SUBSET.txt their scores; pairs with an empty score are left out. Scores without sentences
(SMT of 2013, whose text is not free) are ignored.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from vsdemo.core.errors import UserError
from vsdemo.core.paths import data_root, require_data
from vsdemo.data.pairs import sick
from vsdemo.data.pairs.tsv import Line, read_lines, rows
from vsdemo.data.sources import source_below_data

SOURCES = (
    source_below_data(
        "sts",
        marker="STS12-en-test",
        how_to_get="unpack STS12-en-test ... STS15-en-test of SentEval to $VSDEMO_DATA/sts/",
    ),
    source_below_data(
        "stsbenchmark",
        marker="sts-test.csv",
        how_to_get="get http://ixa2.si.ehu.eus/stswiki/images/4/48/Stsbenchmark.tar.gz and "
        "unpack it to $VSDEMO_DATA/",
    ),
)
ALL = "STS"  # the name of the mean over all years
INPUT, GOLD = "STS.input.", "STS.gs."
MIN_SCORE, MAX_SCORE = 0, 5  # similarity


@dataclass(frozen=True)
class ScoredPair:
    """Two sentences with the similarity that people see in them."""

    a: str
    b: str
    score: float


def load_years(folder: Path | None = None) -> dict[str, tuple[ScoredPair, ...]]:
    """Return the scored pairs of every subset, such as `STS12.MSRvid`.

    Args:
        folder: Data in addition to sts/ below VSDEMO_DATA: a folder with files STS.input.*, or with
            such folders. A folder STS16-en-test holds the year STS16. A year that is also in sts/
            is replaced.

    Raises:
        UserError: There are no files, or one is malformed in the line that the message names.
    """
    root = data_root()
    folders: dict[str, Path] = {}
    if not folder or (root and (root / "sts").exists()):
        folders |= _year_folders(require_data("sts", what="STS 2012-2015"))
    if folder:
        if not folder.is_dir():
            raise UserError(f"There is no folder {folder}; choose one with files {INPUT}*.txt.")
        folders |= _year_folders(folder)
    return {
        f"{year}.{subset}": pairs
        for year, path in sorted(folders.items())
        for subset, pairs in load_subsets(path).items()
    }


def _year_folders(folder: Path) -> dict[str, Path]:
    """Return the folder of each year's files in `folder`, or `folder` itself."""
    candidates = [folder, *sorted(path for path in folder.iterdir() if path.is_dir())]
    folders: dict[str, Path] = {}
    for path in candidates:
        if not any(path.glob(f"{INPUT}*.txt")):
            continue
        year = path.resolve().name.split("-")[0]
        if year in folders:
            raise UserError(
                f"{folders[year]} and {path} are both {year}; rename or remove one of them."
            )
        if year == ALL:
            raise UserError(f"{ALL} stands for all years; rename {path}, for example to STS16.")
        folders[year] = path
    if not folders:
        raise UserError(f"{folder} contains no files {INPUT}*.txt; choose a folder that does.")
    return folders


def load_subsets(folder: Path) -> dict[str, tuple[ScoredPair, ...]]:
    """Return the scored pairs of a year by subset; the prefix `surprise.` is dropped."""
    subsets = {}
    for path in sorted(folder.glob(f"{INPUT}*.txt")):
        name = path.name.removeprefix(INPUT).removesuffix(".txt")
        subsets[name.removeprefix("surprise.")] = _subset(path, folder / f"{GOLD}{name}.txt")
    return subsets


def _subset(path: Path, gold: Path) -> tuple[ScoredPair, ...]:
    lines = list(rows(path, 2))
    scores = [Line(gold, number, [text]) for number, text in enumerate(read_lines(gold), start=1)]
    if len(lines) != len(scores):
        raise UserError(
            f"{path} has {len(lines):,} lines but {gold.name} {len(scores):,}; download both again."
        )
    pairs = tuple(
        ScoredPair(line.sentence(0), line.sentence(1), score.score(0, MIN_SCORE, MAX_SCORE))
        for line, score in zip(lines, scores, strict=True)
        if score.cells[0].strip()
    )
    if not pairs:
        raise UserError(f"{gold} contains no scores; download the file again.")
    return pairs


def benchmark(split: str) -> tuple[ScoredPair, ...]:
    """Return the pairs of the STS Benchmark's train, dev or test split, with scores from 0 to 5.

    Raises:
        UserError: The file is missing, or malformed in the line that the message names.
    """
    path = require_data("stsbenchmark", f"sts-{split}.csv", what="The STS Benchmark")
    pairs = tuple(
        ScoredPair(line.sentence(5), line.sentence(6), line.score(4, MIN_SCORE, MAX_SCORE))
        for line in rows(path, 7)
    )
    if not pairs:
        raise UserError(f"{path} contains no pairs; download the file again.")
    return pairs


def relatedness(split: str) -> tuple[ScoredPair, ...]:
    """Return SICK's pairs of train, dev or test with their relatedness, from 1 to 5."""
    return tuple(ScoredPair(pair.a, pair.b, pair.relatedness) for pair in sick.load(split))
