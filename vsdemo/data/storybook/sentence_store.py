"""The training sentences of many scenes on disk, written once."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
from tqdm import tqdm

from vsdemo.core.paths import atomic, home
from vsdemo.core.progress import Progress
from vsdemo.data.storybook.scene import Scene
from vsdemo.data.storybook.training_sentences import sentences_about
from vsdemo.data.storybook.truth import FactTable, SentenceTable, sentence_table
from vsdemo.data.storybook.typed import TypedSentence

PART = 500  # scenes of a file
FACTS, ABSENT = "facts.", "absent."  # what the names of the arrays of a table start with
DENIES, TEXTS, COUNTS = "denies", "texts", "counts"  # other arrays


@dataclass(frozen=True)
class TrainingSentences:
    """The sentences of N scenes, one scene after the other.

    Attributes:
        texts: All sentences.
        table: What they state.
        starts: (N + 1,) where those of each scene begin, and the end.
    """

    texts: Sequence[str]
    table: SentenceTable
    starts: np.ndarray


def read(scenes: Sequence[Scene], progress: Progress | None = None) -> TrainingSentences:
    """Return the training sentences of scenes, writing those that are missing.

    A file is written whole or not at all, so a later call continues where a killed process stopped.

    Args:
        scenes: The scenes.
        progress: Called with the scenes done, and all.
    """
    parts = []
    with tqdm(total=len(scenes), desc="writing sentences") as bar:
        for start in range(0, len(scenes), PART):
            parts.append(_part(scenes[start : start + PART]))
            bar.update(len(parts[-1].starts) - 1)
            if progress:
                progress(bar.n, len(scenes))
    counts = np.concatenate([np.diff(part.starts) for part in parts])
    return TrainingSentences(
        texts=[text for part in parts for text in part.texts],
        table=SentenceTable.cat([part.table for part in parts]),
        starts=np.concatenate([[0], counts.cumsum()]),
    )


def _part(scenes: Sequence[Scene]) -> TrainingSentences:
    """Return the sentences of the scenes of one file."""
    first = _sentences(scenes[0])
    # Other scenes, or another language, have another name.
    words = [*(str(scene.number) for scene in scenes), *(s.text for s in first)]
    digest = hashlib.sha256("\n".join(words).encode()).hexdigest()[:16]
    path = home() / "storybook-sentences" / f"{scenes[0].number:07}-{digest}.npz"
    if not path.exists():
        _write(path, [first, *map(_sentences, scenes[1:])])
    return _read(path)


def _sentences(scene: Scene) -> list[TypedSentence]:
    return sentences_about(scene, Random(f"sentences/{scene.number}"))


def _write(path: Path, sentences: Sequence[Sequence[TypedSentence]]) -> None:
    """Write the sentences of some scenes."""
    every = [sentence for group in sentences for sentence in group]
    table = sentence_table(every)
    arrays = {f"{FACTS}{name}": array for name, array in vars(table.facts).items()}
    arrays |= {f"{ABSENT}{name}": array for name, array in vars(table.absent).items()}
    text = "\n".join(sentence.text for sentence in every).encode()
    arrays |= {DENIES: table.denies, TEXTS: np.frombuffer(text, np.uint8)}
    arrays[COUNTS] = np.array([len(group) for group in sentences])
    with atomic(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, **arrays)


def _read(path: Path) -> TrainingSentences:
    with np.load(path) as file:
        arrays = dict(file)
    facts, absent = (
        FactTable(**{n.removeprefix(start): a for n, a in arrays.items() if n.startswith(start)})
        for start in (FACTS, ABSENT)
    )
    return TrainingSentences(
        texts=arrays[TEXTS].tobytes().decode().split("\n"),
        table=SentenceTable(facts, absent, arrays[DENIES]),
        starts=np.concatenate([[0], arrays[COUNTS].cumsum()]),
    )
