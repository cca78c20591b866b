"""The training sentences of many scenes on disk, written once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from random import Random

import numpy as np
from tqdm import tqdm

from vsdemo.core import locks
from vsdemo.core.paths import atomic, home
from vsdemo.core.progress import Progress
from vsdemo.data.storybook.facts import facts_of
from vsdemo.data.storybook.pictures import generate_picture
from vsdemo.data.storybook.scene import Scene
from vsdemo.data.storybook.training_sentences import sentences_about
from vsdemo.data.storybook.truth import (
    TRUE,
    FactTable,
    SentenceTable,
    fact_table,
    labels,
    sentence_table,
)
from vsdemo.data.storybook.typed import TypedSentence
from vsdemo.data.storybook.visible_facts import visible_facts

PART = 500  # scenes of a file
FACTS, ABSENT = "facts.", "absent."  # prefixes of the names of a table's arrays
DENIES, TEXTS, STARTS, SHARES = "denies", "texts", "starts", "shares"  # other arrays
CHECKSUM = 32  # bytes of the SHA-256 at the end of a file
COUNTED = 1000  # scenes of train from which the share that a sentence is true of is estimated
SAMPLE = 30  # scenes whose sentences distinguish versions of the language


@dataclass(frozen=True)
class TrainingSentences:
    """The sentences of N scenes, one scene after the other.

    Attributes:
        texts: All sentences.
        table: What they state.
        shares: The share of all scenes that each is true of, estimated; never 0 or 1.
        starts: (N + 1,) where those of each scene begin, and the end.
    """

    texts: Sequence[str]
    table: SentenceTable
    shares: np.ndarray
    starts: np.ndarray


def read(scenes: Sequence[Scene], progress: Progress | None = None) -> TrainingSentences:
    """Return the training sentences of scenes, writing those that are missing or damaged.

    A file is written whole or not at all, so a later call continues where a killed process stopped.
    Other scenes or another version of the language have other files.

    Args:
        scenes: The scenes, at least one.
        progress: Called with (scenes done, all scenes).
    """
    parts = []
    with tqdm(total=len(scenes), desc="sentences") as bar:
        for start in range(0, len(scenes), PART):
            parts.append(_part(scenes[start : start + PART]))
            bar.update(len(parts[-1].starts) - 1)
            if progress:
                progress(bar.n, len(scenes))
    counts = np.concatenate([np.diff(part.starts) for part in parts])
    return TrainingSentences(
        texts=[text for part in parts for text in part.texts],
        table=SentenceTable.cat([part.table for part in parts]),
        shares=np.concatenate([part.shares for part in parts]),
        starts=np.concatenate([[0], counts.cumsum()]),
    )


def _part(scenes: Sequence[Scene]) -> TrainingSentences:
    """Return the sentences of the scenes of one file."""
    digest = _digest([_language(), str(COUNTED), *map(str, scenes)])
    path = home() / "storybook-sentences" / f"{scenes[0].number:07}-{digest[:16]}.npz"
    return locks.made_once(path, partial(_read, path), partial(_make, path, scenes))


@cache
def _language() -> str:
    """Return what changes with the language: a digest of sentences about some scenes."""
    scenes = [generate_picture(number).scene for number in range(SAMPLE)]
    return _digest(sentence.text for scene in scenes for sentence in _sentences(scene))


def _shares(table: SentenceTable) -> np.ndarray:
    """Return the share of some scenes that each sentence is true of, (N,), never 0 or 1."""
    counts = (labels(table, *_counted_scenes()) == TRUE).sum(1)
    shares: np.ndarray = ((counts + 0.5) / (COUNTED + 1)).astype(np.float32)
    return shares


@cache
def _counted_scenes() -> tuple[FactTable, FactTable]:
    """Return the facts of scenes of train, and what their pictures may show."""
    scenes = [generate_picture(number).scene for number in range(COUNTED)]
    return fact_table([*map(facts_of, scenes)]), fact_table([*map(visible_facts, scenes)])


def _digest(texts: Iterable[str]) -> str:
    return sha256("\n".join(texts).encode()).hexdigest()


def _sentences(scene: Scene) -> list[TypedSentence]:
    return sentences_about(scene, Random(f"sentences/{scene.number}"))


def _make(path: Path, scenes: Sequence[Scene]) -> TrainingSentences:
    """Write the sentences of the scenes of one file, and return them."""
    groups = [_sentences(scene) for scene in scenes]
    every = [sentence for group in groups for sentence in group]
    table = sentence_table(every)
    made = TrainingSentences(
        texts=[sentence.text for sentence in every],
        table=table,
        shares=_shares(table),
        starts=np.cumsum([0, *map(len, groups)]),
    )
    arrays = {f"{FACTS}{name}": array for name, array in vars(made.table.facts).items()}
    arrays |= {f"{ABSENT}{name}": array for name, array in vars(made.table.absent).items()}
    text = "\n".join(made.texts).encode()
    arrays |= {DENIES: made.table.denies, TEXTS: np.frombuffer(text, np.uint8)}
    arrays |= {STARTS: made.starts, SHARES: made.shares}
    file = BytesIO()
    np.savez_compressed(file, **arrays)
    with atomic(path) as temporary:
        temporary.write_bytes(file.getvalue() + sha256(file.getvalue()).digest())
    return made


def _read(path: Path) -> TrainingSentences | None:
    """Return the sentences of a file; None if it is missing or damaged."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    content, checksum = content[:-CHECKSUM], content[-CHECKSUM:]
    if sha256(content).digest() != checksum:
        return None
    with np.load(BytesIO(content)) as file:
        arrays = dict(file)
    facts, absent = (
        FactTable(**{n.removeprefix(start): a for n, a in arrays.items() if n.startswith(start)})
        for start in (FACTS, ABSENT)
    )
    return TrainingSentences(
        texts=arrays[TEXTS].tobytes().decode().split("\n"),
        table=SentenceTable(facts, absent, arrays[DENIES]),
        shares=arrays[SHARES],
        starts=arrays[STARTS],
    )
